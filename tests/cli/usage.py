"""Options, files, exit statuses and formats of diagnostics."""
import json
import os
import re
import stat
import subprocess

from support import HEDDLE, TIMEOUT, TOP, Failed, expect, heddle, read, run, same, write

KERNEL = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %r<3>;
	ld.param.u64 %r1, [p];
	cvta.to.global.u64 %r2, %r1;
	st.global.u64 [%r2], %r1;
	ret;
}
"""
BROKEN = KERNEL.replace(b"%r2, %r1;", b"%r9, %r1;")
UNKNOWN = KERNEL.replace(b"\tret;", b"\tnosuch.u64 %r1;\n\tret;")
COMMANDS = re.findall(r'^HD_COMMAND\(\w+, "(\w+)"', read(os.path.join(TOP, "cli/commands.def")).decode(), re.M)
READ_PTX = [name for name in COMMANDS if name not in ("replay", "diff", "list", "help", "completion", "nvcc", "run", "cache", "sweep", "plot", "new")]
DUMPS = ("--tokens", "--ir", "--cfg", "--liveness")


def files(folder):
    """The paths of a good, a broken and a strange module."""
    return tuple(write(os.path.join(folder, name), data)
                 for name, data in (("good.ptx", KERNEL), ("broken.ptx", BROKEN), ("unknown.ptx", UNKNOWN)))


def status(expected, *arguments, says="", **keywords):
    result = run(*arguments, **keywords)
    expect(result.status == expected, "heddle %s: exit %d, not %d: %s", " ".join(arguments), result.status, expected, result.err[:200])
    expect(says in result.err, "heddle %s: no %r in %r", " ".join(arguments), says, result.err[:300])
    return result


def tables(path, macro):
    """The strings of each row."""
    rows = re.findall(r"^%s\((.*)\)$" % macro, read(os.path.join(TOP, path)).decode(), re.M)
    return [re.findall(r'"([^"]*)"', row) for row in rows]


def arguments_for(command):
    return [command, "--ir"] if command == "dump" else [command]


# ---- help and usage --------------------------------------------------------------------------------------------------

def case_overview_lists_every_command(folder):
    out = heddle("--help").decode()
    same(heddle("-h").decode(), out)
    for name in COMMANDS:
        expect(re.search(r"^  %s " % name, out, re.M), "no line for %s", name)
    none = status(2)
    expect(none.out == b"" and none.err == out, "without arguments the overview belongs on standard error")


def case_help_of_every_command(folder):
    for name in COMMANDS:
        for option in ("--help", "-h"):
            out = heddle(name, option).decode()
            expect(out.startswith("usage: heddle %s " % name), "%s %s says %r", name, option, out[:60])
            expect("heddle-%s(1)" % name in out, "%s names no manual page", name)
            expect(max(map(len, out.splitlines())) <= 120, "%s: a line is longer than 120", name)


def case_version(folder):
    out = heddle("--version")
    expect(re.fullmatch(rb"heddle \d+\.\d+(\.\d+)?\n", out), "%r", out)
    for name in COMMANDS:
        same(out, heddle(name, "--version"))


def case_unknown_commands(folder):
    status(2, "rewrit", says="'rewrit' is no command; did you mean 'rewrite'?")
    status(2, "help", "reprot", says="'reprot' is no command; did you mean 'report'?")
    status(2, "zebra", says="'zebra' is no command; heddle --help lists them")
    status(2, "", says="is no command")
    status(2, "--canonical", says="is no command")


def case_unknown_options(folder):
    good, _, _ = files(folder)
    for name in COMMANDS:
        status(2, name, "--bogus", good, says="'--bogus' is no option")
        status(2, name, "-x", good, says="'-x' is no option of %s; --help lists them" % name)
        status(2, name, "--diagnostic-format=json", good, says="'--diagnostic-format' is no option of %s; --help" % name)
        status(2, name, "--colour=never", good, says="'--colour' is no option of %s; did you mean '--color'?" % name)
    status(2, "strip", "--canonical", good, says="'--canonical' is no option of strip: it belongs to rewrite")
    status(2, "report", "--pt=no", good, says="several begin so: --ptxas, --ptxas-timeout")
    status(2, "rewrite", "-xo", good, says="'-x' is no option")


def case_arguments_of_options(folder):
    good, _, _ = files(folder)
    status(2, "rewrite", good, "-o", says="'-o' needs an argument")
    status(2, "rewrite", good, "--output", says="'--output' needs an argument")
    status(2, "rewrite", good, "-MF", says="'-MF' needs an argument")
    status(2, "rewrite", "--canonical=1", good, says="'--canonical=1': this option takes no argument")
    for bad in ("", "x", "-1", "1x", "4294967296", "99999999999999999999"):
        status(2, "rewrite", "--error-limit=" + bad, good, says="takes a number")
        status(2, "rewrite", "-j" + bad if bad else "--threads=", good, says="takes a number")
    status(2, "rewrite", "--emit=other", good, says="takes one of portable|extended")
    status(2, "rewrite", "--emit=portable|extended", good, says="takes one of")
    status(2, "rewrite", "--emit=port", good, says="takes one of")
    status(2, "rewrite", "--print-after=nosuch", good, says="no pass is named 'nosuch'")
    status(2, "replay", "--active-warps=0", good, says="takes a number from 1 to 1024, not '0'")


def case_operands(folder):
    good, _, _ = files(folder)
    for name in COMMANDS:
        if name != "help":
            status(2, name, says="usage: heddle %s" % name)
    status(2, "diff", good, good, good, says="usage: heddle diff")
    same(heddle("rewrite", good, "--canonical"), heddle("rewrite", "--canonical", "--", good), "options after operands")


def case_help_names_every_format(folder):
    for name, formats in re.findall(r'^HD_COMMAND\(\w+, "(\w+)", .*?, "[^"]*", "([^"]*)", "', read(os.path.join(TOP, "cli/commands.def")).decode(), re.M):
        out = heddle(name, "--help").decode()
        expect(("--format=%s " % formats in out) == bool(formats), "%s --help: %s", name, out)
        expect("--diagnostics=text|json|sarif " in out, "%s --help: %s", name, out)
        same(out.encode(), heddle("help", name))
        if formats:
            status(2, name, "--format=jsonn", *(("x", "y") if name == "diff" else ("x",)), says="did you mean 'json'?")
    same(heddle("help"), heddle("--help"))


def rows(table, macro):
    """The strings of each row."""
    text = read(os.path.join(TOP, table)).decode()
    return [re.findall(r'"((?:[^"\\]|\\.)*)"', row) for row in re.findall(r"^%s\((.*)\)$" % macro, re.sub(r",\n\s+", ", ", text), re.M)]


def case_lists(folder):
    names = {"passes": [row[0] for row in rows("passes/passes.def", "HD_PASS") + rows("passes/aliases.def", "HD_PASS_ALIAS")],
             "techniques": [row[0] for row in rows("ir/techniques.def", "HD_TECHNIQUE")],
             "models": [row[0] for row in rows("hwmodel/rf/models/models.def", "HD_RF_MODEL")],
             "gpus": sorted(name[:-5] for name in os.listdir(os.path.join(TOP, "target/gpus")) if name.endswith(".yaml")),
             "figures": sorted(name[:-5] for name in os.listdir(os.path.join(TOP, "driver/sweep/figures"))),
             "diagnostics": [row[0] for row in rows("base/diagnostics.def", "HD_DIAGNOSTIC")]}
    for kind, expected in names.items():
        text = heddle("list", kind).decode()
        expect([line.split()[0] for line in text.splitlines() if line[0] != " "] == expected, "list %s: %s", kind, text)
        found = json.loads(heddle("list", "--format=json", kind))
        expect(sorted(found) == sorted(["heddle", "schema", kind]) and [item["name"] for item in found[kind]] == expected, "%s: %s", kind, found)
        expect(all(item["summary"] and item["summary"] in text for item in found[kind]), "a summary of %s is not in both", kind)
    found = json.loads(heddle("list", "--format=json", "techniques"))["techniques"]
    text = heddle("list", "techniques").decode()
    for item in found:
        for key in ("paper_name", "authors", "title", "venue", "year"):
            expect(item[key] and str(item[key]) in text, "%s of %s", key, item["name"])
    expect({item["venue"] + str(item["year"]) for item in found} >= {"MICRO2020", "ASPLOS2018", "ASPLOS2019", "ISCA2018", "MICRO2015"}, "%s", found)
    status(2, "list", "technique", says="there is no list of 'technique'; did you mean 'techniques'?")
    status(2, "list", "zebra", says="there are passes, techniques, models, gpus, figures and diagnostics")
    status(2, "list", "passes", "models", says="usage: heddle list")


def case_colours(folder):
    """--color counts most, then NO_COLOR, then CLICOLOR_FORCE."""
    good, broken, _ = files(folder)

    def coloured(*options, **environment):
        result = run("report", "--ptxas=no", *options, broken, **environment)
        shown = run("report", "--ptxas=no", *options, good, **environment).out
        expect(("\33[" in result.err) == (b"\33[" in shown), "%s: colour on one side", options)
        return "\33[" in result.err

    for options, environment, wanted in (([], {}, False), (["--color=always"], {}, True), (["--color=never"], {"NO_COLOR": "", "CLICOLOR_FORCE": "1"}, False),
                                         ([], {"NO_COLOR": "", "CLICOLOR_FORCE": "1"}, True), ([], {"CLICOLOR_FORCE": "1"}, False),
                                         ([], {"NO_COLOR": "", "CLICOLOR_FORCE": "0"}, False), (["--color=auto"], {"NO_COLOR": ""}, False)):
        expect(coloured(*options, **environment) == wanted, "%s %s", options, environment)
    status(2, "report", "--color=yes", good, says="--color takes one of auto|always|never, not 'yes'")


def case_dump_wants_one_kind(folder):
    good, _, _ = files(folder)
    status(2, "dump", good, says="one of --tokens")
    status(2, "dump", "--ir", "--cfg", good, says="one of --tokens")
    status(2, "dump", "--tokens", "--json", good, says="--json")
    words = heddle("dump", "--words", "-", stdin=heddle("rewrite", "-p", "bow", good))
    expect(b"bow: 0 words" in words, "no words of bow in %r", words)


def case_misspelt_kernels(folder):
    write(os.path.join(folder, "m.ptx"), KERNEL.replace(b"entry k(", b"entry kernel("))
    path = os.path.join(folder, "m.ptx")
    for name in [name for name in READ_PTX if name not in ("strip", "init")]:
        status(1, *arguments_for(name), "--kernel=kernle", path, says="is named like 'kernle'; did you mean 'kernel'?")
    status(1, "diff", "--kernel=kernle", path, path, says="neither side has a kernel 'kernle'; did you mean 'kernel'?")


# ---- files -----------------------------------------------------------------------------------------------------------

def case_standard_input_and_output(folder):
    good, _, _ = files(folder)
    for name in ("rewrite", "strip"):
        for options in ([], ["-o", "-"], ["--output=-"]):
            same(KERNEL, heddle(name, *options, "-", stdin=KERNEL))
        same(KERNEL, heddle(name, good))
    for kind in DUMPS:
        same(heddle("dump", kind, good), heddle("dump", kind, "-", stdin=KERNEL))


def case_standard_input_has_a_name_in_diagnostics(folder):
    status(1, "rewrite", "-", stdin=BROKEN, says="<stdin>:8:")


def case_files_of_arguments(folder):
    good, _, _ = files(folder)
    inner = write(os.path.join(folder, "inner args"), "--emit=extended\n")
    outer = write(os.path.join(folder, "outer"), "-p  'bow(iw=2)'\t\n \"@%s\"\r\n" % inner.replace(" ", "\\ "))
    want = heddle("rewrite", "-p", "bow(iw=2)", "--emit=extended", good)
    same(want, heddle("rewrite", "@" + outer, good))
    same(want, heddle("@" + write(os.path.join(folder, "all"), "rewrite @%s %s" % (outer, good))))
    blank = os.path.join(folder, "a b.ptx")
    write(blank, KERNEL)
    same(KERNEL, heddle("rewrite", "@" + write(os.path.join(folder, "quoted"), "'%s'" % blank)))
    status(1, "rewrite", "@" + os.path.join(folder, "none"), good, says="[unreadable]")
    loop = os.path.join(folder, "loop")
    status(1, "rewrite", "@" + write(loop, "@" + loop), says="too deep")


def case_unreadable_input(folder):
    for name in READ_PTX:
        status(1, *arguments_for(name), os.path.join(folder, "none.ptx"), says="No such file or directory [unreadable]")
        status(1, *arguments_for(name), folder, says="[unreadable]")
        status(1, *arguments_for(name), "-", says="[empty-input]")


def case_output_appears_whole_or_not_at_all(folder):
    good, broken, _ = files(folder)
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    out = os.path.join(inside, "out.ptx")
    for arguments in (["rewrite"], ["rewrite", "-p", "bow"], ["rewrite", "-p", "nosuch"], ["strip"], ["dump", "--ir"]):
        source = good if "nosuch" in arguments else broken
        result = run(*arguments, "-o", out, source)
        expect(result.status in (1, 2), "%s: exit %d", arguments, result.status)
        expect(os.listdir(inside) == [], "%s left %s", arguments, os.listdir(inside))
        write(out, b"precious")
        run(*arguments, "-o", out, source)
        same(b"precious", read(out))
        expect(os.listdir(inside) == ["out.ptx"], "%s left %s", arguments, os.listdir(inside))
        os.unlink(out)


def case_output_replaces_a_file_and_keeps_its_mode(folder):
    good, _, _ = files(folder)
    out = write(os.path.join(folder, "out.ptx"), b"old" * 10000)
    os.chmod(out, 0o640)
    heddle("rewrite", "-o", out, good)
    same(KERNEL, read(out))
    expect(stat.S_IMODE(os.stat(out).st_mode) == 0o640, "its mode became %o", os.stat(out).st_mode)
    fresh = os.path.join(folder, "fresh.ptx")
    subprocess.run(["sh", "-c", "umask 027; exec \"$0\" rewrite -o \"$1\" \"$2\"", HEDDLE, fresh, good], check=True, timeout=TIMEOUT)
    expect(stat.S_IMODE(os.stat(fresh).st_mode) == 0o640, "a new file's mode is %o", os.stat(fresh).st_mode)


def case_output_through_a_link(folder):
    good, broken, _ = files(folder)
    out, link = write(os.path.join(folder, "out.ptx"), b"precious"), os.path.join(folder, "link.ptx")
    os.symlink("out.ptx", link)
    status(1, "rewrite", "-o", link, broken)
    same(b"precious", read(out))
    heddle("rewrite", "-o", link, good)
    same(KERNEL, read(out))
    expect(os.path.islink(link), "the link became a file")


def case_output_to_no_regular_file(folder):
    good, _, _ = files(folder)
    heddle("rewrite", "-o", "/dev/null", good)
    expect(not os.path.isfile("/dev/null"), "/dev/null became a file")
    if os.path.exists("/dev/full"):
        status(1, "rewrite", "-o", "/dev/full", good, says="No space left on device [unreadable]")
        with open("/dev/full", "wb") as full:
            status(1, "rewrite", good, stdout=full, says="No space left on device [unreadable]")
            status(1, "rewrite", "--help", stdout=full)
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    heddle("rewrite", "-o", pipe, good)
    same(KERNEL, reader.communicate(timeout=TIMEOUT)[0])


def case_output_that_cannot_be_written(folder):
    good, _, _ = files(folder)
    status(1, "rewrite", "-o", os.path.join(folder, "none/out.ptx"), good, says="[unreadable]")
    status(1, "dump", "--ir", "-o", folder, good, says="[unreadable]")


# ---- makefile rules --------------------------------------------------------------------------------------------------

def case_depfiles(folder):
    good, broken, _ = files(folder)
    out, rule = os.path.join(folder, "out.ptx"), os.path.join(folder, "rule")
    heddle("rewrite", "-MD", "-o", out, good)
    same(("%s: %s\n" % (out, good)).encode(), read(out + ".d"))
    heddle("rewrite", "-MD", "-MF", rule, "-o", out, good)
    same(("%s: %s\n" % (out, good)).encode(), read(rule))
    heddle("rewrite", "-MF", rule, "-MT", "the target", good)
    same(("the\\ target: %s\n" % good).encode(), read(rule))
    heddle("rewrite", "-MD", "-MP", "-MF", rule, "-o", out, good)
    same(read(rule), b"%s: %s\n%s:\n" % (out.encode(), good.encode(), good.encode()))
    heddle("rewrite", "-MD", "-MT", "$x#y", "-MF", rule, "-o", out, "-", stdin=KERNEL)
    same(b"$$x\\#y:\n", read(rule))
    write(rule, b"old")
    status(1, "rewrite", "-MD", "-MF", rule, "-o", out, broken)
    same(b"old", read(rule), "a rule for what was not made")
    for arguments in (["-MD"], ["-MD", "-MF", rule], ["-MD", "-MT", "x"], ["-MD", "-o", "-"]):
        status(2, "rewrite", *arguments, good, says="-MD")


def case_make_reads_the_depfile(folder):
    good, _, _ = files(folder)
    write(os.path.join(folder, "Makefile"),
          "out.ptx: ; @%s rewrite -MD -o $@ good.ptx && echo made\n-include out.ptx.d\n" % HEDDLE)

    def make():
        done = subprocess.run(["make", "-s", "out.ptx"], cwd=folder, capture_output=True, timeout=TIMEOUT,
                              env={k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"})
        expect(done.returncode == 0, "make: %s", done.stderr)
        return done.stdout

    same(b"made\n", make())
    expect(b"made" not in make(), "made again without need")
    os.utime(good, (2 ** 31 - 10, 2 ** 31 - 10))
    same(b"made\n", make())


# ---- passes ----------------------------------------------------------------------------------------------------------

def case_bad_passes(folder):
    good, _, _ = files(folder)
    for passes in ("nosuch", "bow(", "bow)", "bow(iw=)", "bow(iw=x)", "bow(iw=0)", "bow(iw=99)", "bow(x=1)", "bow,", ",", "", "bow bow"):
        result = status(2, "rewrite", "-p", passes, good, says="[bad-pass]")
        expect(result.out == b"", "-p %r writes something", passes)
    for passes, near in (("bwo", "bow"), ("DCE", "dce"), ("regaloc", "regalloc"), ("claen", "clean")):
        status(2, "rewrite", "-p", passes, good, says="no pass is named '%s'; did you mean '%s'?" % (passes, near))
    status(2, "rewrite", "-p", "release(tabel=3)", good, says="has no option 'tabel'; did you mean 'table'?")
    status(2, "rewrite", "-p", "bow,nosuch", good, says="-p:1:5: error: ")


def case_names_of_papers(folder):
    """A technique may be called as its paper calls it, in upper or lower case; the table's names are taken, too."""
    good, _, _ = files(folder)
    techniques = tables("ir/techniques.def", "HD_TECHNIQUE")
    for spelling, name, used in ((row[0], row[1], row[2]) for row in techniques):
        for called in (name, name.lower(), name.upper()):
            if used:
                expect(run("rewrite", "-p", called, good).out == status(0, "rewrite", "-p", used, good).out, "-p %s", called)
            wanted = status(1, "replay", "--technique=" + spelling, good).err
            expect(status(1, "replay", "--technique=" + called, good).err == wanted, "--technique=%s", called)
    launch = os.path.join(TOP, "examples/vectorAdd/vectorAdd.yaml")
    for title, model in tables("hwmodel/rf/models/models.def", "HD_RF_STANDARD") + tables("hwmodel/rf/models/models.def", "HD_RF_FAMILY"):
        if " " in title or any(title.lower() in (row[0].lower(), row[1].lower()) for row in techniques):
            continue
        plain = status(0, "replay", "--technique=" + model, launch).out
        for called in (title, title.lower(), title.upper()):
            expect(status(0, "replay", "--technique=" + called, launch).out == plain, "--technique=%s", called)
    expect(b"corf(shared)" in status(0, "replay", "--technique=CORF(shared)", launch).out, "options after a paper's name")


