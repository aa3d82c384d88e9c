"""A load that uses a known share of the CPU: `python -m tests.live.support.cpu_load SHARE PROCESSES SECONDS`.

Each process spins whenever its CPU time is behind SHARE x the time gone by, and sleeps otherwise; so its
share is known by construction, not by trust in the scheduler. It sleeps for a random time: the kernel
attributes whole ticks (4 ms at 250 Hz) to whatever runs when one comes, so a load in step with them (3/4 of
12 ms) is counted too high or too low, depending on its phase. Measured: 0.2 to 1.5 points of two cores.
Prints one JSON line: when all began and ended (epoch), and the CPU seconds they used by their own account.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import time
from multiprocessing.queues import Queue

SLEEP_S = (0.001, 0.009)


def burn(share: float, seconds: float, begin_s: float, used: Queue[float]) -> None:
    time.sleep(max(0.0, begin_s - time.time()))
    before_s, start = time.process_time(), time.monotonic()
    while (gone := time.monotonic() - start) < seconds:
        if time.process_time() - before_s < share * gone:
            sum(range(2000))
        else:
            time.sleep(random.uniform(*SLEEP_S))
    used.put(time.process_time() - before_s)


def main() -> None:
    share, processes, seconds = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    context = multiprocessing.get_context("fork")
    used: Queue[float] = context.Queue()
    begin_s = time.time() + 0.2
    burners = [
        context.Process(target=burn, args=(share, seconds, begin_s, used)) for _ in range(processes)
    ]
    for burner in burners:
        burner.start()
    cpu_s = sum(used.get() for _ in burners)
    for burner in burners:
        burner.join()
    print(json.dumps({"begin_s": begin_s, "end_s": begin_s + seconds, "cpu_s": cpu_s}))


if __name__ == "__main__":
    main()
