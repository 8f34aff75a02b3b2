"""Looking for files and lines."""

import time

import pytest

from orchestrator.tools.search import find_files, glob, grep, list_dir
from orchestrator.tools.tool import Context

FILES = {"a.py": b"import os\nx = 1\n", "src/b.py": b"import sys\n", "src/c.txt": b"import\n"}


@pytest.fixture
def context(workspace, tmp_path):
    workspace.fill(FILES)
    return Context(workspace.box, tmp_path, "step-1-call-1", time.monotonic() + 60, print)


def test_a_folder_is_listed(context):
    assert list_dir(context) == "a.py\nsrc/"
    assert list_dir(context, "src") == "b.py\nc.txt"


def test_files_are_found_by_pattern(context):
    assert glob(context, "**/*.py") == "a.py\nsrc/b.py"
    assert glob(context, "*.py", "src") == "src/b.py"


def test_files_are_found_by_name(context):
    assert find_files(context, "c.*") == "src/c.txt"


def test_lines_are_found_with_their_place(context):
    assert grep(context, "^import .") == "a.py:1:import os\nsrc/b.py:1:import sys"
    assert grep(context, "import", glob="*.txt") == "src/c.txt:1:import"


@pytest.mark.parametrize("look", [glob, grep, find_files])
def test_finding_nothing_is_said(context, look):
    assert look(context, "nowhere") == "(nothing found)"


@pytest.mark.parametrize("pattern", ["--pre=cat", "-f/etc/passwd", "-e", "--help"])
def test_a_pattern_is_never_an_option(context, pattern):
    assert grep(context, pattern) == "(nothing found)"