def case_bad_options_of_passes(folder):
    """Told once, with the place in the list, whatever the number of functions."""
    good, _, _ = files(folder)
    write(good, KERNEL + KERNEL[KERNEL.index(b".visible"):].replace(b"k(", b"other("))
    for passes, column, says in (("bow(iw=0)", 5, "option 'iw' of pass 'bow' takes a number from 1 to 16, not '0'"),
                                 ("dce,bow(iw=17)", 9, "takes a number from 1 to 16, not '17'"),
                                 ("bow(iw=%d)" % 2 ** 70, 5, "takes a number from 1 to 16, not '%d'" % 2 ** 70),
                                 ("bow(iw=-1)", 5, "takes a number from 1 to 16, not '-1'"),
                                 ("bow(iw", 5, "takes a number from 1 to 16, and has no value"),
                                 ("bow(iw=2,iw=3)", 10, "option 'iw' is given twice"),
                                 ("ltrf(dead=1)", 6, "option 'dead' of pass 'ltrf' takes no value, not '1'"),
                                 ("regalloc(banks=3)", 10, "option 'banks' of pass 'regalloc' takes 2|4, not '3'"),
                                 ("release(bits)", 9, "takes a number from 1 to 32, and has no value")):
        result = status(2, "rewrite", "-p", passes, good, says="-p:1:%d: error: " % column)
        expect(says in result.err and result.err.count("[bad-pass]") == 1, "-p %r: %s", passes, result.err)
    table = read(os.path.join(TOP, "passes/passes.def")).decode()
    ranges = [(name,) + found for name, options in re.findall(r'^HD_PASS\("([^"]+)", \w+, [^"]*"([^"]*)"', table, re.M)
              for found in re.findall(r"(\w+)=(\d+)\.\.(\d+)", options)]
    expect(len(ranges) > 8, "%r", ranges)
    for name, option, least, most in ranges:
        for number, fits in ((int(least), True), (int(most), True), (int(least) - 1, False), (int(most) + 1, False)):
            result = run("rewrite", "-p", "%s(%s=%d)" % (name, option, number), good)
            expect(fits != ("[bad-pass]" in result.err), "%s(%s=%d): %s", name, option, number, result.err)


