"""Replays of several launch files, and the runs of one: side by side they say what they say one after another."""
import json
import os
import subprocess

from support import TIMEOUT, TOP, expect, read, run, same, write

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = HEAD + """%(declarations)s
.visible .entry k(.param .u64 a)
{
	.reg .b64 %%rd<4>;
	.reg .b32 %%r<4>;
	.reg .pred %%p<2>;
	ld.param.u64 %%rd0, [a];
	mov.u32 %%r1, %(turns)d;
LOOP:
	sub.u32 %%r1, %%r1, 1;
	setp.ne.u32 %%p0, %%r1, 0;
	@%%p0 bra LOOP;
	mov.u32 %%r0, 7;
	%(body)s
	st.global.u32 [%%rd0], %%r0;
	ret;
}
"""
LAUNCH = """module: %(module)s
buffers:
  A: {type: u32, count: 4, fill: zero, expect: {values: [%(values)s]}}
launches:
  - {kernel: k, grid: [1, 1, 1], block: [1, 1, 1], params: [A]}
"""
SLOW = 100000  # turns of the loop: long enough for the files after it to be done first
SHORT_LIST = "--technique=bow-wr-iw3,corf,demo,regmutex,release"


def kernel(body="", turns=1, declarations=""):
    return KERNEL % {"body": body, "turns": turns, "declarations": declarations}


def printing(text, **keywords):
    """A kernel that prints a line."""
    codes = ", ".join(str(byte) for byte in text.encode() + b"\n\0")
    declarations = (".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
                    ".global .align 1 .b8 text[%d] = {%s};" % (len(text) + 2, codes))
    call = ("mov.u64 %rd1, text;\n\tcvta.global.u64 %rd1, %rd1;\n\t{\n\t.param .b64 f;\n\t.param .b64 v;\n\t.param .b32 r;\n"
            "\tst.param.b64 [f], %rd1;\n\tst.param.b64 [v], 0;\n\tcall (r), vprintf, (f, v);\n\t}")
    return kernel(call, declarations=declarations, **keywords)


def launch(folder, name, module, values="7, 0, 0, 0"):
    """Writes NAME.ptx and NAME.yaml; the latter's path."""
    write(os.path.join(folder, name + ".ptx"), module)
    return write(os.path.join(folder, name + ".yaml"), LAUNCH % {"module": name + ".ptx", "values": values})


def example(name):
    return os.path.join(TOP, "examples", name, name + ".yaml")


def mixture(folder):
    """Slow before fast, and one of each way to end."""
    outside = printing("says outside").replace("st.global.u32 [%rd0]", "st.global.u32 [%rd0+65536]")
    return [launch(folder, "slow", printing("says slow", turns=SLOW)),
            launch(folder, "fast", printing("says fast")),
            example("vectorAdd"),
            launch(folder, "wrong", kernel(), "7, 0, 8, 0"),
            os.path.join(folder, "missing.yaml"),
            launch(folder, "late", printing("says late", turns=SLOW)),
            launch(folder, "broken", kernel("mov.u32 %r9, 1;\n\tmov.u32 %r8, 1;")),
            launch(folder, "outside", outside),
            launch(folder, "unknown", kernel("nosuch.b32 %r0, 1;")),
            write(os.path.join(folder, "list.yaml"), "- no launch file\n"),
            example("reduction"),
            launch(folder, "last", printing("says last")),
            launch(folder, "fast", printing("says fast"))]


def expect_same(left, right, what):
    same(left.out, right.out, what + ": bytes of standard output")
    same(left.err.encode(), right.err.encode(), what + ": bytes of standard error")
    expect(left.status == right.status, "%s: exit %d, not %d", what, right.status, left.status)


def case_replays_side_by_side_say_what_one_thread_says(folder):
    files = mixture(folder)
    for options in ([SHORT_LIST], [SHORT_LIST, "--format=json", "--diagnostics=json"], [SHORT_LIST, "--format=csv", "--error-limit=3"],
                    ["--technique=none", "--race"], [SHORT_LIST, "--virtual", "--uninitialized", "-Werror"]):
        one = run("replay", *options, "-j1", *files)
        expect(one.status == 3, "the worst file does not count: exit %d", one.status)
        expect(b"vectorAdd" in one.out and "missing.yaml" in one.err, "not all files are in %r", one.err[-400:])
        for threads in ("-j2", "-j4"):
            expect_same(one, run("replay", *options, threads, *files), "%s %s" % (" ".join(options), threads))


