"""What the agent, who runs as the same user as the channel's server, tries against it."""

import pytest

from sandbox import Exit, FileError, Limits, framed
from sandbox.errors import CrossingError, SandboxLostError
from sandbox.frames import DONE, ENDED, ENDING, HELLO, OUT, PIECE, frame

SERVER = "pgrep -of inside.channel"
FORGED = frame(OUT, 1, b"forged\n")


def shell(box, script, **options):
    return box.run(["sh", "-c", script], **options)


def python(box, program, **options):
    return box.run(["python3", "-c", program], **options)


def server(box):
    """Its process id; the same as long as it was not killed."""
    return int(shell(box, SERVER).stdout)


@pytest.fixture
def fresh(make_box):
    return make_box()


def test_the_servers_pipes_cannot_be_opened(box):
    script = """
    for pid in $(pgrep -f '[i]nside.channel') $PPID; do
        for fd in 0 1 2 3 4 5 6; do (printf forged >/proc/$pid/fd/$fd) && echo opened; done
        ls /proc/$pid/fd && echo listed; cat /proc/$pid/mem /proc/$pid/environ && echo read
    done"""
    done = shell(box, script)
    assert (done.stdout, done.exit.ok) == (b"", False)
    assert b"Permission denied" in done.stderr


REACH = """
import ctypes, os, sys
pid = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
attached = [libc.ptrace(request, pid, 0, 0) for request in (16, 0x4206)]
word = ctypes.create_string_buffer(8)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(word), 8)
copied = [libc.syscall(number, pid, vector, 1, vector, 1, 0) for number in (310, 311)]
stolen = libc.syscall(438, libc.syscall(434, pid, 0), 1, 0)
print({*attached, *copied, stolen})
"""


def test_the_server_cannot_be_traced_read_written_or_robbed(box):
    for pid in (str(server(box)), "$PPID"):
        reached = shell(box, f'python3 -c "$REACH" {pid}', env={"REACH": REACH})
        assert reached.stdout == b"{-1}\n"


def test_signals_do_not_move_the_server(box):
    pid = server(box)
    shell(box, f"for n in $(seq 64); do case $n in 9|19|32|33) ;; *) kill -$n {pid};; esac; done")
    assert (box.run(["echo", "fine"]).stdout, server(box)) == (b"fine\n", pid)


def test_a_server_that_is_killed_says_so_and_another_takes_its_place(fresh):
    done = shell(fresh, f"echo begun; kill -9 $({SERVER}); sleep 91")
    assert done.exit == Exit(137, done.exit.seconds, size=done.exit.size)
    assert (done.stdout, done.stderr) == (b"begun\n", framed.ENDED_ELSEWHERE)
    assert fresh.run(["pgrep", "-x", "sleep"]).stdout == b""


def test_everything_killed_ends_the_command_and_the_next_works(fresh):
    shell(fresh, "kill -9 -1; sleep 92")
    assert fresh.run(["echo", "fine"]).stdout == b"fine\n"


SNATCH = """
import os
mine = os.getpid()
while True:
    for pid in os.listdir("/proc"):
        if pid.isdigit() and int(pid) != mine:
            for number in (1, 2):
                try:
                    os.write(os.open(f"/proc/{pid}/fd/{number}", os.O_WRONLY), FORGED)
                except OSError:
                    pass
"""


def test_nothing_can_wait_for_a_server_that_starts_anew(fresh):
    """Before it is shielded a server's pipes could be opened: so nothing else runs by then."""
    snatch = SNATCH.replace("FORGED", repr(FORGED))
    start = f"(trap '' HUP; setsid python3 -c \"$SNATCH\" >/dev/null 2>&1 &); kill -9 $({SERVER})"
    shell(fresh, start, env={"SNATCH": snatch})
    assert fresh.run(["pgrep", "python3"]).stdout == b""
    assert fresh.run(["echo", "fine"]).stdout == b"fine\n"


def test_nothing_of_a_check_can_wait_for_the_first_server(fresh):
    snatch = SNATCH.replace("FORGED", repr(FORGED))
    start = 'setsid python3 -c "$SNATCH" >/dev/null 2>&1 &'
    shell(fresh, start, env={"SNATCH": snatch}, evidence=True)
    assert fresh.run(["echo", "fine"]).stdout == b"fine\n"
    assert fresh.run(["pgrep", "python3"]).stdout == b""


def test_a_killed_server_does_not_fool_a_check(fresh):
    pid = server(fresh)
    assert shell(fresh, f"kill -9 {pid}; exit 3", evidence=True).exit.status == 3
    fresh.run(["true"])  # may find out what happened
    assert fresh.run(["echo", "fine"]).stdout == b"fine\n"


