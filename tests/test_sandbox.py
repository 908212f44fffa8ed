"""The sandbox: what a program in it can reach, use up and leave behind. Every test runs a real, hostile program."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.boxes import working
from tiered_eval.errors import SandboxError
from tiered_eval.sandbox import (
    PYTHON,
    Isolation,
    Limits,
    Ran,
    choose_isolation,
    is_working,
    probing,
    run,
    watching,
)
from tiered_eval.sandbox import layout as layouts
from tiered_eval.sandbox.limits import MEGABYTE
from tiered_eval.sandbox.starting import find_bubblewrap
from tiered_eval.sandbox.watching import children_of

SHUT_IN: tuple[Isolation, ...] = ("bubblewrap", "namespaces")
HAS_BUBBLEWRAP = find_bubblewrap() is not None
SECOND = pytest.param(SHUT_IN[1] if HAS_BUBBLEWRAP else SHUT_IN[0], marks=pytest.mark.slow)
NONE = pytest.param("none", marks=pytest.mark.slow)
BASHRC = os.path.expanduser("~/.bashrc")
SMALL = Limits(wall_s=20, memory_bytes=128 * MEGABYTE, folder_bytes=4 * MEGABYTE, processes=16)


@pytest.fixture(params=SHUT_IN)
async def kind(request: pytest.FixtureRequest) -> Isolation:
    """Each kind of box that this machine allows."""
    return await working(request.param)


@pytest.fixture(params=[*SHUT_IN, "none"])
async def any_kind(request: pytest.FixtureRequest) -> Isolation:
    """The same, and no box at all."""
    return await working(request.param)


@pytest.fixture(params=[SHUT_IN[0] if HAS_BUBBLEWRAP else SHUT_IN[1], SECOND])
async def one_kind(request: pytest.FixtureRequest) -> Isolation:
    """Each kind of box, for what is the same code for all: by default only one is tried."""
    return await working(request.param)


@pytest.fixture(params=[SHUT_IN[0] if HAS_BUBBLEWRAP else SHUT_IN[1], SECOND, NONE])
async def any_one(request: pytest.FixtureRequest) -> Isolation:
    """The same, and no box at all."""
    return await working(request.param)


async def python(code: str, isolation: Isolation, limits: Limits = SMALL, stdin: bytes = b"") -> Ran:
    return await run(
        [*PYTHON, "program.py"], isolation=isolation, files={"program.py": code}, limits=limits, stdin=stdin
    )


def alive(mark: str) -> list[str]:
    """The processes of this machine whose command line has the mark."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


def existing(paths: list[str]) -> list[str]:
    return [path for path in paths if os.path.exists(path)]


async def until(is_so: Callable[[], bool]) -> None:
    """Look again and again, for processes tell nobody outside that they have started."""
    async with asyncio.timeout(20):
        for _ in iter(is_so, True):
            await asyncio.sleep(0.02)


# What it promises to a good program


async def test_a_program_runs_with_its_files_and_its_input(any_kind: Isolation):
    """It reads its input, writes in its folder and in /tmp, and its status and both streams come back."""
    code = (
        "import sys, tempfile; open('made', 'w').write(input()); tempfile.TemporaryFile()\n"
        "print(open('made').read().upper()); print('warned', file=sys.stderr); sys.exit(3)"
    )

    ran = await python(code, any_kind, stdin="grüß".encode())

    assert (ran.stdout.decode(), ran.stderr, ran.exit_status) == ("GRÜSS\n", b"warned\n", 3)
    assert (ran.stopped, ran.isolation) == (None, any_kind)


async def test_a_signal_that_ends_it_is_told(any_one: Isolation):
    """A crash is no exit status."""
    ran = await python("import os; os.abort()", any_one)

    assert (ran.exit_status, ran.signal) == (None, 6)


async def test_it_may_start_processes_and_threads(one_kind: Isolation):
    """What ordinary programs do is not forbidden."""
    code = (
        "import multiprocessing, subprocess, threading\n"
        "if __name__ == '__main__':\n"
        "    thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n"
        "    print(subprocess.run(['/bin/echo', 'shell'], capture_output=True, text=True).stdout, end='')\n"
        "    with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))\n"
    )

    ran = await python(code, one_kind)

    assert ran.stdout.decode().split("\n")[:3] == ["thread", "shell", "[1, 2]"], ran.stderr


