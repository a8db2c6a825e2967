# Everything a fresh clone needs is Python >= 3.11 and make: `make demo` or `make test` do the rest.

PYTHON ?= python3
WORKERS ?= 2

BIN := .venv/bin
STAMP := .venv/.installed
TORCH := $(shell grep '^torch==' constraints.txt)
PIP := PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq

.PHONY: help setup browser test check demo bench docs clean fuzz soak test-matrix coverage mutation audit

help:
	@echo "make setup   create .venv with the command nodewise in it"
	@echo "make demo    embed the bundled graph and leave runs/demo"
	@echo "make test    run all tests, in an order of the commit's own"
	@echo "make check   lint, format, types, import contract, spelling"
	@echo "make bench   run the benchmarks"
	@echo "make docs    build the pages in docs/_build/html"
	@echo "make fuzz    feed 10,000 odd files to every reader"
	@echo "make soak    kill, resume and compare runs at 25 random moments and at every file operation"
	@echo "make coverage | mutation | test-matrix | audit   the other long checks, see docs/reliability.md"
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

# The page is tested in a real browser; where none can be installed, those tests say so and are skipped.
browser:
	@if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		echo "installing chromium for the tests of the page"; \
		(apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium) >/dev/null 2>&1 || true; \
	fi

# The tests' order is shuffled, and the same for whoever repeats it; `make test ORDER=7` tries another.
ORDER ?= 235790894

# One thread per worker: more would only compete for the same cores.
test: setup browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --randomly-seed=$(ORDER)

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

docs: setup
	@$(PIP) --editable ".[docs]"
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Real processes killed at 25 random moments and at every file operation, and resumed.
soak: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "slow or not slow" --durations=0 tests/reliability

# 10,000 odd files for each reader, and every file of the corpus through a process of its own.
fuzz: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.run --examples 10000
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow tests/fuzz tests/faults

test-matrix:
	$(PYTHON) scripts/test_matrix.py

coverage: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --cov --cov-report=term:skip-covered

# Mutants of what chooses, scores, evaluates and keeps runs; an hour or two of an idle core. MUTATE="src/nodewise/losses/*.py" takes a part of them,
# MINUTES=10 as many as that allows, in random order.
MUTATE ?= $(filter-out %/triton_block.py,$(wildcard src/nodewise/losses/*.py src/nodewise/sampling/*.py src/nodewise/sampling/*/*.py src/nodewise/evaluation/*.py src/nodewise/runs/*.py))
MINUTES ?= 600
mutation: setup
	OMP_NUM_THREADS=1 $(BIN)/python scripts/mutation.py $(MUTATE) --minutes $(MINUTES)

# Known weaknesses of the pinned versions; needs the network.
audit:
	$(PYTHON) -m venv build/audit && build/audit/bin/pip install -qq pip-audit
	build/audit/bin/pip-audit --disable-pip --no-deps --requirement constraints.txt

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find src tests benchmarks examples scripts -name __pycache__ -prune -exec rm -rf {} +
