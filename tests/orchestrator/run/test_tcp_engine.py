"""No path of the host is ever mounted: an engine behind a TCP port serves as well as a socket."""

import pytest

from orchestrator.events import CheckFinished, Prepared
from orchestrator.outcome import Outcome
from tests.forward import Forward, forwarding


@pytest.fixture
def engine_over_tcp(monkeypatch):
    with forwarding(Forward) as address:
        monkeypatch.setenv("DOCKER_HOST", address)
        yield Forward


def test_a_whole_run_goes_through_a_port(desk, engine_over_tcp):
    edit = "head -c 3000000 /dev/urandom > noise.log; echo '# more' >> README.md; cat noise.log"
    ran = desk.run(edit, checks=("grep more README.md",), setup=(f"echo {desk.home}",))
    assert [each.cached for each in ran.told(Prepared)] == [False]
    shown = [(check.stage, check.passed) for check in ran.told(CheckFinished)]
    assert shown == [("base", False), ("proof", True)]
    assert ran.record.outcome is Outcome.DONE
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\n# more"
    assert engine_over_tcp.carried > 3_000_000
