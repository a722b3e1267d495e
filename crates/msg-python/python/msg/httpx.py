"""A transport that mends the history of each request, for every SDK that is built on httpx or httpx2.

``OpenAI(http_client=DefaultHttpxClient(transport=msg.httpx.Transport()))``; the same for ``Anthropic``, ``ChatOpenAI``, the
asynchronous clients with :class:`AsyncTransport`, and ``litellm.client_session``. Requests to other paths pass unread, and
bodies that are not a conversation pass unchanged. Request bodies that a client signs (Bedrock) must not be changed, and are not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._hooks import Mend

if TYPE_CHECKING:
    from httpx import AsyncBaseTransport as Async
    from httpx import BaseTransport as Sync
    from typing_extensions import Self, Unpack

    from .options import RepairOptions
else:
    Sync = Async = object

__all__ = ["AsyncTransport", "Transport"]

FAMILIES = {
    "/chat/completions": ("openai", "openai"),
    "/responses": ("responses", "openai-responses"),
    "/messages": ("anthropic", "anthropic"),
    ":generateContent": ("gemini", "gemini"),
    ":streamGenerateContent": ("gemini", "gemini"),
}
"""By the end of a path: the format of a body, and the profile unless another is given."""


class _Mended:
    """A request with its body mended; the transport of its own library is made at the first request."""

    def __init__(self, transport: Any = None, **options: Unpack[RepairOptions]) -> None:
        self._transport = transport
        self._mend = Mend(**options)
        self._has_profile = options.get("profile") is not None

    def _inner(self, request: Any, name: str) -> Any:
        if self._transport is None:
            self._transport = getattr(importlib.import_module(type(request).__module__.split(".")[0]), name)()
        return self._transport

    def _family(self, request: Any) -> tuple[str, str] | None:
        """The family of a request that may have to be mended, told before its body is read."""
        if request.method != "POST" or "content-encoding" in request.headers:
            return None
        return next((it for end, it in FAMILIES.items() if request.url.path.endswith(end)), None)

    def _mended(self, request: Any, family: tuple[str, str]) -> Any:
        """A request, whose body was read, with the body mended."""
        profile = {} if self._has_profile else {"profile": family[1]}
        body = self._mend(request.content, from_=family[0], **profile)
        if body is request.content or body == request.content:
            return request
        length = (b"content-length", b"transfer-encoding")
        headers = [it for it in request.headers.raw if it[0].lower() not in length]
        return type(request)(request.method, request.url, headers=headers, content=body, extensions=request.extensions)


class Transport(_Mended, Sync):
    """For synchronous clients; takes the options of :func:`msg.repair`. ``transport`` sends the requests (default
    ``HTTPTransport()`` of the client's own library)."""

    def handle_request(self, request: Any) -> Any:
        """Called by the client."""
        family = self._family(request)
        if family is not None:
            request.read()
            request = self._mended(request, family)
        return self._inner(request, "HTTPTransport").handle_request(request)

    def close(self) -> None:
        """Closes the connections."""
        if self._transport is not None:
            self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncTransport(_Mended, Async):
    """For asynchronous clients; takes what :class:`Transport` takes."""

    async def handle_async_request(self, request: Any) -> Any:
        """Called by the client."""
        family = self._family(request)
        if family is not None:
            await request.aread()
            request = self._mended(request, family)
        return await self._inner(request, "AsyncHTTPTransport").handle_async_request(request)

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._transport is not None:
            await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
