import contextlib
import io
import queue
import time

import pytest

from sandbox import Exit, Limits, Line, framed
from sandbox.disk import HOST_SIGNAL
from sandbox.errors import SandboxLostError
from sandbox.exec import ExecChannel
from sandbox.signals import Signals
from tests.images_kinds import built
from tests.played import Played, served


def left(box) -> bytes:
    """What runs in the box besides the question."""
    return box.run(["pgrep", "-x", "sleep"]).stdout


def test_a_stopped_reaper_does_not_stop_the_time_limit(box):
    end = box.run(["sh", "-c", "kill -STOP $PPID; sleep 70"], seconds=0.5).exit
    assert end == Exit(124, end.seconds, timed_out=True)
    assert end.seconds < 60
    assert left(box) == b""


def test_a_killed_reaper_leaves_nothing_past_the_sweep(box):
    assert box.run(["sh", "-c", "setsid sleep 71 & kill -9 $PPID; sleep 71"]).exit.status == 137
    box.sweep()
    assert left(box) == b""


def test_a_consumer_that_leaves_takes_a_stopped_reaper_along(box):
    output = box.stream(["sh", "-c", "echo on; sleep 72"])
    next(output)
    assert box.run(["pkill", "-STOP", "-f", "inside.channel"], evidence=True).exit.ok
    output.close()
    assert left(box) == b""


def test_commands_of_the_same_user_cannot_look_into_the_reaper(box):
    done = box.run(["sh", "-c", "ls /proc/$PPID/fd; cat /proc/$PPID/environ"])
    assert done.stdout == b""
    assert done.stderr.count(b"Permission denied") == 2


def test_a_consumer_that_pauses_past_the_limit_loses_nothing(box, monkeypatch):
    monkeypatch.setattr(framed, "GRACE", 1.0)
    output = box.stream(["sh", "-c", "yes 123456789 | head -n 300000"], seconds=5)
    first = next(output)
    assert box.run(["sleep", "7"]).exit.ok
    *lines, end = output
    assert [first, *lines] == 300_000 * [Line("stdout", b"123456789")]
    assert end == Exit(0, end.seconds, size=3_000_000)


def test_signals_ignored_by_python_are_not_ignored_by_commands(box):
    _, ignored = box.run(["grep", "SigIgn", "/proc/self/status"]).stdout.split()
    assert int(ignored, 16) & 0x7FFFFFFF == 0  # beyond are the C library's own


def test_a_command_has_its_own_process_group(box):
    assert box.run(["sh", "-c", "kill -TERM 0"]).exit.status == 143


def test_first_bytes_are_never_lost(box):
    for number in range(50):
        said = box.run(["echo", str(number)], evidence=True).stdout
        assert said == b"%d\n" % number


FILL = """
import os, time
while True:
    try:
        if not os.fork():
            time.sleep(74)
            os._exit(0)
    except OSError:
        open("/tmp/full", "w").close()
"""


@pytest.fixture
def full(engine, make_box):
    """A box in which all the processes that its limits allow are taken, and taken again."""
    box = make_box(Limits(pids=40))
    fill = 'python3 -c "$FILL" >/dev/null 2>&1 & until [ -e /tmp/full ]; do :; done'
    assert box.run(["sh", "-c", fill], env={"FILL": FILL}).exit.ok
    while len(engine.client.api.top(box.id)["Processes"]) < 40:
        time.sleep(0.02)
    return box


def test_at_the_limit_of_processes_a_sweep_works(full):
    full.sweep()
    done = full.run(["echo", "fine"])
    assert (done.stdout, done.stderr) == (b"fine\n", b"")


def test_at_the_limit_of_processes_a_command_takes_the_place_of_others(full):
    done = full.run(["sh", "-c", "echo fine"])
    assert (done.stdout, done.exit.status) == (b"fine\n", 0)
    assert b"[the limit of processes was reached" in done.stderr


def test_at_the_limit_of_processes_evidence_is_not_refused(full):
    for _ in range(20):
        assert full.run(["echo", "fine"], evidence=True).stdout == b"fine\n"


ABORT = "echo 'runtime/cgo: pthread_create failed: Resource temporarily unavailable' >&2"


def test_evidence_whose_start_was_aborted_by_the_engine_is_tried_again(box):
    """Played; the limit of processes does it once in hundreds of tries."""
    script = f"[ -e /tmp/tried ] || {{ touch /tmp/tried; {ABORT}; exit 2; }}; echo fine"
    done = box.run(["sh", "-c", script], evidence=True)
    assert (done.stdout, done.stderr, done.exit.status) == (b"fine\n", b"", 0)


@pytest.mark.parametrize(
    ("speak", "status"),
    [(ABORT, 0), (ABORT, 1), (f"{ABORT}; sleep 2", 2), (ABORT.removesuffix(" >&2"), 2)],
)
def test_evidence_that_only_speaks_of_an_abort_is_run_once(box, speak, status):
    assert box.run(["rm", "-f", "/tmp/times"]).exit.ok
    script = f"{speak}; echo once >> /tmp/times; exit {status}"
    assert box.run(["sh", "-c", script], evidence=True).exit.status == status
    assert box.run(["cat", "/tmp/times"]).stdout == b"once\n"


