"""A real PostgreSQL as an image: Debian's own package, a fresh cluster in it, built once."""

import hashlib
import io

import pytest

from sandbox.companion import Companion

RECIPE = b"""
FROM orchestrator/base:1
RUN mkdir /etc/postgresql-common \\
 && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \\
 && apt-get update -q && apt-get install -qy --no-install-recommends postgresql \\
 && rm -rf /var/lib/apt/lists/* \\
 && ln -sf /usr/lib/postgresql/*/bin/* /usr/local/bin/ && install -d -o postgres /srv/data
USER postgres
ENV PGDATA=/srv/data
RUN initdb --auth=trust --username=postgres --encoding=UTF8 --no-sync
CMD ["postgres", "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=/tmp"]
"""
READY = "pg_isready -q -h 127.0.0.1 -U postgres"


def companion(image: str, **options: object) -> Companion:
    usual: dict[str, object] = {"name": "db", "ready": READY, "memory": 512 << 20}
    return Companion(image=image, **(usual | options))


@pytest.fixture(scope="session")
def postgres(engine) -> str:
    """The image's name. It stays for the next time, under a name that holds its recipe's hash."""
    base = engine.client.images.get("orchestrator/base:1").id
    digest = hashlib.sha256(RECIPE + base.encode()).hexdigest()[:16]
    name = f"orchestrator-test/postgres:{digest}"
    if not engine.client.images.list(name):
        engine.client.images.build(fileobj=io.BytesIO(RECIPE), tag=name, rm=True, forcerm=True)
    return name
