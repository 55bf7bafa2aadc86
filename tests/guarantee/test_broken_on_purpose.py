"""The package with a part broken on purpose: it must notice itself, or else the checks of this folder must."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from checker import run_and_check
from whole_jobs import BEYOND_GROUPS, LIE_ELSEWHERE, ROW, Case, guarded_hospital, hospital

from tarnkappe import (
    AlphaKAnonymity,
    BetaLikeness,
    ConfidenceBounding,
    Datafly,
    DeltaDisclosure,
    EntropyLDiversity,
    EpsilonMAnonymity,
    Flash,
    FrequencyLDiversity,
    KAnonymity,
    KEAnonymity,
    KIndistinguishability,
    LDiversity,
    MaxRisk,
    Mondrian,
    PersonalizedPrivacy,
    RecursiveCLDiversity,
    TCloseness,
    run_job,
)
from tarnkappe import deciding as deciding_module
from tarnkappe import plan as plan_module
from tarnkappe.criteria import Criterion, all_criteria
from tarnkappe.engines import encode as encode_module
from tarnkappe.engines import memory as memory_module
from tarnkappe.engines import streaming as streaming_module
from tarnkappe.errors import DataError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.io import TableWriter
from tarnkappe.publish import labels as labels_module
from tarnkappe.tally import distinct_rows
from twins import demanding

Patch = pytest.MonkeyPatch

STRICT = (KAnonymity(5), LDiversity("illness", 2))


def a_case(output: str = "csv", criteria: tuple[Criterion, ...] = STRICT) -> Case:
    return hospital(criteria, Mondrian(), output=output)


def every_tuple_alone(self: Any, tally: Any, goal: Goal, *, rng: np.random.Generator) -> Grouping:
    """An algorithm that protects nobody."""
    columns = [tally.quasi[:, j] for j in range(tally.quasi.shape[1])]
    group, first = distinct_rows(columns, [d.size for d in tally.quasi_domains])
    return Grouping.of_cells(tally, group, len(first))


def spoil_batches(patch: Patch, spoil: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """A writer that writes another table than it was given; what else is written stays as it is."""
    write = TableWriter.write
    patch.setattr(
        TableWriter, "write", lambda self, batch: write(self, spoil(batch) if ROW in batch.columns else batch)
    )


# --- what the package notices itself ----------------------------------------------------------------------------------


def protect_nobody(patch: Patch) -> None:
    patch.setattr(Mondrian, "decide", every_tuple_alone)
    patch.setattr(plan_module, "suppress_leftovers", lambda tally, grouping, goal, keys: grouping)


def believe_every_plan(patch: Patch) -> None:
    """Criteria are satisfied as long as nobody looks at the written table."""
    patch.setattr(Mondrian, "decide", every_tuple_alone)
    patch.setattr(Goal, "satisfied", lambda self, stats: np.ones(stats.n_groups, np.bool_))


def give_a_group_another_label(patch: Patch) -> None:
    original = labels_module.labels_of

    def wrong(*given: Any) -> labels_module.Labels:
        labels = original(*given)
        code = labels.code.copy()
        code[-1] = code[0] if code[-1] != code[0] else (code[0] + 1) % len(labels.texts)
        return labels_module.Labels(labels.texts, code)

    patch.setattr(labels_module, "labels_of", wrong)


def lose_a_record(patch: Patch) -> None:
    spoil_batches(patch, lambda batch: batch.tail(-1))


def write_a_record_twice(patch: Patch) -> None:
    spoil_batches(patch, lambda batch: pl.concat([batch, batch.head(1)]))


def add_a_column(patch: Patch) -> None:
    spoil_batches(patch, lambda batch: batch.with_columns(pl.Series("name", ["Ada"] * batch.height)))


def leave_a_column_out(patch: Patch) -> None:
    spoil_batches(patch, lambda batch: batch.drop("note"))


def swap_columns(patch: Patch) -> None:
    spoil_batches(patch, lambda batch: batch.select(reversed(batch.columns)))


def write_one_true_age(patch: Patch) -> None:
    """One record says more than its group may."""
    spoil_batches(
        patch,
        lambda batch: batch.with_columns(
            pl.when(pl.int_range(pl.len()) == 0)
            .then(pl.lit("42"))
            .otherwise(pl.col("age").cast(pl.String))
            .alias("age")
        ),
    )


def give_a_group_one_illness(patch: Patch) -> None:
    """The groups are right, but one of them has lost its diversity."""

    def spoil(batch: pl.DataFrame) -> pl.DataFrame:
        quasi = ["age", "town", "sex"]
        first = pl.all_horizontal(pl.col(c).cast(pl.String) == str(batch[c][0]) for c in quasi)
        illness = pl.when(first).then(pl.lit("angina")).otherwise(pl.col("illness").cast(pl.String))
        return batch.with_columns(illness.alias("illness"))

    spoil_batches(patch, spoil)


def put_records_into_any_group(patch: Patch) -> None:
    """Sizes stay as planned, but the secrets of a group are no longer those that were checked."""
    original = memory_module.assign_records

    def wrong(*given: Any) -> Any:
        group = original(*given).copy()
        group[:2] = (group[:2] + 1) % (group.max() + 1)
        return group

    patch.setattr(memory_module, "assign_records", wrong)


def forget_the_last_group(patch: Patch) -> None:
    original = memory_module.assign_records
    patch.setattr(memory_module, "assign_records", lambda *given: np.where(original(*given) > 3, -1, original(*given)))


def swap_two_labels(patch: Patch) -> None:
    """The groups look right to whoever reads the table, but two of them wear each other's labels."""
    original = labels_module.labels_of

    def wrong(*given: Any) -> labels_module.Labels:
        labels = original(*given)
        return labels_module.Labels((labels.texts[-1], *labels.texts[1:-1], labels.texts[0]), labels.code)

    patch.setattr(labels_module, "labels_of", wrong)