def case_what_goes_together(folder):
    good, _, _ = files(folder)
    for passes, column, says in (("bow,demo", 5, "'demo' cannot follow 'bow': annotations belong to instructions"),
                                 ("regalloc,bow,clean", 14, "'cvta' cannot follow 'regalloc': physical registers share slots"),
                                 ("dce,regalloc,dce", 14, "'dce' cannot follow 'regalloc'"),
                                 ("demo,fold", 6, "'fold' cannot follow 'demo': it would drop"),
                                 ("regmutex,dce", 10, "'dce' cannot follow 'regmutex': it does not know"),
                                 ("bow,all", 5, "'all' runs each technique on a copy of its own")):
        status(2, "rewrite", "-p", passes, good, says="-p:1:%d: error: %s" % (column, says))
    status(0, "rewrite", "-p", "select,regalloc,demo,bow", good)


def case_all_techniques(folder):
    good, bad, _ = files(folder)
    rows = [line.split() for line in heddle("rewrite", "-p", "all", good).decode().splitlines() if line[:1].strip()]
    expect(rows[0][0] == "technique" and rows[1][0] == "(none)", "head and first row: %r", rows[:2])
    names = [row[0] for row in rows[2:]]
    expect("bow" in names and "demo" in names and len(set(names)) == len(names), "techniques: %r", names)
    expect(all(row[6] == "yes" for row in rows[2:] if row[1] != "left"), "not verified: %r", rows)
    status(1, "rewrite", "-p", "all", bad)
    for other in ("--stats", "--canonical", "--emit=extended", "--print-after=bow"):
        status(2, "rewrite", "-p", "all", other, good, says="-p all writes a table")
    status(1, "rewrite", "-p", "all", "--kernel=nosuch", good)
    timed = status(0, "rewrite", "-p", "all", "--time-passes", good, says="milliseconds")
    same(timed.out, heddle("rewrite", "-p", "all", good), "the table with times")
    expect({line.split()[2] for line in timed.err.splitlines()[1:]} == set(names), "times of %r", timed.err)
    status(0, "rewrite", "-p", "bow", "--gpu=sm_90", "--block=64", good)
    status(2, "rewrite", "-p", "bow", "--gpu=nosuch", good, says="no GPU is called")
    for block in ("1", "16x16", "8x8x4", "256,2"):
        status(0, "report", "--ptxas=no", "--block=" + block, good)
    for block in ("0", "", "x", "16x", "16x0", "2x2x2x2", "-1", "1048577", "1024x1025", "16y16"):
        status(2, "report", "--ptxas=no", "--block=" + block, good, says="threads of a block")
    for shared in ("0", "48K", "49152", "1MiB", "64KB"):
        status(0, "report", "--ptxas=no", "--shared=" + shared, good)
    for shared in ("", "K", "48Q", "5G", "4096M", "-1"):
        status(2, "report", "--ptxas=no", "--shared=" + shared, good, says="--shared takes bytes")
    for arch in ("sm_90a", "compute_90", "90", "sm90", "9.0", "90a"):
        same(heddle("report", "--ptxas=no", "--arch=" + arch, good), heddle("report", "--ptxas=no", "--arch=sm_90", good), arch)
    for arch in ("90b", "sm_", "9.00", "1", "sm_90aa"):
        status(2, "report", "--ptxas=no", "--arch=" + arch, good, says="no GPU is called")


