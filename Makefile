# Two commands need nothing but Python 3.11+: `make demo` and `make test`. Each sets itself up in .venv.
PYTHON ?= python3
CORES  ?= 2
VENV   := .venv
BIN    := $(VENV)/bin
SNAKE  := $(BIN)/snakemake --cores $(CORES)

# Every job is a process of its own: without kept byte code each would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

# Snakemake asks for the user's name; a container's user may have none.
export LOGNAME ?= user

.PHONY: help setup demo test test-slow test-deep lint format bench lock clean
help:  ## show these lines
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(VENV)/.ready: envs/requirements-dev.txt envs/optional-postgres.txt envs/bootstrap.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name it with make PYTHON=..."; exit 64; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r envs/bootstrap.txt
	cat envs/requirements-dev.txt envs/optional-postgres.txt > $(VENV)/all.txt
	$(BIN)/uv pip install -q --compile-bytecode --python $(BIN)/python --require-hashes -r $(VENV)/all.txt \
	  || $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r $(VENV)/all.txt
	touch $@

setup: $(VENV)/.ready  ## make .venv from the locks

demo: $(VENV)/.ready  ## the whole line on drawn data with embedded servers (2 to 3 minutes)
	$(SNAKE) --configfile config/demo.yaml

test: $(VENV)/.ready lint  ## lint and types, then the normal suite (the demo runs whole in it)
	$(BIN)/python scripts/fetch_template.py
	$(BIN)/python -m pytest -q -m "not slow" -n $(CORES) --dist loadfile --no-loadscope-reorder \
	  tests/workflow tests/faults tests/security tests/unit  # the longest files first

test-slow: $(VENV)/.ready  ## the long tests: thousands of conversations, tens of kills
	$(BIN)/python scripts/fetch_template.py
	$(BIN)/python -m pytest -q -m slow tests/unit tests/faults tests/security tests/workflow

DEEP := .venv-deep
$(DEEP)/.ready: $(VENV)/.ready envs/optional-swift.txt
	$(PYTHON) -m venv --clear $(DEEP)
	$(DEEP)/bin/python -m pip install -q --disable-pip-version-check torch==2.13.0
	$(BIN)/uv pip install -q --python $(DEEP)/bin/python --no-deps --require-hashes -r envs/optional-swift.txt
	place=$$($(DEEP)/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])') && \
	  cp tests/deep/torchvision_on_cpu.py $$place/ && echo 'import torchvision_on_cpu' > $$place/torchvision_on_cpu.pth
	$(BIN)/python scripts/fetch_template.py
	$(DEEP)/bin/python tests/deep/build_tiny.py $(DEEP)/tiny-qwen3_5
	touch $@

test-deep: $(DEEP)/.ready  ## rows through ms-swift itself: 1.7 GB of packages, see tests/deep/README.md
	TIR_DEEP_MODEL=$(DEEP)/tiny-qwen3_5 $(DEEP)/bin/python -m pytest -q tests/deep

lint: $(VENV)/.ready  ## ruff, snakefmt, mypy, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint

format: $(VENV)/.ready  ## let the formatters write
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile rules

bench: $(VENV)/.ready  ## figures as ratios against named alternatives; asserts nothing
	$(BIN)/python -m pytest -q -s tests/bench --override-ini=python_files='bench_*.py'

lock: $(VENV)/.ready  ## resolve the .in files again
	for name in bootstrap requirements optional-postgres; do \
	  $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q \
	    envs/$$name.in -o envs/$$name.txt; done
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q \
	  envs/requirements.in envs/requirements-dev.in -o envs/requirements-dev.txt

clean:  ## remove the environment and caches, never results
	rm -rf $(VENV) $(DEEP) .mypy_cache .ruff_cache .pytest_cache .hypothesis
