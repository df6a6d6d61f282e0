# The two commands of this project are `make run` and `make test`. Both create what they need first; see local/prepare.sh.

ORDERS ?= 200
DUPLICATES ?= 0.3
CRASHES ?= 2
EVENTS ?= 2000
SEED ?= 1

BIN := .venv/bin
PYTHON_READY := .venv/.ready
AZURITE_READY := local/azurite/node_modules/.ready

# Both are set up side by side.
MAKEFLAGS += -j2

# Announces a check and says which one failed: $(call check,name,command)
check = @printf '\n── %s\n' '$(1)'; $(2) || { printf '\nmake test stopped: %s failed\n' '$(1)' >&2; exit 1; }

.PHONY: help run test up clean

help:
	@echo 'make run    process orders and events while workers die and messages come twice, then prove that nothing was lost or doubled'
	@echo '            [ORDERS=$(ORDERS) DUPLICATES=$(DUPLICATES) CRASHES=$(CRASHES) EVENTS=$(EVENTS) SEED=$(SEED)]'
	@echo 'make test   check style, types and imports, and run every test'
	@echo 'make up     run broker, database, storage and the app until Ctrl-C; prints where they are'
	@echo 'make clean  remove all that these commands made'
	@echo
	@echo 'Needed: Python 3.13 and Node 20 or newer. PYTHON=/path/to/python3.13 chooses an interpreter.'

run: $(PYTHON_READY) $(AZURITE_READY)
	@$(BIN)/python -m local.demo --orders $(ORDERS) --duplicates $(DUPLICATES) --crashes $(CRASHES) \
		--events $(EVENTS) --seed $(SEED)

test: $(PYTHON_READY) $(AZURITE_READY)
	$(call check,ruff check,$(BIN)/ruff check .)
	$(call check,ruff format,$(BIN)/ruff format --check .)
	$(call check,mypy,$(BIN)/mypy)
	$(call check,lint-imports,$(BIN)/lint-imports)
	$(call check,pytest,$(BIN)/python -m pytest -n 2 --dist loadfile)

up: $(PYTHON_READY) $(AZURITE_READY)
	@$(BIN)/python -m local.stack

clean:
	rm -rf .venv local/azurite/node_modules local/.run .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PYTHON_READY): requirements.txt requirements-dev.txt constraints.txt
	@PYTHON='$(PYTHON)' sh local/prepare.sh python $@

$(AZURITE_READY): local/azurite/package.json local/azurite/package-lock.json
	@sh local/prepare.sh azurite $@
