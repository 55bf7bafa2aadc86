"""Jobs, commands and outputs that are wrong."""

from __future__ import annotations

from office import JOB, Case, job, table, with_cell

_UP_TO_CRITERIA = JOB.partition("criteria:")[0]
_OUTPUT = "output: {folder: release}\n"
_L = "l-diversity: {column: illness, l: 2}"
_SUPPRESS = "limits: {suppressed_rows: 5%}\n"
_WILDCARD = "{path: people.csv, missing_rule: wildcard}"


def _job(title: str, code: str, line: int | str | None, *says: str, given: str | bytes | None) -> Case:
    where = f"job.yaml:{line}" if isinstance(line, int) else line
    return Case(title, code, where, says, job=given)


def _changed(title: str, code: str, line: int | str, old: str, new: str, *says: str) -> Case:
    return _job(title, code, line, *says, given=job((old, new)))


def _command(title: str, code: str, where: str | None, words: str, *says: str) -> Case:
    return Case(title, code, where, says, words=tuple(words.split()))


FILES = [
    _job("job file missing", "E107", "job.yaml", "No such file", "tarnkappe init", given=None),
    _job("job file in another encoding", "E100", "job.yaml", "not UTF-8", given=job(("Clinic", "é")).encode("cp1252")),
    _job("job file not YAML", "E100", 2, "not valid YAML", given="columns: [a\ncriteria: }"),
    _job("job file with control characters", "E100", "job.yaml", "not valid YAML", given=job(("Clinic", "a\0b"))),
    _job("job file empty", "E100", "job.yaml", "a mapping", "tarnkappe init", given=""),
    _job("job file of comments", "E100", "job.yaml", "a mapping", given="# nothing\n"),
    _job("job file a list", "E100", "job.yaml", "a mapping", given="- columns\n- criteria\n"),
    _job("job file that is the data", "E100", "job.yaml", "a mapping", given=table()),
    _job("two documents", "E100", "job.yaml", "several YAML documents", given=JOB + "---\n" + JOB),
    _job("key twice", "E104", 13, "'criteria' stands twice", "job.yaml:9", given=JOB + "criteria: []\n"),
    _changed("column twice", "E104", 6, "  sex:", "  age: drop\n  sex:", "'age' stands twice", "job.yaml:5"),
    _changed("unknown key", "E102", 9, "criteria:", "critera:", "did you mean 'criteria'?", "Known keys: columns"),
    _changed("unknown key in a section", "E102", 2, "{path:", "{pth:", "in 'data'", "did you mean 'path'?"),
    _changed("unknown key of a column", "E102", 4, "{role: id", "{rol: id", "did you mean 'role'?"),
    _changed("unknown role", "E110", 4, "identifier", "identifyer", "did you mean 'identifier'?"),
    _job("no criteria", "E103", 1, "needs 'criteria'", "k-anonymity: {k: 5}", given=_UP_TO_CRITERIA + _OUTPUT),
    _job("criteria empty", "E106", 9, "no criterion", given=_UP_TO_CRITERIA + "criteria: []\n" + _OUTPUT),
    _job("criteria a mapping", "E110", 9, "a list", given=_UP_TO_CRITERIA + "criteria: {k-anonymity: {k: 5}}\n"),
    _job("no columns", "E103", 1, "needs 'columns'", "{role: quasi", given="data: {path: people.csv}\ncriteria: []\n"),
    _job("columns a list", "E110", 1, "'columns' must be a mapping", "age:", given="columns: [age]\ncriteria: []\n"),
    _changed("column without a role", "E101", "job.yaml", "  sex: {role: quasi, taxonomy: suppress}\n", "", "sex"),
    _changed("column that the data lack", "E410", "people.csv", "sex:", "name2: drop\n  sex:", "did you mean 'name'?"),
    _changed("no quasi-identifier", "E106", 3, "role: quasi", "role: drop", "no column is a quasi-identifier"),
    _changed("no taxonomy", "E112", 6, ", taxonomy: suppress", "", "'sex' has no taxonomy", "taxonomy: suppress"),
    _changed("undeclared taxonomy", "E105", 6, "taxonomy: suppress", "taxonomy: sexes", "'sexes'", "'suppress'"),
    _changed("unknown kind of taxonomy", "E105", 7, "kind: prefix", "kind: prefixes", "did you mean 'prefix'?"),
    _changed("path with NUL", "E110", 12, "folder: release", 'folder: "a\\0b"', "NUL"),
    _changed("unknown encoding", "E110", 2, "people.csv}", "people.csv, encoding: utf-9}", "utf-9", "encoding: utf-8"),
    _changed("delimiter of two signs", "E110", 2, "people.csv}", "people.csv, delimiter: ';;'}", "one sign"),
]