def test_a_stopped_server_costs_its_command_and_no_other(fresh):
    done = shell(fresh, f"kill -STOP $({SERVER}); sleep 93", seconds=0.5)
    assert done.exit == Exit(124, done.exit.seconds, timed_out=True)
    assert fresh.run(["echo", "fine"]).stdout == b"fine\n"


def test_a_stopped_server_does_not_hold_what_asks_about_files(fresh, monkeypatch):
    monkeypatch.setattr("sandbox.files.SECONDS", 0.5)
    shell(fresh, f"(sleep 0.3; kill -STOP $({SERVER})) >/dev/null 2>&1 & sleep 0.1")
    shell(fresh, "sleep 94", seconds=2)  # by then it is stopped also on a busy machine
    assert fresh.files.read("README.md") == b"# Tiny\n"


def test_c02_after_a_fork_bomb_the_next_step_works(make_box):
    box = make_box(Limits(pids=200))
    done = shell(box, "bomb() { bomb | bomb & bomb; }; bomb", seconds=1)
    assert done.exit.seconds < 7
    assert box.run(["echo", "fine"]).stdout == b"fine\n"


def test_c03_the_kernel_takes_a_command_before_the_server(make_box):
    box = make_box(Limits(memory=128 << 20))
    pid = server(box)
    assert python(box, "x = bytearray(1 << 30)").exit.status == 137
    assert server(box) == pid


@pytest.mark.parametrize("program", ["yes", "tr '\\0' x </dev/zero"], ids=["lines", "one line"])
def test_output_without_end_fills_no_memory(box, program):
    output = box.channel.start(["sh", "-c", program])
    next(output)
    said = shell(box, f"sleep 0.3; grep VmRSS /proc/$({SERVER})/status").stdout
    output.close()
    assert int(said.split()[1]) < 60_000


def test_a_background_process_cannot_speak_for_a_later_command(box):
    shell(box, "(while echo forged; do sleep 0.01; done) & echo begun")
    assert [box.run(["echo", "fine"]).stdout for _ in range(20)] == 20 * [b"fine\n"]
    box.sweep()


HOSTILE = {
    "no frame": b"x" * 100,
    "too long": frame(HELLO, 0) + b"\x02\x00\x00\x00\x01\xff\xff\xff\xff",
    "unknown kind": frame(HELLO, 0) + b"\x63" + bytes(8),
    "wrong length": frame(HELLO, 0) + b"\x05\x00\x00\x00\x01\x00\x00\x00\x00",
    "unknown ending": frame(HELLO, 0) + frame(ENDED, 1, ENDING.pack(200, 0)),
    "odd status": frame(HELLO, 0) + frame(ENDED, 1, ENDING.pack(0, -5)),
    "done before its end": frame(HELLO, 0) + frame(DONE, 1),
    "more than there is room for": frame(HELLO, 0) + 70 * frame(OUT, 1, bytes(PIECE)),
}


@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_server_ends_the_connection_and_not_the_host(fresh, monkeypatch, said):
    hello, rest = said[:9], said[9:]
    play = f"import os, sys; os.write(1, {hello!r}); sys.stdin.buffer.read(20); data = {rest!r}\n"
    play += "while data: data = data[os.write(1, data):]\nsys.stdin.read()"
    monkeypatch.setattr(framed, "SERVER", ("python3", "-c", play))
    with pytest.raises((CrossingError, SandboxLostError)):
        fresh.run(["true"])
    monkeypatch.undo()
    assert fresh.run(["echo", "fine"]).stdout == b"fine\n"


def test_answers_for_nobody_are_not_heard(fresh, monkeypatch):
    play = f"import os, sys; os.write(1, {frame(HELLO, 0)!r}); sys.stdin.buffer.read(20)\n"
    honest = frame(OUT, 1, b"fine\n") + frame(ENDED, 1, ENDING.pack(0, 0)) + frame(DONE, 1)
    play += f"os.write(1, {frame(OUT, 77, b'forged') + honest!r}); sys.stdin.read()"
    monkeypatch.setattr(framed, "SERVER", ("python3", "-c", play))
    assert fresh.run(["true"]).stdout == b"fine\n"


def test_an_agent_cannot_answer_for_the_files(box):
    pid = server(box)
    shell(box, f"(while :; do printf '{{}}' >/proc/{pid}/fd/1; done) >/dev/null 2>&1 &")
    with pytest.raises(FileError, match="No such file"):
        box.files.read("missing")
    assert box.files.read("README.md") == b"# Tiny\n"
    box.sweep()
