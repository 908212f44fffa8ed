"""Judge prompts: find them, prove that they are the released ones, fill them in.

The one idea: a prompt is data with a version, and the judged text is data inside it. Instructions stand in the
system message only, which is the same for every call with one prompt (so that a provider can cache it). Whatever
comes from a case goes into one JSON object in the user message, between marker lines with a nonce that nobody can
know beforehand, and the task is said again after it. Quoting means that no text can close the object or the marker.

The nonce is left open here: ``ModelRequest.user`` is cut where it goes, so it is no part of what identifies a question.

Route: ``scorers.judge`` renders a request with this, the calls door sends it, ``parsing`` reads the reply.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import DecisionQuestion, DecisionRequest, ModelRequest

__all__ = [
    "MAX_JUDGED_CHARS",
    "Prompt",
    "as_json",
    "cut_middle",
    "load_prompt",
    "prompts_root",
    "quote_data",
    "render",
    "render_decision",
    "smuggled_characters",
]

MAX_JUDGED_CHARS = 100_000
"""Longest judged text in code points; what is longer loses its middle. About 25,000 tokens of English, which keeps
a call below the 100,000 tokens where some models raise the price of the whole prompt."""

CATALOG = "catalog.toml"

_SECTION = re.compile(r"^<!-- section: ([a-z-]+(?: [a-z-]+)?) -->\n", re.MULTILINE)
_SLOT = re.compile(r"\{\{(nonce|data|task)\}\}")
_UNSEEN = re.compile(
    # What no reader sees as itself: C1 controls, soft hyphen, Arabic and Mongolian format characters, zero-width
    # and bidirectional controls, separators, variation selectors, surrogates, private use, annotation and tag characters.
    "[\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_SMUGGLED = re.compile(
    # The part of it (and of the C0 controls) that honest text hardly needs. Joiners, direction marks and emoji
    # selectors are left out: Persian, Hindi and emoji use them.
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u180e\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One released version of a prompt."""

    name: str
    """Without the version, such as ``judge/requirement``."""
    version: int
    digest: str
    """SHA-256 of the file, in hex."""
    system: str
    user: str
    """Template with the slots ``nonce``, ``data`` and ``task``."""
    tasks: Mapping[str, str]
    """The sentence that restates the task, by the name of the task."""
    schema: Mapping[str, Any]
    """Of the reply; empty where it is made of numbers."""
    max_tokens: int
    why: str
    """Why this version exists."""

    @property
    def label(self) -> str:
        """Name, version and start of the hash, as verdicts and cache keys carry it."""
        return f"{self.name}.v{self.version}#{self.digest[:8]}"


def render(
    name: str,
    *,
    judged: Mapping[str, Any],
    asked: Mapping[str, Any],
    task: str = "default",
    kind: str = "",
    version: int | None = None,
    max_tokens: int | None = None,
    effort: str | None = "low",
    vote: int = 0,
) -> ModelRequest:
    """The request that puts one question about one response to a judge.

    Args:
        judged: what comes from the case (``input``, ``response``, ``fields``); cut in the middle when too long.
        asked: what the suite's author wants to know; never cut.
        version: of the prompt; None takes the latest.

    Raises:
        ConfigError: there is no such prompt or task, or a released prompt was edited.
    """
    prompt = load_prompt(name, version)
    if task not in prompt.tasks:
        raise ConfigError(f"prompt {prompt.label} has no task {task!r}; it has {', '.join(prompt.tasks)}")
    data = quote_data(judged, asked)
    user = _fill(prompt.user, {"data": data, "task": prompt.tasks[task]})
    return ModelRequest(
        system=prompt.system,
        user=user,
        judged_until=_judged_until(user, data, sum(value is not None for value in judged.values())),
        schema=prompt.schema,
        schema_name=re.sub(r"[^A-Za-z0-9_-]", "_", f"{prompt.name}_v{prompt.version}")[:64],
        prompt=prompt.label,
        max_tokens=max_tokens or prompt.max_tokens,
        effort=effort,
        vote=vote,
        kind=kind,
    )


def render_decision(
    name: str,
    *,
    judged: Mapping[str, Any],
    asked: Mapping[str, Any],
    task: str,
    options: Mapping[str, str] | None = None,
    kind: str = "",
    version: int | None = None,
) -> DecisionRequest:
    """The request that puts one question about one response to a model that answers by probabilities.

    What is judged is quoted as in :func:`render`. What the suite's author wants to know stands in the question, so that
    questions about one response have one text.

    Args:
        options: the levels of a scale, lowest first, with their descriptions; None asks whether a statement is true.

    Raises:
        ConfigError: as :func:`render`.
    """
    prompt = load_prompt(name, version)
    if task not in prompt.tasks:
        raise ConfigError(f"prompt {prompt.label} has no task {task!r}; it has {', '.join(prompt.tasks)}")
    question = DecisionQuestion(
        name="q",
        kind="predicate" if options is None else "score",
        instructions=f"{prompt.tasks[task]}\n{quote_data({}, asked)}",
        options=options,
    )
    return DecisionRequest(
        system=prompt.system,
        user=_fill(prompt.user, {"data": quote_data(judged, {}), "task": ""}),
        questions=(question,),
        prompt=prompt.label,
        kind=kind,
    )


