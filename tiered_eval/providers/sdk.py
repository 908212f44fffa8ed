"""What the official SDKs have in common: a client that is made when first needed, and one attempt through it.

The one idea: a client belongs to one event loop and costs an import of seconds, so it is made off the loop, once,
and made again when another loop asks. Replies are taken as raw HTTP and read by ourselves: the SDKs' own models
lose the usage of a reply that does not fit them.

Transport errors are told apart by whether the request can have left; see ``transport``.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from tiered_eval.errors import (
    ConfigError,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
)
from tiered_eval.providers.failures import Scrubber, failure_from_status, unreadable
from tiered_eval.providers.headers import limits_from_headers
from tiered_eval.providers.sdk_logs import hide_keys
from tiered_eval.providers.settings import ProviderSettings
from tiered_eval.providers.transport import LINES, bound_body, lines_of, pieces_of, what_broke
from tiered_eval.records import RateLimits

__all__ = ["HttpReply", "SdkClient", "SdkProvider", "is_loopback", "origin_of", "sendable"]

CONNECT_TIMEOUT_S = 10.0
WRITE_TIMEOUT_S = 30.0
_SPARE_CONNECTIONS = 10
_KEEP_ALIVE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """A 200 with a JSON object in it."""

    value: Mapping[str, Any]
    request_id: str | None
    limits: RateLimits | None
    latency_s: float
    cost_header: str | None = None
    """What a LiteLLM proxy says that the call cost, in US dollars."""


@dataclass(frozen=True, slots=True)
class _Sending:
    """One request, in the SDK's words."""

    method: Literal["get", "post"]
    path: str
    body: Mapping[str, Any] | None = None
    content: AsyncIterator[bytes] | None = None
    files: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False

    async def through(self, client: Any) -> Any:
        """The HTTP response; its body is read, unless it streams."""
        import httpx2

        if self.method == "get":
            return await client.get(
                self.path, cast_to=httpx2.Response, options=dict(self.options), stream=self.stream
            )
        return await client.post(
            self.path,
            cast_to=httpx2.Response,
            body=self.body,
            content=self.content,
            files=self.files,
            options=dict(self.options),
        )


