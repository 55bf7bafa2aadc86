"""Every kind of identifier is recognised by what it is called or by its values; ordinary columns are not."""

from __future__ import annotations

import time
import unicodedata

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.datasets import census
from tarnkappe.looks import Sight, all_detectors, findings
from tarnkappe.looks.identifiers.national_id import SCHEMES
from tarnkappe.looks.name_lists import LANGUAGES

N = 60

#: A published example of each kind of number, or one that the rule's own documentation works out.
EXAMPLES = {
    "US social security": "219-09-9999",
    "US Medicare": "1EG4-TE5-MK73",
    "German tax": "86095742719",
    "German pension insurance": "15070649C103",
    "German health insurance": "A123456780",
    "British NHS": "943 476 5919",
    "British national insurance": "AB123456C",
    "French social security": "184127645108946",
    "Spanish identity": "12345678Z",
    "Italian tax": "RSSMRA85T10A562S",
    "Polish PESEL": "44051401359",
    "Dutch citizen service": "111222333",
    "Belgian national register": "85.07.30-033.28",
    "Swedish personal": "811228-9874",
    "Finnish personal": "131052-308T",
    "Danish personal": "010190-1234",
    "Norwegian birth": "01010750160",
    "Swiss AHV": "756.9217.0769.85",
    "Austrian insurance": "1237010180",
    "Portuguese tax": "123456789",
    "Canadian social insurance": "046454286",
    "Brazilian CPF": "529.982.247-25",
    "Turkish identity": "10000000146",
    "Indian Aadhaar": "234123412346",
    "Chinese identity": "11010519491231002X",
}


def kinds(name: str, values: list[object]) -> list[str]:
    return [f.kind for f in findings(Sight.of(name, pl.Series(name, values, strict=False)))]


def bare(texts: pl.Series) -> pl.Series:
    return texts.str.to_uppercase().str.replace_all(r"[ ./-]", "")


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: s.title)
def test_a_published_number_passes_and_one_changed_digit_does_not(scheme) -> None:
    right = EXAMPLES[scheme.title]
    at = max(i for i, c in enumerate(right) if c.isdigit())
    wrong = [right[:at] + d + right[at + 1 :] for d in "0123456789" if d != right[at]]
    texts = pl.Series([right, *wrong])
    first, *others = scheme.holds(texts, bare(texts)).to_list()
    assert first
    if scheme.check is not None:
        assert sum(others) <= 1  # a rule by 11 may allow two digits


def numbers_of(title: str) -> list[str]:
    """Sixty numbers that pass a rule, found by trying."""
    scheme = next(s for s in SCHEMES if s.title == title)
    rng = np.random.default_rng(3)
    tries = pl.Series([f"{n:011d}" for n in rng.integers(10**10, 10**11, 20_000)])
    return tries.filter(scheme.holds(tries, tries)).head(N).to_list()


def iban(account: int) -> str:
    rest = 98 - int(f"{account:018d}131400") % 97
    return f"DE{rest:02d}{account:018d}"


def card(number: int) -> str:
    digits = [int(c) for c in f"4{number:014d}"]
    total = sum(d if i % 2 else (2 * d - 9 if d > 4 else 2 * d) for i, d in enumerate(digits))
    return "".join(map(str, digits)) + str(-total % 10)


