"""What goes wrong outside of heddle: no memory, signals, folders and files that take nothing, inputs without an end or of an absurd size."""
import glob
import os
import random
import resource
import signal
import subprocess
import time

import allocations
import replays
from support import BUILD, HEDDLE, TIMEOUT, expect, heddle, read, run, same, write
from usage import KERNEL, files, status

OUT_OF_MEMORY = 7
SAMPLES = int(os.environ.get("FAILURES") or "40")  # allocations of each command; 0: all


def each_failure(folder, library, arguments):
    """The output is whole, or the exit status says that there was no memory; what a failure leaves in the text is neither."""
    count = os.path.join(folder, "count")
    environment = {"LD_PRELOAD": allocations.make(BUILD), "FAIL_IN": library, "FAIL_COUNT": count}
    whole = run(*arguments, FAIL_AT="0", **environment)
    if "ASan runtime" in whole.err:
        return
    total = int(read(count))
    expect(total > 5, "%s: %d allocations in %s", arguments, total, library)
    reported = 0
    chosen = random.Random(total).sample(range(1, total + 1), min(SAMPLES or total, total))
    for n in chosen:
        result = run(*arguments, FAIL_AT=str(n), **environment)
        if result.status == OUT_OF_MEMORY:
            expect(result.out == b"" and "out of memory" in result.err, "%s, allocation %d: %r, %r", arguments, n, result.out[:200], result.err[:200])
            reported += 1
        else:
            same(whole.out, result.out, "%s, allocation %d of %d: output" % (arguments, n, total))
            same(whole.err.encode(), result.err.encode(), "%s, allocation %d of %d: diagnostics" % (arguments, n, total))
            expect(result.status == whole.status, "%s, allocation %d: exit %d", arguments, n, result.status)
    expect(reported > len(chosen) / 2, "%s: %d of %d failures are reported", arguments, reported, len(chosen))


def case_no_memory_for_diagnostics(folder):
    _, broken, _ = files(folder)
    each_failure(folder, "/heddle", ["check", "-j1", "--diagnostics=json", broken])
    each_failure(folder, "/heddle", ["check", "-j1", "--diagnostics=sarif", broken])


def case_no_memory_in_libyaml(folder):
    launch = replays.launch(folder, "a", replays.kernel())
    each_failure(folder, "libyaml", ["replay", "-j1", "--technique=none", launch])


def limited(**limits):
    def set_limits():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
    return set_limits


def case_no_memory_at_all(folder):
    launch = write(os.path.join(folder, "a.yaml"), replays.LAUNCH.replace("count: 4,", "count: 1000000000,").replace(
        ", expect: {values: [%(values)s]}", "") % {"module": "a.ptx"})
    write(os.path.join(folder, "a.ptx"), replays.kernel())
    out = os.path.join(folder, "out")
    done = subprocess.run([HEDDLE, "replay", "--technique=none", "-o", out, launch], capture_output=True, timeout=TIMEOUT,
                          preexec_fn=limited(RLIMIT_AS=2 << 30))
    if b"AddressSanitizer" in done.stderr or b"Sanitizer" in done.stderr:
        return
    expect(done.returncode == OUT_OF_MEMORY and b"out of memory (" in done.stderr, "exit %d: %s", done.returncode, done.stderr[:300])
    expect(not glob.glob(out + "*"), "left %s", glob.glob(out + "*"))


# ---- output files ----------------------------------------------------------------------------------------------------

def case_output_through_a_link_to_nothing(folder):
    good, _, _ = files(folder)
    os.mkdir(os.path.join(folder, "inside"))
    link, second = os.path.join(folder, "inside/link.ptx"), os.path.join(folder, "second.ptx")
    os.symlink("../new.ptx", link)
    os.symlink("inside/link.ptx", second)
    heddle("rewrite", "-o", second, good)
    same(KERNEL, read(os.path.join(folder, "new.ptx")))
    expect(os.path.islink(link) and os.path.islink(second), "a link became a file")
    circle = os.path.join(folder, "circle")
    os.symlink("circle", circle)
    status(1, "rewrite", "-o", circle, good, says="[unreadable]")