def case_replays_side_by_side_say_what_each_file_says_alone(folder):
    files = mixture(folder)
    options = [SHORT_LIST, "--format=csv", "--error-limit=0"]
    alone = [run("replay", *options, path) for path in files]
    lines = [line for one in alone for line in one.err.splitlines(True)]
    printed = [line for line in lines if line.startswith("says ")]
    expect(len(printed) == 6, "kernels print %s", printed)
    head = alone[0].out.splitlines(True)[0]
    both = run("replay", *options, "-j4", *files)
    same(head + b"".join(b"".join(one.out.splitlines(True)[1:]) for one in alone), both.out, "rows")
    same("".join(printed + [line for line in lines if not line.startswith("says ")]).encode(), both.err.encode(), "diagnostics")
    expect(both.status == 3 and {one.status for one in alone} >= {0, 1, 3, 5}, "exit %d of %s", both.status, [one.status for one in alone])


def case_errors_of_some_launch_files_do_not_stop_others(folder):
    bad = launch(folder, "bad", kernel("\n\t".join("mov.u32 %%r%d, 1;" % i for i in range(4, 19))))
    good = example("vectorAdd")
    for threads in ("-j1", "-j4"):
        result = run("replay", "--technique=none", threads, bad, bad, good)
        expect(result.status == 1 and b"output as expected" in result.out, "exit %d: %r", result.status, result.out)
        expect(result.err.count("[undeclared-register]") == 30, "%r", result.err[-200:])
    odd = launch(folder, "odd", kernel("\n\t".join(25 * ["nosuch.b32 %r0, 1;"])))
    result = run("replay", "--technique=none", "-j4", odd, odd, good)
    expect(result.err.endswith("heddle: 10 more warnings not shown\n"), "%r", result.err[-200:])
    headless = launch(folder, "headless", kernel().replace(".target sm_80\n.address_size 64\n", ""))
    result = run("replay", "--technique=none", "--error-limit=0", bad, headless)
    expect("[missing-target]" in result.err, "an error hides those of the next file: %r", result.err[-200:])


def case_launch_files_share_standard_input_in_their_order(folder):
    """Its module is what there is to read; the first file takes much longer until it comes to that."""
    numbers = "launches:\n  - {kernel: k, grid: [1, 1, 1], block: [1, 1, 1], params: [A]}\nmodule: '-'\nbuffers:\n"
    few = numbers + "  A: {type: u32, count: 4, fill: zero}\n"
    many = few + "  B: {type: u32, count: 200000, fill: {values: [%s]}}\n" % ", ".join("1" for _ in range(200000))
    write(os.path.join(folder, "many.yaml"), many)
    write(os.path.join(folder, "few.yaml"), few)
    for threads in ("-j1", "-j4"):
        result = run("replay", "--technique=none", "--virtual", threads, "many.yaml", "few.yaml", stdin=kernel().encode(), cwd=folder)
        expect(b"many.yaml" in result.out and b"few.yaml" not in result.out and "[empty-input]" in result.err, "%s: %r %r", threads, result.out, result.err)


def case_what_is_piped_is_read_once(folder):
    """Each pass that rewrites code needs the launch file and the module once more."""
    where = os.path.dirname(example("vectorAdd"))
    for options in (("--technique=demo,regmutex",), ("--technique=demo,regmutex", "--virtual", "-j4")):
        named = run("replay", *options, "vectorAdd.yaml", cwd=where)
        expect(named.status == 0 and b"demo" in named.out, "exit %d: %r", named.status, named.out[-300:])
        piped = run("replay", *options, "-", stdin=read(example("vectorAdd")), cwd=where)
        named.out = named.out.replace(b"vectorAdd.yaml", b"-")
        expect_same(named, piped, "launch file from standard input, " + " ".join(options))
        module, pipe = os.path.join(where, "vectorAdd.ptx"), os.path.join(folder, "pipe")
        path = write(os.path.join(folder, "vectorAdd.yaml"), read(example("vectorAdd")).replace(b"vectorAdd.ptx", pipe.encode()))
        os.mkfifo(pipe)
        writer = subprocess.Popen(["sh", "-c", 'exec cat "$0" >"$1"', module, pipe])
        piped = run("replay", *options, path, cwd=where)
        writer.wait(TIMEOUT)
        os.unlink(pipe)
        piped.out, piped.err = piped.out.replace(path.encode(), b"-"), piped.err.replace(pipe, "vectorAdd.ptx")
        expect_same(named, piped, "module from a pipe, " + " ".join(options))


def case_the_worst_run_of_a_file_counts(folder):
    """The output is wrong (3); the original alone has dead code, which faults (5) or reaches the limit (6)."""
    fault = launch(folder, "fault", loading("\n\tld.global.u32 %r5, [%rd0+65536];"), "7, 0, 8, 0")
    long = launch(folder, "long", loading("".join("\n\tadd.u32 %%r%d, %%r%d, 1;" % (k, k - 1) for k in range(10, 29))), "7, 0, 8, 0")
    for threads in ("-j1", "-j4"):
        for options, path in ((["--technique=bow"], fault), (["--technique=bow", "--instruction-limit=20"], long)):
            result = run("replay", threads, *options, path)
            expect(result.status == 3 and result.err.count(": error:") == 2, "exit %d: %s", result.status, result.err)


