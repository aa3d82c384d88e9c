"""What Hadoop's check of native libraries prints becomes a disclosure."""

from __future__ import annotations

from density_study.workloads.execution.native_check import UNKNOWN, parse_check

PRINTED = """\
Native library checking:
hadoop:  true /opt/hadoop/lib/native/libhadoop.so.1.0.0
zlib:    true /lib64/libz.so.1
zstd  :  true /lib64/libzstd.so.1
openssl: false Cannot load libcrypto.so (libcrypto.so: cannot open shared object file)!
ISA-L:   false libhadoop was built without ISA-L support
"""


def test_each_library_has_its_path_or_the_reason() -> None:
    found = parse_check(PRINTED)
    assert found["hadoop"] == "/opt/hadoop/lib/native/libhadoop.so.1.0.0"
    assert found["zstd"] == "/lib64/libzstd.so.1"
    assert found["openssl"].startswith("missing: Cannot load libcrypto.so")
    assert found["ISA-L"] == "missing: libhadoop was built without ISA-L support"


def test_other_text_is_unknown() -> None:
    assert parse_check("Exception in thread main\n") == UNKNOWN
    assert parse_check("") == UNKNOWN