SETTINGS = [
    *(
        _changed(f"k: {k}", "E110", 10, "k: 5", f"k: {k}", "'k' must be a whole number of at least 1")
        for k in ("0", "-5", "2.5", "five", "true", "''", "[5]", "1e400")
    ),
    _changed("t above 1", "E110", 11, _L, "t-closeness: {column: illness, t: 2}", "'t' must be a number between 0 and"),
    _changed("l above the number of values", "E301", "job.yaml", "l: 2", "l: 9", "reach 4 on 'illness'", "asked"),
    _changed("k above the number of rows", "E301", "job.yaml", "k: 5", "k: 61", "All 60 records", "reach 60"),
    _job(
        "infeasible in spite of suppression",
        "E301",
        "job.yaml",
        "reach 4 on 'illness'",
        "- l-diversity: {column: illness, l: 4}",
        given=job(("l: 2", "l: 5"), more=_SUPPRESS),
    ),
    _changed("unknown criterion", "E105", 10, "k-anonymity", "k-anonimity", "did you mean 'k-anonymity'?", "Known:"),
    _changed("criterion on a column that is not sensitive", "E105", 11, "column: illness", "column: sex", "'sex'"),
    _changed("criterion on a column that is not there", "E105", 11, "column: illness", "column: ilness", "'illness'"),
    _changed("criterion without its parameter", "E103", 10, "{k: 5}", "{}", "needs 'k'"),
    _changed("parameter of a criterion mistyped", "E102", 11, "column:", "colum:", "did you mean 'column'?"),
    _changed(
        "hierarchical t-closeness without a taxonomy",
        "E111",
        11,
        _L,
        "t-closeness: {column: illness, t: 0.3, distance: hierarchical}",
        "needs a taxonomy for 'illness'",
    ),
    _job("unknown algorithm", "E105", 13, "did you mean 'mondrian'?", given=JOB + "algorithm: {name: mondrain}\n"),
    _job("algorithm without a name", "E103", 13, "{name: mondrian}", given=JOB + "algorithm: {cut: median}\n"),
    *(
        _job(f"suppressed_rows: {share}", "E110", 13, "2%", given=JOB + f"limits: {{suppressed_rows: {share}}}\n")
        for share in ("150%", "-1%", "many", "nan", "true")
    ),
    Case(
        "wildcards with an algorithm that cannot",
        "E111",
        "job.yaml",
        ("datafly", "missing_rule: own-value"),
        data=with_cell(41, "sex", ""),
        job=job(("{path: people.csv}", _WILDCARD), more="algorithm: datafly\n"),
    ),
]

