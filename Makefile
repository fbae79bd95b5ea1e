# Every target installs what it needs; a second run is quick.
.DEFAULT_GOAL := help
.ONESHELL:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_AT_LEAST := 1.88
RUST_FILES := $(shell find rust -name '*.rs' -not -path 'rust/target/*' -not -path 'rust/fuzz/*') rust/Cargo.toml rust/Cargo.lock rust/kernel/Cargo.toml rust/binding/Cargo.toml

# Missing tools are reported first, in one line.
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),help)),)
RUST := $(shell rustc --version 2> /dev/null | cut -d' ' -f2)
ifeq ($(RUST),)
$(error Rust $(RUST_AT_LEAST) or newer is needed, and no rustc was found: see rustup.rs)
endif
ifneq ($(shell printf '%s\n' $(RUST_AT_LEAST) $(RUST) | sort -V | head -n 1),$(RUST_AT_LEAST))
$(error Rust $(RUST_AT_LEAST) or newer is needed, found $(RUST): try 'rustup update')
endif
ifneq ($(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 11))' 2> /dev/null),True)
$(error Python 3.11 or newer is needed, found $(shell $(PYTHON) --version 2>&1): set PYTHON=...)
endif
endif

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 13

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# What building and running need, and nothing else.
$(VENV)/installed: requirements/build.txt
	@echo "installing what the build needs into $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements/build.txt
	touch $@

# What tests, lints and documentation need as well.
$(VENV)/developed: $(VENV)/installed requirements/dev.txt
	@echo "installing what tests and documentation need into $(VENV)"
	$(PIP) --require-hashes -r requirements/dev.txt
	touch $@

# The sorters that benchmarks compare with are a feature that no wheel has.
$(VENV)/built: $(VENV)/installed pyproject.toml $(RUST_FILES)
	@echo "compiling the core, which takes minutes; a second build is quicker"
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-deps --no-build-isolation \
		--config-settings=build-args="--features baselines" --editable .
	touch $@

.PHONY: build
build: $(VENV)/built ## build; leaves the command at .venv/bin/isoscope

.PHONY: wheel
wheel: $(VENV)/installed ## build the wheel and the source distribution, in dist
	rm -f dist/isoscope-*
	$(BIN)/maturin sdist --manifest-path rust/binding/Cargo.toml --out dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin build --release --locked --out dist

.PHONY: demo
demo: build ## run embedded databases, check histories, print verdicts
	@$(BIN)/isoscope demo

.PHONY: test
test: build $(VENV)/developed ## run the test suite (no servers, nothing system-wide)
	cargo test --quiet --manifest-path rust/Cargo.toml --package isoscope-kernel --features baselines
	$(BIN)/pytest -n auto --dist worksteal -m "not server and not slow and not deep" $(PYTEST)

.PHONY: test-deep
test-deep: build $(VENV)/developed ## run the suite with many new examples and seeds, and the slow tests (an hour)
	ISOSCOPE_HYPOTHESIS=deep $(BIN)/pytest -n auto -m "not server" -o timeout=3600 $(PYTEST)

.PHONY: test-all
test-all: test ## also what is slow, or needs servers or a browser
	scripts/servers $(BIN)/pytest -n auto --dist worksteal -m "slow and not server" $(PYTEST)
	scripts/servers $(BIN)/pytest -m server $(PYTEST)

.PHONY: check
check: build $(VENV)/developed ## formatting, lints and types
	cargo fmt --all --manifest-path rust/Cargo.toml --check
	cargo clippy --quiet --manifest-path rust/Cargo.toml --all-targets --all-features -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest isoscope._native

.PHONY: docs
docs: build $(VENV)/developed ## build the documentation as a site, in dist/site
	$(BIN)/python -m docs.generate --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

SECONDS ?= 60
.PHONY: fuzz
fuzz: ## hostile input for every parser, for SECONDS=60
	cargo run --quiet --release --manifest-path rust/fuzz/Cargo.toml --bin stress -- $(SECONDS) tests

.PHONY: bench
bench: build $(VENV)/developed ## run the benchmarks at a small size (minutes; SUITE=name runs one)
	$(BIN)/python -m benchmarks $(SUITE)

.PHONY: bench-full
bench-full: build $(VENV)/developed ## run them at full size (hours, 6 GB; SUITE=name, RECORD=--record)
	$(BIN)/python -m benchmarks $(SUITE) --full $(RECORD)

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(VENV) rust/target dist isoscope-demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
