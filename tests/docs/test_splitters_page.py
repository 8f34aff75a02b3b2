"""The programs of the splitters' page run, and print what the page says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import splitters

PAGE = (Path(splitters.__file__).parents[1] / "docs" / "splitters.md").read_text()
EXAMPLES = re.findall(r"(?ms)^```python\n(.*?)^```\n\n```text\n(.*?)^```", PAGE)


def test_the_page_has_examples():
    assert len(EXAMPLES) == PAGE.count("```python") == 4


def test_what_the_page_names_can_be_imported():
    named = set(re.findall(r"\bsplitters\.([A-Za-z_]+)", PAGE)) - {"md", "py"}
    assert named - set(splitters.__all__) - {"__file__"} == set()
    unsaid = [name for name in splitters.__all__ if not re.search(rf"`[^`\n]*\b{name}\b", PAGE)]
    assert unsaid == []


@pytest.mark.parametrize(("program", "printed"), EXAMPLES)
def test_an_example_prints_what_the_page_says(program, printed):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")
