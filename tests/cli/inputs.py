"""Several inputs of one call: outputs, order, exit status, what one bad input does to the others."""
import json
import os
import re

from support import TOP, expect, heddle, read, run, same, write
from usage import BROKEN, KERNEL, UNKNOWN, status

MANY = ("-j1", "-j4")


def modules(folder, count=5):
    """Modules of different kernels: k0.ptx with kernel k0, ..."""
    return [write(os.path.join(folder, "k%d.ptx" % i), KERNEL.replace(b" k(", b" k%d(" % i) + b"//" * i) for i in range(count)]


def unsound(folder, name="unsound.ptx"):
    text = heddle("rewrite", "-p", "bow", "--no-section", "-", stdin=KERNEL)
    text = text.replace(b"//@bow both", b"//@bow boc").replace(b"//@bow rf", b"//@bow boc").replace(b"\tst.global", b"\tmembar.gl;\n" * 8 + b"\tst.global")
    return write(os.path.join(folder, name), text)


def expect_same(left, right, what):
    same(left.out, right.out, what + ": standard output")
    same(left.err.encode(), right.err.encode(), what + ": standard error")
    expect(left.status == right.status, "%s: exit %d, not %d", what, right.status, left.status)


# ---- each command ----------------------------------------------------------------------------------------------------

def case_check_of_several(folder):
    paths = modules(folder) + [unsound(folder)]
    lines = b"".join(run("check", path).out for path in paths)
    for threads in MANY:
        result = status(3, "check", threads, *paths, says="unsound.ptx:")
        same(lines, result.out, "lines, " + threads)
    expect(lines.count(b"\n") == len(paths) and b"unsound.ptx: 2 annotations in 1 functions: refuted" in lines, "%r", lines)


def case_rewrite_into_a_folder(folder):
    paths, out = modules(folder), os.path.join(folder, "out")
    want = [heddle("rewrite", "-p", "bow", path) for path in paths]
    for given in (out + "/", out, out + "/"):
        for threads in MANY:
            same(b"", heddle("rewrite", "-p", "bow", threads, "-o", given, *paths))
            expect(sorted(os.listdir(out)) == [os.path.basename(path) for path in paths], "%s holds %s", out, os.listdir(out))
            for path, text in zip(paths, want):
                same(text, read(os.path.join(out, os.path.basename(path))), path)
    one = os.path.join(folder, "one")
    heddle("rewrite", "-p", "bow", "-o", one + "/", paths[0])
    same(want[0], read(os.path.join(one, "k0.ptx")), "one input")
    same(b"", heddle("strip", "-o", one + "/", *(os.path.join(out, os.path.basename(path)) for path in paths)))
    for path in paths:
        same(read(path), read(os.path.join(one, os.path.basename(path))), "stripped " + path)
    before = read(paths[3])
    status(2, "rewrite", "-p", "bow", "-o", folder, *paths, says="would be written, and is an input")
    same(before, read(paths[3]))
    status(1, "rewrite", "-o", os.path.join(folder, "none/out/"), *paths, says="cannot make the folder")


def case_outputs_that_do_not_fit(folder):
    first, second = modules(folder, 2)
    os.mkdir(os.path.join(folder, "other"))
    twin, out = write(os.path.join(folder, "other/k0.ptx"), KERNEL), os.path.join(folder, "out")
    for command in ("rewrite", "strip"):
        status(2, command, first, second, says="standard output takes the output of one input, and there are 2: -o FOLDER/")
        status(2, command, "-o", "-", first, second, says="standard output takes")
        status(2, command, "-o", out, first, second, says="-o %s takes the output of one input" % out)
        status(2, command, "-o", out + "/", first, twin, says="'%s' and '%s' would both be written to '%s/k0.ptx'" % (first, twin, out))
        status(2, command, "-o", out + "/", first, first, says="would both be written")
        status(2, command, "-o", out + "/", "-", says="'-' has no name")
        expect(not os.path.exists(out), "%s was made", out)
    for command in (("check",), ("report", "--ptxas=no"), ("rewrite", "-o", out + "/")):
        status(2, *command, "-", "-", says="standard input can be read once, and is named 2 times")
    status(1, "report", "--ptxas=no", "-o", folder, first, says="[unreadable]")


