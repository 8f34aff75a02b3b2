"""The command line: one module a verb, all text and exit codes."""

from orchestrator.cli.main import main as main
