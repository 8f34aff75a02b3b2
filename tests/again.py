"""A run that was carried out once, and is had again elsewhere by each test that changes it."""

import os
import shutil
from pathlib import Path

from orchestrator.records import Records


def have_again(past: Path, folder: Path) -> None:
    """Copy a repository and its `home` to a folder with nothing of these names.

    What its records and journals know of their place is mended.
    """
    shutil.copytree(past, folder, symlinks=True, dirs_exist_ok=True)
    before, here = (os.fsencode(each) + b"/" for each in (past, folder))
    records = Records(folder / "home")
    for run in records.all():
        home = records.folder(run.id)
        for file in (home.record, home.journal):
            file.write_bytes(file.read_bytes().replace(before, here))