async def test_a_program_that_is_not_there_is_an_error(any_one: Isolation):
    """Nobody knows what it would have done."""
    with pytest.raises(SandboxError, match="no-such-program"):
        await run(["no-such-program"], isolation=any_one)


async def test_the_strongest_kind_is_chosen():
    """Never `none`, which must be asked for."""
    working = [kind for kind in SHUT_IN if await is_working(kind)]
    if not working:
        with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
            await choose_isolation()
        return

    assert await choose_isolation() == working[0]


# What it may use up


async def test_an_infinite_loop_is_ended(any_one: Isolation):
    """At the limit on time, with all it had started."""
    began = time.monotonic()

    ran = await python("while True: pass", any_one, Limits(wall_s=0.3))

    assert (ran.stopped, ran.exit_status) == ("time", None)
    assert time.monotonic() - began < 15


async def test_sleeping_is_no_way_round_it(any_one: Isolation):
    """The limit is on the wall clock, and signals that can be ignored are not what ends it."""
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(9)"

    assert (await python(code, any_one, Limits(wall_s=0.3))).stopped == "time"


async def test_processor_time_is_limited(any_one: Isolation):
    """The kernel ends what has used it up, long before the wall clock would."""
    ran = await python("while True: pass", any_one, Limits(wall_s=30, cpu_s=1))

    assert ran.stopped is None
    assert ran.signal is not None


async def test_a_fork_bomb_comes_to_nothing(kind: Isolation):
    """There are only so many processes, and none is left."""
    code = (
        "import os, time\nmade = 0\n"
        "try:\n"
        "    while made < 5000:\n"
        "        if os.fork() == 0:\n"
        "            while True: time.sleep(1)\n"
        "        made += 1\n"
        "except OSError: pass\n"
        "print(made)"
    )

    ran = await python(code, kind)

    assert 4 <= int(ran.stdout) <= SMALL.processes + 4


async def test_a_bomb_that_never_rests_is_ended_whole(one_kind: Isolation):
    """Every process of it is dead when the run returns."""
    mark = f"bomb-{os.getpid()}-{one_kind}"
    code = f"import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'import os\\nwhile True:\\n  try: os.fork()\\n  except OSError: pass', {mark!r}])"

    ran = await python(code, one_kind, Limits(wall_s=0.4, processes=24))

    assert ran.stopped == "time"
    assert alive(mark) == []


async def test_ten_gigabytes_are_not_had(any_one: Isolation):
    """The kernel refuses them."""
    ran = await python("print(len(bytearray(10 * 1024 ** 3)))", any_one)

    assert b"MemoryError" in ran.stderr
    assert ran.exit_status == 1


async def test_memory_is_counted_over_all_processes(one_kind: Isolation):
    """Many processes of allowed size are together too much."""
    code = (
        "import os, time\n"
        "for _ in range(8):\n"
        "    if os.fork() == 0:\n"
        "        held = bytearray(os.urandom(1)) * (40 * 1024 * 1024); time.sleep(60)\n"
        "time.sleep(60)"
    )

    assert (await python(code, one_kind)).stopped == "memory"


async def test_shared_memory_counts_too(one_kind: Isolation):
    """A mapping that no limit on data sees is seen by what looks at the box."""
    code = "import mmap, time\nheld = mmap.mmap(-1, 400 << 20)\nfor at in range(0, 400 << 20, 4096): held[at] = 1\ntime.sleep(60)"

    assert (await python(code, one_kind)).stopped == "memory"


async def test_what_threads_start_is_seen(one_kind: Isolation):
    """The kernel lists children by the thread that started them."""
    code = (
        "import os, threading, time\n"
        "def start():\n"
        "    if os.fork() == 0:\n"
        "        held = bytearray(os.urandom(1)) * (60 * 1024 * 1024); time.sleep(60)\n"
        "    time.sleep(60)\n"
        "for _ in range(4): threading.Thread(target=start).start()\n"
    )

    assert (await python(code, one_kind)).stopped == "memory"


async def test_what_does_not_let_itself_be_looked_into_counts_in_full(
    one_kind: Isolation, monkeypatch: pytest.MonkeyPatch
):
    """A program may choose that; for others than root its shares of pages are then not told."""
    look = watching._field
    monkeypatch.setattr(
        watching, "_field", lambda one, file, names: file == "status" and look(one, file, names)
    )
    code = (
        "import os, time\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        held = bytearray(os.urandom(1)) * (60 * 1024 * 1024); time.sleep(60)\n"
        "time.sleep(60)"
    )

    assert (await python(code, one_kind)).stopped == "memory"


