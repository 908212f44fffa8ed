"""Batches at a loopback provider: what is in one, when each item runs, and what its results say.

The one idea: time alone decides. An item runs at its share of the delay, unless the batch is cancelled or expires
before, and is billed then, whether or not anybody ever reads its result. Nothing runs in the background: what has
happened by now is made up for whenever somebody looks.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tiered_eval.testing.loopback.allowance import Vendor
from tiered_eval.testing.loopback.wire import Counts, Endpoint, error_body
from tiered_eval.testing.loopback.work import Work

if TYPE_CHECKING:
    from tiered_eval.testing.loopback.server import LoopbackServer

__all__ = ["Batch", "Item"]

Fate = Literal["waiting", "succeeded", "errored", "cancelled", "expired"]

_LIKE_A_SUCCESS = frozenset({"missing", "twice", "conflict", "unreadable", "odd"})


@dataclass(slots=True, kw_only=True)
class Item:
    """One call of a batch."""

    custom_id: str
    body: Any
    fault: str
    fate: Fate = "waiting"
    lines: list[bytes] = field(default_factory=list)
    """Its part of the results."""


class Batch:
    """One batch of one vendor."""

    def __init__(
        self,
        *,
        server: LoopbackServer,
        vendor: Vendor,
        endpoint: Endpoint,
        path: str,
        batch_id: str,
        items: Sequence[Item],
        labels: Mapping[str, str] | None = None,
        problems: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.server = server
        self.vendor = vendor
        self.endpoint = endpoint
        self.path = path
        self.batch_id = batch_id
        self.items = list(items)
        self.labels = labels
        self.problems = problems
        """Why it was turned away as a whole."""
        self.created_s = server.now_s()
        self.cancelled_s: float | None = None
        self.input_file = ""
        self._is_over = bool(problems)

    @property
    def has_ended(self) -> bool:
        """Will nothing run any more?"""
        return self._is_over or all(item.fate != "waiting" for item in self.items)

    @property
    def is_expired(self) -> bool:
        return any(item.fate == "expired" and item.fault != "expired" for item in self.items)

    def count(self, *fates: Fate) -> int:
        """Items that ended in one of these ways."""
        return sum(item.fate in fates for item in self.items)

    def cancel(self) -> None:
        """Let nothing more run."""
        self.catch_up()
        if not self.has_ended:
            self.cancelled_s = self.server.now_s()
            self.catch_up()

    def catch_up(self) -> None:
        """Have everything happen that should have by now."""
        if self._is_over:
            return
        settings, now = self.server.settings, self.server.now_s()
        last_s = self.created_s + settings.batch_expires_s
        stop_s = min(last_s, self.cancelled_s if self.cancelled_s is not None else last_s)
        for index, item in enumerate(self.items):
            due_s = self.created_s + settings.batch_delay_s * (index + 1) / len(self.items)
            if item.fate != "waiting":
                continue
            if due_s <= min(now, stop_s):
                self._run(item, due_s)
            elif now >= stop_s:
                self._end(item, "cancelled" if stop_s < last_s else "expired")
        self._is_over = self.has_ended

    def results(self, *fates: Fate) -> bytes:
        """The lines of the items that ended so, in no order."""
        lines = [line for item in self.items if item.fate in fates for line in item.lines]
        random.Random(f"{self.server.settings.seed}{self.batch_id}").shuffle(lines)
        return b"".join(line + b"\n" for line in lines)

    def _run(self, item: Item, at_s: float) -> None:
        if item.fault in {"cancelled", "expired"}:
            self._end(item, "cancelled" if item.fault == "cancelled" else "expired")
            return
        work = Work(
            server=self.server,
            endpoint=self.endpoint,
            path=self.path,
            number=self.server.next_number(),
            at_s=at_s,
            batch=self.batch_id,
        )
        work.custom_id = item.custom_id
        status, counts, answer = self._worked(work, item)
        work.log(status, item.fault, counts, end_s=at_s)
        item.fate = "succeeded" if status == 200 else "errored"
        line = self._line(item.custom_id, status, answer, work.number)
        item.lines = _spoilt(line, item.fault)

    def _worked(self, work: Work, item: Item) -> tuple[int, Counts | None, dict[str, Any]]:
        """(status, what is charged, the answer)"""
        try:
            if item.fault.isdigit():
                raise ValueError("this was asked for by the test")
            # As compact as the SDKs write it, so that an item counts like the same call alone.
            text = json.dumps(item.body, ensure_ascii=False, separators=(",", ":"))
            work.read(item.body, size=text)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            status = int(item.fault) if item.fault.isdigit() else 400
            return status, None, error_body(self.vendor, status, str(error))
        fault = "none" if item.fault in _LIKE_A_SUCCESS else item.fault
        counts, answer = work.answer(fault, at_s=work.at_s)
        return 200, counts, answer

    def _line(self, custom_id: str, status: int, answer: dict[str, Any], number: int) -> dict[str, Any]:
        if self.vendor == "anthropic":
            kind, name = ("succeeded", "message") if status == 200 else ("errored", "error")
            return {"custom_id": custom_id, "result": {"type": kind, name: answer}}
        response = {"status_code": status, "request_id": f"req_loopback_{number}", "body": answer}
        return {
            "id": f"batch_req_loopback_{number}",
            "custom_id": custom_id,
            "response": response,
            "error": None,
        }

    def _end(self, item: Item, fate: Literal["cancelled", "expired"]) -> None:
        """Nothing was run, so nothing is billed."""
        item.fate = fate
        line: dict[str, Any]
        if self.vendor == "anthropic":
            line = {
                "custom_id": item.custom_id,
                "result": {"type": "canceled" if fate == "cancelled" else "expired"},
            }
        elif fate == "cancelled":
            return  # What was not run when a batch was cancelled is in neither file.
        else:
            message = "This request could not be executed before the completion window expired."
            line = {
                "id": f"batch_req_{item.custom_id}",
                "custom_id": item.custom_id,
                "response": None,
                "error": {"code": "batch_expired", "message": message},
            }
        item.lines = [json.dumps(line).encode()]


def _spoilt(line: dict[str, Any], fault: str) -> list[bytes]:
    whole = json.dumps(line).encode("utf-8", "surrogatepass")
    match fault:
        case "missing":
            return []
        case "twice":
            return [whole, whole]
        case "conflict":
            # The same words with other tokens: a second bill, or a second answer.
            return [whole, whole.replace(b"loopback", b"loopback_again")]
        case "unreadable":
            return [whole[: len(whole) // 2]]
        case "odd":
            return [json.dumps({"custom_id": line["custom_id"], "result": 7, "response": 7}).encode()]
    return [whole]
