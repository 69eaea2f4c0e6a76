# Everything a newcomer needs: `make demo`, `make test`. Each sets up .venv by itself.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint format bench clean

demo: .venv/.demo
	$(BIN)/ssvi demo

test: .venv/.dev
	$(BIN)/python -m pytest

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.dev
	$(BIN)/python benchmarks/gibbs_speed.py
	$(BIN)/python benchmarks/heldout_speed.py
	$(BIN)/python benchmarks/mixture_speed.py
	$(BIN)/python benchmarks/nmf_speed.py

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	touch $@ .venv/.demo

clean:
	rm -rf .venv .numba_cache .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