def case_standard_input_beside_files(folder):
    first, second = modules(folder, 2)
    out = heddle("check", first, "-", second, stdin=KERNEL)
    expect([line.split(b":")[0] for line in out.splitlines()] == [first.encode(), b"-", second.encode()], "%r", out)


def case_reports_of_several(folder):
    paths = modules(folder)
    report = ("report", "--ptxas=no")
    for threads in MANY:
        same(b"".join(heddle(*report, path) for path in paths), heddle(*report, threads, *paths), "text")
        document = json.loads(heddle(*report, threads, "--format=json", *paths))
        alone = [json.loads(heddle(*report, "--format=json", path)) for path in paths]
        expect([k for one in alone for k in one["kernels"]] == document["kernels"], "kernels")
        expect([k["path"] for k in document["kernels"]] == paths, "paths")
        expect([m for one in alone for m in one["modules"]] == document["modules"], "modules")
        expect(document["path"] is None and document["arch"] is None and alone[0]["path"] == paths[0], "path at the top")
        log = json.loads(heddle(*report, threads, "--format=sarif", *paths))
        expect(len(log["runs"]) == 1, "%d runs", len(log["runs"]))
        expect([a["location"]["uri"] for a in log["runs"][0]["artifacts"]] == paths, "artifacts")
    found = json.loads(heddle("diff", "--format=json", *2 * [write(os.path.join(folder, "r.json"), json.dumps(document))]))
    expect(len(found["kernels"]) == len(paths) and found["old"]["arch"] == alone[0]["arch"], "diff reads %s", found["old"])


def case_a_page_of_several(folder):
    """Each module has its table; kernels are numbered through; a source file is that beside its own module."""
    example = os.path.join(TOP, "examples/reduction/reduction.ptx")
    paths = modules(folder, 2) + [example]
    page = heddle("report", "--ptxas=no", "--format=html", *paths).decode()
    expect(re.findall(r"<h2>([^<]*)</h2>", page) == paths, "headings: %s", re.findall(r"<h2>.*", page))
    kernels = [json.loads(text) for text in re.findall(r'<script type="application/json" id="kernel\d+">(.*?)</script>', page, re.S)]
    expect([k["name"] for k in kernels][:2] == ["k0", "k1"] and len(kernels) == 5, "%s", [k["name"] for k in kernels])
    expect(re.findall(r'id="kernel(\d+)"', page) == re.findall(r'data-kernel="(\d+)"', page) == list("01234"), "numbers")
    index = json.loads(re.search(r'id="module">(.*?)</script>', page).group(1))
    expect(index["kernels"] == 5 and index["start"] >= 2, "%s", index)
    expect(all(k["arch"].startswith("sm_80") for k in kernels), "%s", [k["arch"] for k in kernels])
    lines = KERNEL.replace(b"\tld.param", b"\t.loc 1 2 3\n\tld.param") + b'.file 1 "same.cu"\n'
    for name in "ab":
        os.mkdir(os.path.join(folder, name))
        write(os.path.join(folder, name, "same.cu"), "// of %s\n__global__ void k()\n" % name)
    both = [write(os.path.join(folder, name, "k.ptx"), lines) for name in "ab"]
    page = heddle("report", "--ptxas=no", "--format=html", *both).decode()
    texts = re.findall(r'id="source(\d)">(.*?)</script>', page)
    expect([number for number, _ in texts] == ["0", "1"] and "of a" in texts[0][1] and "of b" in texts[1][1], "%s", texts)


