"""The official OpenAI client and what goes wrong with it, for both APIs it speaks."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import openai

from orchestrator.models import failure
from orchestrator.models.access import CONNECT_SECONDS, Access


def connect(access: Access) -> openai.OpenAI:
    """A client that retries nothing and takes nothing from the environment but the proxy."""
    client = openai.OpenAI(
        # Servers that want no key (Ollama, vLLM) get a word in its place: the SDK insists on one.
        api_key=access.key or "none",
        base_url=access.base_url,
        max_retries=0,
        timeout=openai.Timeout(access.silence, connect=CONNECT_SECONDS),
        http_client=access.client(openai.DefaultHttpxClient),
    )
    # Each of these falls back to a variable (OPENAI_ORG_ID and others) and takes no "none".
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}
    return client


@contextmanager
def failures(access: Access) -> Iterator[None]:
    """Turn what the SDK raises into our errors, which never quote the key."""
    try:
        yield
    except openai.APIStatusError as problem:
        raise failure.refusal(access, _failure(problem)) from None
    except (openai.APIConnectionError, httpx2.HTTPError) as problem:
        raise failure.unanswered(access, problem.__cause__ or problem) from None
    except openai.APIError as problem:
        code = problem.code or problem.type or ""
        raise failure.refusal(access, failure.in_stream(code, problem.message)) from None
    except json.JSONDecodeError:
        raise failure.broken(access, "a piece of the answer is not JSON") from None


def _failure(problem: openai.APIStatusError) -> failure.Failure:
    body = problem.body
    if isinstance(body, list) and body:  # Gemini's compatible API sends its error in a list
        body = body[0].get("error") if isinstance(body[0], dict) else None
    code = failure.words(body, "code") or failure.words(body, "type")
    message = failure.words(body, "message") or problem.message
    return failure.Failure(problem.status_code, code, message, problem.response.headers)
