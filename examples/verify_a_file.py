"""Check a file that somebody else anonymised, and find out what is wrong with it.

Run it:  python examples/verify_a_file.py
"""

import tempfile
from pathlib import Path

import tarnkappe as tk

# Postcode and age were coarsened by hand. In the last group everybody has the same illness.
TABLE = """\
zip,age,illness
130**,under 30,heart disease
130**,under 30,heart disease
130**,under 30,viral infection
130**,under 30,viral infection
1485*,40 and over,cancer
1485*,40 and over,heart disease
1485*,40 and over,viral infection
1485*,40 and over,viral infection
130**,30 to 39,cancer
130**,30 to 39,cancer
130**,30 to 39,cancer
130**,30 to 39,cancer
"""

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "somebody-elses.csv")
    file.write_text(TABLE)
    found = tk.verify(
        file,
        criteria=[tk.KAnonymity(4), tk.LDiversity("illness", 2), tk.TCloseness("illness", 0.4)],
        quasi=["zip", "age"],
        sensitive=["illness"],
    )

print(f"{found.n_records} records in {len(found.sizes)} groups")
for verdict in found.verdicts:
    state = "holds" if verdict.ok else f"is violated by {verdict.violating_groups} group(s)"
    print(f"{verdict.asked:24} {state}; the worst group reaches {verdict.reached:.3g}")
print("May be shared." if found.ok else "Must not be shared: whoever is in a group of one illness has that illness.")
