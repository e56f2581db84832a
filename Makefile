# Everything a person types. The environment is made from hash-locked requirements on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8000
STAMP := $(VENV)/.installed-$(shell cat requirements/dev.txt | cksum | cut -d' ' -f1)
export PYTHONWARNINGS ?= default

.PHONY: help env conformance cluster cluster-tools test-cluster test-cluster-deep test-browser demo scenarios test test-sqlite test-postgresql test-deep lint openapi cli-reference types layers mutation lock clean

help:  ## what there is to type
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 18

$(STAMP):
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; set PYTHON=…") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the locked requirements into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . 2>/dev/null
	@rm -f $(VENV)/.installed-* && touch $@

env: $(STAMP)  ## the environment alone

demo: $(STAMP)  ## a working portal on this machine, with every state on screen (PORT=8000)
	@PORT=$(PORT) PORTAL_MODE=demo $(BIN)/python manage.py demo

REGISTRATION ?= examples/conformance/good/path-there.yaml
conformance: $(STAMP)  ## whether a check keeps the contract, rule by rule (REGISTRATION=file or folder, TRY=1 runs its command here; or IMAGE=… ENGINE=podman)
	@$(BIN)/tau-check conformance $(if $(IMAGE),--image $(IMAGE),-f $(REGISTRATION)) $(if $(TRY),--try) $(if $(ENGINE),--engine $(ENGINE))

scenarios: $(STAMP)  ## five ways in which a check is not green: command line, API and page say the same (SCENARIOS=folder keeps the dumps)
	@$(BIN)/python -m tests.scenarios $(SCENARIOS)

test: test-sqlite test-postgresql  ## everything that needs only Python

test-sqlite: $(STAMP)
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m "not deep and not cluster and not browser"

test-postgresql: $(STAMP)
	$(BIN)/python tests/with_postgres.py --optional $(BIN)/python -m pytest -q -n auto --dist loadfile -m "(django_db or database) and not deep and not cluster and not browser"

emulators: $(STAMP)  ## install the stores that evidence tests read from, once (npm for Azurite)
	$(BIN)/python -m tests.evidence.emulators

test-browser: $(STAMP)  ## a real browser on a running portal (Chromium)
	$(BIN)/python -m pytest -q -p no:randomly -m "browser and not deep"

test-deep: $(STAMP)  ## the same laws over 100,000 generated cases, and other long runs
	TAU_DEEP=1 $(BIN)/python -m pytest -q -m "not cluster and not browser"

cluster-tools:  ## build what a test cluster is made of, once (Go; about 19 minutes on 2 cores)
	nice -n 10 $(PYTHON) -m tests.cluster.tools

test-cluster: $(STAMP) cluster-tools  ## on a real Kubernetes cluster on this machine (root, docs/test-bed.md)
	$(BIN)/python -m pytest -q -p no:randomly -m "cluster and not deep"

test-cluster-deep: $(STAMP) cluster-tools  ## every way in which a run can end, crashes and faults, on the same cluster (an hour)
	$(BIN)/python -m pytest -q -p no:randomly -m "cluster and deep"

cluster: $(STAMP) cluster-tools  ## keep a real cluster running until Ctrl-C
	$(BIN)/python -m tests.cluster.bed

lint: $(STAMP)  ## format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)  ## mypy, strict
	$(BIN)/mypy checks taugrid_portal tests

layers: $(STAMP)  ## the direction of the house
	$(BIN)/lint-imports

openapi: $(STAMP)  ## write docs/openapi.yaml from the views
	PORTAL_MODE=test $(BIN)/python manage.py openapi > docs/openapi.yaml

cli-reference: $(STAMP)  ## write docs/cli.md from the commands
	$(BIN)/python -m checks.cli.reference > docs/cli.md

mutation: $(STAMP)  ## change the verdict and the reading of envelopes everywhere; a test must notice (half an hour)
	rm -rf mutants && $(BIN)/mutmut run
	$(BIN)/python -m tests.mutation.survivors

lock:  ## recompile the lock files from pyproject.toml
	@for set in runtime dev; do \
	  case $$set in runtime) extra= ;; dev) extra="--group dev" ;; esac; \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --no-annotate pyproject.toml $$extra -o requirements/$$set.txt; done

clean:  ## remove what the build made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build mutants *.egg-info
