# Targets a newcomer guesses; `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
UV   := .uv/bin/uv
BIN  := $(VENV)/bin
FAST := tests/unit tests/golden
# A busy machine makes trials invalid.
ALONE := tests/live/test_study.py
# Beside tests, which wait for daemons now and then. By this name, `make --dry-run test` does not run it.
BESIDE = $(MAKE) --no-print-directory --jobs=2 --output-sync lint docs java-test
# What the user's shell says to other programs. `study` leaves out the rest by itself (cluster/state/shell.py).
CHOICES := JAVA_HOME PYTHONUNBUFFERED \
	UV_CACHE_DIR UV_DEFAULT_INDEX UV_HTTP_TIMEOUT UV_INDEX_% UV_NATIVE_TLS UV_OFFLINE UV_PYTHON UV_PYTHON_INSTALL_% \
	PIP_CACHE_DIR PIP_CERT PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_INDEX_URL PIP_NO_INDEX PIP_PROXY PIP_TRUSTED_HOST
FOREIGN := BASHOPTS BASH_ENV CDPATH CLASSPATH ENV GLOBIGNORE JAVACMD LANG LANGUAGE LD_AUDIT LD_PRELOAD \
	POSIXLY_CORRECT SHELLOPTS VIRTUAL_ENV \
	$(filter-out $(CHOICES), $(filter BASH_FUNC_% CONDA_% JAVA_% _JAVA_% JDK_% LC_% PIP_% PYTHON% UV_%, $(.VARIABLES)))
unexport $(FOREIGN)
export LC_ALL := C.UTF-8
# Where byte code is forbidden, each of our processes would compile some 3,000 modules anew.
export PYTHONDONTWRITEBYTECODE :=
# Nobody else may change what this user will run.
OWN := umask go-w &&

.PHONY: help setup study airflow check fast test live prove sbom release java-test lint live-vm fresh-debian bench golden reference pictures looked format clean docs

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 16

setup: $(VENV)/.ready ## locked environment, Hadoop, HBase and YCSB stacks; again: nothing to do
	@$(BIN)/study setup

