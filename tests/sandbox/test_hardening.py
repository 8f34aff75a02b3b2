from dataclasses import replace

from sandbox.hardening import preparation_flags, work_flags
from sandbox.limits import Limits

LIMITS = Limits(memory=1 << 30, cpus=1.5, pids=99, file_size=7, tmp_size=8, seconds=60.0)
ENVIRONMENT = [
    "HOME=/home/agent",
    "LANG=C.UTF-8",
    "LC_ALL=C.UTF-8",
    "TZ=UTC",
    "USER=agent",
    "SHELL=/bin/sh",
    "TERM=dumb",
    "PYTHONDONTWRITEBYTECODE=1",
]
WORK = {
    "Image": "sha256:0",
    "User": "0:0",
    "Entrypoint": ["/opt/orchestrator/bin/busybox", "sleep"],
    "Cmd": ["60"],
    "StopTimeout": 2,
    "StopSignal": "SIGTERM",
    "WorkingDir": "/",
    "Hostname": "sandbox",
    "Env": ENVIRONMENT,
    "Labels": {"run": "r"},
    "Healthcheck": {"Test": ["NONE"]},
    "HostConfig": {
        "Init": True,
        "CapDrop": ["ALL"],
        "CapAdd": [],
        "SecurityOpt": ["no-new-privileges"],
        "NetworkMode": "none",
        "IpcMode": "private",
        "ExtraHosts": ["sandbox:127.0.0.1"],
        "PidsLimit": 99,
        "Memory": 1 << 30,
        "MemorySwap": 1 << 30,
        "NanoCpus": 1_500_000_000,
        "Ulimits": [
            {"Name": "nofile", "Soft": 4096, "Hard": 4096},
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "fsize", "Soft": 7, "Hard": 7},
        ],
        "Tmpfs": {"/tmp": "rw,nosuid,nodev,exec,size=8,nr_inodes=200k,mode=1777"},
        "LogConfig": {"Type": "none"},
        "Mounts": [
            {
                "Type": "volume",
                "Source": "tools",
                "Target": "/opt/orchestrator",
                "ReadOnly": True,
                "VolumeOptions": {"NoCopy": True},
            }
        ],
    },
}


def test_work_gets_exactly_these_flags():
    assert work_flags("sha256:0", LIMITS, toolbox="tools", labels={"run": "r"}) == WORK


def test_a_quota_is_asked_for_where_storage_may_know_one():
    limits = replace(LIMITS, disk=5)
    flags = work_flags("sha256:0", limits, toolbox="tools", labels={"run": "r"}, quota=True)
    assert flags["HostConfig"] == WORK["HostConfig"] | {"StorageOpt": {"size": "5"}}


def test_a_workspace_in_memory_may_fill_half_of_it():
    limits = replace(LIMITS, workspace="memory")
    flags = work_flags("sha256:0", limits, toolbox="tools", labels={"run": "r"})
    options = "rw,nosuid,nodev,exec,size=536870912,nr_inodes=500k,uid=10001,gid=10001,mode=0755"
    assert flags["HostConfig"]["Tmpfs"]["/workspace"] == options


def test_more_processors_than_there_are_are_not_asked_for(make_box, engine):
    box = make_box(Limits(cpus=1024.0))
    host = engine.client.containers.get(box.id).attrs["HostConfig"]
    assert host["NanoCpus"] == engine.client.info()["NCPU"] * 10**9


def test_preparation_differs_by_capabilities_alone():
    capabilities = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]
    host = WORK["HostConfig"] | {"CapAdd": capabilities}
    flags = preparation_flags("sha256:0", LIMITS, toolbox="tools", labels={"run": "r"})
    assert flags == WORK | {"HostConfig": host}
