"""The app in a real browser, as somebody uses it who has never seen it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from started_app import Started, Visit, start, visited

from tarnkappe.datasets import census
from tarnkappe.job.text import read_job_text

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[dev]'").expect
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe: pip install -e '.[dev]'")


def looked_at(visit: Visit, name: str) -> None:
    """The screen can be read by everybody, needs no scrolling sideways, and is kept for the docs if they ask for it."""
    page = visit.page
    page.locator("main h1").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} scrolls sideways"
    found = axe.Axe().run(page, context=None, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"][:120]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == [], name
    target = os.environ.get("TARNKAPPE_SCREENSHOTS")
    if target:
        page.screenshot(path=Path(target) / f"app-{name}.jpg", type="jpeg", quality=40)


@pytest.fixture
def tested(app: Started, browser: Any) -> Any:
    """A visit into which the accessibility test may put its script; the policy of the page would not let it."""
    yield from visited(app, browser, bypass_csp=True)


def files_of(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def without_time(manifest: bytes) -> dict[str, Any]:
    told = json.loads(manifest)
    return {key: value for key, value in told.items() if key not in ("made", "seconds")}


def test_seven_clicks_lead_to_the_release_that_the_command_line_writes(tested: Visit):
    visit, folder = tested, tested.app.folder
    looked_at(visit, "home")
    visit.click("Open data")
    visit.page.get_by_role("button", name="census.csv").wait_for()
    visit.click("census.csv")
    visit.page.get_by_role("button", name="Looks right, continue").wait_for()
    looked_at(visit, "data")
    visit.click("Looks right, continue")
    visit.see("What are the columns")
    expect(visit.page.locator(".panel")).not_to_contain_text("counting", timeout=90_000)
    looked_at(visit, "columns")
    visit.click("I have checked these roles")
    visit.see("What do you promise?")
    looked_at(visit, "protection")
    visit.click("Public file")
    visit.click("Anonymise")
    visit.page.get_by_role("button", name="Write release").wait_for()
    assert not (folder / "census-release").exists()
    visit.page.locator(".beside table").wait_for()
    looked_at(visit, "result")
    visit.click("Write release")
    visit.see("The release is written and verified")
    looked_at(visit, "release")
    assert visit.clicks == 7
    release = folder / "census-release"
    seed = json.loads((release / "do-not-share" / "manifest.json").read_text())["seed"]
    again = [sys.executable, "-m", "tarnkappe", "run", "census.yaml", "-o", "again", "--seed", str(seed), "-q"]
    subprocess.run(again, cwd=folder, check=True)
    ours, theirs = files_of(release), files_of(folder / "again")
    assert set(ours) == set(theirs)
    for name in ours:
        if name.endswith("manifest.json"):
            assert without_time(ours[name]) == without_time(theirs[name])
        elif not name.endswith("report.html"):  # says when it was made
            assert ours[name] == theirs[name], name
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


@pytest.mark.full
def test_the_example_is_a_click_away_and_says_who_is_singled_out(tested: Visit):
    visit, page = tested, tested.page
    visit.click("Try the census example")
    visit.see("What are the columns")
    visit.click("Which combinations identify most?")
    page.locator("main caption").wait_for()
    expect(page.locator("main caption ~ tbody tr")).to_have_count(8)
    assert (visit.app.folder / "census-example/job.yaml").is_file()
    looked_at(visit, "combinations")
    visit.click("Edit the file")  # what is typed there stays, whatever is drawn anew around it
    page.locator("[data-key=job-text]").fill("columns: [")
    page.locator("[data-key=language]").select_option("de")
    expect(page.locator("[data-key=job-text]")).to_have_value("columns: [")
    page.locator("[data-key=save-job]").click()
    page.get_by_text("E100").first.wait_for()
    page.locator("[data-key=cancel-job]").click()
    expect(page.locator(".panel pre")).to_contain_text("Made-up census")


@pytest.mark.full
def test_a_run_can_be_left_come_back_to_and_cancelled(data: Path, browser: Any):
    big = (
        pl.concat([pl.read_csv(data / "census.csv")] * 400)
        .with_row_index("n")
        .with_columns((pl.col("age") + pl.col("n") % 7).alias("age"), (pl.col("n") % 5000).alias("hours-per-week"))
        .drop("n")
    )
    big.write_csv(data / "census.csv")
    app = start(data)
    try:
        for visit in visited(app, browser):
            visit.to_the_run()
            visit.click("Anonymise")
            visit.page.get_by_role("button", name="Cancel").wait_for()
            visit.page.goto(f"{app.address}/#/columns")
            visit.page.reload()
            visit.see("What are the columns")
            visit.page.get_by_role("link", name="Run").first.click()
            visit.click("Cancel")
            visit.see("Cancelled. Nothing was written.")
            assert sorted(p.name for p in data.iterdir()) == ["census.csv", "census.yaml"]
    finally:
        app.end()


#: A search that would take a minute.
SLOW = """
data: {path: census.csv}
columns:
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  education: {role: quasi, taxonomy: suppress}
  occupation: {role: quasi, taxonomy: suppress}
  hours-per-week: {role: quasi, type: numeric}
