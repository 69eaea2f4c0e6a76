# Everything a newcomer needs: `make demo`, `make test`. Each sets up .venv by itself.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint format bench clean

demo: .venv/.demo
	$(BIN)/ssvi demo

# Two workers: every test stands alone, and kernels are compiled once for all runs of one state of the source.
# Each begins with a half of the tests of its own: side by side in one file, both would compile the same kernels.
test: .venv/.dev .venv/.axe
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# About three quarters of an hour; each line also runs by itself. Tables and a figure go to results/bench.
bench: .venv/.bench
	$(BIN)/python -m benchmarks.startup_time
	$(BIN)/python -m benchmarks.token_speed
	$(BIN)/python -m benchmarks.inference_speed
	$(BIN)/python -m benchmarks.global_speed
	$(BIN)/python -m benchmarks.memory_peak
	$(BIN)/python -m benchmarks.heldout_speed
	$(BIN)/python -m benchmarks.mixture_speed
	$(BIN)/python -m benchmarks.gaussian_mixture_speed
	$(BIN)/python -m benchmarks.nmf_speed
	$(BIN)/python -m benchmarks.quality_time

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	touch $@ .venv/.demo

# axe-core looks for what keeps people from reading the report; where there is no npm, its tests are left out.
.venv/.axe: | .venv/bin/python
	-npm install --silent --no-save --prefix .venv axe-core@4 && touch $@

.venv/.bench: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@

clean:
	rm -rf .venv .numba_cache src/ssvi/_kernels .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
