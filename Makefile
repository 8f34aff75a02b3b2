# Two commands for a newcomer: `make demo` and `make test`. Each sets up all it needs.
.DEFAULT_GOAL := help
.PHONY: help demo test lint bench venv engine images clean
BIN := .venv/bin
JOBS ?= $$(( $$(nproc) + 1 ))

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

demo: venv images ## a real defect in a real project, from task to judged branch
	@sh docs/demo/run.sh

test: venv images ## the whole test suite; ARGS="tests/sandbox -k name" picks some, JOBS=0 runs one by one
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

lint: venv ## style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy

bench: venv images ## every speed claim, measured side by side
	@$(BIN)/python -m benchmarks $(ARGS)

venv: .venv/ready ## .venv with the pinned dependencies

.venv/ready: pyproject.toml .ci/constraints.txt .ci/venv.sh
	@sh .ci/venv.sh

engine: ## a Docker Engine that answers
	@sh containers/engine.sh

images: engine ## the base image and the toolbox
	@sh containers/build.sh

clean: ## removes .venv and caches; images and finished runs stay
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -prune -exec rm -rf {} +