rest: drop
criteria: [k-anonymity: {k: 5}]
algorithm: k-optimize
"""


@pytest.mark.full
def test_a_search_can_be_ended_with_the_best_so_far(data: Path, browser: Any):
    census(20_000, seed=1).write_csv(data / "census.csv")
    (data / "slow.yaml").write_text(SLOW)
    app = start(data)
    try:
        for visit in visited(app, browser):
            visit.page.locator("[data-key='recent-slow.yaml']").click()
            visit.click("I have checked these roles")
            visit.page.locator("[data-key=to-run]").click()
            visit.click("Anonymise")
            visit.page.locator("[data-key=keep-best]").click()
            visit.page.get_by_role("button", name="Write release").wait_for()
            expect(visit.page.locator("main")).to_contain_text("stopped by hand")
            visit.click("Write release")
            visit.see("The release is written and verified")
    finally:
        app.end()


@pytest.mark.full
def test_cuts_are_dragged_added_and_removed_over_the_histogram(tested: Visit):
    visit, page, job = tested, tested.page, tested.app.folder / "census.yaml"
    visit.to_the_columns()
    page.goto(f"{visit.app.address}/#/taxonomies")
    page.locator("[data-key=column]").select_option("age")
    page.locator("[data-key=kind]").select_option("cuts")
    expect(page.locator("[role=slider]")).to_have_count(3, timeout=90_000)
    before = int(page.locator("[role=slider]").first.get_attribute("aria-valuenow"))
    grip = page.locator("[role=slider] .grip").first.bounding_box()
    page.mouse.move(grip["x"] + 6, grip["y"] + 6)
    page.mouse.down()
    page.mouse.move(grip["x"] - 60, grip["y"] + 30, steps=5)
    page.mouse.up()
    expect(page.locator("[role=slider]").first).not_to_have_attribute("aria-valuenow", str(before), timeout=90_000)
    dragged = int(page.locator("[role=slider]").first.get_attribute("aria-valuenow"))
    assert dragged < before
    box = page.locator("main svg").bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.5)
    expect(page.locator("[role=slider]")).to_have_count(4, timeout=90_000)
    page.locator("[role=slider]").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[role=slider]").first).to_have_attribute("aria-valuenow", str(dragged + 1), timeout=90_000)
    page.locator("[role=slider]").last.focus()
    page.keyboard.press("Delete")
    expect(page.locator("[role=slider]")).to_have_count(3, timeout=90_000)
    looked_at(visit, "cuts")
    page.locator("[data-key=list-at]").fill("18 30 67")
    page.keyboard.press("Tab")
    expect(page.locator("main table").first).to_contain_text("30-66", timeout=90_000)
    assert read_job_text(job.read_text(), "job")["columns"]["age"]["taxonomy"] == {"kind": "cuts", "at": [18, 30, 67]}


@pytest.mark.full
def test_a_job_begun_earlier_is_a_click_away_and_warnings_speak_german(visit: Visit):
    visit.to_the_columns()
    visit.page.locator("[data-key=language]").select_option("de")
    visit.page.goto(f"{visit.app.address}/#/home")
    visit.page.get_by_text("Letzte Aufträge").wait_for()
    visit.page.locator("[data-key='recent-census.yaml']").click()
    visit.page.get_by_role("button", name="Ich habe die Rollen geprüft").click()
    visit.page.locator("[data-key=criterion-1-l]").fill("900")
    visit.page.locator("[data-key=criterion-1-l]").press("Tab")
    visit.page.get_by_text("Keine Freigabe hält dieses Versprechen.").first.wait_for()


@pytest.mark.full
def test_a_goal_that_cannot_be_reached_offers_three_ways_out_that_work(visit: Visit):
    visit.to_the_columns()
    visit.click("I have checked these roles")
    visit.see("What do you promise?")
    visit.page.locator("[data-key=criterion-1-l]").fill("900")
    visit.page.locator("[data-key=criterion-1-l]").press("Tab")
    visit.page.locator(".fix").first.wait_for()
    visit.page.get_by_role("link", name="Run").first.click()
    visit.click("Anonymise")
    visit.see("E301")
    expect(visit.page.locator("main .fix")).to_have_count(3, timeout=90_000)
    visit.page.locator("main .fix").nth(1).click()
    visit.click("Anonymise")
    visit.page.get_by_role("button", name="Write release").wait_for()
    assert "l-diversity" not in (visit.app.folder / "census.yaml").read_text()


@pytest.mark.full
def test_by_keyboard_alone(visit: Visit):
    """From the first page to the release without a pointer: Tab, Enter, and nothing that needs to be known before."""
    page = visit.page
    page.locator("[data-key=home-open]").wait_for()

    def reach(key: str) -> None:
        page.locator(f"[data-key='{key}']").wait_for()
        for _ in range(120):
            if page.evaluate("document.activeElement?.dataset?.key") == key:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{key} cannot be reached by Tab")

    for key in ("home-open", "file-census.csv", "continue"):
        reach(key)
        page.keyboard.press("Enter")
    reach("role-age-1")
    page.keyboard.press("5")  # the age is dropped by its key …
    expect(page.locator("[data-key=role-age-4]")).to_be_checked(timeout=90_000)
    page.keyboard.press("Control+z")  # … and back
    expect(page.locator("[data-key=role-age-1]")).to_be_checked(timeout=90_000)
    for key in ("confirm", "preset-public", "anonymise", "publish"):
        reach(key)
        page.keyboard.press("Enter")
    visit.see("The release is written and verified")


@pytest.mark.full
def test_undo_redo_autosave_and_opening_a_job_again(visit: Visit, browser: Any):
    job = visit.app.folder / "census.yaml"
    visit.to_the_columns()
    before = job.read_text()
    visit.page.locator("label:has([data-key=role-education-4])").click()
    expect(visit.page.locator("[data-key=role-education-4]")).to_be_checked(timeout=90_000)
    expect(visit.page.get_by_role("button", name="Undo")).to_be_enabled(timeout=90_000)
    assert "education: {role: drop}" in job.read_text()
    assert "# public on many profiles" in job.read_text()
    visit.click("Undo")
    expect(visit.page.locator("[data-key=role-education-1]")).to_be_checked(timeout=90_000)
    expect(visit.page.get_by_role("button", name="Redo")).to_be_enabled(timeout=90_000)
    assert job.read_text() == before
    visit.click("Redo")
    expect(visit.page.locator("[data-key=role-education-4]")).to_be_checked(timeout=90_000)
    visit.page.goto(f"{visit.app.address}/#/data")
    visit.page.get_by_role("button", name="census.yaml").wait_for()
    visit.click("census.yaml")
    visit.see("What are the columns")
    expect(visit.page.locator("[data-key=role-education-4]")).to_be_checked(timeout=90_000)


@pytest.mark.full
def test_error_states_say_what_to_do(visit: Visit):
    (visit.app.folder / "broken.csv").write_bytes(b"a,b\n1,2\n3\n")
    (visit.app.folder / "broken.yaml").write_text("columns: [\n")
    visit.click("Open data")
    visit.click("broken.yaml")
    visit.see("E100")
    visit.click("Close")
    visit.click("broken.csv")
    visit.page.locator("main [role=alert]").wait_for()
    visit.click("Another file")
    visit.click("census.csv")
    visit.click("Looks right, continue")
    visit.click("Edit the file")
    visit.page.locator("[data-key=job-text]").fill("columns: [")
    visit.click("Save")
    visit.see("E100")
    visit.click("Close")
    visit.page.locator("[data-key=job-text]").fill("columns: {age: undecided}\ncriteria: [k-anonymity: {k: 2}]")
    visit.click("Save")
    visit.see("Still to decide")
    assert visit.page.locator("[data-key=confirm]").is_disabled()


@pytest.mark.full
def test_verify_takes_a_dropped_file_refuses_a_large_one_and_keeps_neither(tested: Visit):
    visit, folder = tested, tested.app.folder
    visit.click("Verify a file")
    (folder.parent / "large.csv").write_bytes(b"a\n" + b"1\n" * 600_000)
    visit.page.locator("[data-key=dropped]").set_input_files(folder.parent / "large.csv")
    visit.page.locator(".flash").wait_for()
    visit.click("Close")
    (folder.parent / "small.csv").write_text("a,b\n" + "1,2\n" * 5)
    visit.page.locator("[data-key=dropped]").set_input_files(folder.parent / "small.csv")
    visit.see("small.csv")
    visit.page.locator("[data-key=verify-k]").fill("5")
    visit.page.locator("[data-key=verify-quasi]").fill("a, b")
    visit.page.locator("[data-key=verify]").click()
    visit.see("The promise is kept")
    looked_at(visit, "verify")
    assert [p.name for p in folder.iterdir()] == ["census.csv"]


@pytest.mark.full
def test_every_other_screen_in_light_and_dark_english_and_german(tested: Visit):
    visit, page, home = tested, tested.page, tested.app.address
    visit.to_the_columns()
    visit.click("I have checked these roles")
    visit.see("What do you promise?")
    page.goto(f"{home}/#/taxonomies")
    page.locator("[data-key=column]").select_option("age")
    page.locator("[data-key=kind]").select_option("intervals")
    page.locator("[data-key=add-top]").click()
    cut = page.locator("[role=slider]")
    cut.wait_for()
    cut.focus()
    value = int(cut.get_attribute("aria-valuenow"))
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[role=slider]")).to_have_attribute("aria-valuenow", str(value - 1), timeout=90_000)
    looked_at(visit, "taxonomies")
    page.locator("[data-key=column]").select_option("education")
    page.locator("[data-key=kind]").select_option("tree")
    page.locator("[role=treeitem]").first.wait_for()
    page.locator("[role=treeitem]").first.focus()
    for key in ("Space", "ArrowDown", "Space", "g"):
        page.keyboard.press(key)
    page.locator("[role=treeitem] [role=treeitem]").first.wait_for()
    looked_at(visit, "tree")
    page.locator("[data-key=export]").click()
    visit.see("Written: taxonomies/education.csv")
    page.locator("[data-key=kind]").select_option("file")
    page.get_by_role("button", name="taxonomies").click()
    page.get_by_role("button", name="education.csv").click()
    page.get_by_role("button", name="Use it for education").click()
    expect(page.locator(".panel pre")).to_contain_text("path: taxonomies/education.csv", timeout=90_000)
    page.goto(f"{home}/#/protection")
    visit.click("Researchers")
    visit.page.get_by_role("button", name="Anonymise").wait_for()
    looked_at(visit, "run")
    visit.click("Anonymise")
    visit.page.get_by_role("button", name="Write release").wait_for()
    page.locator(".why").first.click()
    page.locator("#why").wait_for()
    for tab, ready in (
        ("risk", "table"),
        ("useful", "table"),
        ("alternatives", "svg"),
        ("reports", "a"),
    ):
        page.locator(f"[data-key=tab-{tab}]").click()
        page.locator("[role=tabpanel]").locator(ready).first.wait_for()
        looked_at(visit, tab)
    visit.click("Write release")
    visit.see("The release is written and verified")
    for name, ready in (("compare", "main svg"), ("advise", "main code")):
        page.goto(f"{home}/#/{name}")
        page.locator(f"[data-key={name}]").click()
        page.locator(ready).first.wait_for()
        looked_at(visit, name)
    page.goto(f"{home}/#/attack")
    visit.click("census-release")
    page.locator("[data-key=attack]").click()
    page.locator("main h3").first.wait_for()
    looked_at(visit, "attack")
    page.goto(f"{home}/#/trace")
    visit.see("Whose copy was leaked?")
    looked_at(visit, "trace-form")
    page.locator("[data-key=language]").select_option("de")
    page.locator("[data-key=theme]").click()
    for name in ("home", "columns", "protection", "result", "release", "verify"):
        page.goto(f"{home}/#/{name}")
        page.locator("h1").wait_for()
        looked_at(visit, f"dark-{name}")
    page.goto(f"{home}/#/compare")
    page.locator("[data-key=compare]").wait_for()


@pytest.mark.full
def test_two_hundred_columns_can_be_worked_with(data: Path, browser: Any):
    wide = pl.DataFrame({f"column {i}": [f"{(i * j) % 5}" for j in range(60)] for i in range(200)})
    wide.write_csv(data / "wide.csv")
    app = start(data / "wide.csv")
    try:
        for visit in visited(app, browser):
            visit.click("Looks right, continue")
            visit.see("Still to decide")
            visit.page.locator("[data-key=filter]").fill("199")
            expect(visit.page.locator("tbody tr")).to_have_count(1)
            visit.page.locator("tbody input[type=radio]").first.focus()
            visit.page.keyboard.press("2")
            expect(visit.page.locator(".panel pre")).to_contain_text(
                "column 199: {role: quasi, type: numeric}", timeout=90_000
            )
            assert visit.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    finally:
        app.end()
