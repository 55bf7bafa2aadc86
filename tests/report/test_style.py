import re

import pytest

from tarnkappe.report.style import STYLE

SCHEMES = dict(zip(("light", "dark", "print"), re.findall(r":root\{(.*?)\}", STYLE, re.DOTALL), strict=True))
TEXT = [
    *(("ink", ground) for ground in ("paper", "panel", "okbg", "warnbg", "badbg")),
    *(("muted", ground) for ground in ("paper", "warnbg")),
    ("link", "paper"),
    *(("ok", "okbg"), ("ok", "paper"), ("warn", "warnbg"), ("bad", "badbg"), ("bad", "paper")),
]


def colours(scheme):
    found = re.findall(r"--(\w+):#([0-9a-f]{3,6})\b", SCHEMES[scheme])
    return {name: code if len(code) == 6 else "".join(2 * c for c in code) for name, code in found}


def contrast(one, other):
    def luminance(code):
        channels = (int(code[i : i + 2], 16) / 255 for i in (0, 2, 4))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_wcag_says():
    assert contrast("000000", "ffffff") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("text", "ground"), TEXT)
def test_text_can_be_read(scheme, text, ground):
    palette = colours(scheme)
    assert contrast(palette[text], palette[ground]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ground", ["paper", "track"])
def test_bars_can_be_seen(scheme, ground):
    palette = colours(scheme)
    assert contrast(palette["bar"], palette[ground]) >= 3


def test_every_colour_is_defined_in_every_scheme():
    used = set(re.findall(r"var\(--(\w+)", STYLE)) - {"sans", "serif", "mono", "shade"}
    for scheme in SCHEMES:
        assert used <= set(colours(scheme))


def test_braces_are_balanced():
    assert STYLE.count("{") == STYLE.count("}")
