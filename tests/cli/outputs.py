"""Output files: whole or not at all, all of a command together, and never in place of an input; named pipes without another end."""
import glob
import os
import resource
import subprocess
import time

import allocations
import replays
from failures import OUT_OF_MEMORY, limited
from support import BUILD, HEDDLE, TIMEOUT, expect, heddle, read, run, same, write
from usage import KERNEL, files, status

SAVING = """module: %s
buffers: {A: {type: u32, count: %d, save: %s}%s}
launches: [{kernel: k, grid: 1, block: 1, params: [A]}]
"""


def saving(folder, name, save="a.bin", more="", count=4):
    write(os.path.join(folder, "a.ptx"), replays.kernel())
    return write(os.path.join(folder, name), SAVING % ("a.ptx", count, save, more))


def save(*arguments, expected=0, says=""):
    return status(expected, "replay", "--save", "--technique=none", *arguments, says=says)


# ---- a full disk, and no memory --------------------------------------------------------------------------------------

def case_an_output_beyond_a_limit_leaves_the_old_file(folder):
    """Of every command that writes, and of buffers that are saved."""
    good, _, _ = files(folder)
    big = write(os.path.join(folder, "big.ptx"), KERNEL + b"// comment\n" * 10000)
    out = os.path.join(folder, "out")
    launch = saving(folder, "a.yaml", "out", count=100000)
    for arguments in (["rewrite", "-o", out, big], ["strip", "-o", out, big], ["report", "--ptxas=no", "--format=html", "-o", out, good],
                      ["dump", "--tokens", "-o", out, big], ["replay", "--technique=none", "--format=html", "-o", out, launch],
                      ["replay", "--technique=none", "--save", launch], ["rewrite", "-p", "all", "-o", out, good],
                      ["replay", "--technique=baseline", "--time", "--gpu=volta-v100", "--sms=1", "--timeline", out, launch]):
        write(out, b"precious")
        done = subprocess.run([HEDDLE, *arguments], capture_output=True, timeout=TIMEOUT, preexec_fn=limited(RLIMIT_FSIZE=256))
        expect(done.returncode == 1 and b"File too large" in done.stderr, "%s: exit %d: %s", arguments, done.returncode, done.stderr)
        same(b"precious", read(out), "%s: the old file" % arguments)
        expect(glob.glob(out + "*") == [out], "%s left %s", arguments, glob.glob(out + "*"))


def case_a_full_disk_leaves_the_old_file(folder):
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    launch = saving(folder, "a.yaml", "disk/a.bin", count=100000)
    script = ('mount -t tmpfs -o size=64k none "$1" && echo precious > "$1/a.bin" && "$0" replay --save --technique=none "$2"; '
              'echo "exit $?"; ls "$1"; cat "$1/a.bin"')
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, HEDDLE, disk, launch], capture_output=True, timeout=TIMEOUT, text=True)
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        return
    expect("No space left on device" in done.stderr and done.stdout.endswith("exit 1\na.bin\nprecious\n"), "%s%s", done.stdout, done.stderr)


def case_without_memory_no_file_is_written(folder):
    """Also none of those that were finished before, whichever allocation fails."""
    good, _, unknown = files(folder)
    out, count = os.path.join(folder, "out/"), os.path.join(folder, "count")
    os.mkdir(out)
    arguments = ["rewrite", "-j1", "--diagnostics=json", "-MD", "-o", out, good, unknown]
    environment = {"LD_PRELOAD": allocations.make(BUILD), "FAIL_IN": "/heddle", "FAIL_COUNT": count}
    if "ASan runtime" in run(*arguments, FAIL_AT="0", **environment).err:
        return
    expect(sorted(os.listdir(out)) == ["good.ptx", "good.ptx.d", "unknown.ptx", "unknown.ptx.d"], "wrote %s", os.listdir(out))
    ended = 0
    for n in range(1, int(read(count)) + 1):
        for name in os.listdir(out):
            os.unlink(os.path.join(out, name))
        if run(*arguments, FAIL_AT=str(n), **environment).status == OUT_OF_MEMORY:
            expect(os.listdir(out) == [], "allocation %d left %s", n, os.listdir(out))
            ended += 1
    expect(ended > 5, "%d failures", ended)


