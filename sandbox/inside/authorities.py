"""Make programs in the image trust the host's certificate authorities, beside the image's own."""

import os
import re

BUNDLE = "/var/lib/orchestrator/authorities.crt"
"""Ours, named by environment variables: installing `ca-certificates` later rewrites the others."""
PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine
    "/etc/ssl/cert.pem",  # Alpine's OpenSSL
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
)
CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)


def install(host: str) -> None:
    """Add the certificates to every bundle there is, and to the one of Debian and Alpine."""
    if not host:
        return
    known = "".join(read(place) for place in PLACES)
    write(BUNDLE, merged(known, host))
    for place in PLACES:
        if os.path.exists(place) or place == PLACES[0]:
            write(place, merged(read(place), host))


def merged(own: str, more: str) -> str:
    """The certificates of both, each once, in order."""
    found = CERTIFICATE.findall(own) + CERTIFICATE.findall(more)
    return "".join(dict.fromkeys(text.strip() + "\n" for text in found))


def read(place: str) -> str:
    try:
        with open(place, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def write(place: str, text: str) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)
