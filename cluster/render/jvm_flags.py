"""The JVM flags that a study may give: switches, numbers and a few words. Pure.

A flag can run programs (OnError), read commands from a file (VMOptionsFile), load code (-javaagent) or listen
for whoever asks (JMX, JDWP). So a flag is allowed by its form, and no form has a place for a path, an address
or a command. Names of switches and numbers that do such things are refused besides.
"""

from __future__ import annotations

import re

_LONGEST = 200
_SIZE = r"[0-9]{1,19}[kKmMgGtT]?"
_NUMBER = rf"-?(?:{_SIZE}|[0-9]{{1,9}}\.[0-9]{{1,9}})"
_WORDS = {
    "MetaspaceReclaimPolicy": ("none", "balanced", "aggressive"),
    "NativeMemoryTracking": ("off", "summary", "detail"),
    "OnSpinWaitInst": ("none", "nop", "isb", "yield", "sb"),
    "ShenandoahGCHeuristics": ("adaptive", "static", "compact", "aggressive", "passive"),
    "ShenandoahGCMode": ("satb", "iu", "passive", "generational"),
    "UseBranchProtection": ("none", "standard", "pac-ret"),
}
"""The flags of HotSpot whose value is a word. Every other text is a path, a command or a list of methods."""
_PROPERTIES = (
    r"io\.netty\.(allocator|recycler|leakDetection|eventLoop)[A-Za-z]*(\.[A-Za-z]{1,40}){0,2}",
    r"org\.apache\.hbase\.thirdparty\.io\.netty\.(allocator|recycler|leakDetection|eventLoop)[A-Za-z]*"
    r"(\.[A-Za-z]{1,40}){0,2}",
    r"(org\.apache\.hbase\.thirdparty\.)?io\.netty\.(noPreferDirect|maxDirectMemory)",
    r"hbase\.(?!.*(dir|path|file|log|class|secur|url|host|addr))[a-z.]{1,60}",
    r"java\.util\.concurrent\.ForkJoinPool\.common\.(parallelism|maximumSpares)",
    r"jdk\.nio\.maxCachedBufferSize",
    r"jute\.maxbuffer",
    r"sun\.net\.inetaddr\.(negative\.)?ttl",
    r"sun\.rmi\.dgc\.(client|server)\.gcInterval",
    r"zookeeper\.(snapCount|preAllocSize|forceSync|globalOutstandingLimit|commitLogCount|nio\.\w{1,40}"
    r"|fsync\.warningthresholdms)",
)
_FORMS = re.compile(
    "|".join(
        (
            r"-XX:[+-](?P<switch>[A-Z][A-Za-z0-9]{1,80})",
            rf"-XX:(?P<number>[A-Z][A-Za-z0-9]{{1,80}})={_NUMBER}",
            *(rf"-XX:{name}=(?:{'|'.join(words)})" for name, words in _WORDS.items()),
            rf"-X(?:ms|mn|ss){_SIZE}",
            r"-Xnoclassgc",
            # without an output, or with one of these, there is no file; any other word would be one
            r"-Xlog(?::[a-z0-9+*=,]{1,150}(?::(?:stdout|stderr)?(?::[a-z,]{0,60})?)?)?",
            rf"-D(?:{'|'.join(_PROPERTIES)})=(?:-?[0-9]{{1,19}}|[a-z]{{1,20}})",
        )
    )
)
_REFUSED: tuple[tuple[str, str], ...] = (
    (r"OnError|OnOutOfMemoryError|Command|CREngine|CRaC|CRIU|Checkpoint|CRTrace|ShowMessageBox|PauseAtStartup",
     "it can run programs, or wait for somebody"),
    (r"File|Path|Dir(?!ect)|Folder|Dump|Dumps|Coredump|CrashOn|AllocateHeapAt|PerfData|Replay|LogVMOutput"
     r"|LogCompilation|LogTouched|LogEvents|LoadedClassList|ErrorLog",
     "it reads or writes files of the host"),
    (r"Shared(?!Mem)|Archive|CDS|AOT", "the project chooses the archive of classes"),
    (r"Flight|JFR|Attach|Agent|Management|JMX|Jdwp|JDWP|Debugger|Remote|Socket|Port(?![a-z])|Server(?!Class|Comp)"
     r"|DTrace|JVMTI|StartFlight",
     "it opens the process to others"),
    (r"(?<!VM)Options|Flags|IgnoreUnrecognized", "a study names each flag, and the JVM must know it"),
    (r"JVMCI|JITServer|Graal|Truffle|WhiteBox|NativeLibrary|Library|ClassLoader|Redefinition"
     r"|BytecodeVerification|RelaxAccess|Instrument|Module",
     "it changes which code runs, or what code may do"),
)  # fmt: skip
"""Parts of the names of switches and numbers. In those of HotSpot, each word begins with a capital letter."""
ALLOWED = (
    "a study may give -XX:+Name, -XX:-Name, -XX:Name=<number>, -Xms, -Xmn, -Xss, -Xnoclassgc, -Xlog to "
    "stdout or stderr, and a few -D properties with a number or a word"
)


def form_fault(flag: str) -> str:
    """Why a study cannot give a JVM this flag, whatever the project sets itself; empty if it can."""
    found = _FORMS.fullmatch(flag) if len(flag) <= _LONGEST else None
    if found is None:
        return f"{flag[:_LONGEST]} is not for a study to set: {ALLOWED}"
    name = found["switch"] or found["number"] or ""
    reason = next((why for part, why in _REFUSED if re.search(part, name)), "")
    return f"{flag} is not for a study to set: {reason}" if reason else ""
