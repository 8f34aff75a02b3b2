"""What a sandbox shows in place of a key."""

import hmac

from sandbox.gateway.http import RefusedError, Request


def require_token(request: Request, token: bytes) -> None:
    """Raise RefusedError (401) unless the request shows this token, as a key or as a bearer."""
    shown = list(request.values("x-api-key"))
    for value in request.values("authorization"):
        scheme, _, credential = value.partition(" ")
        shown += [credential.strip()] if scheme.lower() == "bearer" else []
    # All are compared, each in constant time.
    right = [hmac.compare_digest(value.encode(), token) for value in shown]
    if not any(right):
        raise RefusedError(401, "The token of this run is missing or wrong.")