def case_addresses_of_32_bits(folder):
    """The GPU's or the launch file's address_bits; results are the same, and registers fewer."""
    example = os.path.join(TOP, "examples/vectorAdd")
    text = read(os.path.join(example, "vectorAdd.yaml")).decode().replace("module: ", "module: " + example + "/")
    plain = write(os.path.join(folder, "plain.yaml"), text)
    narrow = write(os.path.join(folder, "narrow.yaml"), "address_bits: 32\n" + text)
    wide = write(os.path.join(folder, "wide.yaml"), "address_bits: 64\n" + text)
    wrong = write(os.path.join(folder, "wrong.yaml"), "address_bits: 16\n" + text)

    def registers(path, *options):
        result = run("replay", "--technique=corf", "--format=json", *options, path, cwd=folder)
        expect(result.status == 0, "%s: exit %d: %s", path, result.status, result.err)
        kernel = json.loads(result.out)["kernels"][0]
        expect(kernel["outputs_ok"] and kernel["output_identical"] and all(r["verified"] for r in kernel["results"]), "%s: %s", path, kernel)
        return kernel["results"][0]["rf_reads"]

    setting = "--set=address_bits=32"
    expect(registers(narrow) == registers(plain, setting) < registers(plain) == registers(wide, setting), "reads of the register file")
    for status, path, options in ((1, wrong, ()), (2, plain, ("--set=address_bits=33",))):
        result = run("replay", *options, path, cwd=folder)
        expect(result.status == status and "32" in result.err, "%s %s: exit %d: %s", path, options, result.status, result.err)
    result = run("rewrite", "-p", "address32", os.path.join(example, "vectorAdd.ptx"), cwd=folder)
    expect(result.status == 1 and "address_bits" in result.err, "rewrite: exit %d: %s", result.status, result.err)


def case_wrong_files_and_values_with_cycles(folder):
    """What is named for what it is, where; and what to do."""
    good = launch(folder, "good", kernel())
    gpu = read(os.path.join(TOP, "target/gpus/fermi-gtx480.yaml")).decode()
    fermi = write(os.path.join(folder, "fermi.yaml"), gpu)
    missing = write(os.path.join(folder, "missing.yaml"), read(good).decode().replace("good.ptx", "none.ptx"))
    for text, name in (("", "empty"), ("name: [a\n", "broken"), (gpu.replace("\n  sms: ", "\n  sms: -"), "negative"), (gpu[:gpu.index("\ntiming:")], "untimed")):
        write(os.path.join(folder, name + ".yaml"), text)
    os.mkdir(os.path.join(folder, "folder.yaml"))

    def says(expected, text, path, *options):
        result = run("replay", "--time", "--technique=bow", *options, path, cwd=folder)
        expect(result.status == expected and text in result.err and result.out == b"" and result.err.count("error:") <= 1,
               "%s %s: exit %d: %s", path, options, result.status, result.err)

    fast = "--gpu=fermi-gtx480"
    says(1, "missing.yaml:1:9: error: cannot read the module", missing, fast)
    says(1, "this is a GPU description; heddle reads a launch file here", fermi, fast)
    says(1, "this is a launch file; heddle reads a GPU description here", good, "--gpu=" + good)
    says(1, "the file holds nothing [empty-input]", good, "--gpu=./empty.yaml")
    says(1, "the file holds nothing [empty-input]", "empty.yaml", fast)
    says(1, "broken.yaml:2:1: error: ", good, "--gpu=./broken.yaml")
    says(1, "is not a whole number from 1", good, "--gpu=./negative.yaml")
    says(2, "has no section 'timing'", good, "--gpu=./untimed.yaml")
    says(2, "heddle: note: ampere-a100, ampere-a6000, ampere-rtx3070, fermi-gtx480, fermi-hrf, fermi-rfv, fermi-warped-dmr, hopper-h100, hopper-h200, "
         "maxwell-ltrf, pascal-larf, pascal-titan-x, turing-rtx2060, turing-tu106, volta-v100", good, "--gpu=sm_80")
    says(1, "Is a directory", good, "--gpu=./folder.yaml")
    says(1, "Is a directory", "folder.yaml", fast)
    says(1, "this is PTX; heddle reads a launch file here", "good.ptx", fast)
    says(2, "no GPU is called 'good.ptx'", good, "--gpu=good.ptx")
    says(2, "--sms takes a number from 1 to 1024, not '0'", good, fast, "--sms=0")
    says(2, "--technique=none has none", good, fast, "--technique=none")


