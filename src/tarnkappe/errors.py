"""What can go wrong, each with a code, a place, a fix and an exit code.

::

    TarnkappeError
    ├── JobError            E1xx  exit 2   the job file, a parameter or an option is wrong
    ├── TaxonomyError       E2xx  exit 3   a taxonomy is broken or does not fit its column
    ├── InfeasibleError     E3xx  exit 4   no release satisfies the goal within the limits
    ├── DataError           E4xx  exit 3   data cannot be read or contradict their declaration
    ├── VerificationError   E5xx  exit 5   the written file does not satisfy the goal, or not withstand an attack
    ├── RefusedError        E6xx  exit 6   a guard rail said no
    └── LimitError          E7xx  exit 7   out of disk, memory or time

Warnings are `Notice` objects with a ``Wxxx`` code; they travel with the result and are never printed by the
library itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from tarnkappe.fixes import Fix, Relaxation, say


class TarnkappeError(Exception):
    """An error a user can act on: what happened, where, and how to fix it.

    As a text it is complete, because in Python the text is all that people see. A `Fix` is then written as Python,
    unless the error is about a line of a job file.

    >>> print(JobError("E110", "k must be at least 1, got 0", where="job.yaml:7", hint="Set  k: 5."))
    E110 k must be at least 1, got 0 (job.yaml:7)
      Fix: Set  k: 5.
    """

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        code: str,
        message: str,
        *,
        where: str | None = None,
        details: Iterable[str] = (),
        hint: str | Fix | None = None,
        ways: Iterable[Relaxation] = (),
    ) -> None:
        """Describe the problem; `details` are further lines, `hint` is a fix that works when pasted.

        Where one of several `ways` can be chosen, they are the hint.
        """
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.details = tuple(details)
        self.ways = tuple(ways)
        hint = _one_of(self.ways) if self.ways else hint
        #: The fix as it is written in a job file or on the command line.
        self.hint = None if hint is None else str(hint)
        #: The fix as it is written in Python.
        self.python_hint = hint.in_python if isinstance(hint, Fix) else self.hint
        #: Whether it is about something written in a job file.
        self.in_job_file = False

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        hint = self.hint if self.in_job_file else self.python_hint
        fix = [] if hint is None else ["Fix: " + hint.replace("\n", "\n    ")]
        return "\n  ".join([f"{self.code} {self.message}{place}", *self.details, *fix])

    def as_dict(self) -> dict[str, object]:
        """The error as plain data, for ``--json``."""
        return {
            "code": self.code,
            "message": self.message,
            "where": self.where,
            "details": list(self.details),
            "hint": self.hint,
            "ways": [{"write": str(way.fix), "effect": way.effect} for way in self.ways],
            "exit_code": self.exit_code,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels between processes as it is; Python would make it anew from its message alone."""
        return type(self).__new__, (type(self), self.message), self.__dict__


def _one_of(ways: Iterable[Relaxation]) -> Fix:
    """Ways out, a line each."""
    effects = [way.effect.replace("{", "{{").replace("}", "}}") for way in ways]
    return say("\n".join(["one of", *(f"{{}}   ({effect})" for effect in effects)]), *(way.fix for way in ways))


class JobError(TarnkappeError):
    """The job file, a parameter or an option is wrong."""

    exit_code = 2


class TaxonomyError(TarnkappeError):
    """A taxonomy is broken or does not fit its column."""

    exit_code = 3


class InfeasibleError(TarnkappeError):
    """No release satisfies the goal within the limits."""

    exit_code = 4
    #: How many records it proposes to leave out, if it does.
    proposed: int | None = None


class DataError(TarnkappeError):
    """Data cannot be read, or contradict what the job says about them."""

    exit_code = 3


class VerificationError(TarnkappeError):
    """The written file does not satisfy the goal; no release was made."""

    exit_code = 5


class RefusedError(TarnkappeError):
    """A guard rail said no."""

    exit_code = 6


class LimitError(TarnkappeError):
    """Out of disk, memory or time."""

    exit_code = 7


@dataclass(frozen=True)
class Notice:
    """A warning that travels with a result.

    >>> print(Notice("W601", "k = 2 is low", hint="Authorities usually ask for 5 or more."))
    W601 k = 2 is low
    """

    code: str
    message: str
    hint: str | None = None
    #: Whether it tells more about the input than the release does, so that only the publisher may read it.
    internal: bool = False

    def __str__(self) -> str:
        return f"{self.code} {self.message}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suffix like `` (did you mean 'criteria'?)``, or nothing when no known word is close.

    >>> did_you_mean("critera", ["criteria", "columns"])
    " (did you mean 'criteria'?)"
    >>> did_you_mean("quasi-identifier", ["identifier", "quasi"])
    " (did you mean 'quasi'?)"
    """
    close = closest(word, known)
    return "" if close is None else f" (did you mean '{close}'?)"


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant, whatever its capitals, or None when none is close.

    >>> closest("plz", ["Alter", "PLZ"])
    'PLZ'
    """
    words = {w.lower(): w for w in known}
    begun = [w for w in words if len(w) >= 4 and word.lower().startswith(w)]
    close = begun or difflib.get_close_matches(word.lower(), words, n=1, cutoff=0.6)
    return words[max(close, key=len)] if close else None