class SdkClient(ABC):
    """One vendor's asynchronous client, for whichever loop is running.

    Args:
        package: of the SDK, which is also the name of our extra that installs it.
        root_error: name of the class that all of the SDK's errors derive from.
        base_url: as the SDK wants it.
        api_key: sent with each call, and taken out of every message.
        request_id_header: in lower case.

    Raises:
        ConfigError: the base URL is none.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        package: str,
        root_error: str,
        base_url: str,
        api_key: str | None,
        request_id_header: str,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.settings = settings
        self.origin = origin_of(base_url)
        self.base_url = base_url
        self.api_key = api_key
        self.scrub = Scrubber(api_key)
        self._package = package
        self._root_error = root_error
        self._request_id_header = request_id_header
        self._clock = clock
        self._wall = wall
        self._sdk: Any = None
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._making: asyncio.Lock | None = None

    @abstractmethod
    def check(self) -> None:
        """Raises ConfigError where there is surely no key. Imports nothing."""

    @abstractmethod
    def make(self, sdk: Any, http_client: Any) -> Any:
        """The vendor's client, its own retries switched off. Called in a thread.

        Raises:
            ConfigError: there is no key.
        """

    async def post(self, path: str, body: Mapping[str, Any], *, model: str, timeout_s: float) -> HttpReply:
        """Make one attempt.

        Raises:
            ProviderError: the mapped failure, without the SDK's exception (which quotes what we scrub).
            ConfigError: the SDK is not installed, or there is no key.
        """
        return await self._exchange(_Sending("post", path, body=body), model=model, timeout_s=timeout_s)

    async def post_bytes(self, path: str, content: bytes, *, model: str, timeout_s: float) -> HttpReply:
        """Make one attempt with JSON that is written already; raises as :meth:`post`."""
        headers = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        # In pieces: megabytes at once would hold up everything else, which aiohttp warns of.
        sending = _Sending("post", path, content=pieces_of(content), options={"headers": headers})
        return await self._exchange(sending, model=model, timeout_s=timeout_s)

    async def get(self, path: str, *, model: str, timeout_s: float) -> HttpReply:
        """Ask for something that is there already; raises as :meth:`post`."""
        return await self._exchange(_Sending("get", path), model=model, timeout_s=timeout_s)

    async def upload(
        self,
        path: str,
        content: bytes,
        *,
        file_name: str,
        fields: Mapping[str, str],
        model: str,
        timeout_s: float,
    ) -> HttpReply:
        """Send a file with the fields of a form; raises as :meth:`post`."""
        sending = _Sending(
            "post",
            path,
            body=fields,
            files=[("file", (file_name, content, "application/jsonl"))],
            options={"headers": {"Content-Type": "multipart/form-data"}},
        )
        return await self._exchange(sending, model=model, timeout_s=timeout_s)

    async def lines(self, path: str, *, model: str, timeout_s: float) -> AsyncGenerator[bytes, None]:
        """The lines of a long answer, as they come; raises as :meth:`post`.

        Args:
            timeout_s: spent on waiting for the server; what the reader does between two lines does not count.
        """
        await self.prepare()
        sending = _Sending("get", path, stream=True, options={"headers": {"Accept": LINES}})
        started = self._clock()
        response = await self._send(sending, model=model, timeout_s=timeout_s)
        if isinstance(response, ProviderError):
            raise response
        waited_s = self._clock() - started
        found = lines_of(response)
        try:
            if response.headers.get("content-type", "").startswith("text/html"):
                # A gateway's page in the place of the lines.
                raise unreadable(
                    "the answer is a web page", "", model=model, request_id=None, scrub=self.scrub
                )
            while True:
                started = self._clock()
                line = await self._next_line(found, model=model, timeout_s=timeout_s - waited_s)
                waited_s += self._clock() - started
                if line is None:
                    return
                if isinstance(line, ProviderError):
                    raise line
                yield self.scrub.answer(line)
        finally:
            await response.aclose()

    async def _exchange(self, sending: _Sending, *, model: str, timeout_s: float) -> HttpReply:
        await self.prepare()
        started = self._clock()
        outcome = await self._send(sending, model=model, timeout_s=timeout_s)
        if isinstance(outcome, ProviderError):
            raise outcome
        return self._read(outcome, model=model, latency_s=self._clock() - started)

    async def aclose(self) -> None:
        """Close the connections. A client of a loop that has ended is let go: it cannot be closed there."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def prepare(self) -> None:
        """Have a client for the running loop.

        Raises:
            ConfigError: the SDK is not installed, or there is no key.
        """
        loop = asyncio.get_running_loop()
        if self._client is not None and self._loop is loop:
            return
        if self._making is None or self._loop is not loop:
            self._making, self._loop, self._client = asyncio.Lock(), loop, None
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make)

    def _make(self) -> Any:
        try:
            import httpx2

            self._sdk = importlib.import_module(self._package)
            http_client = self._sdk.DefaultAioHttpClient(
                limits=httpx2.Limits(
                    max_connections=self.settings.concurrency + _SPARE_CONNECTIONS,
                    max_keepalive_connections=self.settings.concurrency + _SPARE_CONNECTIONS,
                    keepalive_expiry=_KEEP_ALIVE_S,
                ),
                timeout=httpx2.Timeout(
                    self.settings.request_timeout_s,
                    connect=CONNECT_TIMEOUT_S,
                    write=WRITE_TIMEOUT_S,
                    pool=None,
                ),
                trust_env=not is_loopback(self.base_url),
                # What was judged, and the key, go to the address that was configured and nowhere else.
                follow_redirects=False,
                # Without TLS there is nothing to verify, and its certificates take a while to load.
                verify=self.base_url.startswith("https:"),
                event_hooks={"response": [bound_body]},
            )
        except (ImportError, RuntimeError) as error:
            raise ConfigError(f"{self._needed()} ({error})") from error
        self.check()
        hide_keys(self.scrub)
        return self.make(self._sdk, http_client)

    def check_package(self) -> None:
        """Raises ConfigError where the SDK is not installed. Imports nothing."""
        if any(importlib.util.find_spec(name) is None for name in (self._package, "aiohttp")):
            raise ConfigError(self._needed())

    def _needed(self) -> str:
        return (
            f"the package {self._package!r} with its aiohttp extra is needed for this model: "
            f"pip install 'tiered-eval[{self._package}]'"
        )

    async def _send(self, sending: _Sending, *, model: str, timeout_s: float) -> Any:
        """The HTTP response, or the failure. Nothing foreign is raised from here."""
        import httpx2

        limit = asyncio.timeout(timeout_s)
        try:
            async with limit:
                return await sending.through(self._client)
        except self._sdk.APIStatusError as error:
            response = error.response
            return failure_from_status(
                response.status_code,
                response.content,
                response.headers,
                model=model,
                request_id=response.headers.get(self._request_id_header),
                scrub=self.scrub,
                now=self._wall(),
            )
        except (self._sdk.APIConnectionError, httpx2.HTTPError, OSError) as error:
            if limit.expired():
                return self._timeout("total", f"no complete answer within {timeout_s:g} s", model=model)
            return self._transport_failure(error, model=model)
        except getattr(self._sdk, self._root_error) as error:
            # What is left are credentials that could not be had, before anything was sent.
            return ProviderRefused(
                f"{model}: {self.scrub(str(error))}", model=model, billed="no", stops_run=True
            )

    async def _next_line(
        self, found: AsyncIterator[bytes], *, model: str, timeout_s: float
    ) -> bytes | ProviderError | None:
        """A line, the failure that came in its place, or None at the end."""
        import httpx2

        limit = asyncio.timeout(timeout_s)
        try:
            async with limit:
                return await anext(found, None)
        except (httpx2.HTTPError, OSError) as error:
            if limit.expired():
                return self._timeout("total", "no complete answer within the time allowed", model=model)
            return self._transport_failure(error, model=model)

    def _transport_failure(self, error: BaseException, *, model: str) -> ProviderError:
        match what_broke(error):
            case "connect-timeout":
                return self._timeout("connect", "no connection in time", model=model, billed="no")
            case "read-timeout":
                return self._timeout("read", "the connection fell silent", model=model)
            case "not-connected":
                return ProviderUnavailable(
                    f"{model}: no connection to {self.origin}", model=model, billed="no"
                )
            case _:
                return ProviderUnavailable(f"{model}: the connection broke in mid-call", model=model)

    def _timeout(self, limit: Any, what: str, *, model: str, billed: str = "maybe") -> ProviderTimeout:
        return ProviderTimeout(f"{model}: {what}", limit=limit, model=model, billed=billed)

    def _read(self, response: Any, *, model: str, latency_s: float) -> HttpReply:
        request_id = response.headers.get(self._request_id_header)
        request_id = None if request_id is None else self.scrub(request_id)
        content = self.scrub.answer(response.content)
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            text = content[:10_000].decode("utf-8", "replace")
            raise unreadable(
                "the answer is no JSON object", text, model=model, request_id=request_id, scrub=self.scrub
            )
        return HttpReply(
            value=value,
            request_id=request_id,
            limits=limits_from_headers(response.headers, now=self._wall()),
            latency_s=latency_s,
            cost_header=response.headers.get("x-litellm-response-cost"),
        )


