"""Masked records on their way to a table: what was seen of them, and whether the table holds the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl

from tarnkappe.engines.line_shuffle import Dealt, LineShuffle
from tarnkappe.engines.shuffle import Shuffle, gathered
from tarnkappe.io import Source, TableWriter
from tarnkappe.io.cells import BATCH
from tarnkappe.io.csvparts import OddError
from tarnkappe.io.kept import MODULUS, restored, words
from tarnkappe.io.lines import Lines
from tarnkappe.io.repeats import repeats_of
from tarnkappe.masking.plain import PlainRecords
from tarnkappe.masks.columns import Seen
from tarnkappe.masks.masked import Masked

#: Bytes of records that wait in memory for their place; more go by way of the disk.
_WAITING = 2 << 30

#: A name that no column has: a name that is blank is refused in tables.
_WORD = " "


class Passage:
    """The published columns of masked data, record by record; `chance` is that of their order."""

    def __init__(self, masked: Masked, names: Sequence[str], chance: Callable[..., np.random.Generator]) -> None:
        """Nothing has passed yet."""
        self._view, self._names, self._chance = masked.view, tuple(names), chance
        held = masked.view.held
        #: The published columns that masks hold in memory.
        self._held = [name for name in names if name in held]
        #: The published columns of which masks keep how often values are repeated.
        self._repeating = [name for one in masked.masks for name in one.counts_repeats if name in names]
        self._begin(None)

    def _begin(self, plain: PlainRecords | None) -> None:
        #: What writes the records, if they do not pass as tables.
        self._plain = plain
        #: The words of all records that passed (see `tarnkappe.io.kept` and `tarnkappe.masking.plain`), some at a time.
        self._entered: list[int] = []
        #: Those of their columns that masks hold in memory as well, in the order of the original.
        self._passed: list[pl.DataFrame] = []
        #: Words of original values of which masks keep how often they are repeated.
        self._watched: list[pl.DataFrame] = []

    def _batches(self) -> Iterator[pl.DataFrame]:
        """The masked records in their order; each is entered into the sum that written ones must have."""
        self._begin(None)
        types = self._view.types(self._names)
        shown = [self._view.shown(name, t).alias(name) for name, t in types.items()]
        word = words({name: restored(name, t, t) for name, t in types.items()})
        for batch, seen in self._view.batches_with_words(self._names, shown, self._repeating):
            self._enter(int(batch.select(word.sum()).item()), batch, seen)
            yield batch

    def _enter(self, total: int, batch: pl.DataFrame, seen: pl.DataFrame) -> None:
        self._entered.append(total)
        self._passed.append(batch.select(self._held))
        self._watched.append(seen)

    def shuffled(self) -> Iterator[pl.DataFrame]:
        """The masked records in random order."""
        with Shuffle(self._view.n_rows, self._chance(), _WAITING) as shuffle:
            for records in gathered(self._batches(), BATCH):
                shuffle.add(records)
            yield from shuffle.batches()

    def lines(self, writer: TableWriter) -> Iterator[Lines]:
        """The masked records in random order, as lines of a CSV file."""
        plain = PlainRecords.of(self._view, self._names, writer.dialect)
        if plain is not None:
            try:
                yield from self._in_random_order(partial(self._plain_lines, plain, writer))
                return
            except OddError:  # before the first line comes out: some value needs quotes, or is no usual number
                pass

        def dealt(shuffle: LineShuffle) -> Iterator[Dealt]:
            for i, batch in enumerate(self._batches()):
                yield shuffle.deal(writer.as_written(batch), i)

        yield from self._in_random_order(dealt)

    def _in_random_order(self, dealt: Callable[[LineShuffle], Iterable[Dealt]]) -> Iterator[Lines]:
        with LineShuffle(self._view.n_rows, self._chance, _WAITING) as shuffle:
            for some in dealt(shuffle):
                shuffle.add(some)
            yield from shuffle.batches()

    def _plain_lines(self, plain: PlainRecords, writer: TableWriter, shuffle: LineShuffle) -> Iterator[Dealt]:
        """The masked records in their order, as lines that are for the most part those of the original."""
        self._begin(plain)
        writer.write(pl.DataFrame(schema=self._view.types(self._names)))  # which is the header
        for lines, total, made, seen in plain.written(self._repeating, shuffle.deal):
            self._enter(total, made, pl.DataFrame(dict(zip(self._repeating, seen, strict=True))))
            yield lines

    def passed(self) -> Seen:
        """What was seen of the original: whole columns, and how often values are repeated; words are forgotten."""
        repeats = _repeats(self._watched)
        self._watched.clear()
        return Seen(pl.concat(self._passed).to_dict(), repeats)

    def found_in(self, written: Source) -> tuple[bool, Seen]:
        """Whether a written table holds the records that passed; its values are read as what they were.

        With it come the columns that masks hold in memory as well, and how often values are repeated: what masks leave
        as it was is computed from them.
        """
        total, seen = self._in_table(written) if self._plain is None else self._in_lines(self._plain, written)
        return total == sum(self._entered) % MODULUS, seen

    def _in_lines(self, plain: PlainRecords, written: Source) -> tuple[int, Seen]:
        found = plain.found(written, self._held, self._repeating)
        if found is None:  # nobody wrote such a file
            return -1, Seen()
        columns = {name: found.columns[name] for name in self._held}
        return found.total, Seen(columns, _repeats([pl.DataFrame(found.watched)]))

    def _in_table(self, written: Source) -> tuple[int, Seen]:
        rows = written.scan_as_were(self._view.types(self._names))
        word = words({name: pl.col(name) for name in self._names})
        total, parts, seen = 0, [], []
        known = [pl.col(name).hash().alias(f"{_WORD}{name}") for name in self._repeating]
        read = rows.select(word.alias(_WORD), *self._held, *known)
        try:
            for batch in read.collect_batches(maintain_order=True, engine="streaming"):
                total += int(batch[_WORD].sum())
                parts.append(batch.select(self._held))
                seen.append(batch.select(pl.col(f"{_WORD}{name}").alias(name) for name in self._repeating))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise written.unreadable() from None  # their own words may quote values
        return total % MODULUS, Seen(pl.concat(parts).to_dict(), _repeats(seen))


def _repeats(words: Sequence[pl.DataFrame]) -> dict[str, dict[int, int]]:
    """How often the words of every column are repeated."""
    return {name: repeats_of(column) for name, column in pl.concat(words).to_dict().items()} if words else {}
