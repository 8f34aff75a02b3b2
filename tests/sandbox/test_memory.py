"""What the kernel counted is read whole, however busy the machine is."""

from contextlib import closing

from sandbox import Limits, connect
from sandbox.memory import Kills
from tests.forward import Late, forwarding


def test_a_kill_is_counted_also_where_the_engines_answer_comes_in_one_piece(make_box, monkeypatch):
    box = make_box(Limits(memory=128 << 20))
    assert box.run(["python3", "-c", "x = bytearray(1 << 30)"]).exit.status == 137
    with forwarding(Late) as address:
        monkeypatch.setenv("DOCKER_HOST", address)
        with closing(connect()) as busy:
            kills = Kills(busy, box.id)
            assert (kills.behind(137), kills.behind(137)) == (True, False)
