# Every target prepares what it needs: on a fresh clone `make test` is the only thing to type.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/.ready
# One thread of linear algebra for each of pytest's processes, which take all cores; many small matrices need no more.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest --numprocesses auto --dist worksteal

.PHONY: help demo test test-all test-arm test-gpu test-lowest setup lint docs wheels bench bench-scale sanitize sanitize-gpu clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      train RWM, GMM, RBF and LAP with four labels per class on three sets, print the table, write an HTML report"
	@echo "make test      the quick tests, doctests and documentation examples, under three minutes on two cores"
	@echo "make test-all  all tests, as CI runs them"
	@echo "make test-arm  the engine's tests for aarch64, cross-compiled and emulated; as CI runs them, on Debian"
	@echo "make test-lowest  the quick tests with the lowest versions that pyproject.toml allows"
	@echo "make test-gpu  the tests that need an NVIDIA GPU and CuPy; elsewhere they are skipped"
	@echo "make sanitize-gpu  the tests of the GPU kernels under all tools of NVIDIA's compute-sanitizer"
	@echo "make setup     only the .venv, with mixkern, mixkern-study, all extras and development tools"
	@echo "make lint      ruff and mypy"
	@echo "make docs      the documentation with its gallery, into docs/_build/html; links within it are checked"
	@echo "make wheels    the source distribution and the wheels for Linux on x86-64 and aarch64, into dist; on Debian"
	@echo "make bench     speed, as ratios against a peer in the same run"
	@echo "make bench-scale  twenty million rows on two Dask workers, and 100 million generated ones; minutes, 1.7 GB of disk"
	@echo "make sanitize  the engine's tests under the address and undefined-behaviour sanitizers"
	@echo "make clean     remove .venv and everything built"

demo: $(READY)
	$(BIN)/mixkern paper run --experiment 1 --data-sets iris,wine,two_moons --store build/demo.sqlite
	$(BIN)/mixkern paper report --store build/demo.sqlite --output build/demo.html --no-figures

test: $(READY)
	$(PYTEST) -m 'not slow'

test-all: $(READY)
	$(PYTEST)

test-arm: $(READY)
	.ci/test-arm $(BIN)/python

# In an environment of its own, made anew: an installed version would be kept where it is high enough. Old libraries
# call functions that are deprecated in the newest ones that they depend on themselves.
test-lowest: $(READY)
	$(BIN)/python -m pip install --quiet --group release
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/lowest/venv
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		| sed 's/>=/==/' >build/lowest/build.txt
	$(BIN)/uv pip install --quiet --python build/lowest/venv/bin/python --resolution lowest-direct --build-constraints build/lowest/build.txt \
		--config-setting build-dir=build/lowest/objects --editable '.[all]' --editable study --group test
	$(PYTEST:$(BIN)/%=build/lowest/venv/bin/%) -W default::DeprecationWarning -W default::PendingDeprecationWarning -m 'not slow'

wheels: $(READY)
	$(BIN)/python -m pip install --quiet --group release
	.ci/wheels $(BIN)

# In one process: a GPU is shared, and each process would compile its kernels.
test-gpu: $(READY)
	$(BIN)/python -m pytest -m gpu

sanitize-gpu: $(READY)
	$(BIN)/python .ci/sanitize-gpu

setup: $(READY)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(READY)
	rm -rf docs/_build/html
	$(ONE_THREAD) $(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: $(READY)
	$(BIN)/python -m benchmarks

bench-scale: $(READY)
	$(BIN)/python -m benchmarks scale

# Installed apart, and run without the .pth files of .venv, which would lead to the ordinary build.
sanitize: $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target build/sanitize \
		--config-settings=cmake.define.MIXKERN_SANITIZE=ON --config-settings=build-dir=build/sanitize-objects .
	PYTHONPATH="build/sanitize:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 MIXKERN_SANITIZED=1 $(BIN)/python -S -m pytest -p no:xdist tests/engine

clean:
	rm -rf $(VENV) build dist docs/_build docs/gallery

# The stamp is written last, so an interrupted set-up is taken up again.
$(READY): pyproject.toml study/pyproject.toml CMakeLists.txt $(wildcard src/mixkern/engine/core/* src/mixkern/*/__init__.py)
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else f"mixkern needs Python 3.11 or newer, but $(PYTHON) is {v}. Name another: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]' --editable study --group dev
	@touch $@
