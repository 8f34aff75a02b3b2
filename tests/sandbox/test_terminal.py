"""Interactive sessions on real programs: a debugger, prompts, an editor, floods."""

import io
import threading

import pytest

from sandbox import prepare
from sandbox.errors import SandboxLostError
from sandbox.terminal import TerminalError
from sandbox.terminals import MOST


@pytest.fixture
def run(box):
    """Open a session; all are closed at the end."""
    opened = []

    def open_session(*command, **options):
        opened.append(box.terminals.open(command, **options))
        return opened[-1]

    yield open_session
    for each in opened:
        each.close()


def sleeping(box, seconds):
    return box.run(["pgrep", "-f", f"^sleep {seconds}$"]).stdout != b""


def test_a_prompt_is_answered(run):
    session = run("python3", "-c", "print('Hello', input('name? '))")
    assert session.wait("name? ") == "found"
    session.send("Zoë 漢字\n")
    assert session.wait("never said") == "ended"
    screen = session.look()
    assert (screen.text, session.status) == ("name? Zoë 漢字\nHello Zoë 漢字", 0)


def test_pdb_is_stepped_through(box, run):
    box.run(["tee", "/tmp/two.py"], stdin=b"one = 1\ntwo = one + 1\n")
    session = run("python3", "-m", "pdb", "/tmp/two.py")
    session.wait("(Pdb) ")
    session.send("n\n")
    # Not the prompt: that is drawn anew with each key.
    assert session.wait("two = one + 1") == "found"
    session.send("p 40 + one\n")
    assert session.wait("41") == "found"
    assert session.look().lines[:5] == (
        "> /tmp/two.py(1)<module>()",
        "-> one = 1",
        "(Pdb) n",
        "> /tmp/two.py(2)<module>()",
        "-> two = one + 1",
    )


def test_an_editor_writes_a_file(box, run):
    session = run("/opt/orchestrator/bin/busybox", "vi", "/tmp/note.txt", rows=10, columns=40)
    session.wait("note.txt")
    assert session.look().lines[1] == "~"
    session.send("ihellp", "backspace")
    session.send("o\nwörld", "escape")
    assert session.wait("wörld") == "found"
    assert session.look().lines[:3] == ("hello", "wörld", "~")
    session.send(":x\n")
    assert (session.wait("never said"), session.status) == ("ended", 0)
    assert box.run(["cat", "/tmp/note.txt"]).stdout.decode() == "hello\nwörld\n"


def test_a_pager_moves_with_keys(box, run):
    box.run(["sh", "-c", "seq 100 > /tmp/numbers"])
    session = run("less", "/tmp/numbers", rows=5)
    session.wait("numbers")
    session.send("", "page-down")
    session.wait(":")
    assert session.look().lines == ("5", "6", "7", "8", ":")


def test_ctrl_c_interrupts(run):
    session = run("sh", "-c", "trap 'echo caught; exit 3' INT; echo on; while :; do sleep 1; done")
    session.wait("on")
    session.send("", "ctrl-c")
    assert session.wait("never said") == "ended"
    assert session.look().lines[1] == "^Ccaught"
    assert session.status == 3


def test_a_shell_has_job_control(run):
    session = run("bash", "--norc", env={"PS1": "$ "})
    session.wait("$ ")
    # Without `exec` the shell may be within vfork when the signal comes, and is then not stopped.
    session.send("sh -c 'echo o\"\"n; exec sleep 91'\n")
    session.wait("on\n")
    session.send("", "ctrl-z")
    assert session.wait("Stopped") == "found"


def test_a_program_knows_the_size_and_its_changes(run):
    session = run("python3", "-q", rows=30, columns=100)
    session.wait(">>> ")
    ask = "import os; print('size', *os.get_terminal_size())\n"
    session.send(ask)
    assert session.wait("size 100 30") == "found"
    session.resize(12, 60)
    session.send(ask)
    assert session.wait("size 60 12") == "found"
    assert len(session.look().lines) == 12


def test_folder_and_variables_are_obeyed(run):
    session = run("sh", "-c", "pwd; echo $A $TERM", cwd="/tmp", env={"A": "b"})
    session.wait("never said")
    assert session.look().text == "/tmp\nb linux"


def test_a_signal_shows_in_the_status(run):
    session = run("sh", "-c", "kill -TERM $$")
    session.wait("never said")
    assert session.status == 143


@pytest.mark.parametrize(
    ("options", "said"),
    [({}, "no-such-program: No such file"), ({"cwd": "/no/such"}, "/no/such: No such file")],
)
def test_what_cannot_be_started_says_so(run, options, said):
    session = run("no-such-program", **options)
    assert (session.wait("never said"), session.status) == ("ended", 127)
    assert session.look().text.startswith(said)


def test_silence_and_the_time_limit_end_waiting(run):
    session = run("bash", "-c", "read line; while :; do echo busy; read -t 0.1; done")
    assert session.wait(quiet=0.2) == "quiet"
    session.send("\n")
    assert session.wait(seconds=1.2, quiet=1) == "time"


