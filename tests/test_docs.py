"""Every Python block of the documentation runs. Blocks of one page share a namespace, as a reader would run them."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms import all_algorithms
from tarnkappe.attacks import all_attacks
from tarnkappe.criteria import all_criteria
from tarnkappe.masks import all_masks
from tarnkappe.metrics import all_metrics

ROOT = Path(__file__).parents[1]

#: A fenced Python block: its title, if it is a file, and its code; indented blocks stand inside tabs or notes.
_BLOCK = re.compile(
    r"^(?P<indent> *)```python(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^ *```$", re.DOTALL | re.MULTILINE
)


def pages() -> list[Path]:
    """All pages written by hand that hold Python."""
    written = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [p for p in written if not p.name.startswith("generated-") and "```python" in p.read_text(encoding="utf-8")]


def blocks(page: Path) -> list[tuple[str | None, str]]:
    """Title and code of each block, padded so that tracebacks show the line of the page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        code = re.sub(f"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        found.append((match["title"], "\n" * text[: match.start("code")].count("\n") + code))
    return found


def module_name(title: str | None, page: Path) -> str:
    """The module that a block is: that of its file if it has one, else one for the whole page."""
    if title is None:
        return "docs_page_" + re.sub(r"\W", "_", page.stem)
    return title.removeprefix("src/").removesuffix(".py").replace("/", ".")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for title, code in blocks(page):
        name = module_name(title, page)
        if name not in sys.modules:
            monkeypatch.setitem(sys.modules, name, ModuleType(name))  # dataclasses look their module up
        namespace = vars(sys.modules[name])
        exec(compile(code, str(page), "exec"), namespace)
        for test in [thing for word, thing in namespace.items() if word.startswith("test_")]:
            test()


def test_every_python_block_is_found():
    for page in pages():
        assert len(blocks(page)) == page.read_text(encoding="utf-8").count("```python")


def test_figures_that_pipelines_ask_for_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """To `jq` a figure that is not there is less than any limit, so a gate that asks for one lets everything pass."""
    monkeypatch.chdir(tmp_path)
    people = pl.DataFrame({"age": [20, 21, 30, 31], "illness": ["flu", "gout", "flu", "burn"]})
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=[tk.KAnonymity(2)])
    release = tk.run_job(job, people, "release")
    told = {"result.json": release.as_dict(), "release/do-not-share/manifest.json": release.private_manifest}
    page = (ROOT / "docs" / "how-to" / "automate.md").read_text(encoding="utf-8")
    asked = re.findall(r"jq (?:-\w+ )*'\.([a-z_.]+)[^']*'(?: (\S+))?", page)
    assert len(asked) == page.count("jq -") + page.count("jq '")
    for path, file in asked:
        found = told[file]
        for key in path.split("."):
            assert key in found, f"{file} has no {path}"
            found = found[key]


def test_formulas_are_plain_text():
    """The site has no script that would render TeX: formulas are blocks of text that read the same everywhere."""
    verbatim = re.compile(r"^( *)```.*?^\1```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
    for page in [*pages(), *(ROOT / "docs").rglob("*.md")]:
        text = verbatim.sub("", page.read_text(encoding="utf-8"))
        found = re.search(r"\$\$|\$[^$\n]+\$|\\(?:frac|sum|text|mathrm|le|ge)\b", text)
        assert not found, f"{page.relative_to(ROOT)}: {found[0]}"


def test_formulas_of_docstrings_are_understood(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    text = importlib.import_module("markdown_text")
    assert doctest.testmod(text).failed == 0
    rooms = (all_criteria(), all_algorithms(), all_attacks(), all_masks(), all_metrics())
    for thing in (thing for room in rooms for thing in room.values()):
        assert "\\" not in re.sub(r"```.*?```|`[^`]*`", "", text.docstring(thing), flags=re.DOTALL), thing