def case_what_passes_say(folder):
    good, _, _ = files(folder)
    plain = run("rewrite", "-p", "bow", good)
    expect(plain.err == "", "says %r unasked", plain.err)
    for option, says in (("--stats", "bow"), ("--time-passes", "bow"), ("--print-after=bow", ".entry k"), ("--verify-each", "")):
        result = status(0, "rewrite", "-p", "bow", option, good, says=says)
        same(plain.out, result.out, option)
        expect(bool(result.err) == bool(says), "%s says %r", option, result.err)
    status(2, "rewrite", "-p", "bow", "--print-after=ltrf", good, says="'ltrf' is not in the list of passes")
    status(2, "rewrite", "--print-after=ltrf", good, says="there is no list of passes")


def case_kernel_globs(folder):
    two = KERNEL + KERNEL[KERNEL.index(b".visible"):].replace(b"k(", b"other(").replace(b"p)", b"q)").replace(b"[p]", b"[q]")
    both = heddle("rewrite", "-p", "bow", "-", stdin=two)
    expect(both.count(b"bow_window") == 2, "two kernels expected")
    one = heddle("rewrite", "-p", "bow", "--kernel=oth*", "-", stdin=two)
    expect(one.count(b"bow_window") == 1 and one.index(b"bow_window") > one.index(b"other"), "%r", one)
    for command in (("rewrite", "-p", "bow"), ("check",), ("dump", "--ir"), ("dump", "--cfg", "--json")):
        missing = run(*command, "--kernel=nothing", "-", stdin=two)
        expect(missing.status == 1 and not missing.out and "[unknown-kernel]" in missing.err, "%r", missing)
    listing = heddle("dump", "--ir", "--kernel=k", "-", stdin=two)
    expect(b"other" not in listing and b"k" in listing, "dump of one kernel shows the other")