LOADS = ("ld.global.u32 %r1, [%rd0];\n\tld.global.u32 %r2, [%rd0+4];\n\tadd.u32 %r3, %r1, %r2;\n\tld.global.u32 %r4, [%rd0+8];\n"
         "\tadd.u32 %r3, %r3, %r4;\n\tmov.u32 %r0, 7;")
RACE = "\n\tmov.u32 %r7, %tid.x;\n\tst.shared.u32 [s], %r7;\n\tld.shared.u32 %r8, [s];\n\tst.global.u32 [%rd0+12], %r8;"


def loading(body="", **keywords):
    """A kernel whose original, allocated and rewritten code are three."""
    return kernel(LOADS + body, **keywords).replace("%r<4>", "%r<30>")


def ways_to_end(folder):
    """Of one launch: where the first run is wrong, the original alone, or the changed code alone; each a list of arguments."""
    far, both = "ld.global.u32 %r5, [%rd0+65536];", ["--technique=bow-wr-iw3,demo,regmutex,release"]
    plain = launch(folder, "plain", loading("".join("\n\tadd.u32 %%r%d, %%r%d, 1;" % (k, k - 1) for k in range(10, 16))))  # in the original alone
    ways = [both + [plain], both + [example("mergeSort")], ["--technique=all", example("vectorAdd")], both + ["--virtual", plain],
            both + [launch(folder, "slow", printing("says slow", turns=SLOW))],
            both + [launch(folder, "wrong", loading(), "7, 0, 8, 0")], both + ["--error-limit=1", os.path.join(folder, "wrong.yaml")],
            both + [launch(folder, "outside", loading("\n\t" + far + "\n\tst.global.u32 [%rd0+65536], %r5;"))],
            both + [launch(folder, "dropped", loading("\n\t" + far, turns=SLOW))],  # only the original loads
            both + ["--uninitialized", launch(folder, "unwritten", loading("\n\tadd.u32 %r0, %r20, 7;"))],
            both + ["--race", launch(folder, "race", loading(RACE, declarations=".shared .align 4 .u32 s;"))],
            both + [launch(folder, "clock", loading("\n\tmov.u32 %r0, %clock;"))]]
    write(os.path.join(folder, "race.yaml"), read(os.path.join(folder, "race.yaml")).replace(b"block: [1", b"block: [64"))
    until = LAUNCH.replace("params: [A]", "params: [A], until: {buffer: A, index: 3, equals: 5, at_most: 3}")
    ways.append(both + [write(os.path.join(folder, "never.yaml"), until % {"module": "plain.ptx", "values": "7, 0, 0, 0"})])
    return ways + [both + ["--instruction-limit=%d" % most, plain] for most in range(8, 24)]


def case_runs_of_a_launch_file_side_by_side_say_what_one_thread_says(folder):
    """Runs of the code as it is, of the original and of changed code: what comes after one that fails does not show, whichever is over first."""
    ends, over = [], False
    for way in ways_to_end(folder):
        for form in (["--format=json"], ["-Werror"]):
            one = run("replay", *form, "-j1", *way)
            ends.append((one.status, one.err))
            told = max(one.err.count(slug) for slug in ("[kernel-fault]", "[instruction-limit]"))
            expect(told <= 1 or "--race" in way, "%s: a run behind one that failed is told of: %s", " ".join(way), one.err)
            over = over or (one.status == 6 and b'"outputs_ok": true' in one.out)
            for threads in ("-j2", "-j4", "-j8"):
                expect_same(one, run("replay", *form, threads, *way), "%s %s" % (" ".join(form + way), threads))
    for status, text in ((0, ""), (3, "[wrong-output]"), (5, "[kernel-fault]"), (6, "[instruction-limit]"), (5, "race, write after write"), (5, "never written"), (5, "did not take the value")):
        expect(any(one == status and text in err for one, err in ends), "no run ends with %d and '%s': %s", status, text, ends)
    expect(over, "no original alone is over the limit")


def case_a_wrong_annotation_stops_the_runs_of_changed_code(folder):
    """The proof fails early in a long run; changed code, which brings none, is in the midst of its own."""
    text = run("rewrite", "--no-section", "-p", "bow(iw=3)", os.path.join(TOP, "examples/mergeSort/mergeSort.ptx")).out.decode()
    places = [at for at in range(len(text)) if text.startswith("//@bow rf\n", at)]
    for at in places[::len(places) // 4]:
        write(os.path.join(folder, "mergeSort.ptx"), text[:at] + "//@bow boc\n" + text[at + len("//@bow rf\n"):])
        path = write(os.path.join(folder, "mergeSort.yaml"), read(example("mergeSort")))
        one = run("replay", "--technique=bow-wr-iw3,demo,regmutex", "-j1", path)
        for threads in ("-j2", "-j4", "-j8"):
            expect_same(one, run("replay", "--technique=bow-wr-iw3,demo,regmutex", threads, path), "byte %d %s" % (at, threads))
