# Everything runs in .venv, which `make` sets up by itself.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
STAMP  := $(VENV)/.installed
# Tests write a lot and wait for the disk a lot; where there is a disk in memory they use that.
SCRATCH := $(shell test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp})

.PHONY: setup test soak lint types bench demo completions clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

test: $(STAMP)
	TMPDIR=$(SCRATCH) $(BIN)/python -m pytest -n auto --dist worksteal -m "not soak"

soak: $(STAMP)
	$(BIN)/python -m pytest -m soak

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python tests/bench/run.py

demo: $(STAMP)
	@$(BIN)/python tests/demo.py

# What `cofferctl completion SHELL` prints; a test compares.
completions: $(STAMP)
	for shell in bash zsh fish; do $(BIN)/cofferctl completion $$shell > completions/cofferctl.$$shell || exit 1; done

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