def test_evidence_that_always_ends_as_an_abort_does_is_run_twice(box):
    assert box.run(["rm", "-f", "/tmp/times"]).exit.ok
    script = f"{ABORT}; echo once >> /tmp/times; exit 2"
    done = box.run(["sh", "-c", script], evidence=True)
    assert (done.exit.status, done.stderr[:12]) == (2, b"runtime/cgo:")
    assert box.run(["cat", "/tmp/times"]).stdout == b"once\nonce\n"


class Aborting(Played):
    """An engine that twice aborts the start of what it was to run."""

    statuses = (2, 2, 0)
    started = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).started += self.path.endswith("/start")
        self.say(200, {"Id": "1"})

    def do_GET(self):
        self.say(200, {"Running": False, "ExitCode": self.statuses[self.started - 1]})


def test_a_sweep_whose_start_was_aborted_by_the_engine_is_tried_again():
    with served(Aborting) as engine:
        ExecChannel(engine, "box").sweep()
    assert Aborting.started == 3


def test_a_server_left_behind_lives_on_when_it_prints(box):
    server = "while echo request; do sleep 0.01; : > /tmp/ready$i; i=$((i+1)); done"
    box.run(["sh", "-c", f"({server}) & echo started"])
    seen = "rm -f /tmp/ready*; until ls /tmp/ready* 2>&-; do sleep 0.01; done"
    assert box.run(["sh", "-c", seen], seconds=60).exit.ok
    box.sweep()


def test_the_last_words_of_a_command_arrive_at_its_time_limit(box):
    done = box.run(["sh", "-c", "echo begun; sleep 76"], seconds=1)
    assert (done.stdout, done.exit.timed_out) == (b"begun\n", True)


def test_a_command_gets_back_what_the_image_preloads(engine, image, make_box):
    """The toolbox's Python had to put it by: it belongs to another C library."""
    name = built(engine, "orchestrator-test/preload", f"FROM {image}\nENV LD_PRELOAD=/lib/x.so")
    try:
        said = make_box(image=name).run(["/opt/orchestrator/bin/busybox", "env"]).stdout
    finally:
        engine.client.images.remove(name, force=True)
    assert [line for line in said.split() if b"PRELOAD" in line] == [b"LD_PRELOAD=/lib/x.so"]


def test_commands_share_one_server_and_its_wardens(box):
    parents = {box.run(["sh", "-c", "echo $PPID"]).stdout for _ in range(5)}
    assert len(parents) == 1


def test_after_a_process_was_left_behind_another_warden_takes_over(box):
    ask = ["sh", "-c", "echo $PPID"]
    before = box.run(["sh", "-c", "sleep 77 >/dev/null 2>&1 & echo $PPID"]).stdout
    assert box.run(ask).stdout != before
    box.sweep()


@pytest.mark.parametrize("name", ["TERM", "HUP", "INT", "ALRM", "USR1"])
def test_a_signal_to_everything_reaches_no_later_step(source, box, tmp_path, name):
    """The wardens are of the same user; one that waits for a command would keep it till then."""
    shell = ["sh", "-c", f"trap '' {name}; kill -{name} -1; echo on"]
    for _ in range(3):
        assert (box.run(shell).stdout, box.run(["echo", "fine"]).exit.status) == (b"on\n", 0)
        box.run(shell)
        assert box.snapshot(source.tree, tmp_path / "pack").tree == source.tree


def test_a_healthy_command_is_not_taken_for_one_that_an_abandoned_check_ended(box):
    for _ in range(10):
        box.run(["true"])
        with contextlib.closing(box.stream(["sh", "-c", "echo; sleep 78"], evidence=True)) as lines:
            next(lines)
        assert box.run(["sleep", "0.02"]).exit.status == 0


def test_a_watched_command_is_never_waited_for_and_calls_for_each_piece(box):
    news = queue.SimpleQueue()
    script = "until [ -e go ]; do sleep 0.02; done; echo one; exit 3"
    watched = box.watch(
        ["sh", "-c", script],
        lambda: news.put(None),
        signals=Signals(),
        stdin=b"",
        env={},
        seconds=60,
        keep=io.BytesIO(),
        longest=99,
    )
    with contextlib.closing(watched):
        assert [next(watched), next(watched)] == [None, None]
        assert box.run(["touch", "go"]).exit.ok
        told = []
        while not (told and isinstance(told[-1], Exit)):
            news.get(timeout=30)
            told += iter(lambda: next(watched, None), None)
    *lines, end = told
    assert lines == [Line("stdout", b"one")]
    assert end == Exit(3, end.seconds, size=4)


def test_a_server_that_ended_with_its_container_tells_why(engine, make_box, monkeypatch):
    """Processes are gone before the engine knows that their container is."""
    box = make_box()
    api, inspect = engine.client.api, engine.client.api.inspect_container
    alive = []

    def late(container):
        if not alive:
            alive.append(inspect(container))
            api.kill(container, int(HOST_SIGNAL))
            return alive[0]
        return inspect(container)

    monkeypatch.setattr(api, "inspect_container", late)
    monkeypatch.setattr(framed, "SERVER", ("true",))
    with pytest.raises(SandboxLostError, match="nearly full"):
        box.run(["echo", "fine"])