#: What each code means, for ``tarnkappe explain`` and the reference page.
CODES: dict[str, str] = {
    "E100": "The job file is not valid YAML, or is not a mapping of keys to values.",
    "E101": "Columns have no role yet. Every column needs one of: identifier, quasi, sensitive, keep, drop, subject.",
    "E102": "The job file has an unknown key. Keys are checked so that a typo cannot weaken a release.",
    "E103": "The job file lacks a required key.",
    "E104": "A key stands twice in the job file.",
    "E105": "The job names a column, taxonomy, criterion or algorithm that does not exist.",
    "E106": "The job has no quasi-identifier or no criterion, so there is nothing to protect.",
    "E107": "A file that should exist does not, or cannot be opened.",
    "E108": "An option of the command line or a  --set key=value  cannot be understood.",
    "E109": "The config.xml or taxonomies.xml file cannot be understood.",
    "E110": "A parameter has a value outside its range or of the wrong type.",
    "E111": "A criterion cannot be used with this algorithm or column.",
    "E112": "A categorical quasi-identifier has no taxonomy, so Tarnkappe cannot know how to coarsen it.",
    "E113": "The Spark engine cannot start: PySpark or Java is missing, or the master does not answer.",
    "E114": "Another package offers a criterion or an algorithm that cannot be used.",
    "E115": "A query cannot be understood, or asks for a column or a figure that the release does not have.",
    "E119": "A model was asked for, and scikit-learn, which trains it, is not installed.",
    "E201": "A taxonomy is not a tree: a value has two parents, stands twice, or is its own ancestor.",
    "E202": "A taxonomy is empty or its file cannot be read.",
    "E203": "A taxonomy cannot be built with these settings.",
    "E204": "A taxonomy does not cover all values of its column.",
    "E301": "No release satisfies the criteria within the suppression limit, or none was found: the message says.",
    "E401": "The data file does not exist or cannot be opened.",
    "E402": "The data file is empty or has a header only.",
    "E403": "A row has more or fewer fields than the header.",
    "E404": "The text encoding of the file is not the one stated or detected.",
    "E405": "The header has a column name twice, or an empty name.",
    "E406": "A value cannot be read as the declared type.",
    "E407": "Missing values are present and the job does not say how a missing cell matches others.",
    "E408": "The format of the file, or the type of one of its columns, is not supported.",
    "E409": "The data frame is of a type Tarnkappe does not know.",
    "E410": "The job names a column that the data do not have.",
    "E411": "A public table should hold everybody in the data, but lacks some of them.",
    "E412": "A cell names a guarding node that the taxonomy of the sensitive column does not have.",
    "E413": "The keys of joined tables do not fit: a person is missing, stands twice, or has no key.",
    "E414": "The register of issued copies was changed, or lines of it are missing.",
    "E415": "The plan of traceable copies is missing or was changed.",
    "E420": "The file with the key of pseudonyms is missing, cannot be read, or holds no key.",
    "E421": "A mask can make nothing of these data: a column does not vary, or nobody can be exchanged with anybody.",
    "E430": "The least weight of cells to give up is found by a library that is not installed.",
    "E431": "A file that should be a plain table of numbers is none.",
    "E436": "Sampling weights are below 1, or missing: every record stands at least for itself.",
    "E440": "This release and earlier ones about the same people are together below the goal.",
    "E441": "The key of a ledger of releases is missing or was changed.",
    "E442": "The ledger of releases was changed, or lines of it are missing.",
    "E443": "Who was in an earlier release is missing or was changed.",
    "E444": "The ledger cannot be written.",
    "E445": "Another run is making a release with the same ledger.",
    "E446": "Records have no key that says whose they are, or share one where each person has one record.",
    "E447": "People who withdrew from releases are in the data.",
    "E448": "An earlier release does not belong to what is to be published now.",
    "E449": "People have another secret than in an earlier release.",
    "E450": "There are too few people to learn anything from that several of them share.",
    "E451": "Nearly everybody who could be drawn is the same as very few of the people in the data.",
    "E452": "The budget of a data set does not allow one more release about the same people.",
    "E453": "The file that remembers what releases spent was changed, or cannot be read.",
    "E454": "Two parties that specialise together do not understand each other.",
    "E460": "What reads and writes a database is not installed; the hint is the line that installs it.",
    "E461": "The address of a database holds a password. Those belong into the environment or a service file.",
    "E462": "The address of a database is not understood, or names no table, or a table and a query.",
    "E463": "A database cannot be opened: nobody listens, the password is wrong, or the file is none.",
    "E464": "A table of a database cannot be read: there is none of that name, or no right to read it.",
    "E465": "A database does not take the query of a job.",
    "E467": "A database does not let a release be written. It is as it was.",
    "E468": "The address of a database names a variable of the environment that is not set.",
    "E469": "A database cannot hold a name or a value of the release.",
    "E470": "The file is not of the format that its name says, or is damaged.",
    "E471": "The workbook has several sheets, or none of the name given.",
    "E472": "A fixed-width file does not fit the positions, metadata or code lists given for it.",
    "E473": "A filter or the expression of a derived column cannot be understood.",
    "E474": "Texts cannot be read as the numbers or days that an expression needs.",
    "E475": "The table has something that the format of the release cannot hold.",
    "E476": "An object store cannot be reached, or has no such object.",
    "E477": "The file is no ARX project, or is damaged.",
    "E478": "A pattern of file names or a folder of partitions finds no table.",
    "E480": "The app was asked for a file outside the folder that it was started in, or for a hidden one.",
    "E481": "The app was asked for a folder or a file that does not exist.",
    "E482": "The page asks for something that the open job does not have, or no job is open.",
    "E483": "A job runs already in the app.",
    "E484": "The job has changed since it ran, so its result is not released.",
    "E485": "A release that waited to be published was changed meanwhile and does not verify any more.",
    "E486": "A file of this kind cannot be dropped on the page.",
    "E487": "What was sent to the app is too large.",
    "E488": "A question to the app cannot be understood.",
    "E489": "The app needs packages that are not installed.",
    "E501": "The written file was read back and does not satisfy the goal. No release was made.",
    "E502": "An algorithm formed groups that lose, invent or mix up records. No release was made.",
    "E503": "An attack on the written file succeeds more often than the job allows. No release was made.",
    "E504": "A proof of ownership does not open the commitment that was published.",
    "E505": "A released table is not the one that its private folder was kept for. One of them was changed.",
    "E601": "The output exists already.",
    "E602": "The output would overwrite its own input.",
    "E603": "The output folder cannot be written.",
    "E604": "A column that points at people would be published, and the job gives no reason.",
    "E605": "Copies with patterns of their own would break the promise when recipients pool them.",
    "E607": "A release is to be signed that does not keep its promise, or cannot be checked.",
    "E609": "A measure was asked for that says nothing about such a table, such as how rare changed values are.",
    "E701": "The disk is full.",
    "E702": "Not enough memory.",
    "E703": "Spark gave up: a task failed again and again, or the cluster was lost.",
    "E704": "The search is too large for the algorithm; others can do it.",
    "E705": "The time limit was over before any release was found.",
    "W601": "k is below the value usually asked for.",
    "W602": "A sensitive column has no criterion: a whole group may share the same value.",
    "W603": "Columns that are published unchanged make groups smaller than promised, or single people out.",
    "W604": "Several rows share an identifier: k counts rows, not people.",
    "W605": "Some groups share one sensitive value although nobody asked for diversity.",
    "W606": "Rows were suppressed.",
    "W607": "Missing cells were filled with their group's value (missing_rule: wildcard).",
    "W608": "A method of an imported configuration is not known; another algorithm takes its place.",
    "W609": "A column that points at people is published, for a reason that the job states.",
    "W615": "Values of a sensitive column differ only in how they are written, and count as different.",
    "W616": "The search was stopped, by its time limit or by hand; the release is valid, but another run may differ.",
    "W620": "The CSV file has texts that a spreadsheet would run as formulas when somebody opens it.",
    "W621": "Quasi-identifiers are published as they are: who a record is about is not hidden.",
    "W622": "All records are in one group, which tells nobody apart.",
    "W629": "Records of some groups are almost equal, so that their centre tells the value of all of them.",
    "W630": "Records have no value in a column, or one that it cannot hold: under a mechanism that is the same.",
    "W640": "Pseudonyms join the records of a person, so that more is known about each than one row says.",
    "W641": "A quasi-identifier is published as it is, and no criterion looks at it: only masks were asked for.",
    "W642": "Values of a column were changed: what is published about a person there may not be true.",
    "W648": "Sensitive values may be falsified: some guarded ones were replaced by others.",
    "W649": "How many sensitive values were falsified, for the publisher only.",
    "W650": "Epsilon is large: noisy counts promise little.",
    "W651": "People of this release are in earlier ones: the joint k, l and t of all of them are told.",
    "W652": "This release and earlier ones are together below the goal, for a reason that the job states.",
    "W653": "A criterion says nothing about several releases together.",
    "W654": "Records were left out because an earlier recoding does not know their values.",
    "W655": "A release that a killed run had announced was entered into the ledger.",
    "W656": "Made-up people are drawn without differential privacy: who is rare may leave a trace.",
    "W657": "Epsilon is so large that one person may change the odds of a release a lot.",
    "W658": "Test data are drawn column by column from real values, and protect nobody.",
    "W659": "Many made-up people were the same as very few real ones, and were drawn again: shares are off by that.",
    "W663": "A setting of another tool has no counterpart here and was left out of the job.",
}