# The stacks and the environment wait for the network in turns; together they take less.
$(VENV)/.ready: pyproject.toml hatch_build.py uv.lock .uv-requirements.txt
	@$(REQUIRED)
	@$(OWN) test -x .uv/bin/pip || python3 -m venv .uv
	@$(OWN) .uv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r .uv-requirements.txt
	@$(OWN) $(if $(UV_DEFAULT_INDEX),$(FROM_MIRROR),$(UV) sync --locked $(EXTRAS) $(BUILT_BY_LOCKED) --quiet)
	@$(OWN) for link in $(VENV)/lib/python3*/site-packages/*density_study.pth; do echo ../../../../.editable > $$link; done
	@$(BIN)/python -m docs.generator  # editors want the schema of studies
	@touch $@
# Names all that is missing at once.
REQUIRED = { command -v python3 >/dev/null || { echo "error: Python 3 with venv is needed: no python3 on PATH." && \
	echo "remedy: as root: $$(grep -m1 -o 'apt-get install [a-z0-9 .+-]*' README.md)" && false; } >&2; } && \
	python3 cluster/stack/requirements.py
# hatch_build.py makes .editable. Its path is relative here, because under LC_ALL=C Python cannot read one with umlauts.
# Nothing on one machine needs Celery; the tests of several workers have an environment of their own.
EXTRAS = --all-extras --no-extra celery
# Else what builds these two would come from the registry without hashes; the dependency group `build` is locked.
BUILT_BY_LOCKED = --no-build-isolation-package density-study --no-build-isolation-package pyspark
# uv sync downloads from the addresses in uv.lock. A mirror has the same files elsewhere: only their hashes count.
# Without --python, `uv pip` would change the interpreter that UV_PYTHON names.
FROM_MIRROR = $(UV) venv --quiet --allow-existing $(VENV) \
	&& $(UV) export --frozen --only-group build --quiet --output-file $(VENV)/build.txt \
	&& $(UV) export --frozen $(EXTRAS) --quiet --no-emit-project --output-file $(VENV)/requirements.txt \
	&& $(UV) pip install --python $(VENV) --quiet --require-hashes --requirement $(VENV)/build.txt \
	&& $(UV) pip sync --python $(VENV) --quiet --require-hashes --no-build-isolation $(VENV)/build.txt $(VENV)/requirements.txt \
	&& $(UV) pip install --python $(VENV) --quiet --no-deps $(BUILT_BY_LOCKED) --editable .

study: setup ## run the quickstart study through Airflow and print where the report is
	@$(BIN)/study run quickstart

airflow: setup ## Airflow's web UI on loopback with these DAGs; prints address and password
	@$(BIN)/study airflow

lint: setup ## ruff, types, import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: setup ## the fast part: lint, and unit and golden tests without those of tests/thorough.txt
	@$(MAKE) --no-print-directory --jobs=2 --output-sync lint fast

fast: setup
	$(BIN)/pytest -q -n 2 -m "not thorough and not slow" $(FAST)

test: packages-test setup ## all but `make live` and `live-vm`: a small study on real daemons among it (10 min)
	@$(BESIDE) & beside=$$!; $(BIN)/pytest -q -n 4 -m "not slow and not vm" tests --ignore=$(ALONE); \
		ended=$$?; wait $$beside && exit $$ended
	@$(BIN)/python -m tests.support.pages.word_counts
	$(BIN)/pytest -q -m "not slow and not vm" $(ALONE)
	@$(BIN)/python -m tests.prove stalest

live: packages-live-vm setup ## the slow live tests: every mode and mix, kills, hosts over SSH, a guest; as root, on an idle machine
	$(BIN)/pytest -q -n 2 -m slow tests/unit tests/property tests/security  # 100,000 damaged studies among them
	$(BIN)/pytest -q -n 2 -m "not slow" --hypothesis-profile=anew tests/property
	$(BIN)/pytest -q -m "slow and not vm" tests/live tests/spark tests/dag tests/fresh tests/browser

prove: setup ## what was verified longest ago, for MINUTES=30, or GROUP="NAME..."; results go to docs/proof (root, an idle machine)
	@$(BIN)/python -m tests.prove run --minutes $(or $(MINUTES),30) $(addprefix --group ,$(GROUP))

java-test: setup ## the YCSB binding's unit tests
	@$(BIN)/python -m density_study.cluster.stack test

live-vm: packages-vm setup ## a cluster in guests, and kill -9 at every step of making one (emulated: under an hour)
	$(BIN)/pytest -q -m vm tests/live

fresh-debian: packages-fresh ## `make test`, or TARGET, in a clone on a minimal Debian 12, or SUITE=trixie; as root
	@SUITE=$(SUITE) tests/fresh/debian.sh make $(or $(TARGET),test)

# Installed by apt as root; for anybody else, named, with what set-up lacks. Of several targets: packages-live-vm.
packages-%:
	@fault=0; { $(REQUIRED); } || fault=2; tests/packages.sh $(subst -, ,$*) && exit $$fault

sbom: setup ## software bills of materials (CycloneDX) of the stacks and the Python packages, in sbom/
	@mkdir -p sbom
	@for name in package hadoop hbase ycsb; do $(BIN)/study stack sbom $$name -o sbom/$$name.cdx.json || exit; done
	@ls sbom/*

# The archive proves that it builds: the wheel is made from it. Nothing is tagged or published.
release: setup reference sbom ## wheel, source archive, bills of materials and checksums, in dist/; KEY=... signs them
	@test -z "$$(git status --porcelain)" || { echo "commit or remove first:"; git status --short; exit 1; } >&2
	@rm -rf dist
	@$(OWN) $(UV) build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist
	@cp sbom/*.cdx.json dist
	@$(BIN)/python -m tests.fresh.wheels dist/*.whl
	@cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS
	@$(if $(KEY),gpg --local-user $(KEY) --armor --detach-sign dist/SHA256SUMS,echo "not signed: make release KEY=<your key>")

bench: setup ## time and memory of set-up and quickstart, as a table and bench.json
	$(BIN)/python -m tests.bench

golden: setup ## make the golden files anew; read the diff before you commit
	$(BIN)/pytest -q tests/golden --golden

reference: setup ## generate docs/reference/ from the code; not in git
	@$(BIN)/python -m docs.generator

pictures: packages-test setup ## the pictures of docs/: kept reports, and a real study in Airflow (8 min)
	$(BIN)/python -m tests.browser.pictures

looked: setup ## pictures of README, the site and the report of each kind of run, to look at and commit (a minute)
	$(BIN)/python -m tests.browser.looked

docs: reference ## the documentation as a web site, site/index.html; fails on a dead link or an orphan page
	@$(BIN)/python -m docs.generator.sample
	@$(BIN)/python -m docs.generator.recording
	$(BIN)/properdocs build --strict

format: setup ## ruff's formatting and safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove what was built here; runs/ and the caches of stacks stay
	rm -rf $(VENV) .editable .uv .airflow .mypy_cache .ruff_cache .pytest_cache bench.json sbom dist site docs/reference docs/sample-report.html docs/recording.html
