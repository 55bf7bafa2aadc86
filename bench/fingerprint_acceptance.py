"""All that traceable copies must show on Adult: fourteen points, each with its figure.

    python bench/fingerprint_acceptance.py [--quick] [--json FILE] [--markdown FILE]

Prints one line per point and exits with 1 if one fails; ``--markdown bench/results/fingerprint.md`` writes the section
of RESULTS.md (``python bench/run.py --compose`` puts it there). The data folder is that of TARNKAPPE_DATA (it holds
``adult/adult.csv`` or ``data/adult/adult.csv``), by default ``../shared``. ``--quick`` repeats less often.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import hmac
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from tarnkappe import Job, KAnonymity, LDiversity, Taxonomy, TCloseness, from_file
from tarnkappe.algorithms.fulldomain.search import cuts_at
from tarnkappe.algorithms.recoding import recode
from tarnkappe.errors import DataError, RefusedError, TarnkappeError
from tarnkappe.fingerprint import (
    Candidates,
    Key,
    Objective,
    Register,
    best_window,
    check_proof,
    evolve,
    framed,
    frameproof,
    issue,
    joint_privacy,
    meet,
    one_finer,
    plan_copies,
    poster_plans,
    prove,
    trace,
)
from tarnkappe.fingerprint.attacks import ATTACKS, Bench, outcome
from tarnkappe.fingerprint.baseline import Marks, compare_marks, spoilt
from tarnkappe.fingerprint.genetic import mutate
from tarnkappe.fingerprint.issuing import plan_of_copy
from tarnkappe.fingerprint.keys import derived
from tarnkappe.fingerprint.value_schemes import VALUE_SCHEMES, AnyColumn
from tarnkappe.goal import Goal
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells

EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
ALPHA = 1e-3

#: A point gives whether it holds, and its figure.
Found = tuple[bool, str]


def data_folder() -> Path:
    """The folder with Adult and its hierarchies."""
    given = Path(os.environ.get("TARNKAPPE_DATA", Path(__file__).resolve().parents[2] / "shared"))
    found = next((p for p in (given / "data" / "adult", given / "adult", given) if (p / "adult.csv").is_file()), None)
    if found is None:
        sys.exit(f"adult/adult.csv is not in {given}; set TARNKAPPE_DATA to the folder that holds it")
    return found


class Acceptance:
    """The points, and what they share."""

    def __init__(self, *, quick: bool) -> None:
        self.folder, self.quick = data_folder(), quick
        self.key = Key(hashlib.sha256(b"acceptance").digest())
        self.rng = np.random.default_rng(1)

    def times(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    @cached_property
    def tally(self) -> Tally:
        frame = pl.read_csv(self.folder / "adult.csv", separator=";", infer_schema=False)
        codes, domains = [], []
        for column in EIGHT:
            with (self.folder / f"adult_hierarchy_{column}.csv").open(encoding="utf-8", newline="") as lines:
                tree = Taxonomy.from_paths([tuple(row) for row in csv.reader(lines, delimiter=";")])
            number = {leaf: code for code, leaf in enumerate(tree.leaves)}
            codes.append(frame[column].replace_strict(number, return_dtype=pl.Int32).to_numpy())
            domains.append(Domain(column, tree))
        return count_cells(codes, [], domains, [])[0]

    def patterns(self, k: int, limit: float) -> Candidates:
        return Candidates.of(self.tally, Goal([KAnonymity(k)], limit))

    @cached_property
    def unsuppressed(self) -> Candidates:
        return self.patterns(3, 0.0)

    @cached_property
    def many(self) -> Candidates:
        return self.patterns(3, 0.006)

    def job(self, *criteria: object, limit: float = 0.02) -> Job:
        quasi = {q: from_file(str(self.folder / f"adult_hierarchy_{q}.csv")) for q in EIGHT}
        chosen = list(criteria) or [KAnonymity(3)]
        return Job(quasi=quasi, sensitive=["salary-class"], criteria=chosen, max_suppressed=limit)

    @cached_property
    def planned(self):
        return plan_copies(
            self.job(), str(self.folder / "adult.csv"), self.key, recipients=100, colluders=2, alpha=ALPHA
        )

    @cached_property
    def bench(self) -> Bench:
        own = self.key.of(self.planned.scheme.dataset)
        return Bench(self.planned.scheme.layout, own, 100, ALPHA, 2)

    @cached_property
    def wide(self) -> Bench:
        """More positions, for three colluders."""
        job = self.job(limit=0.06)
        planned = plan_copies(job, str(self.folder / "adult.csv"), self.key, recipients=100, colluders=3, alpha=ALPHA)
        return Bench(planned.scheme.layout, self.key.of(planned.scheme.dataset), 100, ALPHA, 3)

    def at(self, levels: tuple[int, ...], k: int = 1) -> Plan:
        return Plan.of(self.tally, Goal([KAnonymity(k)]), recode(self.tally, cuts_at(self.tally, levels)))

    # The points.

    def enumeration(self) -> Found:
        began = time.process_time()
        counts = [len(self.patterns(k, limit)) for k, limit in ((3, 0.0), (5, 0.0), (10, 0.0), (3, 0.01), (3, 0.02))]
        seconds = time.process_time() - began
        return counts == [82, 67, 50, 1567, 2276] and seconds < 15, f"{counts} in {seconds:.1f} s of processor time"

    def exact(self) -> Found:
        wrong = 0
        for _ in range(self.times(5000, 300)):
            losses = self.rng.random(int(self.rng.integers(3, 9)))
            objective = Objective(2, len(losses) - 1, size_weight=float(self.rng.choice([0.1, 1.0])))
            sizes = range(2, len(losses))
            best = min(objective.of(losses[list(c)]) for n in sizes for c in combinations(range(len(losses)), n))
            wrong += best_window(losses, objective).value > best + 1e-9
        top = self.many.best(100, "lm").lm
        began = time.process_time()
        found = best_window(top, Objective(2, 100))
        fast = time.process_time() - began
        began = time.process_time()
        best_window(self.many.lm, Objective(2, len(self.many)))
        slow = time.process_time() - began
        worse = sum(
            evolve(
                top, Objective(10, 50), rng=np.random.default_rng(s), generations=self.times(200, 20)
            ).selection.value
            < best_window(top, Objective(10, 50)).value - 1e-12
            for s in range(20)
        )
        ok = not wrong and not worse and abs(found.value - 0.5202) < 1e-4 and len(found.members) == 100
        ok &= fast < 0.01 and slow < 0.2
        return (
            ok,
            f"{wrong} wrong, {found.value:.4f} for {len(found.members)}, {1000 * fast:.1f} and {1000 * slow:.0f} ms of "
            "processor time",
        )

    def genetic(self) -> Found:
        kept = added = 0
        n = self.times(20_000, 4000)
        for _ in range(n):
            genes = np.zeros(90, np.bool_)
            genes[:30] = True
            mutate(genes, self.rng)
            kept += int(genes.sum()) == 30
            added += int(genes.sum()) == 31
        runs = [evolve(self.many.lm, Objective(2, 300), rng=np.random.default_rng(7)).selection for _ in range(2)]
        same = runs[0].members.tolist() == runs[1].members.tolist()
        ok = abs(kept / n - 0.4) < 0.02 and abs(added / n - 0.3) < 0.02 and same and runs[0].gap > 0
        return ok, f"replaces {kept / n:.3f}, adds {added / n:.3f}, repeatable: {same}, gap {runs[0].gap:.1%}"

    def meets(self) -> Found:
        levels = [tuple(map(int, row)) for row in self.unsuppressed.levels]
        if self.quick:
            levels = levels[::8]
        plans = {p: self.at(p) for p in levels}
        wrong = alone = 0
        pairs = list(combinations(levels, 2))
        for a, b in pairs:
            together = joint_privacy([plans[a], plans[b]]).effective_k
            wrong += together != int(self.at(meet(a, b)).sizes.min())
            alone += together == 1
        try:
            poster_plans(self.tally, Goal([KAnonymity(3)]), levels[:6], acknowledged=False)
            refused = False
        except RefusedError:
            refused = True
        share = alone / len(pairs)
        ok = not wrong and refused and meet([0, 2], [1, 1]) == (0, 1) and (self.quick or abs(share - 0.75) < 0.01)
        return ok, f"{wrong} of {len(pairs)} pairs differ from their meet, {share:.1%} with k = 1, refused: {refused}"

    def coalitions(self) -> Found:
        worst, tried = [], 0
        for criteria in (
            [KAnonymity(3)],
            [KAnonymity(3), LDiversity("salary-class", 2)],
            [TCloseness("salary-class", 0.5)],
        ):
            planned = plan_copies(self.job(*criteria), str(self.folder / "adult.csv"), self.key)
            own = self.key.of(planned.scheme.dataset)
            plans = [plan_of_copy(planned, own, f"r{i}", planned.scheme.base) for i in range(self.times(14, 6))]
            sets = [c for n in (1, 2, 3) for c in combinations(range(len(plans)), n)]
            sets += [tuple(self.rng.choice(len(plans), min(10, len(plans)), replace=False)) for _ in range(20)]
            found = [joint_privacy([plans[i] for i in c]) for c in sets]
            tried += len(found)
            worst += [f for f in found if not f.ok]
        return not worst, f"{len(worst)} of {tried} coalitions break a criterion"

    def families(self) -> Found:
        levels, loss = self.unsuppressed.levels, self.unsuppressed.lm
        one = frameproof(levels, loss, 1, rng=self.rng)
        two = frameproof(levels, loss, 2, rng=self.rng, effort=self.times(2_000_000, 300_000))
        fine = one_finer((0, 3, 0, 1, 2, 1, 0, 2), self.unsuppressed.heights)
        proofs = [framed(levels[one.members], 1), framed(levels[two.members], 2), framed(fine, len(fine))]
        ok = proofs == [None] * 3 and len(one.members) >= 32 and one.is_optimal and len(two.members) >= 9
        gap = f"at most {two.bound:.0f}" if two.gap else "proved"
        return (
            ok,
            f"{len(one.members)} for 1 colluder (proved), {len(two.members)} for 2 ({gap}), {len(fine)} for any number",
        )

    @cached_property
    def handed_out(self):
        planned = plan_copies(
            self.job(), str(self.folder / "adult.csv"), self.key, kind="patterns", recipients=10, colluders=1
        )
        register = Register.open(Path(tempfile.mkdtemp()) / "register.jsonl")
        tables = {}
        for i in range(10):
            copy, register = issue(planned, self.key, f"r{i}", register=register)
            tables[f"r{i}"] = copy.release.table
        return planned.scheme, register, tables

    def single_rows(self) -> Found:
        scheme, register, tables = self.handed_out
        hits = n = 0
        for i in range(self.times(1000, 20)):
            name = f"r{i % 10}"
            row = tables[name].sample(1, seed=i)
            hits += trace(row, scheme, self.key, register).fitting == (name,)
            n += 1
        return hits == n, f"{hits} of {n} single rows give the exact pattern"

    def coarsened_patterns(self) -> Found:
        scheme, register, tables = self.handed_out
        kept = alone = n = 0
        for name, table in tables.items():
            for column in EIGHT:
                leak = table.with_columns(pl.lit("*").alias(column))
                found = trace(leak, scheme, self.key, register)
                kept += name in (found.fitting or ())
                alone += len(found.accused) > 0
                n += 1
        return (
            kept == n and alone == 0,
            f"the recipient stays suspect in {kept} of {n}, accused by pattern alone: {alone}",
        )

    def groups_of_copies(self) -> Found:
        own = self.key.of(self.planned.scheme.dataset)
        plans = [plan_of_copy(self.planned, own, f"r{i}", self.planned.scheme.base) for i in range(100)]
        least = min(int(p.sizes.min()) for p in plans)
        together = joint_privacy(plans)
        broken = spoilt(self.planned.decided.plan, own, AnyColumn, gamma=10)
        ok = least >= 3 and together.ok and broken.smallest < 3
        return (
            ok,
            f"smallest group {least}, all 100 merged {together.effective_k}; value marks leave k = {broken.smallest}",
        )

    def robustness(self) -> Found:
        runs = self.times(200, 3)
        asked = [
            ("delete-rows", 0.95, 0.99),
            ("flip-marks", 0.5, 0.99),
            ("add-rows", 1.0, 0.99),
            ("interleave", 2, 0.90),
            ("merge", 2, 0.99),
            ("mix-rows", 2, 0.99),
        ]
        by_name = {a.name: a for a in ATTACKS}
        told, ok = [f"{self.bench.layout.n_positions} positions:"], True
        for name, strength, least in asked:
            found = outcome(self.bench, by_name[name], strength, self.rng, runs)
            ok &= found.traced_share >= least
            told.append(f"{name} {strength:g} {found.traced_share:.3f}")
        told.append(f"· {self.wide.layout.n_positions} positions, 3 colluders:")
        ok &= self.wide.layout.n_positions >= 374
        for name in ("interleave", "merge", "mix-rows"):
            found = outcome(self.wide, by_name[name], 3, self.rng, runs)
            ok &= found.traced_share >= 0.95
            told.append(f"{name} {found.traced_share:.3f}")
        told.append("· not asked for:")
        for name in ("delete-columns", "rename-labels", "coarsen", "guess", "blur"):
            for strength in by_name[name].strengths:
                found = outcome(self.bench, by_name[name], strength, self.rng, runs)
                told.append(f"{name} {strength:g} {found.traced_share:.3f}")
        marked = len(np.unique(self.bench.layout.pairs))
        found = outcome(self.bench, by_name["coarsen"], marked, self.rng, min(runs, 20))
        ok &= not found.traced and not found.falsely_accused
        told.append(f"coarsen all {marked} {found.traced_share:.3f}")
        return ok, " ".join(told)

    def false_accusations(self) -> Found:
        by_name = {a.name: a for a in ATTACKS}
        n = self.times(10_000, 50)
        nobody = outcome(self.bench, by_name["nobody"], 1, self.rng, n).falsely_accused
        colluding = 0
        kinds = ("interleave", "mix-rows", "merge", "majority", "minority")
        for i, name in enumerate(kinds):
            part = n // len(kinds) // 2
            for c in (2, 3):
                colluding += outcome(self.bench, by_name[name], c, np.random.default_rng(i), part).falsely_accused
        exact = sum(
            self.bench.trace(self.bench.whole(self.bench.book[u])).accused == (self.bench.names[u],) for u in range(100)
        )
        limit = ALPHA + 3 * np.sqrt(ALPHA / n)
        ok = nobody / n <= limit and colluding / n <= limit and exact == 100
        return (
            ok,
            f"{nobody} of {n} leaks of nobody, {colluding} of {n} collusions; {exact} of 100 pristine copies exact",
        )

    def keys(self) -> Found:
        known = hmac.digest(b"Jefe", b"what do ya want for nothing?", "sha256").hex()[:8] == "5bdcc146"
        n = 1 << self.times(20, 14)
        distinct = len({derived(self.key.raw, "bits", str(i)) for i in range(n)})
        wrong = 0
        trials = self.times(1000, 40)
        for i in range(trials):
            other = Key(hashlib.sha256(str(i).encode()).digest()).of("x")
            guess = Bench(self.bench.layout, other, 100, ALPHA, 2)
            wrong += bool(guess.trace(self.bench.whole(self.bench.book[i % 100])).accused)
        digests = set()
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                issue(self.planned, self.key, "same", Path(folder) / "copy")
                files = sorted((Path(folder) / "copy" / "public").glob("adult*"))
                digests.add(hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest())
        ok = known and distinct == n and wrong <= max(1, 3 * ALPHA * trials) and len(digests) == 1
        return (
            ok,
            f"{n - distinct} collide of {n}, wrong keys {wrong} of {trials} times, {len(digests)} sort of bytes",
        )

    def register(self) -> Found:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "register.jsonl"
            register = Register.open(path)
            for name in "abcd":
                register = register.appended(name, "data", "0" * 64, (0,))
            lines = path.read_text().splitlines()
            found = 0
            changed = [[*lines[:i], *lines[i + 1 :]] for i in range(4)]
            changed += [[*lines[:i], lines[i].replace("data", "date"), *lines[i + 1 :]] for i in range(4)]
            for text in changed:
                path.write_text("\n".join(text) + "\n")
                try:
                    Register.open(path)
                except DataError:
                    found += 1
        proof = prove(self.planned.scheme, self.key)
        opened = check_proof(proof, self.planned.scheme.commitment)
        bits = self.planned.scheme.code(opened).bits("r1")
        same = np.array_equal(bits, self.planned.scheme.code(self.key.of(opened.dataset)).bits("r1"))
        try:
            check_proof({**proof, "nonce": "00"}, self.planned.scheme.commitment)
            forged = True
        except TarnkappeError:
            forged = False
        ok = found == len(changed) and same and not forged and self.key.raw.hex() not in json.dumps(proof)
        return ok, f"{found} of {len(changed)} changes noticed, proof opens: {same}, forged proof accepted: {forged}"

    @cached_property
    def compared(self) -> tuple[Marks, ...]:
        """Block marks and the three value schemes on the same table, under the same attacks."""
        losses = {"loss": self.planned.loss, "extra_loss": self.planned.extra_loss}
        return compare_marks(
            self.planned.decided.plan, self.bench, self.rng, runs=self.times(50, 2), colluders=(2, 3), **losses
        )

    def comparison(self) -> Found:
        block, *others = self.compared
        told = [f"block marks: k = {block.privacy.smallest}, misses {_worst(block)}, accuses falsely {_false(block)}"]
        told += [
            f"{m.title}: k = {m.privacy.smallest}, {m.privacy.unique} unique, misses {_worst(m)}, "
            f"accuses falsely {_false(m)}"
            for m in others
        ]
        ok = block.privacy.smallest >= 3 and all(m.privacy.smallest < 3 for m in others) and len(others) == 3
        return ok, " · ".join(told)

    def points(self) -> Iterator[tuple[str, Callable[[], Found]]]:
        yield "1 enumeration", self.enumeration
        yield "2 exact optimum", self.exact
        yield "3 genetic algorithm", self.genetic
        yield "4 meets", self.meets
        yield "5 coalitions", self.coalitions
        yield "6 frameproof families", self.families
        yield "7 single rows", self.single_rows
        yield "8 coarsened patterns", self.coarsened_patterns
        yield "9 groups of copies", self.groups_of_copies
        yield "10 robustness", self.robustness
        yield "11 false accusations", self.false_accusations
        yield "12 keys", self.keys
        yield "13 register and proof", self.register
        yield "14 comparison", self.comparison


def _worst(marks: Marks) -> str:
    """The attack that most leaks survive untraced."""
    title, found = max(marks.attacks.items(), key=lambda item: item[1].missed)
    return f"up to {found.missed} of {found.runs} ({title})" if found.missed else "none"


def _false(marks: Marks) -> str:
    return f"{sum(a.falsely_accused for a in marks.attacks.values())} of {sum(a.runs for a in marks.attacks.values())}"


def section(acceptance: Acceptance, results: dict[str, dict[str, object]]) -> str:
    """The section of RESULTS.md: all points, and the comparison attack by attack."""
    out = [
        "## Traceable copies (`bench/fingerprint_acceptance.py`)",
        "",
        "Adult, eight quasi-identifiers, k = 3, 100 recipients, probability of a false accusation at most 0.001.",
        "",
        "| point | | figure |",
        "|---|---|---|",
        *(f"| {name} | {'pass' if found['ok'] else 'FAIL'} | {found['figure']} |" for name, found in results.items()),
    ]
    if "14 comparison" in results:
        out += comparison_tables(acceptance)
    return "\n".join(out) + "\n"


def comparison_tables(acceptance: Acceptance) -> list[str]:
    """Block marks beside value marks: what is left of k, and leaks that were missed."""
    compared, plan = acceptance.compared, acceptance.planned.decided.plan
    own = acceptance.key.of(acceptance.planned.scheme.dataset)
    out = [
        "",
        "### Value marks on the same k-anonymous table",
        "",
        "One row in γ is marked in one quasi-identifier; the table had k = 3 and no false cell.",
        "",
        "| marks | γ | k | unique records | records in groups below k | false cells | mean loss (LM) |",
        "|---|---|---|---|---|---|---|",
        f"| block marks | – | {compared[0].privacy.smallest} | 0 | 0 % | 0 % | {compared[0].loss:.4f} |",
    ]
    for kind in VALUE_SCHEMES:
        for gamma in (2, 10, 100, 1000):
            p = spoilt(plan, own, kind, gamma)
            out.append(
                f"| {kind.title} | {gamma} | {p.smallest} | {p.unique} | {p.below:.2%} | {p.false_cells:.2%} | "
                f"{acceptance.planned.loss:.4f} |"
            )
    runs = next(iter(compared[0].attacks.values())).runs
    rows = [("block marks", compared[0].attacks)]
    for marks in compared[1:]:
        rows += [(f"{marks.title}, own decoder", marks.attacks), (f"{marks.title}, bounded decoder", marks.bounded)]
    out += [
        "",
        f"False misses of {runs} leaks each (γ = 10): nobody who is behind the leak was accused. In brackets the "
        "leaks in which somebody innocent was. Value schemes are told the number of every row, but not where rows are "
        "sorted.",
        "",
        f"| attack | {' | '.join(title for title, _ in rows)} |",
        f"|---|{'---|' * len(rows)}",
    ]
    for attack in compared[0].attacks:
        found = [attacks[attack] for _, attacks in rows]
        cells = (f"{a.missed}" + (f" ({a.falsely_accused})" if a.falsely_accused else "") for a in found)
        out.append(f"| {attack} | {' | '.join(cells)} |")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    acceptance = Acceptance(quick=given.quick)
    results = {}
    for name, point in acceptance.points():
        if given.only and int(name.split()[0]) not in given.only:
            continue
        began = time.process_time()
        ok, figure = point()
        results[name] = {"ok": ok, "figure": figure, "seconds": round(time.process_time() - began, 1)}
        print(f"{'pass' if ok else 'FAIL'}  {name}: {figure}  [{results[name]['seconds']} s of CPU]", flush=True)
    if given.json:
        given.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if given.markdown:
        given.markdown.write_text(section(acceptance, results), encoding="utf-8")
    return 0 if all(r["ok"] for r in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
