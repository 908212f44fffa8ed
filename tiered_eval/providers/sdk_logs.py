"""Takes keys out of what the SDKs, and what they stand on, log.

The one idea: at their more talkative levels (``OPENAI_LOG=debug``) they write down what a server said: its headers, its
reason, the traceback of what it broke. A server that quotes the key it was sent would so write it into somebody's log.
Only a filter on the very logger that a record is made by sees it before every handler does.
"""

from __future__ import annotations

import logging

from tiered_eval.providers.failures import Scrubber
from tiered_eval.text.secrets import longest_first

__all__ = ["hide_keys"]

_PACKAGES = frozenset({"openai", "anthropic", "httpx2", "httpcore2", "aiohttp", "asyncio"})
_FORMATTER = logging.Formatter()


class _KeysHidden(logging.Filter):
    """Lets every record through, without the keys that it has been told of."""

    def __init__(self) -> None:
        super().__init__()
        self._forms: tuple[str, ...] = ()

    def learn(self, scrub: Scrubber) -> None:
        self._forms = longest_first((*self._forms, *scrub.forms))

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            return True  # it fits its arguments no better in the handler, which says so
        if (clean := self._cleared(text)) != text:
            record.msg, record.args = clean, None
        if record.exc_info:
            text = _FORMATTER.formatException(record.exc_info)
            if (clean := self._cleared(text)) != text:
                record.exc_info, record.exc_text = None, clean
        return True

    def _cleared(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, "[key]")
        return text


_FILTER = _KeysHidden()


def hide_keys(scrub: Scrubber) -> None:
    """Take the keys that ``scrub`` knows out of the logs of all that has been imported by now."""
    _FILTER.learn(scrub)
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _PACKAGES:
            logging.getLogger(name).addFilter(_FILTER)