# ---- diagnostics -----------------------------------------------------------------------------------------------------

def case_rejected_input(folder):
    _, broken, _ = files(folder)
    for name in READ_PTX:
        if name != "strip":
            result = status(1, *arguments_for(name), broken, says="[undeclared-register]")
            expect(result.out == b"", "%s writes %r", name, result.out[:80])
            expect("%s:8:21: error: " % broken in result.err, "the place is missing: %r", result.err)
            expect(re.search(r"^ +8 \|.*%r9.*\n +\| +\^", result.err, re.M), "no source line with a caret: %r", result.err)


def case_warnings(folder):
    _, _, unknown = files(folder)
    result = status(0, "rewrite", unknown, says="warning: ")
    same(UNKNOWN, result.out)
    expect("[unknown-opcode]" in result.err, "%r", result.err)
    for arguments, expected, says in ((["-Wno-unknown-opcode"], 0, None), (["-Werror"], 1, "error: "),
                                      (["-Werror=unknown-opcode"], 1, "error: "), (["--strict"], 1, "error: "),
                                      (["-Werror", "-Wno-error=unknown-opcode"], 0, "warning: "),
                                      (["-Werror", "-Wno-error"], 0, "warning: "),
                                      (["-Wno-unknown-opcode", "-Wunknown-opcode"], 0, "warning: ")):
        result = status(expected, "rewrite", *arguments, unknown, says=says or "")
        expect(says or result.err == "", "%s says %r", arguments, result.err)
        expect((result.out == UNKNOWN) == (expected == 0), "%s: the output is wrong", arguments)
    for bad in ("nosuch", "no-undeclared-register", "no-error=undeclared-register", ""):
        status(2, "rewrite", "-W", bad, unknown, says="no such warning")
    for bad in ("unknwon-opcode", "no-unknown-opcod", "error=unknown-opcodes"):
        status(2, "rewrite", "-W", bad, unknown, says="did you mean 'unknown-opcode'?")