def exchange_records(patch: Patch) -> None:
    """Every record wears the labels of the one before it."""
    original = memory_module.assign_records
    patch.setattr(memory_module, "assign_records", lambda *given: np.roll(original(*given), 1))


def repeat_one_record_in_place_of_another(patch: Patch) -> None:
    """As many records as before, of the same groups, but one person twice and one not at all."""

    def spoil(batch: pl.DataFrame) -> pl.DataFrame:
        quasi = ["age", "town", "sex"]
        keys = batch.select(quasi).rows()
        other = next(i for i in range(1, len(keys)) if keys[i] == keys[0])
        at = pl.Series([0 if i == other else i for i in range(batch.height)], dtype=pl.UInt32)
        return batch[at]

    spoil_batches(patch, spoil)


def change_a_note(patch: Patch) -> None:
    spoil_batches(patch, lambda batch: batch.with_columns(note=pl.lit("not what stood there")))


def swap_two_secrets(patch: Patch) -> None:
    """Two people of different groups wear each other's illness; groups, sizes and the illnesses as a whole stay."""

    def spoil(batch: pl.DataFrame) -> pl.DataFrame:
        age, illness = batch["age"].cast(pl.String), batch["illness"].cast(pl.String)
        other = next(i for i in range(batch.height) if age[i] != age[0] and illness[i] != illness[0])
        at = [other if i == 0 else 0 if i == other else i for i in range(batch.height)]
        return batch.with_columns(illness.gather(at).alias("illness"))

    spoil_batches(patch, spoil)


def say_less_than_true(patch: Patch) -> None:
    """A group publishes one value of several; its box is as it was."""
    original = labels_module.labels_of

    def wrong(*given: Any) -> labels_module.Labels:
        labels = original(*given)
        texts = list(labels.texts)
        lowest = {i: text.strip("[]").split(" ")[0] for i, text in enumerate(texts) if text.startswith("[")}
        at = next((i for i, low in lowest.items() if low not in texts), None)
        if at is not None:
            texts[at] = lowest[at]
        return labels_module.Labels(tuple(texts), labels.code)

    patch.setattr(labels_module, "labels_of", wrong)


NOTICED = [
    protect_nobody,
    believe_every_plan,
    give_a_group_another_label,
    lose_a_record,
    write_a_record_twice,
    add_a_column,
    leave_a_column_out,
    swap_columns,
    write_one_true_age,
    give_a_group_one_illness,
    put_records_into_any_group,
    forget_the_last_group,
    swap_two_labels,
    exchange_records,
    repeat_one_record_in_place_of_another,
    change_a_note,
    swap_two_secrets,
    say_less_than_true,
]


@pytest.mark.parametrize("output", ["csv", "parquet"])
@pytest.mark.parametrize("spoil", NOTICED, ids=lambda f: f.__name__)
def test_the_package_notices(spoil: Callable[[Patch], None], output: str, tmp_path: Path, monkeypatch: Patch):
    case = a_case(output)
    data = case.write(tmp_path)
    spoil(monkeypatch)
    with pytest.raises(VerificationError, match="E501") as caught:
        run_job(case.job(), data, tmp_path / "release", seed=1)
    assert caught.value.exit_code == 5
    assert caught.value.details
    assert [p.name for p in tmp_path.iterdir()] == [data.name]


