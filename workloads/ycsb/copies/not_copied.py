"""Tables that a run could not copy: its later builds load them, in spite of `load_once`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from density_study.cluster.state.events import Event, TableCopied, TableNotCopied


def uncopied(events: Iterable[Event]) -> dict[str, TableNotCopied]:
    """Why there is no copy, by its name. A copy that was made later is not among them."""
    found = dict[str, TableNotCopied]()
    for event in events:
        if isinstance(event, TableNotCopied):
            found[event.name] = event
        elif isinstance(event, TableCopied):
            found.pop(event.name, None)
    return found


def uncopied_words(events: Iterable[Event]) -> Iterator[str]:
    """Yields a sentence about each."""
    for name, event in uncopied(events).items():
        table, again = name.rpartition("-")[0], "" if event.tried else " until there is room"
        yield f"load_once: the table {table} is loaded in each build{again}: {event.why.rstrip('.')}."