def test_what_stood_there_before_a_key_is_not_waited_for(run):
    session = run("sh", "-c", "echo ready; read line; sleep 1; echo ready")
    session.wait("ready")
    session.look()
    session.send("\n")
    session.wait("ready")
    assert session.look().text.split() == ["ready", "ready"]


def test_lines_that_scrolled_off_are_shown_once(run):
    session = run("sh", "-c", "seq 30; read line", rows=5)
    session.wait("30")
    assert session.look().text == "\n".join(str(number) for number in range(1, 31))
    assert session.look().above == ()


def test_closing_ends_what_ignores_it_and_what_left_the_session(box, run):
    script = "trap '' HUP TERM; setsid sleep 92 & (trap '' HUP; sleep 92) & echo on; sleep 92"
    session = run("sh", "-c", script)
    session.wait("on")
    session.close()
    assert session.ended
    assert not sleeping(box, 92)


def test_a_session_that_nobody_uses_is_closed(box, run):
    session = run("sh", "-c", "setsid sleep 90 & sleep 90", idle=0.5)
    killed = "while pgrep -f '^sleep 90$'; do sleep 0.1; done"
    assert box.run(["sh", "-c", killed], seconds=60).exit.ok
    assert session.wait("never said") == "ended"


def test_closing_hangs_up_first(box, run):
    session = run("sh", "-c", "trap ': >/tmp/saved; exit' HUP; echo on; while :; do :; done")
    session.wait("on")
    session.close()
    assert box.run(["test", "-e", "/tmp/saved"]).exit.ok


def test_a_program_that_ends_takes_along_what_it_left(box, run):
    session = run("sh", "-c", "setsid sleep 93 & echo on")
    assert session.wait("never said") == "ended"
    assert not sleeping(box, 93)


def test_closing_ends_nothing_else(box, run):
    box.run(["sh", "-c", "sleep 94 >/dev/null 2>&1 &"])
    run("cat").close()
    assert sleeping(box, 94)
    box.sweep()


def test_a_block_that_fails_ends_the_program(box):
    with pytest.raises(ZeroDivisionError), box.terminals.open(["sleep", "95"]):
        1 / 0  # noqa: B018 - it is there to fail
    assert not sleeping(box, 95)


def test_a_sweep_ends_sessions(box, run):
    session = run("sleep", "96")
    box.sweep()
    assert (session.wait("never said"), session.status) == ("ended", 137)


def test_too_many_sessions_are_refused_until_one_ends(run):
    sessions = [run("cat") for _ in range(MOST)]
    with pytest.raises(TerminalError, match="4 sessions are open"):
        run("cat")
    sessions[0].send("", "ctrl-d")
    sessions[0].wait("never said")
    assert run("echo", "fine").wait("fine") == "found"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rows": 1}, "rows: expected 2 to 500, got 1"),
        ({"columns": 501}, "columns: expected 2 to 500, got 501"),
        ({"env": {"A": "x" * 140_000}}, "argument list too long"),
    ],
)
def test_impossible_requests_are_refused(run, options, said):
    with pytest.raises(TerminalError, match=said):
        run("cat", **options)


def test_an_unknown_key_is_named_and_nothing_is_typed(run):
    session = run("cat")
    with pytest.raises(TerminalError, match="there is no key 'hyper'; the keys are enter"):
        session.send("text", "hyper")
    assert session.look().text == ""


def test_typing_into_an_ended_program_is_refused(run):
    session = run("true")
    session.wait("never said")
    with pytest.raises(TerminalError, match="has ended"):
        session.send("x")


@pytest.fixture
def bare_image(engine, source):
    """The small repository on an image that has a shell and nothing else."""
    recipe = b"FROM orchestrator/toolbox:1 AS toolbox\nFROM scratch\n"
    recipe += b"COPY --from=toolbox /opt/orchestrator/bin/busybox /bin/sh\n"
    name = "orchestrator-test/bare"
    engine.client.images.build(fileobj=io.BytesIO(recipe), tag=name, rm=True)
    image = prepare(engine, name, source).image
    yield image
    engine.client.images.remove(image, force=True)
    engine.client.images.remove(name)


def test_an_image_with_nothing_but_a_shell(bare_image, make_box):
    session = make_box(image=bare_image).terminals.open(["sh"])
    session.send("tty\n")
    assert session.wait("/dev/pts/0") == "found"
    session.send("exit 7\n")
    assert (session.wait("never said"), session.status) == ("ended", 7)


def test_the_end_of_the_sandbox_is_told(engine, make_box):
    box = make_box()
    session = box.terminals.open(["cat"])
    killer = threading.Timer(0.2, engine.client.api.kill, [box.id])
    killer.start()
    with pytest.raises(SandboxLostError):
        session.wait("never said")
    killer.join()
