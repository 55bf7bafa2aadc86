# Everything runs in a project-local environment; `make demo` and `make test` need nothing but Python 3.11+ and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# Tests start hundreds of processes, each of which would compile the package again where this is set.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-full coverage fuzz lint format types docs examples bench clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Tarnkappe needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(STAMP): $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(DEV_STAMP): $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(STAMP)

demo: $(STAMP)  ## generate a census, anonymise it, verify it, write the report
	$(BIN)/tarnkappe demo --overwrite

test: $(DEV_STAMP)  ## the test suite
	$(PYTEST)

test-full: $(DEV_STAMP)  ## the test suite with the large grids, or a part of it: make test-full PART=1/4
	HYPOTHESIS_PROFILE=explore PART=$(PART) $(PYTEST) -m ""

coverage: $(DEV_STAMP)  ## the test suite, and how much of the package it runs
	$(PYTEST) --cov --cov-report=term --cov-fail-under=95

fuzz: $(DEV_STAMP)  ## whole jobs at random, checked from outside: make fuzz SECONDS=600
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0)

lint: $(DEV_STAMP)  ## style, format and types
	$(BIN)/python tools/write_stub.py --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV_STAMP)  ## rewrite the code in the project's format, and the list of public names for type checkers
	$(BIN)/python tools/write_stub.py
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(DEV_STAMP)  ## the documentation site in site/
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict --quiet

examples: $(STAMP)  ## run every example
	@for f in examples/*.py; do echo "== $$f"; $(BIN)/python $$f || exit 1; done

bench: $(DEV_STAMP)  ## benchmarks with their peers side by side; writes bench/RESULTS.md
	$(PYTHON) -m venv .venv-peers  # the peers pin exact versions of numpy and pandas
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -e . anonypy anjana pycanon
	$(BIN)/python bench/run.py

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) site demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
