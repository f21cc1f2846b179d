# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
PACKAGES := bubblewrap g++ gcc libseccomp2 python3-venv util-linux valgrind
DEMO := whet/benchmarks/tasks
TESTFLAGS ?= -n 2

.PHONY: setup demo test test-all lint docs clean

setup: .venv/ready

.venv/ready: pyproject.toml
	@need=; \
	for command in bwrap g++ gcc setpriv unshare valgrind; do \
		command -v $$command >/dev/null || need="$$need $$command"; \
	done; \
	$(PYTHON) -c 'import ctypes; ctypes.CDLL("libseccomp.so.2")' 2>/dev/null || need="$$need libseccomp2"; \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || need="$$need python3-venv"; \
	if [ -z "$$need" ]; then \
		:; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "setup: missing:$$need; installing $(PACKAGES)"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends $(PACKAGES) </dev/null; \
	else \
		echo "setup: missing:$$need; as root: apt-get install $(PACKAGES)" >&2; \
	fi
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "setup: Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: setup
	$(BIN)/whet optimize $(DEMO)/dedup-events --rounds 1
	$(BIN)/whet optimize $(DEMO)/largest-lake --rounds 1
	@echo "demo: two verified improvements"

test: setup
	$(BIN)/python -m pytest $(TESTFLAGS) -m "not corpus and not timed"
	$(BIN)/python -m pytest -m "timed and not corpus"

test-all: test
	$(BIN)/python -m pytest $(TESTFLAGS) -m "corpus and not timed"
	$(BIN)/python -m pytest -m "corpus and timed"

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: setup
	$(BIN)/python -m whet.cli.reference > docs/cli.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf .venv build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find whet tests -name __pycache__ -type d -prune -exec rm -rf {} +