FIRST = ["Anna", "Peter", "Maria", "Hans", "Julia", "Thomas", "Sabine", "Michael", "Xaverine", "Quirin"]
LAST = ["Schmidt", "Weber", "Nowak", "Rossi", "Garcia", "Jones", "Zyxwv", "Abcdef"]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("e-mail", [f"p{i}@mail.example.org" for i in range(N)]),
        ("e-mail", ["none"] * 50 + [f"write to a{i}@example.org please" for i in range(10)]),
        ("telephone", [f"+49 30 {1000000 + i}" for i in range(N)]),
        ("telephone", [f"(212) 555-{1000 + i}" for i in range(N)]),
        ("telephone", [f"030/{123456 + i}" for i in range(N)]),
        ("web-address", [f"https://example.org/{i}" for i in range(N)]),
        ("ip-address", [f"10.0.{i}.7" for i in range(N)]),
        ("ip-address", [f"2001:db8::{i:x}:1" for i in range(N)]),
        ("key", [f"{i:08x}-0000-4000-8000-{i:012x}" for i in range(N)]),
        ("key", [f"{i * 7919:064x}" for i in range(N)]),
        ("bank-account", [iban(10**9 + i) for i in range(N)]),
        ("bank-account", [card(10**9 + 13 * i) for i in range(N)]),
        ("national-id", numbers_of("Polish PESEL")),
        ("national-id", numbers_of("German tax")),
        ("national-id", [f"219-09-{1000 + i}" for i in range(N)]),
        ("vehicle", ["1M8GDM9AXKP042788", "1HGCM82633A004352", "5YJSA1DG9DFP14705", "1HGBH41JXMN109186", "1" * 17]),
        ("device", [f"00:1b:44:11:3a:{i:02x}" for i in range(N)]),
        ("device", [f"1.2.840.113619.2.{i}.3" for i in range(N)]),
        ("photograph", [f"scans/p{i}.JPG" for i in range(N)]),
        ("coordinates", [f"52.{5000 + i}, 13.{4000 + i}" for i in range(N)]),
        ("coordinates", [f"POINT(13.{i} 52.{i})" for i in range(N)]),
        ("coordinates", [f"N52.{5000 + i} E13.{4000 + i}" for i in range(N)]),
        ("coordinates", [f"52,{5000 + i} / 13,{4000 + i}" for i in range(N)]),
        ("telephone", [f"0170123{4000 + i}" for i in range(N)]),
        ("date", [f"{1 + i % 28}. Mai 19{50 + i % 40}" for i in range(N)]),
        ("date", [f"May {1 + i % 28}, 19{50 + i % 40}" for i in range(N)]),
        ("date", [19500300 + 10000 * (i % 40) + 1 + i % 28 for i in range(N)]),
        ("personal-name", [FIRST[i % 8].lower() for i in range(N)]),
        ("address", [f"Hauptstraße {i}" for i in range(N)]),
        ("address", [f"{i} Oak Tree Lane" for i in range(N)]),
        ("personal-name", [FIRST[i % 10] for i in range(N)]),
        ("personal-name", [f"{FIRST[i % 10]} {LAST[i % 8]}" for i in range(N)]),
        ("personal-name", [f"{LAST[i % 8]}, {FIRST[i % 10]}" for i in range(N)]),
        ("free-text", [f"patient came back on day {i} and was worried" for i in range(N)]),
        ("free-text", [None] * 50 + ["called her sister in the evening", "asked for a second opinion"]),
        ("all-different", [1000.25 + 1.5 * ((i * 37) % 61) for i in range(N)]),
        ("row-order", list(range(5, 5 + N))),
        ("row-order", [3.5 - i for i in range(N)]),
        ("date", [f"2020-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)]),
    ],
)  # fmt: skip
def test_values_tell_whatever_the_column_is_called(kind: str, values: list[object]) -> None:
    assert kind in kinds("c", values)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("e-mail", "e_mail"),
        ("telephone", "fax"),
        ("telephone", "Handynummer"),
        ("personal-name", "last_name"),
        ("personal-name", "Prénom"),
        ("national-id", "insurance_no"),
        ("national-id", "Versicherungsnummer"),
        ("record-number", "MRN"),
        ("record-number", "patientId"),
        ("record-number", "license number"),
        ("bank-account", "account_number"),
        ("vehicle", "Kennzeichen"),
        ("device", "serial_no"),
        ("biometrics", "fingerprint"),
        ("photograph", "passfoto"),
        ("web-address", "homepage"),
        ("ip-address", "client_ip"),
        ("address", "Strasse"),
        ("place", "zip"),
        ("date", "date_of_birth"),
        ("sampling-weight", "fnlwgt"),
    ],
)
def test_names_tell_whatever_the_values_are(kind: str, name: str) -> None:
    assert kind in kinds(name, ["a", "b", "c"] * 20)


def test_a_column_that_only_says_yes_or_no_is_no_identifier() -> None:
    assert kinds("telephone", ["none", "yes"] * 30) == []  # as in the German credit data
    assert kinds("phone", [0.5, 1.25] * 30) == []