class SdkProvider:
    """A provider whose calls go through an official SDK: its name, its key, its client from first to last.

    A base class beside the protocols of ``base``, which say what each kind of provider can be asked.
    """

    def __init__(self, client: SdkClient, *, name: str) -> None:
        self.name = name
        self.origin = client.origin
        self._client = client

    def check(self) -> None:
        """Raises ConfigError: the SDK is not installed, or there is no key. Imports nothing."""
        self._client.check_package()
        self._client.check()

    async def prepare(self) -> None:
        """Import the SDK and make its client; see :class:`tiered_eval.providers.base.NeedsPreparation`."""
        await self._client.prepare()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def sendable(text: str) -> str:
    """The text as UTF-8 can carry it: a lone surrogate becomes a question mark, instead of failing in the SDK."""
    return text.encode("utf-8", "replace").decode("utf-8")


def origin_of(url: str) -> str:
    """Scheme, host and port of a base URL, without its path.

    Raises:
        ConfigError: it is no http address; or has more than a path, where no SDK can put its own behind it, and no key is safe.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError as error:
        raise ConfigError(f"a base URL cannot be read: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError("a base URL must look like https://host/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            "a base URL must have no user name, password, query or fragment; a key belongs into the provider's variable"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}"


def is_loopback(url: str) -> bool:
    """Does an address name this machine? Proxies of the environment must not be asked for it."""
    host = urlsplit(url).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")
