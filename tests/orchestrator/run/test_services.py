"""Runs whose work and checks need a database."""

import pytest

from orchestrator.beside import Beside
from orchestrator.outcome import Outcome
from orchestrator.screen import Ink
from orchestrator.settings import Settings
from orchestrator.summary import headline
from tests.conftest import engine as engine
from tests.orchestrator.run.conftest import containers
from tests.postgres import READY
from tests.postgres import postgres as postgres

PSQL = "psql -qAt -h 127.0.0.1 -U postgres -c"
TABLES = f"{PSQL} \"select count(*) from pg_tables where tablename = 'made'\""


@pytest.fixture
def stated(postgres):
    """Settings with a database, for work in the same image, which has psql."""
    return Settings(image=postgres, services={"db": Beside(postgres, ready=READY, memory="512m")})


def test_work_and_proof_find_a_database_each_its_own_and_fresh(desk, stated):
    script = f"{PSQL} 'create table made (x int)'; test $({TABLES}) = 1; echo more >> README.md"
    ran = desk.run(script, stated=stated, checks=(f"grep more README.md && test $({TABLES}) = 0",))
    assert ran.record.outcome is Outcome.DONE
    assert containers(ran.record.id) == []


def test_a_service_that_does_not_come_up_ends_the_run_and_says_why(desk, postgres):
    says = "echo no space; echo for rent; exit 3"
    broken = Beside(postgres, command=("sh", "-c", says), port=5432)
    ran = desk.run("true", stated=Settings(services={"db": broken}))
    assert ran.record.outcome is Outcome.WORKER_ERROR
    assert "The service db ended with exit status 3" in ran.record.message
    shown = headline(ran.record, Ink(on=False))
    assert shown[-3:] == ["      It said:", "        no space", "        for rent"]