@pytest.mark.parametrize("spoil", [protect_nobody, believe_every_plan, give_a_group_another_label])
def test_the_package_notices_in_memory(spoil: Callable[[Patch], None], tmp_path: Path, monkeypatch: Patch):
    case = a_case()
    data = case.write(tmp_path)
    spoil(monkeypatch)
    with pytest.raises(VerificationError, match="E501"):
        case.job().anonymize(data, seed=1)


def test_an_earlier_release_survives(tmp_path: Path, monkeypatch: Patch):
    """What cannot be verified does not replace what was."""
    case = a_case()
    data = case.write(tmp_path)
    run_job(case.job(), data, tmp_path / "release", seed=1)
    before = {p: p.read_bytes() for p in (tmp_path / "release").rglob("*") if p.is_file()}
    lose_a_record(monkeypatch)
    with pytest.raises(VerificationError):
        run_job(case.job(), data, tmp_path / "release", seed=2, overwrite=True)
    assert {p: p.read_bytes() for p in (tmp_path / "release").rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("output", ["csv", "parquet"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_torn_file_is_no_release(output: str, share: float, tmp_path: Path, monkeypatch: Patch):
    """A file that lost its end on the way to the disk is refused."""
    case = a_case(output)
    data = case.write(tmp_path)
    close = TableWriter.close

    def tear(self: TableWriter) -> None:
        close(self)
        whole = self._path.read_bytes()
        self._path.write_bytes(whole[: int(len(whole) * share)])

    monkeypatch.setattr(TableWriter, "close", tear)
    with pytest.raises(VerificationError, match="E501"):  # not an error of the input
        run_job(case.job(), data, tmp_path / "release", seed=1)
    assert [p.name for p in tmp_path.iterdir()] == [data.name]


# --- what only somebody who knows the input can notice ----------------------------------------------------------------


def take_two_values_for_one(patch: Patch) -> None:
    """Some people become a year younger before anything is counted."""
    original = encode_module.Values.of.__func__  # type: ignore[attr-defined]

    def wrong(cls: type, *given: Any) -> encode_module.Values:
        values = original(cls, *given)
        code = np.where(values.code == 1, 0, values.code).astype(values.code.dtype)
        return dataclasses.replace(values, code=code)

    patch.setattr(encode_module.Values, "of", classmethod(wrong))


def check_nothing(patch: Patch) -> None:
    """Neither plan nor written table is checked any more, and nobody is protected."""
    protect_nobody(patch)
    from tarnkappe import runs

    patch.setattr(runs, "require_release", lambda *given: None)


@pytest.mark.parametrize(
    "spoil",
    [
        take_two_values_for_one,
        check_nothing,
    ],
    ids=lambda f: f.__name__,
)
def test_these_checks_notice(spoil: Callable[[Patch], None], monkeypatch: Patch):
    case = a_case(criteria=(KAnonymity(3),))
    assert run_and_check(case) is not None
    spoil(monkeypatch)
    with pytest.raises(AssertionError):
        run_and_check(case)


#: Goals that are hard enough for a criterion that is never asked to show.
DEMANDING: dict[str, Criterion] = {
    "k-anonymity": KAnonymity(8),
    "l-diversity": LDiversity("illness", 5),
    "entropy-l-diversity": EntropyLDiversity("illness", 4),
    "recursive-cl-diversity": RecursiveCLDiversity("illness", 1.1, 3),
    "frequency-l-diversity": FrequencyLDiversity("illness", 4),
    "t-closeness": TCloseness("illness", 0.1),
    "alpha-k-anonymity": AlphaKAnonymity("illness", 0.25, 6),
    "confidence-bounding": ConfidenceBounding("illness", {}, 0.25),
    "k-e-anonymity": KEAnonymity("income", 4, 2499.5),
    "beta-likeness": BetaLikeness("illness", 0.3, "basic"),
    "delta-disclosure": DeltaDisclosure("illness", 0.7),
    "max-risk": MaxRisk(0.1),
    "k-indistinguishability": KIndistinguishability(10),
    "epsilon-m-anonymity": EpsilonMAnonymity("income", 400, 2),
    "personalized-privacy": PersonalizedPrivacy("illness", "guard", 0.3),
    **demanding(),
}


def test_every_criterion_lies_once():
    """Those that more than single groups decide lie in `test_beyond_groups`; a mechanism is no matter of groups.

    What centres publish is that of `test_security_ratio`; guarded values and surveys have tests of their own.
    """
    elsewhere = {"differential-privacy", "security-ratio", *LIE_ELSEWHERE}
    assert set(DEMANDING) | BEYOND_GROUPS | elsewhere == set(all_criteria())


@pytest.mark.parametrize("name", DEMANDING)
def test_a_lying_criterion_is_found_out(name: str, monkeypatch: Patch):
    """A criterion that is always satisfied deceives plan and verdict alike; counting by hand it does not."""
    criterion = DEMANDING[name]
    case = guarded_hospital((KAnonymity(2), criterion), Mondrian() if criterion.is_monotone else Flash(), limit=0.9)
    assert run_and_check(case) is not None
    monkeypatch.setattr(type(criterion), "holds", lambda self, stats: np.ones(stats.n_groups, np.bool_))
    monkeypatch.setattr(type(criterion), "min_size", 1)
    monkeypatch.setattr(type(criterion), "decided_by_size", False)
    with pytest.raises(AssertionError, match="violates"):
        run_and_check(case)


def test_a_criterion_with_the_wrong_level_is_found_out(monkeypatch: Patch):
    """A verdict that states another level than was reached is a lie even if the criterion holds."""
    case = hospital((KAnonymity(2), TCloseness("illness", 0.5)), Mondrian())
    monkeypatch.setattr(TCloseness, "level", lambda self, stats: np.zeros(stats.n_groups))
    with pytest.raises(AssertionError):
        run_and_check(case)


def test_giving_up_too_early_is_found_out(monkeypatch: Patch):
    """An algorithm that says impossible although one group of all records would do."""

    def give_up(self: Any, tally: Any, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        raise goal.infeasible(tally)

    def no_last_resort(algorithm: Any, tally: Any, goal: Goal, decide: Callable[[], Grouping], missing: Any) -> Any:
        return plan_module.Plan.of(tally, goal, decide(), missing)

    monkeypatch.setattr(Datafly, "decide", give_up)
    assert run_and_check(hospital((KAnonymity(5),), Datafly())) is not None  # the package makes one group of all
    monkeypatch.setattr(deciding_module, "planned", no_last_resort)
    with pytest.raises(AssertionError, match="gave up"):
        run_and_check(hospital((KAnonymity(5),), Datafly()))


def exchange_streamed_records(patch: Patch) -> None:
    """Every record wears the labels of the one before it in its batch."""
    original = streaming_module._records
    patch.setattr(streaming_module, "_records", lambda group, row: original(np.roll(group, 1), row))


def take_two_rows_for_one(patch: Patch) -> None:
    """Two of the distinct rows change places after they were counted."""
    original = streaming_module.RowCounter.again

    def wrong(*given: Any) -> Any:
        for row, carried in original(*given):
            yield np.where(row == 0, 1, np.where(row == 1, 0, row)).astype(row.dtype), carried

    patch.setattr(streaming_module.RowCounter, "again", wrong)


@pytest.mark.parametrize("spoil", [exchange_streamed_records, take_two_rows_for_one], ids=lambda f: f.__name__)
def test_these_checks_notice_while_streaming(spoil: Callable[[Patch], None], monkeypatch: Patch):
    case = dataclasses.replace(a_case(criteria=(KAnonymity(3),)), engine="streaming")
    assert run_and_check(case) is not None
    spoil(monkeypatch)
    with pytest.raises((AssertionError, VerificationError)):
        run_and_check(case)


def test_writing_from_the_plan_is_checked(monkeypatch: Patch):
    """Without a column that passes through, the release is made up from the plan: here everybody is one group on."""
    case = a_case(criteria=(KAnonymity(3), LDiversity("illness", 2)))
    fields = tuple(dataclasses.replace(f, role="drop") if f.role == "keep" else f for f in case.fields)
    case = dataclasses.replace(case, fields=fields, engine="streaming")
    assert run_and_check(case) is not None
    original = streaming_module._expanded

    def wrong(values: Any, *given: Any) -> Any:
        records = original(values, *given)
        records[:-1] = records[0]  # all but one of these records in one group, or of one kind
        return records

    monkeypatch.setattr(streaming_module, "_expanded", wrong)
    with pytest.raises((AssertionError, VerificationError)):
        run_and_check(case)


@pytest.mark.parametrize("engine", [memory_module.MemoryEngine, streaming_module.StreamingEngine])
def test_as_many_records_are_counted_as_the_file_has(engine: Any, tmp_path: Path, monkeypatch: Patch):
    """An engine that overlooks a record, or sees one twice, does not get as far as deciding."""
    case = dataclasses.replace(a_case(), engine=engine.name)
    data = case.write(tmp_path)
    count = engine.count

    def wrong(self: Any, *given: Any) -> Any:
        tally = count(self, *given)
        more = tally.count.copy()
        more[0] += 1
        return dataclasses.replace(tally, count=more)

    monkeypatch.setattr(engine, "count", wrong)
    with pytest.raises(DataError, match="E401"):
        run_job(case.job(), data, tmp_path / "release", seed=1)
    assert [p.name for p in tmp_path.iterdir()] == [data.name]