def case_error_limit(folder):
    many = KERNEL.replace(b"\tret;", b"".join(b"\tmov.u64 %%q%d, 0;\n" % i for i in range(40)) + b"\tret;")

    def errors(*options):
        return status(1, "rewrite", *options, "-", stdin=many).err.count(": error: ")

    expect(errors() == 20, "%d errors by default", errors())
    expect(errors("--error-limit=3") == 3, "%d errors of 3", errors("--error-limit=3"))
    expect(errors("--error-limit=0") == 40, "%d errors of 40", errors("--error-limit=0"))


def case_diagnostics_as_json(folder):
    good, broken, unknown = files(folder)
    for source, expected in ((good, []), (broken, ["undeclared-register"]), (unknown, ["unknown-opcode"])):
        found = json.loads(run("rewrite", "--diagnostics=json", source).err)
        expect([d["slug"] for d in found["diagnostics"]] == expected, "%s: %s", source, found)
        for d in found["diagnostics"]:
            place, data = d["place"], read(source)
            expect(place["file"] == source and place["line"] == data.count(b"\n", 0, place["begin"]) + 1, "the place is %s", place)
            expect(data[place["begin"]:place["end"]] in (b"%r9", b"nosuch.u64 %r1;"), "%r", data[place["begin"]:place["end"]])
    missing = json.loads(run("rewrite", "--diagnostics=json", os.path.join(folder, "none")).err)
    expect(missing["diagnostics"][0]["place"] is None and missing["errors"] == 1, "%s", missing)