FORBIDDEN = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, given in (("shmget", (1, 1 << 20, 0o1600)), ("semget", (1, 1, 0o1600)), ("msgget", (1, 0o1600)), ("memfd_create", (b"x", 0))):
    print(name, getattr(libc, name)(*given), ctypes.get_errno())
if os.uname().machine == "x86_64":
    for number in (248, 249, 250, 1 << 30 | 1):
        print(number, libc.syscall(number, 0, -3, 0, 0), ctypes.get_errno())
"""


async def test_memory_of_no_process_is_not_had(kind: Isolation):
    """System V's, which would stay uncounted until the box ends, and keys that a session of the user may hold."""
    ran = await python(FORBIDDEN, kind)

    assert {line.partition(" ")[2] for line in ran.stdout.decode().splitlines()} == {"-1 38"}, ran


async def test_text_that_is_no_unicode_is_the_programs_to_refuse(one_kind: Isolation):
    """Half a character in a file is no fault of the box."""
    ran = await python("print(1) # \ud800", one_kind)

    assert (ran.exit_status, b"SyntaxError" in ran.stderr) == (1, True)


async def test_memory_that_children_share_counts_once(one_kind: Isolation):
    """Workers that were forked from a large process hold its pages together."""
    code = (
        "import os, time\nheld = bytearray(os.urandom(1)) * (60 * 1024 * 1024)\n"
        "children = []\n"
        "for _ in range(6):\n"
        "    child = os.fork()\n"
        "    if child == 0: time.sleep(0.4); os._exit(0)\n"
        "    children.append(child)\n"
        "for child in children: os.waitpid(child, 0)\n"
        "print('fine')"
    )

    assert (await python(code, one_kind)).stdout == b"fine\n"


@pytest.mark.parametrize("folder", [".", "/tmp", "/dev/shm"])
async def test_the_disk_cannot_be_filled(folder: str, kind: Isolation):
    """Its folder is small, in memory, and gone afterwards."""
    code = (
        "import sys\ncount = 0\n"
        "try:\n"
        f"    for number in range(200):\n"
        f"        open(f'{folder}/{{number}}', 'wb').write(bytes(100_000)); count += 1\n"
        "except OSError as fault: print(fault.strerror, count)"
    )

    ran = await python(code, kind)

    assert ran.stdout.startswith(b"No space left on device"), ran
    assert int(ran.stdout.split()[-1]) <= 42


async def test_a_file_is_limited(any_one: Isolation):
    """A single file ends at the limit."""
    code = "open('big', 'wb').write(bytes(3_000_000))"

    ran = await python(code, any_one, Limits(file_bytes=MEGABYTE))

    assert b"File too large" in ran.stderr


@pytest.mark.parametrize("stream", [1, 2])
async def test_a_gigabyte_of_output_is_not_read(stream: int, any_one: Isolation):
    """It is read up to the limit, and the program ended."""
    code = f"import os\nwhile True: os.write({stream}, b'x' * 65536)"

    ran = await python(code, any_one, Limits(output_bytes=100_000))

    assert ran.stopped == "output"
    assert len(ran.stdout if stream == 1 else ran.stderr) == 100_000


async def test_input_that_is_never_read_hangs_nothing(any_one: Isolation):
    """Nor does a program that closes it."""
    ran = await python("import os; os.close(0); print('done')", any_one, stdin=bytes(4 * MEGABYTE))

    assert ran.stdout == b"done\n"


# What it can reach


async def test_the_environment_is_not_inherited(any_kind: Isolation, monkeypatch: pytest.MonkeyPatch):
    """A key that is in it here is not in it there, nor in the environment of any process it can see."""
    monkeypatch.setenv("SOME_API_KEY", "planted-secret-1")
    code = (
        "import os, glob\nprint(sorted(os.environ))\n"
        "for file in glob.glob('/proc/[0-9]*/environ') if os.getppid() == 1 else []:\n"
        "    try: print(open(file, 'rb').read())\n"
        "    except OSError: pass"
    )

    ran = await python(code, any_kind)

    assert b"PATH" in ran.stdout
    assert b"planted" not in ran.stdout
    assert b"API_KEY" not in ran.stdout


