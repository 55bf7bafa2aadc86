"""``python -m tarnkappe``."""

from tarnkappe.cli import main

if __name__ == "__main__":
    main()