def case_diagnostics_as_sarif(folder):
    good, broken, _ = files(folder)
    for source, count in ((good, 0), (broken, 1)):
        log = json.loads(run("rewrite", "--diagnostics=sarif", source).err)
        expect(log["version"] == "2.1.0" and len(log["runs"]) == 1, "%s", log)
        results = log["runs"][0]["results"]
        expect(len(results) == count, "%d results", len(results))
        rules = {rule["id"] for rule in log["runs"][0]["tool"]["driver"].get("rules", [])}
        expect(all(result["ruleId"] in rules for result in results), "a result without its rule")
    status(2, "rewrite", "--diagnostics=xml", good, says="takes one of text|json|sarif")
    out = os.path.join(folder, "out.ptx")
    status(2, "rewrite", "--diagnostics=xml", "-o", out, good)
    expect(not os.path.exists(out), "a bad option, but the output was written")


# ---- other subcommands -----------------------------------------------------------------------------------------------

def case_dumps(folder):
    good, _, _ = files(folder)
    tokens = heddle("dump", "--tokens", good).decode()
    expect(re.match(r"^1:1\b.*\.version", tokens), "%r", tokens[:60])
    expect(".version 8.0" not in tokens.split("\n")[0] and len(tokens.split("\n")) > 40, "not one token a line")
    found = json.loads(heddle("dump", "--ir", "--json", good))
    expect(found["schema"] == 1 and [f["name"] for f in found["functions"]] == ["k"], "%s", found)
    expect(len(found["functions"][0]["instructions"]) == 4, "%d instructions", len(found["functions"][0]["instructions"]))
    same(heddle("dump", "--ir", "--json", good), heddle("dump", "--cfg", "--json", good))
    expect(heddle("dump", "--cfg", good).lstrip().startswith(b"digraph"), "no DOT")
    expect(b"%r1" in heddle("dump", "--liveness", good), "no register in the liveness")