COMMANDS = [
    _command("wrong option", "E108", None, "run job.yaml --sed 3", "--sed", "did you mean '--seed'?", "run --help"),
    _command("option without its value", "E108", None, "run job.yaml --seed", "'--seed'", "--help"),
    _command("option of the wrong type", "E108", None, "run job.yaml --seed x", "'--seed'", "run --help"),
    _command("wrong command", "E108", None, "runn job.yaml", "'runn'", "Did you mean 'run'?"),
    _command("command without its file", "E108", None, "run", "'JOB'", "run --help"),
    _command("one word too many", "E108", None, "run job.yaml people.csv more", "(more)"),
    _command("--set without =", "E108", "--set", "run job.yaml --set criteria.k", "'criteria.k'", "key=value"),
    _command("--set of an unknown key", "E102", "--set", "run job.yaml --set critera.k=9", "did you mean 'criteria'?"),
    _command("--set of an unknown parameter", "E108", "--set", "run job.yaml --set criteria.kk=9", "'criteria.k'?"),
    _command("--set of a bad value", "E110", "--set", "run job.yaml --set criteria.k=0", "at least 1"),
    _command("--set that is not YAML", "E100", "--set criteria.k:2", "run job.yaml --set criteria.k=[1", "YAML"),
    _command("another data file missing", "E401", "peple.csv", "run job.yaml peple.csv", "did you mean 'people.csv'?"),
    _command("data file is a folder", "E401", "HERE", "run job.yaml HERE", "is a folder, not a file"),
    _command("job file is a folder", "E107", "HERE", "run HERE", "Is a directory"),
    _command("inspect nothing", "E401", "none.txt", "inspect none.txt", "does not exist"),
    _command("explain nothing", "E108", None, "explain k-anonimity", "did you mean 'k-anonymity'?"),
    _command("verify with nothing to check", "E108", None, "verify people.csv", "--quasi", "--k 5"),
    _command(
        "verify a missing column", "E410", "people.csv", "verify people.csv --qi agee --criterion k-anonymity:k=2"
    ),
    _command("verify nonsense", "E110", "--criterion", "verify people.csv --qi age --criterion k-anonymity:k=x", "'x'"),
    *(
        Case(
            f"manifest changed by hand: {text}",
            "E110",
            "manifest.json",
            ("does not say what the file promises", "--quasi"),
            files={"manifest.json": '{"tarnkappe": "0", "file": "people.csv", ' + text + "}"},
            words=("verify", "people.csv"),
        )
        for text in ('"criteria": 5', '"criteria": [], "quasi_identifiers": 7', '"criteria": "x"')
    ),
]

OUTPUTS = [
    Case(
        "output exists",
        "E601",
        "HERE/release",
        ("'release' exists already", "--overwrite", "HERE/release-2"),
        files={"release/public/manifest.json": '{"tarnkappe": "0"}'},
    ),
    Case(
        "output is not ours",
        "E601",
        "HERE/release",
        ("is not an earlier release, so it is not replaced", "HERE/release-2"),
        files={"release/thesis.txt": "ten years of work"},
        words=("run", "job.yaml", "--overwrite"),
    ),
    Case("output is a file", "E601", "HERE/release", ("is a file",), files={"release": "ten years of work"}),
    _command("output is the folder of the data", "E602", "HERE", "run job.yaml -o .", "'people.csv'", "HERE/release"),
    _command("output is the data", "E602", "HERE/people.csv", "run job.yaml -o people.csv", "is the input"),
    Case(
        "output holds a taxonomy",
        "E602",
        "HERE/release",
        ("'sex.csv'", "HERE/release-2"),
        job=job(("taxonomy: suppress", "taxonomy: {kind: file, path: release/sex.csv}")),
        files={"release/sex.csv": "canary-f;*\ncanary-m;*\n", "release/public/manifest.json": '{"tarnkappe": "0"}'},
        words=("run", "job.yaml", "--overwrite"),
    ),
    Case(
        "output holds the job",
        "E602",
        "HERE/release",
        ("'mine.yaml'", "HERE/release-2"),
        files={
            "release/mine.yaml": job(("people.csv", "../people.csv"), ("folder: release", "folder: .")),
            "release/public/manifest.json": '{"tarnkappe": "0"}',
        },
        words=("run", "release/mine.yaml", "--overwrite"),
    ),
    _command("output below a file", "E603", "HERE/people.csv/x", "run job.yaml -o people.csv/x", "not a folder"),
    _command("output with a long name", "E603", f"HERE/{'x' * 300}", f"run job.yaml -o {'x' * 300}", "too long"),
]
