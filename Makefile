# Everything a fresh clone needs is Python >= 3.11 and make: `make demo` or `make test` do the rest.

PYTHON ?= python3
WORKERS ?= 2

BIN := .venv/bin
STAMP := .venv/.installed
TORCH := $(shell grep '^torch==' constraints.txt)
PIP := PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq

.PHONY: help setup test check demo bench clean

help:
	@echo "make setup   create .venv with the command nodewise in it"
	@echo "make demo    embed the bundled graph and leave runs/demo"
	@echo "make test    run all tests"
	@echo "make check   lint, format, types, import contract, spelling"
	@echo "make bench   run the benchmarks"
	@echo "make clean   remove caches and build products"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.version_info >= (3, 11) or \
		sys.exit(f"nodewise needs Python 3.11 or newer, this is {v}; try: make setup PYTHON=python3.12")'
	@echo "[1/3] creating .venv"
	@$(PYTHON) -m venv .venv
	@echo "[2/3] installing $(TORCH), the largest part; this can take some minutes"
	@$(PIP) "$(TORCH)"
	@echo "[3/3] installing nodewise and its tools"
	@$(PIP) --editable ".[dev]"
	@touch $(STAMP)
	@echo "done: $(BIN)/nodewise"

# One thread a worker: more would only compete for the same cores.
test: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS)

check: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

demo: setup
	$(BIN)/nodewise demo --output runs/demo

bench: setup
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python "$$file" || exit 1; done

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find src tests benchmarks examples scripts -name __pycache__ -prune -exec rm -rf {} +
