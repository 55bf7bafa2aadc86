"""The ledger of records that Spark recodes, and fingerprints of tables that it reads; nothing but sums comes here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import polars.selectors as cs

from tarnkappe.engines.ledger import Ledger
from tarnkappe.engines.spark import tasks
from tarnkappe.io.kept import MODULUS
from tarnkappe.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_COUNT, _WORDS = "n", "words"


def ledger_of(plan: Plan, records: DataFrame, names: Mapping[str, str]) -> Ledger:
    """Enter all records, given with their cells, their groups and what they carry: one count per piece comes here.

    `names` says what each carried column is called inside Spark.
    """
    from pyspark.sql import functions

    groups = np.arange(plan.n_groups, dtype=np.int32)
    shown = {f"q{j}": labels.at(groups) for j, labels in enumerate(plan.labels)}
    table = pl.DataFrame({tasks.GROUP: groups, **shown}).with_columns((cs.categorical() | cs.enum()).cast(pl.String))
    published = records.sparkSession.createDataFrame(table.to_arrow(compat_level=pl.CompatLevel.oldest()))
    joined = records.join(functions.broadcast(published), on=tasks.GROUP, how="left")
    types = {name: records.schema[inner].dataType for name, inner in names.items()}
    labels = {q: table.schema[q] for q in shown}
    word = word_of_record(joined, labels, {names[name]: type_ for name, type_ in types.items()})
    found = joined.groupBy(tasks.CELL, tasks.GROUP).agg(
        functions.count("*").alias(_COUNT), summed_words(word).alias(_WORDS)
    )
    pieces = pl.DataFrame(pl.from_arrow(found.toArrow()))
    rows = sum(int(x) for x in pieces.filter(pl.col(tasks.GROUP) >= 0)[_WORDS].to_list()) % MODULUS
    grouping = plan.grouping
    planned = pl.DataFrame({tasks.CELL: grouping.cell, tasks.GROUP: grouping.group, _COUNT: grouping.quota})
    key = [tasks.CELL, tasks.GROUP]
    dealt = pieces.select(pl.col(*key).cast(pl.Int64), pl.col(_COUNT).cast(pl.Int64)).sort(key)
    wanted = planned.filter(pl.col(_COUNT) > 0).select(pl.all().cast(pl.Int64)).group_by(key).sum().sort(key)
    return Ledger(types, rows, dealt.equals(wanted))


def word_of_record(
    frame: DataFrame, labels: Mapping[str, pl.DataType], carried: Mapping[str, DataType], decimal: str = "."
) -> Column:
    """One word per record, by its labels and by what it carries."""
    from pyspark.sql import functions
    from pyspark.sql.types import DoubleType, LongType, StringType

    kinds = {
        name: DoubleType() if type_.is_float() else LongType() if type_.is_integer() else StringType()
        for name, type_ in labels.items()
    }
    return functions.xxhash64(_word(frame, kinds, decimal), _word(frame, carried, decimal))


def fingerprint(
    frame: DataFrame, labels: Mapping[str, pl.DataType], carried: Mapping[str, DataType], decimal: str
) -> int:
    """The fingerprint of a table by the columns of its labels, and by those that passed through."""
    found = frame.agg(summed_words(word_of_record(frame, labels, carried, decimal))).collect()
    return int(found[0][0] or 0) % MODULUS


def _word(frame: DataFrame, wanted: Mapping[str, DataType], decimal: str) -> Column:
    """One word per row of some columns of a data frame, as values of the types they had."""
    from pyspark.sql import functions

    values = [_restored(frame, name, type_, decimal) for name, type_ in wanted.items()]
    # Spark skips missing values, so that it is said apart where they are.
    return functions.xxhash64(*values, *(value.isNull() for value in values))


def summed_words(word: Column) -> Column:
    """The sum of all words, exactly."""
    from pyspark.sql import functions

    return functions.sum(word.cast("decimal(20,0)"))


def _restored(frame: DataFrame, name: str, wanted: DataType, decimal: str) -> Column:
    """A column as values of the type that it had; there is one zero, and no number (NaN) is a missing value."""
    from pyspark.sql import functions
    from pyspark.sql.types import DecimalType, DoubleType, FloatType, StringType

    stored, column = frame.schema[name].dataType, functions.col(name)
    if isinstance(wanted, StringType):
        return column.cast("string")
    if isinstance(stored, StringType) and decimal != "." and isinstance(wanted, (DecimalType, DoubleType, FloatType)):
        column = functions.translate(column, decimal, ".")
    if not isinstance(wanted, (DoubleType, FloatType)):
        return column.try_cast(wanted)
    number = column.try_cast(wanted)
    return functions.when(~functions.isnan(number), number + functions.lit(0.0).cast(wanted))
