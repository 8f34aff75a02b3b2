"""The agents that we have a kit of: how each finds the gateway, and where it keeps its sessions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from containers import AGENTS
from sandbox.gateway.relay import PORT
from sandbox.kit import Kit


@dataclass(frozen=True, slots=True)
class Known:
    """An agent whose command is its name alone."""

    kit: Kit
    words: tuple[str, ...]
    """Its program, and what it is always told."""
    model: tuple[str, str]
    """What it is told to take a model: a word, and one with {} for the model in quotes."""
    transcripts: str
    """As in `Program`."""
    transcript: str

    def command(self, model: str) -> tuple[str, ...]:
        """How it is started, with a model if one was named."""
        word, value = self.model
        return (*self.words, *((word, value.format(json.dumps(model))) if model else ()))


CODEX_ACP_VERSION = "0.16.0"
_PLACE = "/opt/agents/codex-acp"
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

KNOWN: Mapping[str, Known] = {
    "codex-acp": Known(
        kit=Kit(f"orchestrator/codex-acp:{CODEX_ACP_VERSION}", _PLACE, f"sh {AGENTS} codex-acp"),
        words=(
            f"{_PLACE}/codex-acp",
            *(word for setting in _CODEX_ACP for word in ("-c", setting)),
        ),
        model=("-c", "model={}"),
        transcripts=".codex/sessions/*/*/*/rollout-*-{}.jsonl",
        transcript=".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{}.jsonl",
    ),
}
"""By their names; the images are built by `containers/agents.sh`."""


def resumable(command: Sequence[str]) -> bool:
    """Whether it is known where this agent keeps its sessions."""
    known = KNOWN.get(command[0]) if command else None
    return known is not None and bool(known.transcripts)
