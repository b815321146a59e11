# `make demo` and `make test` need Python 3.11 or newer, pip and make; everything else is installed into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
REAL   ?= $(CURDIR)/.cache/real

DEMO = --profile qwen38-flash-next --hardware rtx-pro-6000-pcie

.PHONY: demo demo-serve test lint types imports unit bench e2e schemas catalogs snapshots clean

demo: $(STAMP)  ## set up, then print the resolved launch of a real profile with the origin of every value; needs no GPU
	$(BIN)/lil-serve $(DEMO) --print-config=table -- --cache-mode lmcache

test: lint types imports unit  ## what CI runs, without the real parts

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/pytest -m "not e2e"

bench: $(STAMP)  ## paired whole-process times, plans a second, memory, the supervisor at rest and under faults
	$(BIN)/python tests/bench/whole_process.py
	$(BIN)/pytest -o addopts="" -q -s tests/bench/bench_resolver.py
	$(BIN)/python -m tests.bench.supervisor_rest
	$(BIN)/python -m tests.bench.supervisor_faults

e2e: $(STAMP)  ## the real engine, cache server and container daemon; installs them into .cache/real
	.ci/e2e

demo-serve: $(STAMP)  ## bring up the real engine and cache server on a tiny model, and print a completion
	.ci/demo-serve

schemas: $(STAMP)  ## regenerate lilserve/schemas from the document models
	$(BIN)/python -m lilserve.documents.schema

catalogs: $(STAMP)  ## regenerate lilserve/engine/catalogs from real builds of the engine
	.ci/real-parts catalogs

snapshots: $(STAMP)  ## accept what the documents resolve to now; review the diff
	$(BIN)/pytest -q --snapshot-update tests/snapshots

# The package is installed in place; the compiled form of the documents is made by the build (hatch_build.py).
$(STAMP): pyproject.toml hatch_build.py $(wildcard lilserve/documents/*.py)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

clean:
	rm -rf $(VENV) build dist lilserve/compiled*.json
