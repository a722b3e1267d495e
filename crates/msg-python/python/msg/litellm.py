"""Hooks for LiteLLM, for its SDK and its proxy.

``litellm.callbacks = [msg.litellm.Repair()]`` mends the history of ``acompletion``, ``aresponses``, ``anthropic_messages`` and
of a ``Router``. The synchronous ``completion`` calls no such hook: take :func:`completion` of this module. A proxy has it by
``litellm_settings: {callbacks: msg.litellm.hook}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        """Called by the SDK."""
        return self.mend(kwargs, call_type)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Called by the proxy."""
        return self.mend(data, call_type)

    def mend(self, request: dict[str, Any], call_type: Any = None) -> dict[str, Any]:
        """The arguments of a call with its history mended."""
        name = str(getattr(call_type, "value", call_type))
        return self._mend.request(request, **({"from_": "anthropic"} if "anthropic_messages" in name else {}))


hook = Repair()
"""For the configuration of a proxy."""


def completion(model: str, messages: list[Any], *args: Any, **kwargs: Any) -> Any:
    """``litellm.completion`` with the messages mended."""
    import litellm

    mended = hook.mend({"model": model, "messages": messages})
    return litellm.completion(model, mended["messages"], *args, **kwargs)
