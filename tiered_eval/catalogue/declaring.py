"""How a scorer of one's own is declared, and what the table of scorers learns of it.

The one idea: a declaration is data beside the code. The decorator hangs it on the function or class and returns that
unchanged, so it can still be called and tested as what it is; :func:`info_of` makes an entry of the table out of it.
What is not declared is read from the code: a function that takes ``expected`` needs a reference, and its keyword-only
parameters are its options.

Route: the suite's loader calls :func:`info_of`; ``scorers.custom`` makes a scorer of ``ScorerInfo.code``.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin

from tiered_eval.catalogue.entries import KINDS, LONGEST_NAME, OptionInfo, OptionType, ScorerInfo, canonical
from tiered_eval.catalogue.shared import SELECTING, pass_at
from tiered_eval.errors import ConfigError
from tiered_eval.records import TIERS, Tier
from tiered_eval.records.verdicts import FREE_TIERS

__all__ = ["Declared", "Options", "code_digest", "declaration_of", "info_of", "roles_of", "scorer"]

Code = TypeVar("Code", bound=Callable[..., Any])

Options: TypeAlias = Mapping[str, object] | Iterable[str | OptionInfo]
"""Names with a type (``int``, ``float``, ``str``, ``bool``, ``Decimal``, ``list``) or a tuple of choices; or names only."""

TIME_LIMIT_S = 60.0
"""A call that waits may take this long, unless its author says otherwise."""

LARGEST_BATCH = 4096
LONGEST_PATH = 256
"""Characters of ``module:function``."""

ATTRIBUTE = "__tiered_eval_scorer__"

GIVEN = ("response", "expected", "expectation", "case", "options", "input", "fields", "meta", "services")
"""What a function may ask for, by the names of its parameters."""

_KINDS = ("check", "must-contain", "must-not-contain", "must-cite", "equivalent", "requirement")
_TYPES: Mapping[object, OptionType] = {
    int: "integer",
    float: "number",
    str: "text",
    bool: "flag",
    Decimal: "decimal",
    list: "texts",
    tuple: "texts",
}
_ONE = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)
"""Parameters that stand for one value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What the author of a scorer says of it. None is: read it from the code."""

    code: Any
    """A function, or a class."""
    name: str | None = None
    tier: Tier = "exact"
    requires_reference: bool | None = None
    metrics: tuple[str, ...] = ()
    """The only metrics that it may report; empty allows any."""
    options: tuple[OptionInfo, ...] | None = None
    pass_at: float = 1.0
    """A score passes from here on."""
    batch: int | None = None
    """The function takes up to so many at once, as a list."""
    slow: bool | None = None
    """It runs in a thread of its own, so that nobody waits for it who need not."""
    at_once: int | None = None
    """How many calls may run at the same time."""
    time_limit_s: float = TIME_LIMIT_S
    summary: str = ""

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(_called(self.code))

    @property
    def is_native(self) -> bool:
        """Has it the methods that our own scorers have?"""
        return _is_native(self.code)

    @property
    def is_slow(self) -> bool:
        """Does a plain function get a thread? The embedding and judge tiers are not for string work."""
        return self.tier not in FREE_TIERS if self.slow is None else self.slow


def scorer(
    name: str | None = None,
    *,
    tier: Tier = "exact",
    requires_reference: bool | None = None,
    metrics: Iterable[str] = (),
    options: Options | None = None,
    pass_at: float = 1.0,
    batch: int | None = None,
    slow: bool | None = None,
    at_once: int | None = None,
    time_limit_s: float = TIME_LIMIT_S,
    summary: str = "",
) -> Callable[[Code], Code]:
    """Declare a function or a class to be a scorer; it stays what it is.

    Args:
        name: what suites call it; the function's own where None.
        tier: its cost class. A free tier promises that it only looks at texts.
        requires_reference: must something be expected? None: if the function takes ``expected`` without a default.
        metrics: the metrics that it may report beside its verdict, in [0, 1]; a scorecard may weigh one.
        options: what a suite may set, by name, with a type or a tuple of choices. None: the keyword-only parameters.
        pass_at: the score from which on it passes, above 0 and up to 1.
        batch: the function is given a list of up to so many, collected across cases, and returns a list.
        slow: run a plain function in a thread; None does so in the tiers ``embedding`` and ``judge``.
        at_once: calls that may run at the same time: 1 for threads and batches, 64 for async functions.
        time_limit_s: seconds after which a call that waits ends as an error.
        summary: one line for ``tiered-eval scorers``; the first line of the docstring where empty.

    Raises:
        ConfigError: something of that makes no sense.
    """
    if callable(name):
        raise ConfigError(f"write @scorer() with its parentheses over {getattr(name, '__name__', name)}")
    declared = Declared(
        code=None,
        name=name,
        tier=tier,
        requires_reference=requires_reference,
        metrics=(metrics,) if isinstance(metrics, str) else tuple(metrics),
        options=None if options is None else _options(options),
        pass_at=pass_at,
        batch=batch,
        slow=slow,
        at_once=at_once,
        time_limit_s=time_limit_s,
        summary=summary,
    )

    def declare(code: Code) -> Code:
        own_name = name or getattr(code, "__name__", None)
        if own_name is None:
            raise ConfigError(f"a {type(code).__name__} has no name of its own: write @scorer('its-name')")
        try:
            setattr(code, ATTRIBUTE, replace(declared, code=code, name=canonical(own_name)))
        except AttributeError:
            raise ConfigError(
                f"{own_name} cannot be marked; put it into a mapping SCORERS, or wrap it in a function"
            ) from None
        return code

    return declare


def declaration_of(code: object) -> Declared | None:
    """What its decorator said of a function or class; nothing is inherited."""
    found = vars(code).get(ATTRIBUTE) if hasattr(code, "__dict__") else None
    return found if isinstance(found, Declared) else None


def info_of(name: str, code: object, *, origin: str) -> ScorerInfo:
    """The entry of the table for a function or class under that name.

    Raises:
        ConfigError: it cannot be a scorer, or not under that name; ``origin`` says where it stands.
    """
    try:
        if not callable(code) and not _is_native(code):
            raise ConfigError(f"a {type(code).__name__} is neither a function nor a class")
        declared = replace(
            declaration_of(code) or _undeclared(code), code=code
        )  # it may have been wrapped since
        name = name if ":" in str(name) else canonical(str(name))
        _check_name(name)
        _check(declared)
        options = _as_taken(declared.options, code) if declared.options is not None else _options_of(code)
        roles = _check_parameters(declared, options)
        needs_value = declared.requires_reference
        if needs_value is None:
            needs_value = _needs_expected(declared, options)
    except ConfigError as fault:
        raise ConfigError(f"{origin}: the scorer {name!r}: {fault}") from None
    return ScorerInfo(
        name=name,
        tier=declared.tier,
        target="",
        summary=declared.summary or _first_line(code),
        kinds=_KINDS,
        value="json" if needs_value or roles & {"expected", "expectation"} else "none",
        is_value_optional=not needs_value,
        options=_with_shared(options, declared.pass_at),
        example=f"- {name}: ..." if needs_value else f"- {name}",
        is_routed=False,
        code=replace(declared, name=name),
        origin=origin,
    )


def _parameters_of(code: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """The parameters of a function or of what a class's instances do when called, without ``self``.

    Raises:
        ConfigError: they cannot be known.
    """
    is_class = isinstance(code, type)
    try:
        found = tuple(inspect.signature(_called(code) if is_class else code).parameters.values())
    except (TypeError, ValueError):
        raise ConfigError("its parameters cannot be known; wrap it in a function of your own") from None
    return found[1:] if is_class else found


def code_digest(code: object) -> str:
    """16 hexadecimal digits over the file that code stands in; empty where there is no such file."""
    try:
        path = inspect.getsourcefile(inspect.unwrap(code))  # type: ignore[arg-type]  # a TypeError says what it cannot take
        text = Path(path).read_bytes() if path else b""
    except (OSError, TypeError, ValueError):
        return ""
    return hashlib.blake2b(text, digest_size=8).hexdigest() if text else ""


def _is_native(code: object) -> bool:
    return not inspect.isroutine(code) and (hasattr(code, "check") or hasattr(code, "ask"))


def _called(code: object) -> Any:
    """What runs when a scorer is asked: the function itself, or the method of a class or of an object."""
    if isinstance(code, type):
        return getattr(code, "ask", None) or vars(code).get("__call__") or code.__call__
    return code if inspect.isroutine(code) or isinstance(code, partial) else type(code).__call__


def _undeclared(code: Any) -> Declared:
    """What has no decorator; a class or an object may say the same in its attributes."""
    if inspect.isroutine(code):
        return Declared(code=code)
    said = {
        name: getattr(code, name)
        for name in ("tier", "requires_reference", "pass_at", "batch", "slow", "at_once", "time_limit_s")
        if hasattr(code, name)
    }
    options = getattr(code, "options", None)
    return Declared(
        code=code,
        metrics=tuple(getattr(code, "metrics", ())),
        options=None if options is None else _options(options),
        **said,
    )


def _check_name(name: str) -> None:
    longest = LONGEST_PATH if ":" in name else LONGEST_NAME
    if not name or not name.isprintable() or len(name) > longest:
        raise ConfigError(f"a name is 1 to {longest} printable characters")
    if ":" in name:
        return  # module:function, as it was named
    if any(character.isspace() for character in name):
        raise ConfigError("a name has no space in it")
    if name in KINDS or name.startswith("not-"):
        raise ConfigError("kinds of expectation, and names with not- before them, are taken")


def _check(declared: Declared) -> None:
    if declared.tier not in TIERS:
        raise ConfigError(f"the tier {declared.tier!r} is none of {', '.join(TIERS)}")
    if not _is_between(declared.pass_at, 0, 1) or declared.pass_at == 0:
        raise ConfigError(
            f"pass_at={declared.pass_at!r}: it must be a number above 0 and up to 1; at 0 everything passes"
        )
    if not _is_between(declared.time_limit_s, 0, 86_400) or declared.time_limit_s == 0:
        raise ConfigError(f"time_limit_s={declared.time_limit_s!r}: it must be seconds, up to a day")
    for name, most in (("batch", LARGEST_BATCH), ("at_once", LARGEST_BATCH)):
        value = getattr(declared, name)
        if value is not None and (type(value) is not int or not 1 <= value <= most):
            raise ConfigError(f"{name}={value!r}: it must be a number from 1 to {most}")
    if declared.batch is not None and declared.is_native:
        raise ConfigError(
            "a class with check or ask is asked one by one; batch is for functions and __call__"
        )
    code = declared.code
    if isinstance(code, type) and not declared.is_native and "__call__" not in dir(code):
        raise ConfigError("a class needs check, ask or __call__")


def roles_of(
    code: Callable[..., Any], options: Iterable[OptionInfo] = ()
) -> tuple[tuple[inspect.Parameter, str], ...]:
    """What each parameter of a function is given: one of ``GIVEN``, or nothing but an option of its name.

    Names that are not known are the response, then what is expected.

    Raises:
        ConfigError: it needs something that nobody gives it.
    """
    parameters = _parameters_of(code)
    taken = {one.name for one in parameters}
    unnamed = [name for name in ("response", "expected") if name not in taken]
    known = {option.name for option in options}
    found: list[tuple[inspect.Parameter, str]] = []
    for one in parameters:
        role = one.name if one.name in GIVEN else ""
        if not role and one.name not in known and one.default is one.empty and one.kind in _ONE:
            if not unnamed:
                raise ConfigError(
                    f"nothing is known to give it as {one.name}; it may take {', '.join(GIVEN)}, and its options"
                )
            role = unnamed.pop(0)
        found.append((one, role))
    if not {role for _, role in found} - {"", "options", "expected", "services"}:
        raise ConfigError("it looks at nothing of the case: let it take the response")
    return tuple(found)


def _check_parameters(declared: Declared, options: tuple[OptionInfo, ...]) -> frozenset[str]:
    """What it is given; what cannot be given is refused, since that would fail each case."""
    if declared.is_native or declared.batch is not None:
        return frozenset({"expected"})
    roles = frozenset(role for _, role in roles_of(declared.code, options))
    if "services" in roles and not declared.is_async:
        raise ConfigError("only an async function can use services")
    return roles


def _needs_expected(declared: Declared, options: tuple[OptionInfo, ...]) -> bool:
    if declared.is_native or declared.batch is not None:
        return False
    roles = roles_of(declared.code, options)
    return any(role == "expected" and one.default is one.empty for one, role in roles)


def _options_of(code: Any) -> tuple[OptionInfo, ...]:
    """The keyword-only parameters of a function, as options."""
    if _is_native(code):
        return ()
    try:
        hints = inspect.get_annotations(inspect.unwrap(_called(code)), eval_str=True)
    except (NameError, TypeError, SyntaxError, AttributeError):
        hints = {}
    named = [
        one.name for one in _parameters_of(code) if one.kind is one.KEYWORD_ONLY and one.name not in GIVEN
    ]
    return _as_taken(tuple(_option(name, hints.get(name)) for name in named), code)


def _as_taken(options: tuple[OptionInfo, ...], code: Any) -> tuple[OptionInfo, ...]:
    """The options, each with the default of the parameter that it goes to, or needed where that has none."""
    if _is_native(code):
        return options
    parameters = {one.name: one for one in _parameters_of(code)}
    return tuple(
        option if (one := parameters.get(option.name)) is None else _taken(option, one) for option in options
    )


def _taken(option: OptionInfo, parameter: inspect.Parameter) -> OptionInfo:
    if parameter.default is parameter.empty:
        return replace(option, is_required=True)
    default = parameter.default
    if default is None or not isinstance(default, str | int | float | Decimal):
        return option
    return replace(option, default=str(default).lower() if isinstance(default, bool) else str(default))


def _options(given: Options) -> tuple[OptionInfo, ...]:
    if isinstance(given, Mapping):
        return tuple(_option(str(name), kind) for name, kind in given.items())
    return tuple(one if isinstance(one, OptionInfo) else _option(one, None) for one in given)


def _option(name: str, kind: object) -> OptionInfo:
    if not name.isidentifier():
        raise ConfigError(f"the option {name!r} is no name")
    if isinstance(kind, tuple) and kind and all(isinstance(choice, str) for choice in kind):
        return OptionInfo(name=name, type="text", choices=kind, help="of the scorer's own")
    if get_origin(kind) is Literal:
        return _option(name, get_args(kind))
    type_of = _TYPES.get(kind, "json") if isinstance(kind, type) else "json"
    return OptionInfo(name=name, type=type_of, help="of the scorer's own")


def _with_shared(options: tuple[OptionInfo, ...], passes_at: float) -> tuple[OptionInfo, ...]:
    """Its own options, and those that every scorer has, unless it has some of that name."""
    taken = {option.name for option in options}
    shared = (pass_at(f"{passes_at:g}"), *SELECTING)
    return (*options, *(option for option in shared if option.name not in taken))


def _first_line(code: object) -> str:
    lines = (inspect.getdoc(code) or "").strip().splitlines()
    return lines[0] if lines else "a scorer of the user's own"


def _is_between(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