def case_output_in_a_folder_that_takes_no_files(folder):
    good, broken, _ = files(folder)
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    out = write(os.path.join(inside, "out.ptx"), b"precious" * 1000)
    os.chmod(out, 0o666)
    os.chmod(inside, 0o555)
    os.chmod(folder, 0o755)

    def as_nobody(*arguments):
        return subprocess.run([HEDDLE, *arguments], capture_output=True, timeout=TIMEOUT,
                              preexec_fn=(lambda: os.setuid(65534)) if os.getuid() == 0 else None)

    try:
        as_nobody("--version")
    except PermissionError:  # nobody may not come here
        return
    expect(as_nobody("rewrite", "-o", out, broken).returncode == 1, "a broken module is taken")
    same(b"precious" * 1000, read(out))
    done = as_nobody("rewrite", "-o", out, good)
    expect(done.returncode == 0, "exit %d: %s", done.returncode, done.stderr)
    same(KERNEL, read(out))
    done = as_nobody("rewrite", "-o", out + ".new", good)
    expect(done.returncode == 1 and b"Permission denied" in done.stderr, "exit %d: %s", done.returncode, done.stderr)
    os.chmod(inside, 0o755)


def heed_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def case_signals_leave_no_temporary_file(folder):
    launch = replays.launch(folder, "a", replays.kernel(turns=2 ** 31 - 1))
    out = os.path.join(folder, "out.json")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        running = subprocess.Popen([HEDDLE, "replay", "--technique=none", "--instruction-limit=0", "-o", out, launch], preexec_fn=heed_signals)
        until = time.monotonic() + TIMEOUT
        while not glob.glob(out + ".*") and time.monotonic() < until:
            time.sleep(0.01)
        expect(glob.glob(out + ".*"), "no temporary file appeared")
        running.send_signal(number)
        try:
            running.wait(TIMEOUT)
        finally:
            running.kill()
        expect(running.returncode == -number, "signal %d: exit %s", number, running.returncode)
        expect(not glob.glob(out + "*"), "signal %d left %s", number, glob.glob(out + "*"))


def case_a_file_beyond_its_limit(folder):
    good, _, _ = files(folder)
    big = write(os.path.join(folder, "big.ptx"), KERNEL + b"// comment\n" * 10000)
    out = os.path.join(folder, "out.ptx")
    done = subprocess.run([HEDDLE, "rewrite", "-o", out, big], capture_output=True, timeout=TIMEOUT, preexec_fn=limited(RLIMIT_FSIZE=4096))
    expect(done.returncode == 1 and b"File too large" in done.stderr, "exit %d: %s", done.returncode, done.stderr)
    expect(not glob.glob(out + "*"), "left %s", glob.glob(out + "*"))


# ---- inputs ----------------------------------------------------------------------------------------------------------

def case_inputs_without_an_end(folder):
    status(1, "check", "/dev/zero", says="over 256 MiB")
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", 'yes "// on and on" >"$0" 2>/dev/null', pipe])
    status(1, "check", pipe, says="over 256 MiB")
    writer.wait(TIMEOUT)
    launch = replays.launch(folder, "a", replays.kernel())
    write(launch, read(launch).replace(b"a.ptx", b"/dev/zero"))
    status(1, "replay", "--technique=none", launch, says="over 256 MiB")


def case_absurd_sizes_in_launch_files(folder):
    launch = replays.launch(folder, "a", replays.kernel())
    plain = read(launch)
    for count in (b"10000000000", b"18446744073709551615", b"4294967296"):
        write(launch, plain.replace(b"count: 4, fill: zero, expect: {values: [7, 0, 0, 0]}", b"count: %s" % count))
        status(1, "replay", "--technique=none", launch, says="[bad-value]")
    two = b"  A: {type: u32, count: 1000000000}\n  B: {type: u8, count: 1000000000}\n"
    write(launch, plain.replace(b"  A: {type: u32, count: 4, fill: zero, expect: {values: [7, 0, 0, 0]}}\n", two))
    status(1, "replay", "--technique=none", launch, says="over 4294967296 bytes")
    for size in (232449, 4294967295):
        module = replays.kernel("mov.u32 %%r2, s;\n\tst.shared.u32 [%%r2], %%r0;", declarations=".shared .align 4 .b8 s[%d];" % size)
        launch = replays.launch(folder, "a", module.replace("%%", "%"))
        status(1, "replay", "--technique=none", launch, says="bytes of shared memory")


def case_processes_without_proc(folder):
    """Nothing reads /proc: the program goes on where there is none."""
    good, _, _ = files(folder)
    script = 'mount -t tmpfs none /proc && exec "$0" rewrite -p bow "$1"'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, HEDDLE, good], capture_output=True, timeout=TIMEOUT)
    if b"unshare:" in done.stderr or b"mount:" in done.stderr or b"Sanitizer" in done.stderr:
        return
    expect(done.returncode == 0 and b"//@bow" in done.stdout, "exit %d: %s", done.returncode, done.stderr)
