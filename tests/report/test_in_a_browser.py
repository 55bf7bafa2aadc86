"""Reports in a real browser: light, dark, on a phone and in print, they load nothing, run nothing and can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tarnkappe as tk
from grids import grid
from tarnkappe.datasets import census, census_taxonomies

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe: pip install -e '.[dev]'")

#: One release of each way of publishing whose report looks different.
ALGORITHMS = {
    "boxes": "mondrian",
    "full-domain": "flash",
    "centres": "mdav",
    "buckets": "anatomize",
    "slices": "slicing",
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of the releases."""
    folder, taxonomies = tmp_path_factory.mktemp("reports"), census_taxonomies()
    frame = census(800, seed=1)
    out = {}
    for name, algorithm in ALGORITHMS.items():
        kept = ["hours-per-week"] if name in ("boxes", "full-domain") else []
        quasi = {q: taxonomies.get(q, tk.numeric()) for q in ("age", "sex", "education")}
        job = tk.Job(
            title="A census <b>with</b> odd & long words: " + "Donaudampfschifffahrt" * 3,
            quasi={"age": tk.numeric()} if name == "centres" else quasi,
            sensitive=["occupation"],
            keep=dict.fromkeys(kept, "known to few outsiders, and many share it"),
            drop="rest",
            criteria=[*([] if name in ("buckets", "slices") else [tk.KAnonymity(5)]), tk.LDiversity("occupation", 2)],
            max_suppressed=0.1,
            algorithm=algorithm,
        )
        tk.run_job(job, frame, folder / name, seed=1)
        out[name] = folder / name
    return out


@pytest.mark.parametrize(("name", "edition"), grid(ALGORITHMS, ["public", "do-not-share"]))
def test_a_report_can_be_read_by_everybody(browser: Any, reports: dict[str, Path], name: str, edition: str):
    path = reports[name] / edition / "report.html"
    assert path.stat().st_size < 2_000_000
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 360)):
        # The page forbids all scripts; those of the test must get in beside its policy.
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True)
        page = context.new_page()
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(path.as_uri())
        assert asked == [path.as_uri()]
        assert said == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "scrolls sideways"
        found = axe.Axe().run(page).response["violations"]
        assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
        context.close()


def test_no_script_runs_and_nothing_is_loaded_under_the_policy_of_the_page(browser: Any, reports: dict[str, Path]):
    page = browser.new_context().new_page()
    page.goto((reports["boxes"] / "public" / "report.html").as_uri())
    page.set_default_timeout(2000)
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert "default-src 'none'" in policy
    assert page.locator("script").count() == 0
    for attribute in ("src", "srcset", "action", "onclick", "onload"):
        assert page.locator(f"[{attribute}]").count() == 0
    assert page.locator("a:not([href^='#'])").count() == 0


def test_every_chart_has_a_table_behind_it_and_prints(browser: Any, reports: dict[str, Path], tmp_path: Path):
    page = browser.new_context().new_page()
    page.goto((reports["boxes"] / "do-not-share" / "report.html").as_uri())
    for figure in page.locator("figure").all():
        assert figure.locator("table").count() == 1
    page.emulate_media(media="print")
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 10_000
