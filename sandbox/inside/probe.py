"""What a program in a sandbox is, may do and can reach, as JSON.

    python -m inside.probe [--writable] ADDRESS:PORT...
    python -m inside.probe --ask ADDRESS:PORT

The second way prints what is said at an address to whoever connects.
Runs under the toolbox's Python alone. Nothing is written, and nothing is sent but the first packet
of a connection to each address.
"""

import errno
import json
import os
import socket
import stat
import subprocess
import sys

BUSYBOX = "/opt/orchestrator/bin/busybox"
FORBIDDEN = {
    "mount": ("mount", "-t", "tmpfs", "none", "/tmp"),
    "unshare": ("unshare", "-U", "true"),
    "mknod": ("mknod", "/tmp/probe-disk", "b", "8", "0"),
}
SHUT = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL)
MOST = 100
ELSEWHERE = ("/proc", "/sys", "/dev")


def main(arguments: list[str]) -> None:
    if arguments[0] == "--ask":
        print(json.dumps({"answer": answer(arguments[1])}))
        return
    addresses = [each for each in arguments if each != "--writable"]
    room = os.statvfs("/")
    facts = {
        "status": status(),
        "interfaces": interfaces(),
        "routes": routes(),
        "reached": [each for each in addresses if reached(each)],
        "allowed": [name for name, command in FORBIDDEN.items() if allowed(command)],
        "free_bytes": room.f_bavail * room.f_frsize,
        "free_files": room.f_favail,
        "writable": writable() if "--writable" in arguments else [],
    }
    print(json.dumps(facts))


def status() -> dict[str, str]:
    """What the kernel says of this process: its user, capabilities and filters."""
    wanted = ("Uid", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")
    with open("/proc/self/status") as file:
        pairs = (line.rstrip("\n").partition(":\t") for line in file)
        return {name: value for name, _, value in pairs if name in wanted}


def interfaces() -> list[str]:
    """Names of network interfaces; asked of the kernel, for gVisor has no /sys/class/net."""
    return sorted(name for _, name in socket.if_nameindex())


def routes() -> list[str]:
    """Every route but those of the loopback interface."""
    found = []
    for name, column, header in (("route", 0, True), ("ipv6_route", -1, False)):
        try:
            with open(f"/proc/net/{name}") as file:
                lines = file.read().splitlines()[header:]
        except FileNotFoundError:
            continue
        found += [line for line in lines if line.split()[column] != "lo"]
    return found


def reached(address: str) -> bool:
    """Whether a packet to this address would leave: silence and refusal come from a network."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=1):
            return True
    except OSError as problem:
        return problem.errno not in SHUT


def answer(address: str) -> str:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        said = b""
        while data := connection.recv(1024):
            said += data
    return said.decode("ascii", "replace")


def allowed(command: tuple[str, ...]) -> bool:
    quiet = subprocess.DEVNULL
    return subprocess.run((BUSYBOX, *command), stdout=quiet, stderr=quiet).returncode == 0


def writable() -> list[str]:
    """Folders of the image's own that every user may write to; no more than `MOST`."""
    found: list[str] = []
    here = os.stat("/").st_dev
    for folder, names, _ in os.walk("/"):
        names[:] = [name for name in names if is_ours(os.path.join(folder, name), here)]
        for name in names:
            path = os.path.join(folder, name)
            if os.lstat(path).st_mode & stat.S_IWOTH:
                found.append(path)
        if len(found) >= MOST:
            break
    return sorted(found[:MOST])


def is_ours(path: str, device: int) -> bool:
    if path in ELSEWHERE:
        return False
    facts = os.lstat(path)
    return stat.S_ISDIR(facts.st_mode) and facts.st_dev == device


if __name__ == "__main__":
    main(sys.argv[1:])
