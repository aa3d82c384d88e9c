"""The noisy neighbour: keeps cores busy and writes to disk until a signal stops it.

    python -m density_study.workloads.ycsb.noisy_neighbour.neighbour_load --threads N

Runs on a node of the victim's host and needs only the standard library. It hashes (which releases Python's
global lock, so that N threads keep N cores busy) and writes synchronously (O_DSYNC) to one file in its
working directory, which it removes. TERM or INT ends it; it then prints one line of JSON with what it did.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import threading
import time
from pathlib import Path

BLOCK = bytes(2**20)
FILE_MIB = 128  # the file is overwritten repeatedly, so that the neighbour does not fill the disk
_STOP = frozenset({signal.SIGTERM, signal.SIGINT})


class Load:
    """`threads` hashing threads and one that writes to `file`; counts in MiB."""

    def __init__(self, threads: int, file: Path) -> None:
        self._stop = threading.Event()
        self._file = file
        self.hashed_mib = [0] * threads
        self.written_mib = 0
        self.fault = ""
        self._threads = [threading.Thread(target=self._hash, args=(n,)) for n in range(threads)]
        self._threads.append(threading.Thread(target=self._write))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _hash(self, number: int) -> None:
        while not self._stop.is_set():
            hashlib.sha256(BLOCK).digest()
            self.hashed_mib[number] += 1

    def _write(self) -> None:
        try:
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_DSYNC, 0o600)
        except OSError as error:
            self.fault = str(error)
            return
        try:
            while not self._stop.is_set():
                os.pwrite(descriptor, BLOCK, self.written_mib % FILE_MIB * len(BLOCK))
                self.written_mib += 1
        except OSError as error:  # for example a full disk: without noise the trial is not valid
            self.fault = str(error)
        finally:
            os.close(descriptor)
            self._file.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description="Keep cores busy and a disk writing.")
    parser.add_argument("--threads", required=True, type=int)
    arguments = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
    began_s = time.monotonic()
    load = Load(arguments.threads, Path("neighbour.load"))
    load.start()
    signal.sigwait(_STOP)
    load.stop()
    done = {
        "seconds": round(time.monotonic() - began_s, 3),
        "hashed_mib": sum(load.hashed_mib),
        "written_mib": load.written_mib,
        "fault": load.fault,
    }
    print(json.dumps(done), flush=True)


if __name__ == "__main__":
    main()