def _fill(template: str, fillings: Mapping[str, str]) -> tuple[str, ...]:
    """The template with its slots filled in one pass, cut at each nonce, so that data is never taken for a slot."""
    parts = [""]
    for index, piece in enumerate(_SLOT.split(template)):
        if index % 2 and piece == "nonce":
            parts.append("")
        else:
            parts[-1] += fillings[piece] if index % 2 else piece
    return tuple(parts)


def quote_data(judged: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """One JSON object with a line a key: judged material first, what is asked of it last.

    Characters that no reader sees are written as escapes, and ``notes`` says so; so it does when a text was cut.
    Keys whose value is None are left out.
    """
    data: dict[str, Any] = {}
    notes: list[str] = []
    for key, value in judged.items():
        if value is None:
            continue
        text = value if isinstance(value, str) else as_json(value)
        if (left_out := len(text) - MAX_JUDGED_CHARS) > 0:
            notes.append(f"`{key}` was too long: {left_out:,} characters were left out of its middle.")
            value = cut_middle(text)
        if hidden := smuggled_characters(text):
            notes.append(f"`{key}` holds {hidden:,} invisible or control characters, shown as \\u escapes.")
        data[key] = value
    data |= {key: value for key, value in asked.items() if value is not None}
    if notes:
        data["notes"] = notes
    lines = ",\n".join(f"{_quote(key)}: {_quote(value)}" for key, value in data.items())
    return f"{{\n{lines}\n}}"


def as_json(value: Any) -> str:
    """One line of JSON with readable letters, as judged material is written."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _quote(value: Any) -> str:
    """JSON with readable letters, and escapes for what cannot be seen."""
    return _UNSEEN.sub(_escaped, as_json(value))


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def _judged_until(user: tuple[str, ...], data: str, judged_lines: int) -> int:
    """Where in ``user[1]`` the lines of what is judged end; 0 where the data do not stand there."""
    begin = user[1].find(data) if len(user) > 1 else -1
    if begin < 0 or not judged_lines:
        return 0
    end = 0
    for _ in range(judged_lines + 1):  # the bracket has a line as well; no value holds a bare line end
        end = data.index("\n", end) + 1
    return begin + end


def cut_middle(text: str, limit: int = MAX_JUDGED_CHARS) -> str:
    """``text``, or its two ends around a visible mark; at most ``limit`` code points and the mark."""
    left_out = len(text) - limit
    if left_out <= 0:
        return text
    head = limit - limit // 2
    return f"{text[:head]}\n[... {left_out:,} characters left out here ...]\n{text[head + left_out :]}"


def smuggled_characters(text: str) -> int:
    """How many characters of ``text`` are invisible or control characters that honest text hardly needs."""
    return 0 if text.isascii() and text.isprintable() else len(_SMUGGLED.findall(text))


@cache
def prompts_root() -> Path:
    """The folder of the prompts: inside the installed package, or beside it in a checkout.

    Raises:
        ConfigError: neither place has the catalogue.
    """
    package = Path(__file__).resolve().parent
    places = [package / "prompts", package.parent / "prompts"]
    for place in places:
        if (place / CATALOG).is_file():
            return place
    looked = " or ".join(str(place) for place in places)
    raise ConfigError(
        f"no {CATALOG} in {looked}: the installation lacks its prompts; install tiered-eval again"
    )


@cache
def load_prompt(name: str, version: int | None = None, root: Path | None = None) -> Prompt:
    """A released prompt, checked against its hash.

    Args:
        version: None takes the latest.
        root: folder of the catalogue; None takes the shipped one.

    Raises:
        ConfigError: it is not in the catalogue, its file is missing, or a file differs from what was released.
    """
    folder = prompts_root() if root is None else root
    entries = [entry for entry in _catalog(folder) if entry["name"] == name]
    if version is not None:
        entries = [entry for entry in entries if entry["version"] == version]
    if not entries:
        wanted = name if version is None else f"{name}.v{version}"
        raise ConfigError(f"no prompt {wanted!r} in {folder / CATALOG}")
    entry = max(entries, key=lambda found: int(found["version"]))
    text = _released(folder / entry["file"], entry["sha256"])
    sections = _sections(text)
    return Prompt(
        name=name,
        version=entry["version"],
        digest=entry["sha256"],
        system=sections["system"],
        user=sections["user"],
        tasks={
            title.removeprefix("task "): body for title, body in sections.items() if title.startswith("task ")
        },
        schema=json.loads(_released(folder / entry["schema"], entry["schema_sha256"]))
        if "schema" in entry
        else {},
        max_tokens=entry.get("max_tokens", 0),
        why=entry["why"],
    )


def _catalog(folder: Path) -> list[dict[str, Any]]:
    try:
        entries: list[dict[str, Any]] = tomllib.loads((folder / CATALOG).read_text("utf-8"))["prompt"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise ConfigError(f"{folder / CATALOG} cannot be read: {error}") from error
    return entries


def _released(path: Path, sha256: str) -> str:
    """The text of a file whose content is pinned. Line ends do not count, as a checkout may change them."""
    try:
        content = path.read_bytes().replace(b"\r\n", b"\n")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ConfigError(
            f"{path} is not what was released (SHA-256 {found[:12]}, the catalogue says {sha256[:12]}): "
            "undo the edit, or add it as a new version"
        )
    return content.decode("utf-8")


def _sections(text: str) -> dict[str, str]:
    """Title to body of each part of a prompt file."""
    _, *pieces = _SECTION.split(text)
    return {title: body.strip("\n") for title, body in zip(pieces[::2], pieces[1::2], strict=True)}
