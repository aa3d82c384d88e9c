"""Pictures of reports of each kind, a hub, README and the site, for a person to look at: `make looked`.

tests/browser/looked holds the first screen of each as it was looked at: on a desktop, on a phone, dark, and
printed. looked.json has the hash of the page behind each, and a unit test fails once a page has changed.
`python -m tests.browser.looked KIND...` takes only these; with a FOLDER, whole pages to look at elsewhere.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page

from density_study.analysis.report.html import static
from density_study.analysis.report.page import SCRIPTS, render
from tests.browser.documents import CHECKOUT, SITE_OF, build_site, readme
from tests.browser.hub_kind import made_hub
from tests.browser.report_kinds import KINDS
from tests.browser.shown import hash_of
from tests.support.chromium import chromium, draw_inside, open_report

KEPT = Path(__file__).with_name("looked")
HASHES = KEPT / "looked.json"
HUB = "hub"
README, SITE = "readme", "site"
LOOKED = (*KINDS, HUB, README, SITE)
VIEWS = {"desktop": (1400, 1000), "phone": (390, 1500), "dark": (1400, 1000), "print": (794, 1123)}
"""Width and height in px of the kept pictures; a printed page is A4."""
QUALITY = 45
PATIENT_MS = 300_000
EVERYTHING = "#charts > section { content-visibility: visible !important }"
_NO_TEXT = re.compile(r"<script.*?</script>|<style.*?</style>|<[^>]+>", re.S)


def page_hash(kind: str) -> str:
    """The hash of the texts of a kind's page, charts included, and of what lays them out."""
    if kind == README:
        return hash_of(readme())
    if kind == SITE:
        return hash_of(*(str((CHECKOUT / name).read_bytes()) for name in SITE_OF))
    texts = " ".join(_NO_TEXT.sub(" ", html_of(kind)).split())
    more = ("hub.css",) if kind == HUB else ("sections.css", *SCRIPTS)
    return hash_of(texts, static("report.css"), *map(static, more))


def html_of(kind: str) -> str:
    return made_hub() if kind == HUB else render(KINDS[kind]())


def page_file(kind: str, folder: Path) -> Path:
    """The page of a kind, made in `folder`."""
    if kind == SITE:
        return build_site(folder / "site")
    file = folder / f"{kind}.html"
    file.write_text(readme() if kind == README else html_of(kind), "utf-8")
    return file


def looked_at() -> dict[str, str]:
    found: dict[str, str] = json.loads(HASHES.read_text("utf-8"))
    return found


def take(browser: Browser, file: Path) -> Iterator[tuple[str, Page]]:
    """The report in each of the views."""
    for view, (width_px, height_px) in VIEWS.items():
        scheme = "dark" if view == "dark" else "light"
        with browser.new_page(color_scheme=scheme) as page:
            page.set_default_timeout(PATIENT_MS)
            open_report(page, file, width_px, height_px)
            page.add_style_tag(content=EVERYTHING)
            if page.locator("#inside").count():
                draw_inside(page)
            page.emulate_media(media="print" if view == "print" else "screen")
            yield view, page


def main() -> None:
    kinds = [one for one in sys.argv[1:] if one in LOOKED] or LOOKED
    whole = next((Path(one) for one in sys.argv[1:] if one not in LOOKED), None)
    folder = whole or KEPT
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as aside, chromium() as browser:
        for kind in kinds:
            for view, page in take(browser, page_file(kind, Path(aside))):
                picture = folder / f"{kind}-{view}.jpg"
                page.screenshot(path=picture, type="jpeg", quality=QUALITY, full_page=bool(whole))
    if whole is None:
        hashes = {**looked_at(), **{kind: page_hash(kind) for kind in kinds}}
        HASHES.write_text(json.dumps(hashes, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
