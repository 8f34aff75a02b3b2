"""The programs that can be delegated to."""

from collections.abc import Mapping

from orchestrator.delegates.claude import LOGIN, Claude
from orchestrator.delegates.cli import Cli
from orchestrator.delegates.codex import Codex

CLIS: Mapping[str, Cli] = {cli.name: cli for cli in (Claude(), Codex())}
LOGINS: Mapping[str, Cli] = {"claude": Claude(LOGIN)}
"""The same with the login of a subscription in place of a key, where that can be lent safely."""
