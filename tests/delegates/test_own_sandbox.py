"""Codex with its own sandbox switched on, which cannot start inside ours."""

import pytest

from orchestrator.delegates.account import Account
from orchestrator.delegates.codex import Codex
from orchestrator.delegates.delegate import Delegate
from orchestrator.delegation import DelegateSettings
from orchestrator.outcome import Outcome
from orchestrator.settings import Settings
from orchestrator.workers import Hired
from tests.api.scenario import Call, Expect, Step
from tests.delegates.test_runs import asks, scenario

BYPASS = "--dangerously-bypass-approvals-and-sandbox"
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch"


class Sandboxed(Codex):
    """Codex as it is started where nothing else contains it."""

    def __init__(self, policy):
        super().__init__()
        self.policy = policy

    def command(self, task, before=None):
        words = super().command(task, before)
        at = words.index(BYPASS)
        return (*words[:at], "--sandbox", self.policy, *words[at + 1 :])


@pytest.fixture
def sandboxed(desk):
    """Run Codex under a policy of its own."""

    def employ(policy):
        def hire(task, brain, artifacts, traffic, before):
            account = Account.open(task, (brain,), traffic, task.limits.turns)
            cli = Sandboxed(policy)
            return Hired(Delegate(cli, account, artifacts), (account.door,), (cli.kit,))

        return hire

    def run(policy, *steps):
        stated = Settings(delegates=DelegateSettings(tools=False))
        return desk.run("codex", scenario(*steps), employ=employ(policy), stated=stated)

    return run


@pytest.mark.parametrize("policy", ["read-only", "workspace-write"])
def test_commands_that_it_keeps_from_running_decide(sandboxed, policy):
    """Often they are told to the model alone; when they end late enough, in a line, too."""
    refused = Expect(said=("bubblewrap is unavailable",))
    ran = sandboxed(policy, asks("codex", "echo > new.txt"), Step("Done.", expect=refused))
    assert ran.record.outcome is Outcome.TOOL_SANDBOX_BROKEN


def test_patches_that_it_keeps_from_being_applied_decide(sandboxed):
    refused = Expect(said=("patch rejected",))
    patch = Step(calls=(Call("apply_patch", text=PATCH, kind="custom"),))
    ran = sandboxed("read-only", patch, Step("Done.", expect=refused))
    assert ran.record.outcome is Outcome.TOOL_SANDBOX_BROKEN
