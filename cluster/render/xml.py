"""Hadoop's configuration XML."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree as ET


def configuration_xml(properties: Mapping[str, str]) -> str:
    """The text of a Hadoop configuration file: properties sorted by name, values escaped."""
    root = ET.Element("configuration")
    for name in sorted(properties):
        entry = ET.SubElement(root, "property")
        ET.SubElement(entry, "name").text = name
        ET.SubElement(entry, "value").text = properties[name]
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
