"""The programs that can be delegated to."""

from collections.abc import Mapping

from orchestrator.delegates.claude import Claude
from orchestrator.delegates.cli import Cli
from orchestrator.delegates.codex import Codex

CLIS: Mapping[str, Cli] = {cli.name: cli for cli in (Claude(), Codex())}
