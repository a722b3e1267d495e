"""Hooks for LiteLLM, for its SDK and its proxy.

``litellm.callbacks = [msg.litellm.Repair()]`` mends the history of ``acompletion``, ``aresponses``, ``anthropic_messages`` and
of a ``Router``. The synchronous ``completion`` calls no such hook: take :func:`completion` of this module. A proxy has it by
``litellm_settings: {callbacks: msg.litellm.hook}``.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from . import repair
from ._hooks import Mend

if TYPE_CHECKING:
    from litellm.integrations.custom_logger import CustomLogger
    from typing_extensions import Unpack

    from .options import RepairOptions
else:
    try:
        from litellm.integrations.custom_logger import CustomLogger
    except ImportError:  # `repair_messages` needs nothing of it
        CustomLogger = object

__all__ = ["Repair", "completion", "hook", "repair_messages"]

PROFILES = {
    ("chat", "openai"): "openai",
    ("chat", "azure"): "azure",
    ("responses", "openai"): "openai-responses",
    ("responses", "azure"): "openai-responses",
    ("anthropic", "anthropic"): "anthropic",
}
"""The profiles by the API of a call and the provider. LiteLLM writes messages for the other providers anew."""

BASES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
"""Variables by which requests for OpenAI go to another server."""


def repair_messages(messages: list[Any], **options: Unpack[RepairOptions]) -> list[Any]:
    """The messages, mended; those that are sound are the same objects."""
    document: list[Any] = repair(list(messages), **options).document
    return document


class Repair(CustomLogger):
    """Mends ``messages`` or ``input`` before each call; takes the options of :func:`msg.repair`."""

    def __init__(self, **options: Unpack[RepairOptions]) -> None:
        super().__init__()
        self._mend = Mend(**options)

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any]:
        """Called by the SDK, and by the proxy once it has chosen a deployment."""
        return self.mend(kwargs, call_type)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Called by the proxy, before it knows the provider; versions that ask again when they do are answered then."""
        asks_again = hasattr(CustomLogger, "async_pre_call_deployment_hook")
        return data if asks_again else self.mend(data, call_type)

    def mend(self, request: dict[str, Any], call_type: Any = None) -> dict[str, Any]:
        """The arguments of a call with its history mended, for its provider if LiteLLM sends the messages as they are."""
        api = "anthropic" if "anthropic_messages" in str(getattr(call_type, "value", call_type)) else "chat"
        profile = PROFILES.get(("responses" if isinstance(request.get("input"), list) else api, _provider(request) or ""))
        options = {"from_": "anthropic"} if api == "anthropic" else {}
        return self._mend.request(request, **options, **({"profile": profile} if profile else {}))


def _provider(request: dict[str, Any]) -> str | None:
    """The provider that a request goes to; none if that is not known, or if it is another server with the same API."""
    prefix, _, name = str(request.get("model")).rpartition("/")
    lists = {"openai": "open_ai_chat_completion_models", "anthropic": "anthropic_models"}
    listed = (it for it, names in lists.items() if name in getattr(sys.modules.get("litellm"), names, ()))
    provider = request.get("custom_llm_provider") or prefix or next(listed, None)
    base = next((it for it in (request.get("api_base"), request.get("base_url"), *map(os.environ.get, BASES)) if it), None)
    is_own = provider != "openai" or base is None or urlsplit(str(base)).hostname == "api.openai.com"
    return provider if is_own else None


hook = Repair()
"""For the configuration of a proxy."""


def completion(model: str, messages: list[Any], *args: Any, **kwargs: Any) -> Any:
    """``litellm.completion`` with the messages mended."""
    import litellm

    mended = hook.mend({**kwargs, "model": model, "messages": messages})
    return litellm.completion(model, mended["messages"], *args, **kwargs)
