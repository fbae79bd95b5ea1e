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
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements/build.txt
	touch $@

# What tests, lints and documentation need as well.
$(VENV)/developed: $(VENV)/installed requirements/dev.txt
	$(PIP) --require-hashes -r requirements/dev.txt
	touch $@

# The sorters that benchmarks compare with are a feature that no wheel has.
$(VENV)/built: $(VENV)/installed pyproject.toml $(RUST_FILES)
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-deps --no-build-isolation \
		--config-settings=build-args="--features baselines" --editable .
	touch $@

.PHONY: build
build: $(VENV)/built ## build; leaves the command at .venv/bin/isoscope

.PHONY: wheel
wheel: $(VENV)/installed ## build the wheel and the source distribution, in dist
	rm -f dist/isoscope-*
	$(BIN)/maturin sdist --out dist
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
bench: build ## run the benchmarks and print their table
	$(BIN)/python -m benchmarks $(RECORD)

.PHONY: growth
growth: build ## run the growth benchmarks (minutes)
	$(BIN)/python -m benchmarks growth $(RECORD)

.PHONY: bench-versions
bench-versions: build ## run the benchmarks of levels from a version order (minutes, 3 GB)
	$(BIN)/python -m benchmarks versions $(RECORD)
	$(BIN)/python -m benchmarks adya $(RECORD)

.PHONY: bench-solver
bench-solver: build ## run the published workloads of solvers at snapshot isolation and serializable (minutes)
	$(BIN)/python -m benchmarks solver $(RECORD)

.PHONY: bench-spark
bench-spark: build $(VENV)/developed ## run the check on Apache Spark against one process (minutes; needs Java 17)
	$(BIN)/python -m benchmarks spark $(RECORD)

.PHONY: bench-solver-points
bench-solver-points: build ## decide every parameter point of published evaluations of solvers (a quarter of an hour)
	$(BIN)/python -m benchmarks solver-points $(RECORD)

.PHONY: bench-clock
bench-clock: build ## run the benchmarks of the clock levels, with growth (minutes, 2 GB)
	$(BIN)/python -m benchmarks clock $(RECORD)
	$(BIN)/python -m benchmarks collection $(RECORD)

.PHONY: bench-online
bench-online: build ## run the benchmarks of online checking (minutes; with SOAK=1 20 million transactions)
	$(BIN)/python -m benchmarks online $(RECORD)
	$(BIN)/python -m benchmarks stability $(RECORD)
	$(BIN)/python -m benchmarks service $(RECORD)
	if [ -n "$(SOAK)" ]; then $(BIN)/python -m benchmarks soak $(RECORD); fi

.PHONY: bench-intervals
bench-intervals: build ## run the benchmarks of the method of intervals, and of its pipeline (minutes)
	$(BIN)/python -m benchmarks intervals $(RECORD)
	$(BIN)/python -m benchmarks pipeline $(RECORD)

.PHONY: bench-journal
bench-journal: build ## run the benchmark of the journal beside one on SQLite (a minute)
	$(BIN)/python -m benchmarks journal $(RECORD)

.PHONY: bench-run
bench-run: build ## run the benchmark of recording, alone and on PostgreSQL (minutes)
	$(BIN)/python -m benchmarks recording $(RECORD)

.PHONY: bench-verify
bench-verify: build ## run the benchmark of verifying certificates of a million transactions (minutes, 2 GB)
	$(BIN)/python -m benchmarks verification $(RECORD)

.PHONY: bench-graph
bench-graph: build ## run the benchmark of levels as queries on graph databases (minutes)
	$(BIN)/python -m benchmarks graph $(RECORD)

.PHONY: bench-large
bench-large: build ## run the benchmark of 50 million operations (minutes, 6 GB)
	$(BIN)/python -m benchmarks large $(RECORD)

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(VENV) rust/target dist isoscope-demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
