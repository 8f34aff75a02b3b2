"""A session of the real Claude Code is recorded by the gateway, and replayed with no API at all."""

import secrets
import uuid

import pytest

from sandbox import Limits, open_box, prepare
from sandbox.gateway.budget import Budget, Ledger
from sandbox.gateway.cassette import read
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.models import Models
from sandbox.gateway.player import Player
from sandbox.gateway.provider import Provider
from sandbox.gateway.recorder import Recorder
from sandbox.gateway.relay import PORT, Relay
from sandbox.gateway.routes import Route
from sandbox.gateway.tape import RecordedUpstream, ReplayedUpstream
from tests import claude
from tests.api.scenario import Call, Scenario, Step
from tests.api.server import play
from tests.attacks.test_claude import COMMAND, EDIT, FILE, QUIET

LOOK = "date; ls -la /workspace; time echo $ANTHROPIC_API_KEY"
TASK = Scenario(
    (
        Step("I look.", (Call("Read", {"file_path": FILE}),)),
        Step(calls=(Call("Edit", EDIT), Call("Bash", {"command": LOOK, "description": "Look"}))),
        Step("add is mended."),
    ),
    side_answers=True,
)


@pytest.fixture
def work(engine, source):
    """Let Claude Code work through an upstream; its last words and the file it was to mend."""
    image = prepare(engine, claude.image(engine), source).image

    def work(upstream, route, token):
        models = Models([route], token, upstream, Ledger(Budget(), lambda model, usage: None))
        reached = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}", "ANTHROPIC_API_KEY": token}
        with open_gateway(models) as gateway:
            relay = Relay(gateway.accept, reached)
            box = open_box(engine, image, Limits(), run="test", purpose="work", neighbours=[relay])
            with box as box:
                command = [*COMMAND, "--session-id", str(uuid.uuid4())]
                said = box.run(command, stdin=b"mend add", env=QUIET, seconds=240)
                assert said.exit.ok, said.stdout[-2000:]
                return b'"result":"add is mended."' in said.stdout, box.files.read("src/app.py")

    return work


def test_claude_code_works_again_from_a_recording(work, tmp_path):
    key, token, other = (f"{kind}-{secrets.token_hex(24)}" for kind in ("sk-ant", "run", "run"))
    with play(TASK) as api:
        upstream = RecordedUpstream(Provider(), Recorder(tmp_path), token)
        before = work(upstream, Route("anthropic", api.url, key, ("claude-*",)), token)
    player = Player(read(tmp_path))
    nowhere = Route("anthropic", "http://127.0.0.1:1", "", ("claude-*",))
    assert work(ReplayedUpstream(player, other), nowhere, other) == before
    assert before == (True, b"def add(a, b):\n    return a + b + 0\n")
    assert player.left == 0
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert (key.encode() in written, token.encode() in written) == (False, False)
