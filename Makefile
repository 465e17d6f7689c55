# Every target sets up what it needs in .venv. `make help` lists the targets.
PYTHON ?= python3
VENV   ?= .venv
FORM   ?= quick
ARGS   ?=
PARTS  ?= dist image
BUILD_OPTIONS ?=
COMPOSE ?= docker compose
ENGINE ?= $(if $(findstring docker,$(COMPOSE)),docker,podman)
PYTHONS ?= $(foreach name,python3.11 python3.12 python3.13 python3.14,$(shell $(name) -c 'print("$(name)")' 2>/dev/null))
IMAGE  ?= literati:$(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' core/literati/_version.py)
CORES  ?= $(shell $(PYTHON) -I core/literati/cores.py 2>/dev/null || echo 1)

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := $(wildcard core/literati/*/*.pyx core/literati/*/*.pxd core/literati/*/*.h)
SANITIZE := build/sanitize
MLSERVER := build/mlserver
INTEROP := build/interop
# The version before this one, which must run beside it: that with sweeps, before the Python client. It is a revision.
OLDER ?= 5433993
OLDER_ROOT := build/upgrade/older
AUDIT := build/audit
QUICK := not slow and not stack and not browser and not alone
# The lock keeps two concurrent builds from writing the same object files.
LOCK := $(if $(shell command -v flock),flock $(VENV)/.lock)

.PHONY: help serve build check test test-compose test-interop test-upgrade dist lint openapi settings client notebooks page bench paper chaos failover load drills bench-service bench-archive bench-streams fuzz mutants sanitize sanitize-threads audit sbom reproducible scan pin-images lock clean
.DELETE_ON_ERROR:

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  %-14s %s\n' "$$name" "$$text"; done

serve: build ## Run the API, a worker and a private store
	@exec $(BIN)/python -m service.embedded

build: $(VENV)/.extensions ## Compile the extensions and install the package in place

check: lint build ## Run linters, types and the quick tests, in about two minutes
	$(BIN)/python -m pytest -q -n $(or $(JOBS),$(CORES)) --dist worksteal -m "$(QUICK)" $(ARGS)

test: build $(VENV)/.dev $(AUDIT)/.installed ## Run all tests, in about twenty minutes (ARGS="-k name" selects some)
	$(BIN)/python -m tests $(ARGS)

test-compose: build $(VENV)/.dev ## Build and test the containers, in about ten minutes (COMPOSE="docker compose")
	$(BIN)/python -m tests.compose '$(COMPOSE)' '$(ENGINE)' $(ARGS)

test-interop: build $(INTEROP)/.installed $(MLSERVER)/.installed ## Run the exports in other programs and the protocols with other clients (Debian: default-jdk-headless gcc nodejs postgresql)
	LITERATI_INTEROP=1 LITERATI_MLSERVER=$(abspath $(MLSERVER))/bin/python PYTHONPATH=core \
		$(INTEROP)/bin/python -m pytest -q tests/interop $(ARGS)

test-upgrade: build $(VENV)/.dev ## Run this version beside an older one, and replace it process by process (Debian: haproxy; OLDER=revision)
	@# The figures of the replacement are also written to build/upgrade.json.
	$(BIN)/python -m tests.upgrade.older $(OLDER) $(OLDER_ROOT)
	LITERATI_OLDER=$(OLDER_ROOT) $(BIN)/python -m pytest -q tests/upgrade $(ARGS)

dist: $(VENV)/.dev build $(AUDIT)/.installed ## Build sdists and wheels into dist/, and try them where there is no compiler
	@# PYTHONS="python3.11 python3.12" chooses the interpreters; without it, all that are found are used.
	$(BIN)/python -m distributions.build $(PYTHONS)
	LITERATI_DIST="$(PYTHONS)" $(BIN)/python -m pytest -q tests/dist $(ARGS)

lint: $(VENV)/.installed $(VENV)/.dev ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(wildcard setup.py core tests benchmarks worker service requirements supply_chain distributions/build.py distributions/server/literati_server/*.py)
	@# cython-lint calls pycodestyle by name, so pycodestyle must be on the path.
	$(if $(filter %.pyx %.pxd,$(SOURCES)),PATH="$(abspath $(BIN)):$$PATH" cython-lint $(filter %.pyx %.pxd,$(SOURCES)))
	PYTHONPATH=. $(BIN)/lint-imports

openapi: build ## Write openapi/, docs/parameters.md and the parameters of the page
	$(BIN)/python -m service.write_openapi

settings: build ## Write docs/settings.md
	$(BIN)/python -m service.write_settings

client: $(VENV)/.dev ## Write the synchronous client from the asynchronous one
	$(BIN)/python core/write_sync_client.py

notebooks: build $(VENV)/.dev ## Write the notebooks of examples/ with their outputs (while `make serve` runs)
	$(BIN)/python examples/write_notebooks.py

page: ## Build the web page into service/web/assets
	@command -v npm >/dev/null || { echo "Building the page needs Node and npm (Debian: nodejs npm)." >&2; exit 1; }
	cd service/web && npm ci --silent && npm run --silent check && npm run --silent build

bench: build $(VENV)/.bench ## Compare with other solvers (FORM=quick, claims, full, ...; benchmarks/README.md lists all)
	$(BIN)/python -m benchmarks $(FORM) $(ARGS)

paper: FORM = long
paper: build $(VENV)/.bench ## Repeat the paper's experiments, in about a day (FORM=short in 20 minutes; LIMIT=60, FOLDS=1)
	@# An interrupted benchmark goes on where it was. ARGS="--section table1" runs a part, ARGS=--page none.
	$(BIN)/python -m benchmarks.paper --form $(FORM) $(if $(LIMIT),--limit $(LIMIT)) $(if $(FOLDS),--folds $(FOLDS)) $(ARGS)

bench-service: build $(VENV)/.dev $(MLSERVER)/.installed ## Compare the service with MLServer and measure jobs and uploads
	$(BIN)/python -m benchmarks.service --mlserver $(MLSERVER)/bin/python $(ARGS)
	$(BIN)/python -m benchmarks.service.protocols $(ARGS)

bench-archive: build $(VENV)/.dev ## Measure what ended jobs need in the store (ARGS="--real 200 --jobs 100000")
	$(BIN)/python -m benchmarks.service.archive $(ARGS)

bench-streams: build $(VENV)/.dev ## Measure one API process with a thousand event streams and 200 long polls
	$(BIN)/python -m benchmarks.service.open_streams $(ARGS)

chaos: build $(VENV)/.dev ## Kill random processes while jobs run, and check the promises of the service
	@# SEED, JOBS, KILLS, ZOMBIES and MINUTES configure the run. The result is also written to build/chaos.json.
	$(BIN)/python -m tests.chaos $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) \
		$(if $(KILLS),--kills $(KILLS)) $(if $(ZOMBIES),--zombies $(ZOMBIES)) $(if $(MINUTES),--minutes $(MINUTES))

failover: build $(VENV)/.dev ## Kill the primary of a replicated store under load, and count lost writes (Debian: redis-server)
	@# ARGS="--kills 10 --wait 0 1" configures the run. The result is also written to build/failover.json.
	$(BIN)/python -m tests.failover $(ARGS)

load: build $(VENV)/.dev ## Run 500 jobs a minute of 20 tenants in containers for half an hour, and kill some of them (COMPOSE="docker compose")
	@# ARGS="--minutes 5 --rate 100 --pause 0" configures the run. The result is also written to build/load.json.
	$(BIN)/python -m tests.load '$(COMPOSE)' '$(ENGINE)' $(ARGS)

drills: build $(VENV)/.dev ## Perform the faults of docs/operations.md on real processes, in about five minutes (Debian: prometheus gcc)
	@# ARGS='clock "poison job"' selects some. What was seen is also written to build/drills.json.
	$(BIN)/python -m tests.drills $(ARGS)

fuzz: build $(VENV)/.dev ## Fit 20,000 random problems and check the promises of the estimator
	@# SEED draws other problems, PROBLEMS sets their number, and JOBS sets the number of processes.
	$(BIN)/python -m tests.fuzz $(if $(SEED),--seed $(SEED)) $(if $(PROBLEMS),--problems $(PROBLEMS)) \
		--jobs $(or $(JOBS),$(CORES))

mutants: build $(VENV)/.dev ## Change the code in one place at a time and check that a named test fails
	@# ARGS="_gaps" selects the changes whose file or text contains it. JOBS sets how many run at a time.
	$(BIN)/python -m tests.mutants --jobs $(or $(JOBS),1) $(ARGS)

sanitize: build $(VENV)/.dev ## Run tests/core with an AddressSanitizer build
	LITERATI_SANITIZE=1 $(BIN)/python setup.py -q build --build-base $(SANITIZE)/tmp --build-lib $(SANITIZE)/lib
	@# CPython frees little memory at exit, so the memory tests detect leaks, not the sanitizer. pytest must not
	@# capture file descriptor 2, because the sanitizer writes its report there and ends the process.
	@# matplotlib throws C++ exceptions, which the sanitizer finds only if the C++ library is loaded first, too.
	export LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) $$($${CC:-cc} -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=8 \
		PYTHONPATH=$(SANITIZE)/lib PYTHONMALLOC=malloc LITERATI_SANITIZE=1; \
	$(BIN)/python -c "import literati, sys; sys.exit(0 if '$(SANITIZE)' in literati.__file__ else 'the sanitized build is not the one imported')" && \
	$(BIN)/python -m pytest -q --capture=sys -p no:cacheprovider tests/core $(ARGS)

sanitize-threads: build $(VENV)/.dev ## Run the tests of searches with threads with a ThreadSanitizer build
	LITERATI_SANITIZE=threads $(BIN)/python setup.py -q build --build-base $(SANITIZE)-threads/tmp --build-lib $(SANITIZE)-threads/lib
	@# CPython and NumPy are not instrumented, so only the accesses of the extensions are checked.
	export LD_PRELOAD="$$($${CC:-cc} -print-file-name=libtsan.so)" TSAN_OPTIONS=halt_on_error=1:exitcode=66:suppressions=$(CURDIR)/tests/support/solver/thread_sanitizer.supp \
		PYTHONPATH=$(SANITIZE)-threads/lib LITERATI_SANITIZE=threads; \
	$(BIN)/python -c "import literati, sys; sys.exit(0 if '$(SANITIZE)-threads' in literati.__file__ else 'the sanitized build is not the one imported')" && \
	$(BIN)/python -m pytest -q --capture=sys -p no:cacheprovider tests/core/search/test_n_threads.py $(ARGS)

audit: $(AUDIT)/.installed ## Check the locked packages for known vulnerabilities (needs the internet)
	$(AUDIT)/bin/python requirements/audit.py requirements/runtime.txt requirements/service.txt requirements/dev.txt

sbom: $(VENV)/.service $(AUDIT)/.installed ## List the components of the wheels and of the image in build/sbom (IMAGE= leaves the image out)
	$(AUDIT)/bin/python -m supply_chain.sbom --environment $(VENV) --engine $(ENGINE) --image '$(IMAGE)' $(ARGS)

reproducible: $(VENV)/.dev $(AUDIT)/.installed ## Build the wheels and the image twice and compare (PARTS="dist image"; BUILD_OPTIONS="...")
	$(if $(filter dist,$(PARTS)),$(BIN)/python -m supply_chain.reproducible dist $(PYTHONS))
	$(if $(filter image,$(PARTS)),$(BIN)/python -m supply_chain.reproducible image --engine $(ENGINE) --options '$(BUILD_OPTIONS)')

scan: | $(VENV)/bin/python ## Scan the image for known vulnerabilities (needs trivy or grype, and the internet)
	$(BIN)/python -m supply_chain.scan --engine $(ENGINE) --image '$(IMAGE)'

pin-images: | $(VENV)/bin/python ## Write the digests of the third-party images into the Dockerfile and the compose file (needs the internet)
	$(BIN)/python -m supply_chain.pin_images

lock: $(VENV)/.dev ## Resolve the dependencies again and write requirements/*.txt
	$(COMPILE) pyproject.toml -o requirements/runtime.txt
	$(COMPILE) pyproject.toml requirements/service.in requirements/build.in -c requirements/runtime.txt -o requirements/service.txt
	$(COMPILE) pyproject.toml requirements/service.in requirements/build.in requirements/dev.in -c requirements/service.txt -o requirements/dev.txt
	$(COMPILE) pyproject.toml requirements/bench.in -c requirements/dev.txt -o requirements/bench.txt
	$(COMPILE) requirements/bench-service.in -o requirements/bench-service.txt
	$(COMPILE) pyproject.toml requirements/service.in requirements/build.in requirements/interop.in -c requirements/dev.txt -o requirements/interop.txt
	$(COMPILE) requirements/dist.in -c requirements/dev.txt -o requirements/dist.txt
	$(COMPILE) requirements/audit.in -o requirements/audit.txt

clean: ## Remove everything that was built, including the environment
	rm -rf $(VENV) build dist core/*.egg-info distributions/server/*.egg-info distributions/server/build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis service/web/node_modules
	rm -f core/literati/*/*.so $(patsubst %.pyx,%.c,$(wildcard core/literati/*/*.pyx))
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

COMPILE := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-config --no-emit-index-url --custom-compile-command 'make lock'

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Literati needs Python 3.11 or newer; '$(PYTHON)' was not found (set PYTHON=...)." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Literati needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1) (set PYTHON=...)." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "'$(PYTHON)' cannot create virtual environments; install its venv module (Debian: python3-venv)." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# .service is enough to compile and to run. .dev adds the tools for tests and checks.
$(VENV)/.service: requirements/service.txt | $(VENV)/bin/python
	$(LOCK) $(PIP) install -q --require-hashes -r $<
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.service
	$(LOCK) $(PIP) install -q --require-hashes -r $<
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.dev
	$(PIP) install -q --require-hashes -r $<
	@touch $@

# MLServer pins other versions than Literati, so it has its own environment.
$(MLSERVER)/.installed: requirements/bench-service.txt | $(VENV)/bin/python
	$(BIN)/python -m venv $(MLSERVER)
	$(MLSERVER)/bin/python -m pip --disable-pip-version-check install -q --require-hashes -r $<
	@touch $@

# Readers of exports depend on many packages that nothing else needs, so they have an environment of their own.
$(INTEROP)/.installed: requirements/interop.txt | $(VENV)/bin/python
	$(BIN)/python -m venv $(INTEROP)
	$(INTEROP)/bin/python -m pip --disable-pip-version-check install -q --require-hashes -r $<
	@touch $@

# The tools that judge the locked packages have their own environment, because they must not be among them.
$(AUDIT)/.installed: requirements/audit.txt | $(VENV)/bin/python
	$(BIN)/python -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip --disable-pip-version-check install -q --require-hashes -r $<
	@touch $@

# The editable install is a plain path entry, so it is made once. After that, only extensions are rebuilt.
$(VENV)/.installed: pyproject.toml setup.py $(VENV)/.service
	LITERATI_NO_EXTENSIONS=1 $(LOCK) $(PIP) install -q --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.extensions: $(SOURCES) $(VENV)/.installed
	@command -v $${CC:-cc} >/dev/null || { echo "Literati needs a C compiler; '$${CC:-cc}' was not found (Debian: build-essential)." >&2; exit 1; }
	$(LOCK) $(BIN)/python setup.py -q build_ext --inplace
	@touch $@
