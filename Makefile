# Everything from one command: `make serve` on a fresh machine needs Python 3.11 or newer (with venv) and make.

PORT ?= 5006
VENV ?= .venv
# One a core: browsers wait for one another where there are more.
WORKERS ?= 2
ARGS ?=
# The Python that makes the virtual environment; the first of these that is new enough.
BASE_PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

PYTHON := $(VENV)/bin/python
BIN := $(VENV)/bin
PINNED := pyproject.toml constraints.txt
TO_SERVE := $(VENV)/.to-serve
TO_TEST := $(VENV)/.to-test

# One thread a process: the work here is many small products, and tests and sessions run side by side.
export OMP_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

.DEFAULT_GOAL := help
.PHONY: help serve test lint bench weights deck clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: $(TO_SERVE) ## install what is needed and serve the page (PORT=5006)
	@$(BIN)/gradcloud serve --port $(PORT)

test: $(TO_TEST) ## install what is needed and run every test, the browser's too (ARGS="-k clip" for some)
	@$(PYTHON) -m tests.chromium
	$(PYTHON) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

lint: $(TO_TEST) ## ruff, its formatter's check, and mypy on sim/ and app/
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(TO_TEST) ## measure the engine's speed, and print the table with this machine's description
	$(PYTHON) -m tests.bench $(ARGS)

weights: $(TO_SERVE) ## train the shipped weights again from their seeds, and verify them
	$(BIN)/gradcloud weights train
	$(BIN)/gradcloud weights verify

deck: $(TO_SERVE) ## make the pieces of the example deck, then open assets/deck/index.html
	$(PYTHON) assets/deck/pieces.py

clean: ## remove the virtual environment and every cache
	rm -rf $(VENV) build dist test-results .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PYTHON):
	@test -n "$(BASE_PYTHON)" || { echo "gradcloud needs Python 3.11 or newer: none found on the PATH; \
	install one, or name it: make BASE_PYTHON=/path/to/python" >&2; exit 1; }
	@$(BASE_PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "no virtual environment could be made; \
	on Debian and Ubuntu, install python3-venv" >&2; exit 1; }

$(TO_SERVE): $(PINNED) | $(PYTHON)
	@echo "installing what gradcloud needs into $(VENV) (once; minutes, as torch is large)"
	@$(PYTHON) -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(TO_TEST): $(PINNED) | $(PYTHON)
	@echo "installing what gradcloud and its tests need into $(VENV) (once; minutes, as torch is large)"
	@$(PYTHON) -m pip install --quiet --constraint constraints.txt --editable '.[test,dev]'
	@touch $@ $(TO_SERVE)