async def test_files_of_the_user_are_not_there(
    kind: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Neither its home folder, nor the folder of the run, nor what the system keeps secret."""
    (tmp_path / "secret").write_text("planted-secret-2")
    wanted = [
        str(tmp_path / "secret"),
        BASHRC,
        str(Path(__file__)),
        "/etc/shadow",
        "/etc/passwd",
        "/root/.ssh",
    ]
    code = (
        f"for path in {wanted!r} + ['/proc/1/environ', '/proc/1/mem', '/proc/1/root' + {wanted[0]!r}, '/proc/1/fd/0']:\n"
        "    try: print('read', path, open(path).read(1))\n"
        "    except OSError: pass"
    )

    ran = await python(code, kind)

    assert (ran.stdout, ran.exit_status) == (b"", 0)


async def test_nothing_outside_is_written(kind: Isolation):
    """The system is read-only, whoever started the box."""
    targets = [
        "/usr/planted",
        "/bin/planted",
        "/planted",
        "/etc/planted",
        "/dev/planted",
        f"{sys.prefix}/planted",
    ]
    code = (
        "import os\n"
        f"for path in {targets!r}:\n"
        "    try: open(path, 'w'); print('wrote', path)\n"
        "    except OSError: pass\n"
        "for path in ('/proc/sys/kernel/core_pattern', '/proc/sys/user/max_user_namespaces', '/proc/sysrq-trigger'):\n"
        "    try: open(path, 'w').write('1'); print('wrote', path)\n"
        "    except OSError: pass\n"
    )

    ran = await python(code, kind)

    assert (ran.stdout, ran.exit_status) == (b"", 0)
    assert existing(targets) == []


async def test_no_connection_arrives(kind: Isolation):
    """Not at a server on the loopback either, nor at an abstract socket."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0tiered-{os.getpid()}-{kind}")
        local.listen()
        server.setblocking(False)
        local.setblocking(False)
        code = (
            "import socket\n"
            f"for kind, address in ((socket.AF_INET, ('127.0.0.1', {server.getsockname()[1]})),"
            f" (socket.AF_UNIX, '\\0tiered-{os.getpid()}-{kind}'), (socket.AF_INET, ('192.0.2.1', 80))):\n"
            "    try: socket.socket(kind).connect(address); print('connected', address)\n"
            "    except OSError: pass"
        )

        ran = await python(code, kind)

        assert (ran.stdout, ran.exit_status) == (b"", 0)
        with pytest.raises(BlockingIOError):
            server.accept()
        with pytest.raises(BlockingIOError):
            local.accept()


async def test_other_processes_are_not_seen(kind: Isolation):
    """It sees itself and process 1, which it can neither kill nor trace."""
    code = (
        "import ctypes, os, signal\n"
        "print(sorted(int(name) for name in os.listdir('/proc') if name.isdigit()))\n"
        "for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT):\n"
        "    try: os.kill(1, number)\n"
        "    except OSError: pass\n"
        f"try: os.kill({os.getpid()}, 0); print('reached')\n"
        "except OSError: pass\n"
        "print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))\n"
    )

    ran = await python(code, kind)

    assert ran.stdout == b"[1, 2]\n-1\n"
    assert ran.exit_status == 0


async def test_rights_are_not_won_back(kind: Isolation):
    """It has no capability, is not root, and makes no namespace in which it would be."""
    code = (
        "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
        "status = dict(line.split(':\\t') for line in open('/proc/self/status').read().splitlines() if ':\\t' in line)\n"
        "print(os.getuid(), *[int(status[name], 16) for name in ('CapEff', 'CapPrm', 'CapInh', 'CapAmb')], status['NoNewPrivs'])\n"
        "print(libc.unshare(0x10000000), libc.unshare(0x00020000), libc.mount(b'none', b'/box', b'tmpfs', 0, None))\n"
        "try: os.setuid(0)\n"
        "except OSError: print('refused')\n"
    )

    ran = await python(code, kind)

    assert ran.stdout == b"1000 0 0 0 0 1\n-1 -1 -1\nrefused\n", ran.stderr


async def test_a_link_in_its_folder_leads_nowhere(kind: Isolation, tmp_path: Path):
    """Nobody outside follows what it leaves in its folder, and inside there is nothing to lead to."""
    (tmp_path / "kept").write_text("kept")
    code = f"import os\nos.symlink({str(tmp_path / 'kept')!r}, 'link')\ntry: open('link', 'w').write('gone')\nexcept OSError: print('no')"

    ran = await python(code, kind)

    assert ran.stdout == b"no\n"
    assert (tmp_path / "kept").read_text() == "kept"


