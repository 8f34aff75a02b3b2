"""The tools that look for files and lines; every pattern is data, never an option."""

from orchestrator.tools.tool import Context

_NOTHING = "(nothing found)"


def list_dir(context: Context, path: str = ".") -> str:
    """List a folder; names of folders end with a slash.

    Args:
        path: The folder, relative to /workspace or absolute.
    """
    return context.box.files.list(path).text or "(the folder is empty)"


def glob(context: Context, pattern: str, path: str = ".") -> str:
    """List the files whose path matches a pattern such as src/**/*.py.

    Args:
        pattern: The pattern; ** stands for any number of folders.
        path: The folder where the pattern starts, relative to /workspace or absolute.
    """
    return context.box.files.glob(pattern, path).text or _NOTHING


def grep(context: Context, pattern: str, path: str = ".", glob: str | None = None) -> str:
    """Find lines that match a regular expression; each is shown as path:line:text.

    Args:
        pattern: The regular expression, in Python's syntax.
        path: The file or folder to look in, relative to /workspace or absolute.
        glob: Look only into files whose name matches this pattern, such as *.py.
    """
    return context.box.files.grep(pattern, path, glob or "").text or _NOTHING


def find_files(context: Context, name: str, path: str = ".") -> str:
    """Find files anywhere below a folder by their name.

    Args:
        name: The name, or a pattern such as test_*.py.
        path: The folder to look in, relative to /workspace or absolute.
    """
    return context.box.files.find(name, path).text or _NOTHING
