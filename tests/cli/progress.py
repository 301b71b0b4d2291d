"""Progress: where it is shown, what it says, and that nothing of it stays."""
import os
import pty
import re
import select
import subprocess

import replays
from inputs import modules
from support import HEDDLE, TIMEOUT, Failed, expect, read, run, same, write
from usage import KERNEL, status

ERASED = "\r\33[K"


def case_always_shows_each_step_and_takes_it_away(folder):
    paths = modules(folder, 3)
    for arguments in (["check"], ["report", "--ptxas=no"], ["rewrite", "-o", os.path.join(folder, "out/")], ["strip", "-o", os.path.join(folder, "out/")]):
        plain, shown = (run(*arguments, option, *paths) for option in ("--progress=never", "--progress=always"))
        for done in range(1, 4):
            expect(re.search(r"\rheddle: %d of 3 done, [\dh:]+ left\x1b\[K" % done, shown.err), "%s: %r", arguments, shown.err)
        expect(shown.err.endswith(ERASED) and plain.err == "", "%s: %r", arguments, shown.err)
        same(plain.out, shown.out, " ".join(arguments))
        same(b"", run(*arguments, *paths).err.encode(), "in a pipe")
    files = [replays.launch(folder, name, replays.printing("says " + name)) for name in "ab"]
    shown = run("replay", "--technique=none", "--progress=always", "-j1", *files).err
    expect(re.sub(r"\rheddle: \d of 2 done(, [\dh:]+ left)?\x1b\[K|\r\x1b\[K", "", shown) == "says a\nsays b\n", "%r", shown)
    expect("heddle: 1 of 2 done" in shown and shown.endswith(ERASED), "%r", shown)


def case_one_input_shows_how_far_it_is(folder):
    """A file of three launches, one of which is slow; with cycles, too; and the passes of a module."""
    path = replays.launch(folder, "one", replays.kernel(turns=30000))
    text = read(path).decode()
    step = text[text.index("  - {"):]
    write(path, text + 2 * step)
    where = r"\rheddle: launch \d of 3, \d+ % done, [\dh:]+ left\x1b\[K"
    for options in (["--technique=bow"], ["--technique=bow", "--time", "--gpu=fermi-gtx480"]):
        plain, shown = (run("replay", option, *options, path) for option in ("--progress=never", "--progress=always"))
        same(plain.out, shown.out, " ".join(options))
        seen = re.findall(where, shown.err)
        expect(seen and shown.err.endswith(ERASED), "%s: %r", options, shown.err)
        done = [int(re.search(r"(\d+) %", line).group(1)) for line in seen]
        expect(done == sorted(done), "goes back: %s", done)
    good = modules(folder, 1)
    for arguments in (["check"], ["report", "--ptxas=no"], ["rewrite", "-p", "clean,bow"], ["rewrite", "-p", "all"], ["strip"], ["dump", "--ir"]):
        shown = run(*arguments, "--progress=always", *good).err
        expect("\rheddle: 100 % done, 0:00 left" in shown and shown.endswith(ERASED), "%s: %r", arguments, shown)


def case_what_a_kernel_prints_stays(folder):
    path = replays.launch(folder, "says", replays.printing("says", turns=30000))
    shown = run("replay", "--technique=none", "--progress=always", path).err
    expect(re.sub(r"\rheddle: [^\r]*\x1b\[K|\r\x1b\[K", "", shown) == "says\n", "%r", shown)


def until(terminal, wanted, seen):
    """What the terminal shows until `wanted` is in it; its end counts as one."""
    while wanted is None or wanted not in seen:
        if not select.select([terminal], [], [], TIMEOUT)[0]:
            raise Failed("no %r in %r" % (wanted, seen))
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # its other side is closed
            piece = b""
        if not piece and wanted is None:
            return seen
        if not piece:
            raise Failed("no %r in %r" % (wanted, seen))
        seen += piece
    return seen


def on_a_terminal(folder, *options, **environment):
    """check of a module and of a pipe that is fed once the terminal shows that the former is done."""
    slow, good = os.path.join(folder, "slow.ptx"), modules(folder, 1)[0]
    if not os.path.exists(slow):
        os.mkfifo(slow)
    terminal, other = pty.openpty()
    process = subprocess.Popen([HEDDLE, "check", "-j2", *options, good, slow], stdout=subprocess.PIPE, stderr=other,
                               env={**os.environ, "TERM": "xterm", **environment})
    os.close(other)
    seen = b""
    if "--progress=never" not in options and environment.get("TERM") != "dumb":
        seen = until(terminal, b"heddle: 1 of 2 done, ", seen)
    with open(slow, "wb") as pipe:
        pipe.write(KERNEL)
    out = process.communicate(timeout=TIMEOUT)[0]
    seen = until(terminal, None, seen)
    os.close(terminal)
    expect(process.returncode == 0 and out.count(b"nothing to check") == 2, "exit %d: %r", process.returncode, out)
    return seen


def case_a_terminal_shows_it_after_a_while(folder):
    for environment in ({"NO_COLOR": ""}, {"NO_COLOR": "1"}):
        seen = on_a_terminal(folder, **environment)
        expect(seen.endswith(ERASED.encode()) and b"\n" not in seen, "%r", seen)
    same(b"", on_a_terminal(folder, "--progress=never"))
    same(b"", on_a_terminal(folder, TERM="dumb"))


def case_diagnostics_follow_on_a_clean_line(folder):
    result = status(1, "check", "--progress=always", *modules(folder, 2), os.path.join(folder, "none.ptx"))
    expect(re.search(r"\r\x1b\[Kheddle: error: cannot read", result.err), "%r", result.err)