async def test_nothing_of_one_box_is_in_the_next(any_kind: Isolation):
    """Each starts with an empty folder."""
    await python("open('left', 'w').write('x')", any_kind)

    ran = await python("import os; print(os.listdir('.'), os.path.exists('/tmp/left'))", any_kind)

    assert ran.stdout == b"['program.py'] False\n"


# What it leaves behind


DAEMON = (
    "import os, sys\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        os.execv(sys.executable, [sys.executable, '-c', 'import time\\nwhile True: time.sleep(1)', {mark!r}])\n"
    "    os._exit(0)\n"
    "os.wait()\n"
)


async def test_a_daemon_does_not_survive(any_kind: Isolation):
    """It had left its session and its parent; it is dead when the run returns, and its open streams hold nothing up."""
    mark = f"daemon-{os.getpid()}-{any_kind}"

    ran = await python(
        DAEMON.format(mark=mark) + "import time; time.sleep(0.2); print('parent ends')", any_kind
    )

    assert ran.stdout == b"parent ends\n"
    assert alive(mark) == []


async def test_a_cancelled_run_leaves_nothing(any_kind: Isolation):
    """Nor does one that is cancelled in the middle, its daemon included."""
    mark = f"cancelled-{os.getpid()}-{any_kind}"
    task = asyncio.create_task(python(DAEMON.format(mark=mark) + "while True: pass", any_kind))
    await until(lambda: bool(alive(mark)))

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert alive(mark) == []


async def test_a_run_that_is_cancelled_at_once_leaves_nothing(any_kind: Isolation):
    """Wherever in its start it was."""
    before = set(children_of(os.getpid()))
    for turns in (1, 3, 10):
        task = asyncio.create_task(python("while True: pass", any_kind))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})

    assert set(children_of(os.getpid())) <= before


@pytest.mark.parametrize("delay_s", [0, 0.01, 0.03, 0.1, 0.3])
def test_a_loop_that_ends_ends_its_boxes(delay_s: float):
    """It cancels every task at once, those of asyncio's own machinery too."""
    before = set(children_of(os.getpid()))

    async def leave() -> None:
        kind: Isolation = "bubblewrap" if await is_working("bubblewrap") else "none"
        tasks = [asyncio.create_task(python("while True: pass", kind)) for _ in range(2)]
        await asyncio.wait(tasks, timeout=delay_s)

    asyncio.run(leave())

    assert set(children_of(os.getpid())) <= before


KILLED = """
import asyncio, sys
from tiered_eval.sandbox import PYTHON, Limits, run
asyncio.run(run([*PYTHON, "-c", "import time\\nwhile True: time.sleep(1)", {mark!r}], isolation={kind!r}, limits=Limits(wall_s=50)))
"""


async def test_a_killed_run_leaves_nothing(any_kind: Isolation, tmp_path: Path):
    """`kill -9` of the process that made the box ends the box, and its folder goes with it."""
    mark = f"killed-{os.getpid()}-{any_kind}"
    code = KILLED.format(mark=mark, kind=any_kind)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code, env=environment)
    await until(lambda: len(alive(mark)) >= 2)
    parent.kill()
    await parent.wait()

    await until(lambda: not alive(mark))
    await until(lambda: not os.listdir(tmp_path))


async def test_a_box_that_cannot_be_watched_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    """No descriptor is left to watch it with: it is killed, and the fault is told at once."""

    def refuse(process: int) -> int:
        raise OSError(24, "Too many open files")

    before = set(children_of(os.getpid()))
    kind: Isolation = "bubblewrap" if await is_working("bubblewrap") else "none"
    monkeypatch.setattr(os, "pidfd_open", refuse)

    with pytest.raises(OSError, match="Too many"):
        await python("import time; time.sleep(60)", kind)

    assert set(children_of(os.getpid())) <= before


async def test_boxes_run_side_by_side(one_kind: Isolation):
    """Each with its own folder and its own count of processes."""
    code = "import os\nfor _ in range(8):\n  if os.fork() == 0: import time; time.sleep(0.2); os._exit(0)\nprint('fine')"

    runs = await asyncio.gather(*(python(code, one_kind) for _ in range(4)))

    assert [ran.stdout for ran in runs] == [b"fine\n"] * 4