def case_without_memory_no_buffer_is_saved(folder):
    launch = saving(folder, "a.yaml", more=", B: {type: u8, count: 1500000000, save: {text: b.txt}}")
    kept = write(os.path.join(folder, "a.bin"), b"precious")
    done = subprocess.run([HEDDLE, "replay", "--save", "--technique=none", launch], capture_output=True, timeout=TIMEOUT,
                          preexec_fn=limited(RLIMIT_AS=1 << 30))
    if b"Sanitizer" in done.stderr:
        return
    expect(done.returncode == OUT_OF_MEMORY, "exit %d: %s", done.returncode, done.stderr[:300])
    same(b"precious", read(kept))
    expect(sorted(os.listdir(folder)) == ["a.bin", "a.ptx", "a.yaml"], "left %s", os.listdir(folder))


def case_a_file_in_a_folder_that_takes_none_survives_a_full_disk(folder):
    """It is overwritten only where there is room."""
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    out = write(os.path.join(inside, "out"), b"precious")
    big = write(os.path.join(folder, "big.ptx"), KERNEL + b"// comment\n" * 10000)
    for path, mode in ((out, 0o666), (inside, 0o555), (folder, 0o755)):
        os.chmod(path, mode)

    def as_nobody():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        if os.getuid() == 0:
            os.setuid(65534)

    try:
        done = subprocess.run([HEDDLE, "rewrite", "-o", out, big], capture_output=True, timeout=TIMEOUT, preexec_fn=as_nobody)
    except PermissionError:  # nobody may not come here
        return
    finally:
        os.chmod(inside, 0o755)
    expect(done.returncode == 1 and b"File too large" in done.stderr, "exit %d: %s", done.returncode, done.stderr)
    same(b"precious", read(out))


# ---- the same file ---------------------------------------------------------------------------------------------------

def case_an_output_that_is_an_input(folder):
    good, _, _ = files(folder)
    link, hard = os.path.join(folder, "link.ptx"), os.path.join(folder, "hard.ptx")
    os.symlink("good.ptx", link)
    os.link(good, hard)
    gpu = write(os.path.join(folder, "gpu.yaml"), heddle_gpu())
    launch = replays.launch(folder, "a", replays.kernel())
    for out in (good, os.path.join(folder, ".", "good.ptx"), link, hard):
        for arguments in (["rewrite"], ["rewrite", "-p", "all"], ["strip"], ["report", "--ptxas=no"], ["dump", "--ir"], ["init"]):
            status(2, *arguments, "-o", out, good, says="would be written, and is an input")
        status(2, "diff", "-o", out, launch, good, says="would be written, and is an input")
        same(KERNEL, read(good))
    status(2, "rewrite", "-o", folder, good, says="would be written, and is an input")
    status(2, "rewrite", "-MF", good, "-MT", "x", good, says="would be written, and is an input")
    status(2, "report", "--gpu", gpu, "-o", gpu, good, says="would be written, and is an input")
    status(2, "report", "--sass", good, "-o", good, good, says="would be written, and is an input")
    status(2, "replay", "-o", launch, launch, says="would be written, and is an input")
    status(2, "replay", "--time", "--timeline", launch, launch, says="would be written, and is an input")
    status(1, "replay", "-o", os.path.join(folder, "a.ptx"), launch, says="would be written, and is an input")
    with open(good, "ab") as appended:
        status(2, "rewrite", good, stdout=appended, says="'<stdout>' would be written, and is an input")
    same(KERNEL, read(good))


def heddle_gpu():
    return read(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "target/gpus/sm_80.yaml"))


def case_two_outputs_that_are_one(folder):
    good, _, unknown = files(folder)
    out, inside = os.path.join(folder, "out"), os.path.join(folder, "inside/")
    os.mkdir(inside)
    status(2, "rewrite", "-MF", out, "-o", out, good, says="would be written twice")
    status(2, "rewrite", "-MF", os.path.join(folder, ".", "out"), "-o", out, good, says="would be written twice, also as")
    os.symlink("unknown.ptx", os.path.join(inside, "good.ptx"))
    write(os.path.join(inside, "unknown.ptx"), b"precious")
    status(2, "rewrite", "-o", inside, good, unknown, says="would be written twice, also as")
    same(b"precious", read(os.path.join(inside, "unknown.ptx")))
    launch = replays.launch(folder, "a", replays.kernel())
    status(2, "replay", "--time", "--timeline", out, "-o", out, launch, says="would be written twice")
    expect(not os.path.exists(out), "it was written")
    for null in ("/dev/null",):
        heddle("replay", "--technique=baseline", "--time", "--gpu=volta-v100", "--sms=1", "--timeline", null, "-o", null, launch)