def case_dumps_of_several(folder):
    paths, broken, out = modules(folder, 3), write(os.path.join(folder, "broken.ptx"), BROKEN), os.path.join(folder, "dumps")
    for kind, head in (("--tokens", b"%s:\n"), ("--ir", b"%s:\n"), ("--liveness", b"%s:\n"), ("--cfg", b"// %s:\n")):
        want = b"\n".join(head % path.encode() + heddle("dump", kind, path) for path in paths)
        for threads in MANY:
            same(want, heddle("dump", kind, threads, *paths), kind)
            same(want, status(1, "dump", kind, threads, *paths[:2], "none.ptx", paths[2], says="none.ptx").out, kind)
    status(1, "dump", "--cfg", "-o", out, broken, *paths)
    same(want, read(out), "-o")
    alone = [json.loads(heddle("dump", "--ir", "--json", path)) for path in paths]
    for threads in MANY:
        document = json.loads(status(1, "dump", "--ir", "--json", threads, broken, *paths, "none.ptx").out)
        expect(document["functions"] == [f for one in alone for f in one["functions"]], "functions")
        expect([f["file"] for f in document["functions"]] == paths, "files")
    only = json.loads(heddle("dump", "--ir", "--json", "--kernel=k[12]", *paths))
    expect([f["name"] for f in only["functions"]] == ["k1", "k2"], "%s", only)
    same(b"", status(1, "dump", "--ir", "--json", broken, "none.ptx").out, "an object of nothing")
    status(1, "dump", "--ir", "--kernel=other", *paths, says="no input has a function")


def case_all_techniques_of_several(folder):
    paths = modules(folder, 2)
    tables = [heddle("rewrite", "-p", "all", path) for path in paths]
    want = b"\n".join(b"%s:\n%s" % (path.encode(), table) for path, table in zip(paths, tables))
    out = os.path.join(folder, "tables")
    for threads in MANY:
        same(want, heddle("rewrite", "-p", "all", threads, *paths))
        heddle("rewrite", "-p", "all", threads, "-o", out, *paths)
        same(want, read(out))


def case_depfiles_of_several(folder):
    paths, out, rule = modules(folder, 3), os.path.join(folder, "out"), os.path.join(folder, "rule")
    rules = [b"%s/%s: %s\n" % (out.encode(), os.path.basename(path).encode(), path.encode()) for path in paths]
    heddle("rewrite", "-MD", "-o", out + "/", *paths)
    for path, want in zip(paths, rules):
        same(want, read(os.path.join(out, os.path.basename(path)) + ".d"))
    heddle("rewrite", "-MD", "-MF", rule, "-o", out + "/", *paths)
    same(b"".join(rules), read(rule))
    heddle("rewrite", "-MF", rule, "-MT", "all", "-o", out + "/", *paths)
    same(b"".join(b"all: %s\n" % path.encode() for path in paths), read(rule))
    write(rule, b"old")
    status(1, "rewrite", "-MF", rule, "-o", out + "/", *paths, write(os.path.join(folder, "broken.ptx"), BROKEN))
    same(b"old", read(rule), "a rule for what was not made")


def case_what_passes_say_of_several(folder):
    first, second = modules(folder, 2)
    out = os.path.join(folder, "out/")
    alone = [run("rewrite", "-p", "bow", "--stats", path).err for path in (first, second)]
    both = run("rewrite", "-p", "bow", "--stats", "-j4", "-o", out, first, second)
    same("".join("%s:\n%s" % pair for pair in zip((first, second), alone)).encode(), both.err.encode())


# ---- bad inputs ------------------------------------------------------------------------------------------------------

def mixture(folder):
    good = modules(folder, 3)
    return [good[0], write(os.path.join(folder, "broken.ptx"), BROKEN), good[1], os.path.join(folder, "none.ptx"),
            write(os.path.join(folder, "unknown.ptx"), UNKNOWN), good[2]]