# Where the interpreter may lie


PLACES = [place for place in ("/tmp", "/dev/shm", "/run", "/home", "/root") if os.access(place, os.W_OK)]
LOOKS = """
import asyncio, sys
from tiered_eval.sandbox import PYTHON, run
code = sys.stdin.read()
ran = asyncio.run(run([*PYTHON, "program.py"], isolation=sys.argv[1], files={"program.py": code}))
sys.stdout.buffer.write(ran.stdout)
sys.exit(ran.stderr.decode() or ran.exit_status)
"""
LOOK = """
import os, shutil, sys
print(os.listdir("."), sys.prefix)
prefix = sys.prefix
above = [prefix.rsplit("/", count)[0] for count in range(1, prefix.count("/"))]
for folder in [prefix, *above]:
    try: os.rename(folder, "/tmp/moved"); print("moved", folder)
    except OSError: pass
    if folder not in ("/tmp", "/dev/shm"):
        try: open(folder + "/planted", "w"); print("wrote in", folder)
        except OSError: pass
for folder in (".", "/tmp", "/dev/shm", os.environ["TMPDIR"]):
    open(folder + "/made", "w").write("x"); os.mkdir(folder + "/folder"); os.remove(folder + "/made"); os.rmdir(folder + "/folder")
count = 0
try:
    for number in range(200): open(("/tmp/%d", "%d")[number % 2] % number, "wb").write(bytes(1 << 20)); count += 1
except OSError as fault: print(fault.strerror, count < 65)
"""


WAYS = ("itself", "link", "chain")
EVERYWHERE = [
    pytest.param((place, way), id=f"{place}-{way}", marks=[] if place == PLACES[0] else pytest.mark.slow)
    for place in PLACES
    for way in WAYS
]


@pytest.fixture(params=EVERYWHERE)
def environment(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A virtual environment there, by the name that it has or by links that lead to it."""
    place, way = request.param
    with tempfile.TemporaryDirectory(dir=place) as made, tempfile.TemporaryDirectory(dir=place) as other:
        real = Path(made, "clone", "environment")
        named = {
            "itself": real,
            "link": Path(f"{made}.link", "environment"),
            "chain": Path(other, "to", "it"),
        }[way]
        first = Path(f"{made}.link")
        Path(made, "clone").mkdir()
        first.symlink_to(Path(made, "clone"))
        Path(other, "to").symlink_to(f"../{Path(other).name}/then")
        Path(other, "then").mkdir()
        Path(other, "then", "it").symlink_to(first / "environment")
        try:
            command = [sys.executable, "-m", "venv", "--without-pip", str(named if way == "link" else real)]
            subprocess.run(command, check=True)
            yield named
        finally:
            first.unlink()


def test_the_interpreter_may_lie_anywhere(environment: Path, kind: Isolation):
    """Below the folders that are the program's in the box too: it runs, cannot be written to or moved, and the rest is writable."""
    done = subprocess.run(
        [str(environment / "bin" / "python"), "-c", LOOKS, kind],
        input=LOOK,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))},
        check=False,
    )

    assert done.stderr == ""
    assert done.stdout == f"['program.py'] {environment}\nNo space left on device True\n"


def test_the_folder_of_the_program_is_nowhere_that_is_shown(monkeypatch: pytest.MonkeyPatch):
    """An interpreter below a folder of its name moves it."""
    monkeypatch.setattr(layouts, "_FOLDER", "usr")

    assert layouts.layout_of(["/usr"]).folder == "/usr-2"


async def test_a_broken_box_is_no_reason_to_skip(kind: Isolation, monkeypatch: pytest.MonkeyPatch):
    """Only what the machine forbids is."""
    monkeypatch.setitem(probing._REFUSALS, kind, "Can't make symlink at /tmp: File exists")

    with pytest.raises(pytest.fail.Exception, match=r"broken.*File exists"):
        await working(kind)


async def test_what_was_tried_is_told_first(monkeypatch: pytest.MonkeyPatch):
    """A line that is cut off must not tell of means against another fault."""
    for one in SHUT_IN:
        monkeypatch.setitem(probing._REFUSALS, one, "File exists")

    with pytest.raises(SandboxError, match=r"^no sandbox works.{1,50}Tried: bubblewrap: File exists; namesp"):
        await choose_isolation()
