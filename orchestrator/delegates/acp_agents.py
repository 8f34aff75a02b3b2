"""The agents that we have kits of: how each finds the gateway, and where it keeps its sessions."""

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from containers import AGENTS
from orchestrator.delegates.claude import Claude
from orchestrator.task import Task
from sandbox.gateway.relay import PORT
from sandbox.gateway.routes import Api
from sandbox.kit import Kit


class Known(Protocol):
    """An agent whose command is its name alone."""

    kits: tuple[Kit, ...]
    api: Api
    """The only one that it asks."""
    transcripts: str
    """As in `Program`."""
    transcript: str
    meta: Mapping[str, object]
    """What it is told of a session beside what the protocol says, for itself alone."""

    def command(self, model: str) -> tuple[str, ...]:
        """How it is started, with a model if one was named."""
        ...

    def environment(self, task: Task, token: str) -> Mapping[str, str]:
        """What it sees besides."""
        ...


CODEX_ACP_VERSION = "0.16.0"
_CODEX_ACP = (
    # Its own sandbox cannot start inside ours.
    'sandbox_mode="danger-full-access"',
    'approval_policy="never"',
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "features.apps=false",
    "features.plugins=false",
    # Its own reading of AGENTS.md: an earlier run may have written it. It is told the base's.
    "project_doc_max_bytes=0",
    'model_provider="gateway"',
    f'model_providers.gateway={{name="gateway", base_url="http://127.0.0.1:{PORT}/v1",'
    ' wire_api="responses", env_key="OPENAI_API_KEY", request_max_retries=1,'
    " stream_max_retries=2, stream_idle_timeout_ms=60000}",
)


class CodexAcp:
    """Codex, by an adapter that has it inside: one native binary."""

    place = "/opt/agents/codex-acp"
    kits: tuple[Kit, ...] = (
        Kit(f"orchestrator/codex-acp:{CODEX_ACP_VERSION}", place, f"sh {AGENTS} codex-acp"),
    )
    api: Api = "openai"
    transcripts = ".codex/sessions/*/*/*/rollout-*-{}.jsonl"
    transcript = ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{}.jsonl"
    meta: Mapping[str, object] = {}

    def command(self, model: str) -> tuple[str, ...]:
        """As `Known.command` says."""
        settings = (*_CODEX_ACP, *((f"model={json.dumps(model)}",) if model else ()))
        words = (word for setting in settings for word in ("-c", setting))
        return (f"{self.place}/codex-acp", *words)

    def environment(self, task: Task, token: str) -> Mapping[str, str]:
        """As `Known.environment` says: nothing, for its settings say all."""
        del task, token
        return {}


CLAUDE_AGENT_ACP_VERSION = "0.54.1"
"""The one whose library was made for the version of Claude Code that is known here."""


class ClaudeAgentAcp:
    """Claude Code, by an adapter for node that starts it."""

    place = "/opt/agents/claude-agent-acp"
    kits: tuple[Kit, ...] = (
        Kit(
            f"orchestrator/claude-agent-acp:{CLAUDE_AGENT_ACP_VERSION}",
            place,
            f"sh {AGENTS} claude-agent-acp",
        ),
        Claude.kit,
    )
    api: Api = Claude.api
    transcripts = Claude.transcripts
    transcript = Claude.transcript
    # Nothing of the files it works on, which may be an earlier run's: no settings, hooks, servers.
    meta: Mapping[str, object] = {
        "claudeCode": {
            "options": {
                "settingSources": [],
                "settings": {"disableAllHooks": True},
                "strictMcpConfig": True,
            }
        }
    }

    def command(self, model: str) -> tuple[str, ...]:
        """As `Known.command` says; its model is told by a variable."""
        del model
        script = "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"
        return (f"{self.place}/node", f"{self.place}/{script}")

    def environment(self, task: Task, token: str) -> Mapping[str, str]:
        """As `Known.environment` says: what Claude Code sees, and where that is."""
        model = task.model.partition(":")[2]
        return {
            **Claude().environment(task, token),
            "CLAUDE_CODE_EXECUTABLE": f"{Claude.kit.place}/claude",
            **({"ANTHROPIC_MODEL": model} if model else {}),
        }


KNOWN: Mapping[str, Known] = {
    "codex-acp": CodexAcp(),
    "claude-agent-acp": ClaudeAgentAcp(),
}
"""By their names; the images are built by `containers/agents.sh`."""


def resumable(command: Sequence[str]) -> bool:
    """Whether it is known where this agent keeps its sessions."""
    return bool(command) and command[0] in KNOWN
