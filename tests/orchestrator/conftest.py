"""A user's repository with its run's quarantine, ready for every test of this package."""

from pathlib import Path

import pytest

from tests.exchange import Exchange


@pytest.fixture
def exchange(tmp_path: Path) -> Exchange:
    return Exchange.create(tmp_path, {"a.txt": b"one\ntwo\n", "src/b.py": b"print()\n"})
