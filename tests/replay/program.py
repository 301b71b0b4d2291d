"""What the topics of tests/replay share: the program, its examples, small modules made on the spot, and its outputs read
back."""
import json
import os
import re
import subprocess

import relations

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEDDLE = os.environ.get("HEDDLE") or os.path.join(TOP, "build", "heddle")
EXAMPLES = ["vectorAdd", "matrixMul", "reduction"]
failed = False


def heddle(*arguments, text=None):
    done = subprocess.run([HEDDLE, *arguments], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def case(name, good, why=""):
    global failed
    failed = failed or not good
    print(("ok replay " if good else "not ok replay ") + name + ("" if good else ": " + why))


def launch_file(example):
    return os.path.join(TOP, "examples", example, example + ".yaml")


def replay_json(*arguments):
    status, out, errors = heddle("replay", "--models", "--format=json", *arguments)
    return status, json.loads(out) if out else None, errors


def sums_hold(kernel, known=None):
    """Which models' counters do not hold together, or None."""
    known = relations.energies("pascal-titan-x") if known is None else known
    wrong = [(r["model"], relations.broken(r, kernel["results"][0], kernel, known)) for r in kernel["results"] if r["not_applied"] is None]
    return "; ".join("%s of %s: %s" % (model, kernel["name"], ", ".join(found)) for model, found in wrong if found) or None


TITLE = r"  (\S+(?: [A-Za-z]\S*)?)"


def whole_rows(table):
    """The lines of a table, a title too long for its column joined to the rest of its row."""
    return re.sub(r"(?m)^%s\n {12,}(?=[\d-])" % TITLE, r"  \1 ", table).splitlines()


def table_of(text, kernel):
    """Of a launch in the text: rows by title, (accesses, energy, headline, verified), and counters by model and key."""
    rows, counters, model = {}, {}, None
    for line in whole_rows(text.split("\n%s, grid " % kernel, 1)[1].split("\n\n")[0]):
        row = re.match(TITLE + r" +([\d.]+|-) +([\d.]+\*?|unknown|-)  ?(\S.*?) +(pass|FAIL .*)$", line)
        counter = re.match(r"    (\w+(?: mean| peak)?) +([\d.,]+)  \S", line)
        if row:
            rows[row.group(1)] = row.groups()[1:]
        elif counter:
            counters[model][counter.group(1)] = float(counter.group(2).replace(",", ""))
        elif re.match(r"  \S+: ", line):
            model = line.strip().split(": ")[0]
            counters[model] = {}
    return rows, counters


def annotated(folder, example, ptx, **changes):
    """A launch file beside a changed module, with the example's data."""
    with open(os.path.join(folder, example + ".ptx"), "w", encoding="ascii") as file:
        file.write(ptx)
    with open(launch_file(example), encoding="ascii") as file:
        text = file.read()
    text = re.sub(r"\{file: ", "{file: " + os.path.join(TOP, "examples", example) + "/", text)
    for old, new in changes.items():
        text = text.replace(old, new)
    path = os.path.join(folder, example + ".yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


MODULE = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 a)
{
    .reg .b64 %%rd<3>;
    .reg .b32 %%r<3>;
    .reg .f32 %%f<3>;
    ld.param.u64 %%rd0, [a];
    %s
    ret;
}
"""
LAUNCH = """module: m.ptx
buffers:
  A: {type: u32, count: 4, fill: zero, expect: {values: [%s]}}
launches:
  - {kernel: k, grid: [1, 1, 1], block: [32, 1, 1], params: [A]}
"""


def exit_status(folder, body, values="7, 0, 0, 0", *options):
    with open(os.path.join(folder, "m.ptx"), "w", encoding="ascii") as file:
        file.write(MODULE % body)
    path = os.path.join(folder, "m.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(LAUNCH % values)
    status, out, errors = heddle("replay", *options, path)
    return status, out + errors


PLAIN = """.version 8.0
.target sm_80
.address_size 64
%s.entry k(.param .u64 a) %s
{
    .reg .b64 %%rd<3>;
    .reg .b32 %%r<30>;
    .reg .pred %%p<2>;
    ld.param.u64 %%rd0, [a];
    %s
    ret;
}
"""


def plain_module(folder, body, *options, header="", before="", count=4, block=32):
    with open(os.path.join(folder, "m.ptx"), "w", encoding="ascii") as file:
        file.write(PLAIN % (before, header, body))
    path = os.path.join(folder, "m.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write((LAUNCH % "").replace(", expect: {values: []}", "").replace("count: 4", "count: %d" % count).replace("[32", "[%d" % block))
    status, report, errors = replay_json(*([] if any("--technique" in o for o in options) else ["--technique=baseline,bow-wr-iw3"]), *options, path)
    kernel = report["kernels"][0] if report and report["kernels"] else {}
    return status, kernel, errors


TICKETS = "mov.u32 %r0, %tid.x;\nsetp.gt.u32 %p0, %r0, 31;\n@%p0 bra TAKE;\n" + 5000 * "add.u32 %r1, %r0, %r1;\n" + (
    "TAKE:\natom.global.add.u32 %r2, [%rd0], 1;\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1+4], %r2;\n")
