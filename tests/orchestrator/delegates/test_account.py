"""What is said of a question that found no server."""

import pytest

from orchestrator.delegates.account import Account
from orchestrator.models.access import DIRECT
from orchestrator.task import Task
from sandbox.gateway.routes import Route
from sandbox.gateway.turn import Answered
from sandbox.gateway.usage import NOTHING

HOME = "http://somebody:word@127.0.0.1:9"


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (True, ""),
        (
            False,
            "No connection to anthropic:fable at http://127.0.0.1:9: it is shut;"
            " is it running? ANTHROPIC_BASE_URL changes the address",
        ),
    ],
)
def test_a_question_without_a_server_names_the_address_and_its_variable(sent, says):
    account = Account.open(Task(".", "mend"), [Route("anthropic", HOME, "", ("*",))], DIRECT)
    answer = Answered("anthropic:fable", "/", 0, NOTHING, False, 0.0, 0.1, "it is shut", sent)
    assert account.unconnected(answer) == says