def test_coordinates_are_numbers_under_the_name_of_an_axis() -> None:
    numbers = [48.1 + 0.013 * (i % 17) for i in range(N)]
    assert "coordinates" in kinds("lat", numbers)
    assert "coordinates" not in kinds("score", numbers)
    assert "coordinates" in kinds("easting", [691607 + 3 * (i % 17) for i in range(N)])  # metres
    assert "coordinates" in kinds("latitude", [48 + 0.5 * (i % 17) for i in range(N)])


def test_all_eighteen_identifiers_of_the_privacy_rule_have_a_detector() -> None:
    assert {number for d in all_detectors() for number in d.hipaa} == set(range(1, 19))
    assert all(d.title and d.evidence for d in all_detectors())
    assert len(LANGUAGES) >= 10


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("drug_name", ["aspirin", "ibuprofen", "paracetamol"] * 20),
        ("county", ["Jackson", "Madison", "Franklin", "Lincoln", "Jefferson", "Monroe"] * 10),
        ("education", ["Some college, no degree", "High school graduate or higher", "Doctorate"] * 20),
        ("month", ["January", "April", "May", "June", "August"] * 12),
        ("race", ["White", "Black", "Asian-Pac-Islander"] * 20),
        ("occupation", ["Farming-fishing", "Craft-repair", "Sales", "Tech-support"] * 15),
        ("band", ["10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-79", "80-89", "0-9", "90-99"] * 6),
        ("period", ["1990-1995", "1995-2000", "2000-2005"] * 20),
        ("amount", [i % 13 * 1000 for i in range(N)]),
        ("code", ["E11.9", "I10", "J45.0", "F32.1"] * 15),
        ("version", ["1.2.3", "1.2.4"] * 30),
        ("state", ["Virginia", "Georgia", "Texas", "Ohio", "Maine", "Utah", "Iowa", "Idaho"] * 8),
        ("id", [1, 2, 3] * 20),
        ("weight", [60 + i % 20 for i in range(N)]),
        ("colour", ["white", "black", "brown", "green", "grey", "red", "rose", "violet", "blue"] * 6),
        ("long", [3, 4, 5] * 20),
        ("arrived", [f"{i % 24:02}:30:00" for i in range(N)]),
    ],
)
def test_ordinary_columns_are_left_alone(name: str, values: list[object]) -> None:
    assert [f for f in findings(Sight.of(name, pl.Series(name, values))) if f.tells != "known"] == []


def test_random_numbers_pass_no_rule_by_chance() -> None:
    rng = np.random.default_rng(1)
    for digits in range(8, 19):
        values = pl.Series([str(n) for n in rng.integers(10 ** (digits - 1), 10**digits, 500, dtype=np.int64)])
        found = [f.kind for f in findings(Sight.of("c", values))]
        assert set(found) <= {"all-different"}, digits


def test_a_census_has_nothing_but_old_people() -> None:
    people = census(3000, seed=2)
    found = {s.name: [f.kind for f in findings(Sight.of(s.name, s))] for s in people}
    assert {name: seen for name, seen in found.items() if seen} == {"age": ["date"]}  # some are over 89


def test_a_look_costs_little_however_long_the_column() -> None:
    rows = pl.Series("c", [f"value {i}" for i in range(10_000)])
    findings(Sight.of("c", rows))
    start = time.process_time()
    findings(Sight.of("c", rows))
    assert time.process_time() - start < 0.5


def test_no_reason_repeats_a_value() -> None:
    for name, values in (
        ("contact", [f"canary{i}@x.org" for i in range(N)]),
        ("note", [f"canary {i} w x y" for i in range(N)]),
    ):
        assert all("canary" not in f.reason for f in findings(Sight.of(name, pl.Series(values))))


