"""The disclosure as a tree: complete, unabridged, long texts separate."""

from __future__ import annotations

from density_study.analysis.report.disclosure import Entry, entries

XML = '<?xml version="1.0"?>\n<configuration/>\n'


def test_short_values_long_texts_and_children() -> None:
    assert entries(
        {"kernel": "6.1", "cores": 2, "files": {"core-site.xml": XML}, "none": None}
    ) == (
        Entry("kernel", value="6.1"),
        Entry("cores", value="2"),
        Entry("files", children=(Entry("core-site.xml", text=XML),)),
        Entry("none", value="null"),
    )


def test_lists_of_words_are_one_line_or_one_text() -> None:
    assert entries({"flags": ["-Xmx1g", "-Xms1g"]}) == (Entry("flags", value="-Xmx1g, -Xms1g"),)
    long = [f"-Dkey{number}=value" for number in range(40)]
    assert entries({"argv": long}) == (Entry("argv", text="\n".join(long)),)


def test_lists_of_objects_are_named() -> None:
    (disks,) = entries({"disks": [{"path": "/data", "disk_type": "hdd"}, {"disk_type": "flash"}]})
    assert [child.key for child in disks.children] == ["1: /data", "2"]


def test_differences_are_listed_by_build() -> None:
    (entry,) = entries(
        {"differences": {"files.core-site.xml": {XML: ["b1", "b2"], "other": ["b3"]}}}
    )
    (path,) = entry.children
    assert path.children == (Entry("b1, b2", text=XML), Entry("b3", value="other"))
