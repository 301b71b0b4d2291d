"""Diagnostics about code at the source lines that .loc names. lineinfo/lines.ptx is what nvcc made of lineinfo/lines.cu."""
import json
import os
import shutil

from support import HERE, TOP, expect, heddle, read, run, same, write
from usage import status

LAUNCH = b"""module: lines.ptx
buffers:
  A: {type: f32, count: 32, fill: {iota: [0, 1]}}
  B: {type: f32, count: 32, fill: zero}
launches:
  - {kernel: lines, grid: [1, 1, 1], block: [64, 1, 1], params: [A, B, {s32: 64}, {f32: 2}]}
"""
UNSOUND = """add.cuh:4:5: error: '%rd5' goes only to a bypass window of 3 instructions, but it is live when it has been in there that long without an access [unsound-annotation]
    4 |     return from[i] * by;
      |     ^
lines.cu:8:9: note: inlined here
    8 |         float value = scaled(a, i, by);
      |         ^
bad.ptx:47:2: note: in the PTX
   47 |         mul.wide.s32    %rd5, %r1, 4; //@bow boc
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
lines.cu:9:9: note: here
    9 |         b[i] = value + a[n - 1 - i];
      |         ^
bad.ptx:51:2: note: in the PTX
   51 |         not.b32         %r6, %r1; //@bow boc
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~
"""


def lines(folder, old=b"", new=b"", name="lines.ptx"):
    """The module in the folder, changed, beside its sources."""
    for source in ("lines.cu", "add.cuh"):
        shutil.copy(os.path.join(HERE, "lineinfo", source), folder)
    text = read(os.path.join(HERE, "lineinfo/lines.ptx"))
    expect(old in text, "%r is not in lines.ptx", old)
    return write(os.path.join(folder, name), text.replace(old, new) if old else text)


def unsound(folder):
    text = heddle("rewrite", "-p", "bow", "--no-section", lines(folder))
    return write(os.path.join(folder, "bad.ptx"), text.replace(b"%rd5, %r1, 4; //@bow both", b"%rd5, %r1, 4; //@bow boc"))


def case_an_unsound_annotation_leads_to_its_source(folder):
    unsound(folder)
    same(UNSOUND.encode(), status(3, "check", "bad.ptx", cwd=folder).err.encode())
    os.unlink(os.path.join(folder, "lines.cu"))
    os.unlink(os.path.join(folder, "add.cuh"))
    found = status(3, "check", "bad.ptx", cwd=folder).err
    expect([line for line in found.splitlines() if "|" not in line] == [line for line in UNSOUND.splitlines() if "|" not in line], "%s", found)
    expect("return from" not in found, "a line of a file that is not there")


def case_both_positions_as_json_and_sarif(folder):
    unsound(folder)
    found = json.loads(run("check", "--diagnostics=json", "bad.ptx", cwd=folder).err)["diagnostics"][0]
    expect(found["place"]["file"] == "bad.ptx" and found["place"]["line"] == 47, "%s", found)
    expect(found["source"] == [{"file": "add.cuh", "line": 4, "column": 5}, {"file": "lines.cu", "line": 8, "column": 9}], "%s", found)
    expect(found["notes"][0]["place"]["line"] == 51 and found["notes"][0]["source"] == [{"file": "lines.cu", "line": 9, "column": 9}], "%s", found)
    result = json.loads(run("check", "--diagnostics=sarif", "bad.ptx", cwd=folder).err)["runs"][0]["results"][0]

    def place(location):
        physical = location["physicalLocation"]
        return (physical["artifactLocation"]["uri"], physical["region"]["startLine"], location.get("message", {}).get("text"))

    expect([place(l) for l in result["locations"]] == [("add.cuh", 4, None)], "%s", result["locations"])
    expect([place(l) for l in result["relatedLocations"]] == [("lines.cu", 8, "inlined here"), ("bad.ptx", 47, "in the PTX"), ("lines.cu", 9, "here"),
                                                             ("bad.ptx", 51, "in the PTX")], "%s", result["relatedLocations"])


def case_faults_warnings_and_gates_lead_to_their_source(folder):
    lines(folder)
    lines(folder, b"add.s64 \t%rd8, %rd3", b"nosuch.s64 \t%rd8, %rd3", "odd.ptx")
    write(os.path.join(folder, "l.yaml"), LAUNCH)
    for expected, arguments, first, last in (
            (5, ["replay", "--technique=none", "l.yaml"], "lines.cu:9:9: error: out-of-bounds access of 4 bytes", "lines.ptx:55:2: note: in the PTX"),
            (0, ["rewrite", "odd.ptx"], "lines.cu:9:9: warning: unknown opcode 'nosuch.s64'", "odd.ptx:54:2: note: in the PTX"),
            (1, ["report", "--ptxas=no", "--require=registers<=2", "lines.ptx"], "lines.cu:4: error: 'lines' does not meet", "lines.ptx:15:1: note: in the PTX")):
        result = status(expected, *arguments, cwd=folder)
        expect(result.err.startswith(first) and "\n" + last in result.err, "%s", result.err)
        expect("lines.cu" not in result.err.splitlines()[0][len("lines.cu:9:9:"):], "the source line is there twice: %s", result.err)
    header = status(1, "report", "--ptxas=no", "--require=registers<=2", "lines.ptx", cwd=folder).err.splitlines()[1]
    expect(header.startswith("    4 | extern \"C\" __global__"), "%r", header)


def case_what_is_about_the_text_stays_there(folder):
    lines(folder, b"%rd8, %rd3", b"%rd88, %rd3", "bad.ptx")
    expect(status(1, "check", "bad.ptx", cwd=folder).err.startswith("bad.ptx:54:11: error: "), "an undeclared register")


def case_only_source_files_are_shown(folder):
    """A module may name any file."""
    write(os.path.join(folder, "secret"), "s3cret\n" * 20)
    os.symlink("secret", os.path.join(folder, "secret.txt"))
    for name in ("secret", "secret.txt", os.path.join(folder, "secret"), "/dev/zero", folder, "none.cu"):
        lines(folder, b'"lines.cu"', b'"%s"' % name.encode(), "named.ptx")
        result = status(1, "report", "--ptxas=no", "--require=registers<=2", "named.ptx", cwd=folder, says="%s:4: error: " % name)
        expect("s3cret" not in result.err, "%s is shown", name)


def case_sources_are_found_beside_the_module(folder):
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    lines(inside)
    status(1, "report", "--ptxas=no", "--require=registers<=2", "inside/lines.ptx", cwd=folder, says="    4 | extern")