def case_bad_inputs_do_not_keep_others_from_being_done(folder):
    paths, out = mixture(folder), os.path.join(folder, "out/")
    for command in (["check"], ["report", "--ptxas=no"], ["report", "--ptxas=no", "--format=json"], ["rewrite", "-o", out], ["strip", "-o", out]):
        results = [run(*command, threads, *paths) for threads in MANY]
        expect_same(results[0], results[1], " ".join(command))
        expect(results[0].status == 1, "%s: exit %d", command, results[0].status)
        said = results[0].err
        expect("broken.ptx:8:" in said or command[0] == "strip", "%s: %s", command, said)
        expect(said.index("none.ptx'") < said.index("unknown.ptx:") if command[0] != "strip" else "none.ptx'" in said, "order: %s", said)
    made = [os.path.basename(path) for path in (paths[0], paths[2], paths[4], paths[5])]
    expect(set(made) <= set(os.listdir(out)), "%s holds %s", out, os.listdir(out))
    report = json.loads(run("report", "--ptxas=no", "--format=json", *paths).out)
    expect([k["path"] for k in report["kernels"]] == [paths[0], paths[2], paths[4], paths[5]], "%s", [k["path"] for k in report["kernels"]])
    expect(run("report", "--ptxas=no", paths[1], paths[3]).out == b"", "a report of nothing")


def case_the_worst_status_counts(folder):
    good, broken = modules(folder, 1)[0], write(os.path.join(folder, "broken.ptx"), BROKEN)
    for paths, worst in (((good, good), 0), ((good, broken), 1), ((broken, good), 1), ((broken, unsound(folder), good), 3), ((unsound(folder), broken), 3)):
        status(worst, "check", *paths)
    status(1, "report", "--ptxas=no", "--require=registers<=1", good, good, says="[unmet-gate]")


def case_the_limit_of_errors_is_of_each_input(folder):
    many = KERNEL.replace(b"\tret;", b"".join(b"\tmov.u64 %%q%d, 0;\n" % i for i in range(30)) + b"\tret;")
    paths = [write(os.path.join(folder, "m%d.ptx" % i), many) for i in range(3)]
    for threads in MANY:
        result = status(1, "check", threads, *paths)
        expect([result.err.count("m%d.ptx:" % i) for i in range(3)] == [20, 20, 20], "%s", result.err[-300:])
        expect(result.err.endswith("heddle: 30 more errors not shown\n"), "%r", result.err[-100:])
        expect(status(1, "check", "--error-limit=0", threads, *paths).err.count(": error: ") == 90, "not all errors")


def case_what_is_wrong_with_all_is_said_once(folder):
    paths, out = modules(folder), os.path.join(folder, "out/")
    for command, slug in ((["rewrite", "-p", "nosuch", "-o", out], "bad-pass"), (["report", "--gpu=nosuch"], "unknown-gpu"),
                          (["report", "--require=nosuch<=1"], "bad-gate"), (["rewrite", "-p", "bow", "--gpu=nosuch", "-o", out], "unknown-gpu")):
        result = status(2, *command, *paths)
        expect(result.err.count("[%s]" % slug) == 1 and result.out == b"", "%s: %s", command, result.err)
    once = status(0, "report", "--ptxas=no", "--require=nosuch*:registers<=1,k3:registers<=255", *paths, says="[unused-gate]")
    expect(once.err.count("[unused-gate]") == 1 and "'nosuch*'" in once.err, "%s", once.err)


def case_a_kernel_that_one_input_has(folder):
    paths, out = modules(folder), os.path.join(folder, "out/")
    document = json.loads(heddle("report", "--ptxas=no", "--kernel=k3", "--format=json", *paths))
    expect([k["name"] for k in document["kernels"]] == ["k3"], "%s", document)
    heddle("rewrite", "-p", "bow", "--kernel=k3", "-o", out, *paths)
    changed = [path for path in paths if read(path) != read(os.path.join(out, os.path.basename(path)))]
    expect(changed == [paths[3]], "%s changed", changed)
    expect(heddle("check", "--kernel=k3", *paths).count(b"in 1 functions") == 1, "check")
    for command in (["report", "--ptxas=no"], ["rewrite", "-p", "bow", "-o", out], ["check"]):
        result = status(1, *command, "--kernel=zebra", *paths, says="no input has a function with a body that is named like 'zebra' [unknown-kernel]")
        expect(result.err.count("[unknown-kernel]") == 1, "%s", result.err)