def case_buffers_saved_to_one_file(folder):
    again = ", B: {type: u32, count: 4, save: ./a.bin}"
    save(saving(folder, "a.yaml", more=again), expected=1, says="a.yaml:2:")
    result = save(saving(folder, "a.yaml", more=again), expected=1, says="would be written twice, also as")
    expect("[bad-value]" in result.err, "%s", result.err)
    for name, what in (("a.ptx", "the module"), ("a.yaml", "the launch file")):
        save(saving(folder, "a.yaml", name), expected=1, says="would be written, and is an input")
        expect(read(os.path.join(folder, name)), "%s is gone", what)
    for kind in ("fill: {file: b.bin}", "fill: {text: b.bin}", "expect: {file: b.bin}", "expect: {text: b.bin}"):
        write(os.path.join(folder, "b.bin"), b"0 0 0 0         ")
        more = ", B: {type: u32, count: 4, %s}" % kind
        save(saving(folder, "a.yaml", "b.bin", more), expected=1, says="would be written, and is an input")
        save(saving(folder, "a.yaml", "c.bin", more), expected=3 if "expect: {file" in kind else 0)
    one, two = saving(folder, "a.yaml"), saving(folder, "b.yaml", "./a.bin")
    for threads in ("-j1", "-j2"):
        save(threads, one, two, expected=1, says="b.yaml: '%s/./a.bin' would be written twice, also as '%s/a.bin'; no buffer is saved" % (folder, folder))
        expect(not os.path.exists(os.path.join(folder, "a.bin")), "it was written")
    save("-o", os.path.join(folder, "a.bin"), one, expected=1, says="would be written twice")
    save(one, saving(folder, "b.yaml", "other.bin"))
    expect(os.path.getsize(os.path.join(folder, "a.bin")) == os.path.getsize(os.path.join(folder, "other.bin")) == 16, "sizes differ")
    heddle("replay", "--save", "--technique=none", saving(folder, "a.yaml", "/dev/null", ", B: {type: u32, count: 4, save: /dev/null}"))


# ---- pipes and devices -----------------------------------------------------------------------------------------------

def case_named_pipes_without_another_end(folder):
    good, _, _ = files(folder)
    for name in ("a", "b", "c.yaml", "d", "e"):
        os.mkfifo(os.path.join(folder, name))
    launch = saving(folder, "a.yaml", more=", B: {type: u32, count: 4, fill: {file: b}}")
    calls = [["check", "a"], ["replay", launch], ["report", "--gpu=./c.yaml", good], ["rewrite", "@d"], ["rewrite", "-o", "e", good]]
    started = time.monotonic()
    running = [subprocess.Popen([HEDDLE, *call], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder) for call in calls]
    for call, process in zip(calls, running):
        try:
            _, err = process.communicate(timeout=TIMEOUT)
        finally:
            process.kill()
        expect(process.returncode == 1 and b"nobody has its other end open" in err, "%s: exit %d: %s", call, process.returncode, err)
    expect(time.monotonic() - started < TIMEOUT, "it took %d s", time.monotonic() - started)


def case_pipes_with_another_end(folder):
    good, _, _ = files(folder)
    expect(subprocess.run(["bash", "-c", '"$0" check <(cat "$1") && "$0" check - < <(cat "$1") && "$0" strip <(sleep 1; cat "$1") | cmp - "$1"', HEDDLE, good],
                          capture_output=True, timeout=TIMEOUT).returncode == 0, "process substitution")
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", 'sleep 1; exec 3> "$0"; sleep 1; cat "$1" >&3', pipe, good])
    same(KERNEL, heddle("strip", pipe))
    writer.wait(TIMEOUT)


def case_outputs_by_the_names_of_descriptors(folder):
    good, _, _ = files(folder)
    same(KERNEL, heddle("rewrite", "-o", "/dev/stdout", good))
    out = write(os.path.join(folder, "out"), b"before\n")
    with open(out, "ab") as file:
        heddle("rewrite", "-o", "/dev/stdout", good, stdout=file)
    same(b"before\n" + KERNEL, read(out))