SCRIPTS = {
    "Cyrillic": [
        f"{f} {last}" for f in ["Иван", "Анна", "Олег", "Мария"] for last in ["Петров", "Смирнова", "Бек", "Цой"]
    ],
    "Cyrillic, family names": ["Иванов", "Иванова", "Петров", "Смирнова", "Кузнецов", "Попова", "Соколов", "Волков"],
    "Greek": ["Γιώργος", "Μαρία", "Ελένη", "Νίκος", "Σοφία", "Δημήτρης", "Παπαδόπουλος", "Ιωάννα"],
    "Arabic": ["محمد", "أحمد", "علي", "فاطمة", "مريم", "خالد", "عمر", "زينب"],
    "Hebrew": ["דוד", "משה", "יוסף", "שרה", "רחל", "תמר", "כהן", "לוי"],
    "Hindi": ["राहुल", "अमित", "राजेश", "सुरेश", "पूजा", "सुनीता", "शर्मा", "गुप्ता"],
    "Chinese": ["王伟", "李娜", "张敏", "刘洋", "陈静", "杨磊", "黄小明", "赵丽丽"],
    "Japanese": ["佐藤太郎", "鈴木花子", "高橋健一", "田中陽子", "伊藤さくら", "渡辺翔", "山本大輔", "中村愛"],
    "Korean": ["김민수", "이영희", "박지훈", "최수진", "정우성", "강호동", "조성민", "윤아름"],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_names_in_other_scripts_are_names(script: str) -> None:
    assert "personal-name" in kinds("x", SCRIPTS[script] * 8)


@pytest.mark.parametrize(
    "words",
    [
        "高血压 糖尿病 哮喘 肺炎 感冒 胃炎 肝炎 骨折",
        "고혈압 당뇨병 천식 폐렴 감기 위염 간염 골절",
        "高血圧 糖尿病 喘息 肺炎 風邪 胃炎 肝炎 骨折",
        "Гипертония Диабет Астма Пневмония Грипп Гастрит Гепатит Перелом",
        "Υπέρταση Διαβήτης Άσθμα Πνευμονία Γρίπη Γαστρίτιδα Ηπατίτιδα Κάταγμα",
        "السكري الربو الإنفلونزا الكسر الصداع الحمى السعال الزكام",
        "женат замужем разведён вдова холост одинок помолвлен гражданский",
    ],
)
def test_illnesses_in_other_scripts_are_no_names(words: str) -> None:
    assert "personal-name" not in kinds("x", words.split() * 8)


FEW = {
    "three first names": ["Anna", "Peter", "Maria"],
    "three family names": ["Schmidt", "Weber", "Fischer"],
    "two full names": ["Anna Schmidt", "Peter Weber"],
    "four, one of them rare": ["Anna", "Peter", "Maria", "Xenokrates"],
    "titles": ["Prof. Dr. med. Anna Schmidt", "Prof. Dr. med. Peter Weber", "Priv.-Doz. Dr. med. Hans Meyer"],
}


@pytest.mark.parametrize("few", FEW)
def test_a_few_names_are_names_if_nearly_all_values_are(few: str) -> None:
    assert "personal-name" in kinds("x", FEW[few] * 20)


WRITINGS = {
    "no space after the comma": "{last},{first}",
    "two spaces": "{first}  {last}",
    "a tab": "{last}\t{first}",
    "a space that does not break": "{first}\u00a0{last}",
    "underscore": "{first}_{last}",
    "as hospitals send them": "{last}^{first}",
    "quoted": '"{first}"',
    "in brackets": "{last} ({first})",
    "semicolon": "{last}; {first}",
    "slash": "{last}/{first}",
    "couples": "{first} & Xaverine {last}",
    "year of birth": "{first} {last} *1955",
    "record number": "{last} {first} (4711)",
}


@pytest.mark.parametrize("writing", WRITINGS)
def test_names_are_names_however_their_parts_are_kept_apart(writing: str) -> None:
    values = [WRITINGS[writing].format(first=FIRST[i % 10], last=LAST[i % 8]) for i in range(N)]
    assert "personal-name" in kinds("x", values)


def test_names_with_combining_accents_are_names() -> None:
    decomposed = [unicodedata.normalize("NFD", name) for name in ("Müller", "Schröder", "Krüger", "Köhler", "Jürgen")]
    assert "personal-name" in kinds("x", decomposed * 12)


def test_published_sets_of_months_are_no_names() -> None:
    months = ["Jan", "Feb", "Mar", "Apr", "Jun"]  # the first and the last are names, too
    sets = [f"{{{one} | {other}}}" for one in months for other in months if one != other]
    assert "personal-name" not in kinds("month", sets * 4)
    assert "personal-name" not in kinds("month", [f"[{label[1:-1].replace(' | ', ' ')}]" for label in sets] * 4)


def test_a_word_with_a_number_is_no_name() -> None:
    assert "personal-name" not in kinds("ward", ["Li 1", "Park 2", "Hall 3", "Wei (4)", "Yu 5", "Hu_6"] * 10)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("bank-account", [iban(4711), iban(4712)]),
        ("bank-account", [f"IBAN {iban(4711)}", f"IBAN {iban(4712)}"]),
        ("key", ["78573797-4a80-7546-4627-31417aa286ac", "bf4408d3-4b5b-0adc-b45f-e4a9c684bcca"]),
        ("coordinates", ["53.55110, 9.99370", "48.13710, 11.57540"]),
        ("telephone", ["+49 40 1234567", "+49 89 5556667"]),
        ("address", ["Hauptstraße 5", "Lindenweg 7", "Marktplatz 12"]),
        ("national-id", ["219-09-9999", "219-09-9998", "219-09-9997", "219-09-9996"]),
    ],
)
def test_a_table_about_few_people_has_few_different_identifiers(kind: str, values: list[str]) -> None:
    assert kind in kinds("x", values * 20)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("address", [f"{i} rue Victor Hugo" for i in range(N)]),
        ("address", [f"{i} bis, avenue de la Paix" for i in range(N)]),
        ("address", [f"Calle Mayor {i}" for i in range(N)]),
        ("telephone", [f"Tel. 040 {1000000 + i}" for i in range(N)]),
        ("date", [f"{1 + i % 28} {['janvier', 'février', 'août'][i % 3]} 19{50 + i % 40}" for i in range(N)]),
        ("date", [f"{1 + i % 12:02d}/{1950 + i % 40}" for i in range(N)]),
        ("date", [f"{['Jan', 'Feb', 'May'][i % 3]} {1950 + i % 40}" for i in range(N)]),
    ],
)  # fmt: skip
def test_values_tell_in_other_countries_too(kind: str, values: list[str]) -> None:
    assert kind in kinds("c", values)