def case_check(folder):
    good, _, _ = files(folder)
    expect(b"nothing to check" in heddle("check", good), "a file without annotations")
    annotated = heddle("rewrite", "-p", "bow", good)
    expect(b"sound" in heddle("check", "-", stdin=annotated), "an annotated file")
    wrong = annotated[:annotated.index(b".section")].replace(b"//@bow both", b"//@bow boc").replace(b"//@bow rf", b"//@bow boc")
    far = wrong.replace(b"\tst.global", b"\tmembar.gl;\n" * 8 + b"\tst.global")
    result = status(3, "check", "-", stdin=far, says="[unsound-annotation]")
    expect(b"refuted" in result.out, "%r", result.out)


def case_replay_of_no_launch_file(folder):
    good, _, _ = files(folder)
    result = run("replay", good)
    expect(result.status == 1 and "[not-launch-file]" in result.err, "exit %d: %s", result.status, result.err[:200])
    status(1, "replay", os.path.join(folder, "none.yaml"), says="[unreadable]")
    status(2, "replay", "--technique=nosuch", good, says="nosuch")
    status(2, "replay", "--gpu=nosuch", good, says="nosuch")
    status(2, "replay", "--gpu=pascal-titanx", good, says="did you mean 'pascal-titan-x'?")
    status(2, "replay", "--gpu=A100", good, says="did you mean 'ampere-a100'?")
    status(2, "diff", "--ptxas=no", "--gpu=sm_999", good, good, says="[unknown-gpu]")
    status(2, "replay", "--technique=bwo", good, says="no technique is called 'bwo'; did you mean 'bow'?")
    result = status(1, "replay", good, says="[not-launch-file]")
    expect("this is PTX; heddle reads a launch file here" in result.err and "heddle init -o FILE.yaml" in result.err, "%s", result.err)


ELF = b"\x7fELF\x02\x01\x01" + bytes(9)
FOREIGN = (("k.cubin", ELF + b"\x02\x00\xbe\x00", "a cubin"), ("k.o", ELF + b"\x01\x00\x3e\x00", "an object file"), ("k", ELF + b"\x03\x00\x3e\x00", "an executable"),
           ("k.fatbin", b"\x50\xed\x55\xba\x01\x00\x10\x00", "a fatbin"), ("k.a", b"!<arch>\n/ ", "an archive"), ("k.bc", b"BC\xc0\xde5", "LLVM bitcode"),
           ("k.gz", b"\x1f\x8b\x08\x08", "compressed by gzip"), ("k.zst", b"\x28\xb5\x2f\xfdo", "compressed by zstd"),
           ("k.sass", b"\n\tcode for sm_80\n\t\tFunction : k\n", "machine code (SASS)"), ("d.sass", b"\t.headerflags\t@\"EF_CUDA_SM80\"\n", "machine code (SASS)"),
           ("l.sass", b"        /*0000*/   MOV R1, c[0x0][0x28] ;\n", "machine code (SASS)"), ("k.dump", b"\nFatbin ptx code:\n====\n.version 8.0\n", "the output of cuobjdump"),
           ("k.cpp", b"// k\n/* k\n */\n#include <a.h>\n__global__ void k() {}\n", "C++ or CUDA source"), ("t.cc", b"template <int N> __global__ void k();", "C++ or CUDA source"),
           ("k.ll", b"; ModuleID = 'k'\nsource_filename = \"k\"\n", "LLVM IR"), ("l.yaml", b"module: a.ptx\n", "a launch file"),
           ("c.yaml", b"# adds\n#\nmodule: a.ptx\n", "a launch file"), ("g.yaml", b"# Fermi\nname: a\nlimits:\n  sms: 1\n", "a GPU description"))


def case_inputs_of_other_kinds(folder):
    good, _, _ = files(folder)
    for name, data, what in FOREIGN:
        path = write(os.path.join(folder, name), data)
        for command in READ_PTX:
            if name.endswith(".sass") and command in ("report", "rewrite", "strip", "check", "dump"):
                continue
            is_binary = name in ("k.cubin", "k.o", "k", "k.fatbin", "k.a")
            if is_binary and command in ("report", "rewrite", "strip", "check", "dump"):
                continue # they list them: tests/sass_report, tests/cubin
            for arguments in [[*arguments_for(command)]] + ([] if name.endswith(".sass") or is_binary else [["dump", "--tokens"]]):
                result = status(1, *arguments, path, says="%s: error: this is " % path)
                expect(what in result.err.split("\n")[0] and result.err.count("error: ") == 1 and "note: " in result.err, "%s: %s", name, result.err)
        status(1, "diff", "--ptxas=no", path, good) if "yaml" not in name else None
        if "yaml" not in name and "#include" not in data.decode("latin-1"):
            advice = "heddle run -- %s\n" % path if name == "k" else "note: "
            expect(advice in status(1, "replay", path, says="[not-launch-file]").err, "%s", path)
