"""Passing folders and locks: gone with their process, whoever else leaves things in /tmp."""

import os
import subprocess
import sys
import threading
import time

import pytest

from sandbox import scratch

HOLD = """
import sys
from pathlib import Path
from sandbox import scratch
with scratch.folder(Path(sys.argv[1])) as place:
    (place / "half").write_text("half")
    print(place, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that uses a folder, and that folder."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield process, process.stdout.readline().decode().strip()
        process.kill()


def test_a_folder_is_there_as_long_as_it_is_used(tmp_path):
    with scratch.folder(tmp_path) as place:
        (place / "x").write_text("x")
        assert scratch.sweep(tmp_path) == ()
        assert (place / "x").exists()
    assert os.listdir(tmp_path) == []


def test_a_killed_process_loses_its_folder_and_a_live_one_keeps_it(tmp_path, holder):
    process, place = holder
    assert scratch.sweep(tmp_path) == ()
    process.kill()
    process.wait()
    assert [str(path) for path in scratch.sweep(tmp_path)] == [place]
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_swept_before_it_is_held_is_made_again(tmp_path):
    done = threading.Event()

    def sweep():
        while not done.is_set():
            scratch.sweep(tmp_path)

    sweepers = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in sweepers:
        thread.start()
    try:
        for _ in range(1000):
            with scratch.folder(tmp_path) as place:
                (place / "x").write_text("x")
    finally:
        done.set()
        for thread in sweepers:
            thread.join()
    assert os.listdir(tmp_path) == []


def test_what_is_not_of_our_making_stays(tmp_path):
    prefix = f"orchestrator-{os.getuid()}-"
    (tmp_path / f"{prefix}notes.txt").write_text("mine")
    (tmp_path / "victim").mkdir()
    (tmp_path / f"{prefix}x.new").symlink_to(tmp_path / "victim")
    os.mkfifo(tmp_path / f"{prefix}y.lock")
    before = sorted(os.listdir(tmp_path))
    assert scratch.sweep(tmp_path) == ()
    assert sorted(os.listdir(tmp_path)) == before


def test_one_at_a_time_takes_its_turn():
    inside, most, count = 0, 0, 0

    def work():
        nonlocal inside, most, count
        for _ in range(50):
            with scratch.turn(f"test-{os.getpid()}"):
                inside += 1
                time.sleep(0.0005)  # long enough for another to come in, if it could
                most = max(most, inside)
                count += 1
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, count) == (1, 400)