@pytest.mark.parametrize(
    "values",
    [
        ["Jan", "Jun"],
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun"],
        ["lin", "log", "park", "cook"],
        ["St. Anna", "St. Martin", "Sankt Peter"],
        ["Down", "Turner", "Marfan"],
        ["Southampton", "Cherbourg", "Queenstown"],
    ],
    ids=lambda v: v[0],
)
def test_a_few_words_that_are_also_names_are_no_names(values: list[str]) -> None:
    assert "personal-name" not in kinds("x", values * 20)


@pytest.mark.parametrize("name", ["Фамилия", "ФИО", "Имя", "Επώνυμο", "姓名", "氏名", "이름", "الاسم"])
def test_columns_of_names_are_known_by_what_they_are_called(name: str) -> None:
    assert "personal-name" in kinds(name, ["x", "y"] * 30)


def nothing_looks_like(detector, text) -> None:
    """No list of such texts has a share."""

    @given(st.lists(text, min_size=5, max_size=9))
    def check(texts: list[str]) -> None:
        assert detector.share(Sight.of("column", pl.Series(texts, dtype=pl.String))) == 0

    check()


@pytest.mark.parametrize("detector", [d for d in all_detectors() if d.signs], ids=lambda d: d.name)
def test_without_its_signs_nothing_looks_like_a_kind(detector):
    """Where these signs do not occur, values are not compared."""
    nothing_looks_like(detector, st.text(st.characters(codec="utf-8", exclude_characters=detector.signs), min_size=1))


@pytest.mark.parametrize("detector", [d for d in all_detectors() if d.shortest > 1], ids=lambda d: d.name)
def test_what_is_too_short_does_not_look_like_a_kind(detector):
    """Where all texts are shorter, they are not compared either."""
    signs = st.sampled_from("0123456789abcdefXx@.:/-+()°' NS")
    nothing_looks_like(detector, st.text(signs, min_size=1, max_size=detector.shortest - 1))
