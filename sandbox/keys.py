"""The keys of a terminal, and the bytes that each of them sends (as the Linux console does)."""

import string

CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D"}
"""These have other codes while a program asks for them."""
NAMED = {
    "enter": b"\r",
    "tab": b"\t",
    "shift-tab": b"\x1b[Z",
    "space": b" ",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "insert": b"\x1b[2~",
    "delete": b"\x1b[3~",
    "home": b"\x1b[1~",
    "end": b"\x1b[4~",
    "page-up": b"\x1b[5~",
    "page-down": b"\x1b[6~",
    **{f"f{number}": b"\x1b[[%c" % (64 + number) for number in range(1, 6)},
    **{
        f"f{number}": b"\x1b[%d~" % code
        for number, code in zip(range(6, 13), (17, 18, 19, 20, 21, 23, 24), strict=True)
    },
}
_CONTROL = {
    **{letter: bytes([ord(letter) - 96]) for letter in string.ascii_lowercase},
    **{"@": b"\0", "[": b"\x1b", "\\": b"\x1c", "]": b"\x1d", "^": b"\x1e", "_": b"\x1f"},
}
KNOWN = f"{', '.join((*NAMED, *CURSOR))}, ctrl- and a letter, alt- and a character"


def code(name: str, *, application: bool = False) -> bytes | None:
    """What the key of this name sends; None when there is no such key."""
    name = name.lower() if len(name) > len("alt-x") or not name.startswith("alt-") else name
    if name in NAMED:
        return NAMED[name]
    if name in CURSOR:
        return (b"\x1bO" if application else b"\x1b[") + CURSOR[name].encode()
    modifier, _, key = name.partition("-")
    if modifier == "ctrl":
        return _CONTROL.get(key)
    if modifier == "alt" and len(key) == 1:
        return b"\x1b" + key.encode()
    return None


def typed(text: str) -> bytes:
    """What typing a text sends; a newline is the Enter key."""
    return text.replace("\r\n", "\r").replace("\n", "\r").encode()
