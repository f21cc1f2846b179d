# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# Images of containers forbid bytecode often, and then each of hundreds of processes of a run compiles whet anew.
unexport PYTHONDONTWRITEBYTECODE
PACKAGES := bubblewrap g++ gcc libseccomp2 python3-venv util-linux valgrind
DEMO := whet/benchmarks/tasks
# Three for two cores: tests wait for processes now and then. Those that share what takes long to set up stay together.
TESTFLAGS ?= -n 3 --dist worksteal
# Some of the long ones took 5 minutes on an idle machine.
PATIENT := --timeout 3600
UNMARKED := -m "slice or not (timed or corpus or exhaustive or smoke)"
# Which slice of the corpora `make test` takes: any text, of which the hash counts.
SLICE ?= $(shell git rev-parse HEAD 2>/dev/null || echo none)
# Where a run's report (JUnit) goes.
REPORT ?=
REPORTED = $(if $(REPORT),--junitxml=$(REPORT))
BOARD := .board
BOARD_TASKS ?= dedup-events,tidy-text,word-counts,held-out/call-charges
CAMPAIGNS := exploits attacks mutants oracle timing
# Not among them: steady, which takes days; see docs/testing.md.
GPU_CHECK ?=
GPU_MACHINE ?= x86_64
GPU_NEEDS := whet/benchmarks/gpu_check/requirements.txt
GPU_PYTHON ?= $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
GPU_PLATFORMS := 1 2010 2014 $(foreach glibc,5 12 17 24 27 28 31 34 35 36 39,_2_$(glibc))
GPU_WHEELS_MOST := 64

.PHONY: setup demo board-demo test smoke test-all test-exhaustive lint docs clean gpu-check gpu-wheels

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

# Runs of its own: those of an older whet under the usual state directory would be refused.
demo: export WHET_HOME := $(CURDIR)/.demo
demo: setup
	rm -rf .demo
	$(BIN)/whet optimize $(DEMO)/dedup-events --rounds 1
	$(BIN)/whet optimize $(DEMO)/tidy-text --rounds 1
	@echo "demo: two verified improvements"

# Takes a while; killed and begun again, it goes on where it was.
board-demo: export WHET_HOME := $(abspath $(BOARD))/.runs
board-demo: setup
	mkdir -p $(BOARD)
	for model in unchanged known-best catalogue; do \
		$(BIN)/whet bench run whetbench --ids $(BOARD_TASKS) --model $$model --rounds 2 \
			--output $(BOARD)/$$model.jsonl || exit; \
	done
	$(BIN)/whet board build $(BOARD)/unchanged.jsonl $(BOARD)/known-best.jsonl $(BOARD)/catalogue.jsonl --output $(BOARD)/site
	@echo "board-demo: open $(BOARD)/site/index.html, or: $(BIN)/whet board serve $(BOARD)/site"

# What every change has to pass. A clock is only a limit here, for what hangs or takes far too long.
test: setup
	$(BIN)/python -m pytest $(TESTFLAGS) $(REPORTED) $(UNMARKED) --slice $(SLICE)

# Large effects by a real clock, so with nothing beside them.
smoke: setup
	$(BIN)/python -m pytest $(PATIENT) $(REPORTED) -m smoke tests/test_smoke.py

# The rest: what measures real speedups, with nothing beside it, and what takes long. All parts run, then it fails if any did.
# Campaigns that were interrupted go on where they were.
test-all: setup
	@failed=; \
	$(BIN)/python -m pytest $(TESTFLAGS) $(UNMARKED) || failed=1; \
	$(BIN)/python -m pytest $(TESTFLAGS) $(PATIENT) -m "corpus and not exhaustive and not timed" || failed=1; \
	$(BIN)/python -m pytest $(PATIENT) -m "smoke or timed and not exhaustive" || failed=1; \
	for campaign in $(CAMPAIGNS); do $(BIN)/whet bench self $$campaign || failed=1; done; \
	test -z "$$failed"

# Before a release: some hours.
test-exhaustive: setup
	$(BIN)/python -m pytest $(TESTFLAGS) $(PATIENT) -m "exhaustive and not timed"
	$(BIN)/python -m pytest $(PATIENT) -m "exhaustive and timed"

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Where a network is: wheels of what gpu-check needs, for the machine with the GPU, which brings torch and triton.
gpu-wheels:
	rm -rf .wheels
	$(PYTHON) -m pip download --quiet --disable-pip-version-check --only-binary=:all: --implementation cp \
		--python-version $(GPU_PYTHON) $(foreach one,$(GPU_PLATFORMS),--platform manylinux$(one)_$(GPU_MACHINE)) \
		--dest .wheels --requirement $(GPU_NEEDS)
	@size=$$(du -sm .wheels | cut -f1); echo "gpu-wheels: $$size MiB for Python $(GPU_PYTHON)"; test $$size -le $(GPU_WHEELS_MOST)

# On the machine with the GPU. Where its python3 is of a venv itself, a venv of it would not see torch: hence outer.pth.
# Without the bytecode of torch, which some installers leave out, each process would compile what it imports.
gpu-check:
	@$(PYTHON) -m venv --clear --without-pip --system-site-packages .gpu-venv
	@site=$$(.gpu-venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	$(PYTHON) -c 'import sys, sysconfig; print("" if sys.prefix == sys.base_prefix else sysconfig.get_path("purelib"))' \
		>"$$site/outer.pth"; \
	test ! -d .wheels || $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --no-index \
		--no-deps --target "$$site" .wheels/*.whl
	@$(PYTHON) -c 'import compileall, importlib.util as u; [compileall.compile_dir(place, quiet=2, workers=0) for name in \
	("torch", "triton") if (found := u.find_spec(name)) for place in found.submodule_search_locations]'
	PYTHONPATH=$(CURDIR) .gpu-venv/bin/python -m whet.benchmarks.gpu_check \
		--python "$$(command -v $(PYTHON))" $(GPU_CHECK)

docs: setup
	$(BIN)/python -m whet.cli.reference > docs/cli.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf .venv .ci-results .npm .board .demo .wheels .gpu-venv build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find whet tests -name __pycache__ -type d -prune -exec rm -rf {} +
