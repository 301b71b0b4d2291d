"""Control characters and marks that turn the order of text around, in names out of files, are visible in diagnostics and text reports."""
import json
import os
import re

import replays
from support import expect, heddle, run, write
from usage import KERNEL, status

STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
EVIL = "\33]0;owned\7\33[31m"
MODULE = """.version 7.0
.target sm_80
.address_size 64
.file 1 "a%s.cu"
.visible .entry k(.param .u64 p)
{
.reg .b32 %%r<8>; .reg .b64 %%rd<3>;
.loc 1 1 1
 ld.param.u64 %%rd1, [p];
.loc 1 5 1
 mov.u32 %%r1, %%tid.x;
 st.global.u32 [%%rd1+4], %%r1;
 ret;
}
"""


def tame(what, *texts, colour=False):
    for text in texts:
        text = text.decode() if isinstance(text, bytes) else text
        found = STEERING.search(COLOUR.sub("", text) if colour else text)
        expect(not found, "%s: %r in %r", what, found and found.group(), text[:300])


def case_keys_and_names_of_launch_files(folder):
    write(os.path.join(folder, "a.ptx"), replays.kernel())
    for text in ('"mod\\e]0;x\\aule": k.ptx', '"mod\\u202Eule": k.ptx', '"a\\nheddle: error: b": 1', 'module: "a\\e[31m.ptx"\nlaunches: [{kernel: k, grid: 1, block: 1}]',
                 'module: a.ptx\nlaunches: [{kernel: "k\\e[31m\\u2066", grid: 1, block: 1}]',
                 'module: a.ptx\nbuffers: {"A\\x9b2J": {type: u32, count: 4, save: "b\\e[31m/c"}}\nlaunches: [{kernel: k, grid: 1, block: 1, params: ["A\\x9b2J"]}]',
                 'module: a.ptx\nbuffers: {"A\\e[31m": {type: u32, count: 4, expect: {values: [9, 9, 9, 9]}}}\nlaunches: [{kernel: k, grid: 1, block: 1, params: ["A\\e[31m"]}]'):
        path = write(os.path.join(folder, "a.yaml"), text)
        for colour in ("never", "always"):
            result = run("replay", "--save", "--technique=none", "--color=" + colour, path)
            expect(result.status in (1, 3) and "<" in result.err, "%s: exit %d: %s", text, result.status, result.err)
            tame(text, result.err, result.out, colour=colour == "always")
            expect("\nheddle: error: b" not in result.err, "a line of its own: %r", result.err)


def case_file_names_in_modules(folder):
    path = write(os.path.join(folder, "m.ptx"), MODULE % EVIL)
    for arguments in (["report", "--ptxas=no"], ["report", "--ptxas=no", "--listing"], ["report", "--ptxas=no", "--color=always"], ["diff"], ["dump", "--tokens"],
                      ["dump", "--cfg"], ["dump", "--ir"], ["dump", "--liveness"], ["check"], ["rewrite", "-p", "all"]):
        result = run(*arguments, path, *([path] if arguments == ["diff"] else []))
        expect(result.status == 0, "%s: exit %d: %s", arguments, result.status, result.err)
        tame(arguments, result.out, result.err)
        expect(arguments[0] != "report" or b"<1B>[31m" in result.out, "%s: %s", arguments, result.out[:300])
    broken = write(os.path.join(folder, "b.ptx"), (MODULE % EVIL).replace("ret;", "nosuch.u64 %rd1;\n ret;"))
    tame("diagnostics", run("check", broken).err)
    expect(EVIL.encode() in heddle("rewrite", path), "rewritten PTX is another text")
    lines = json.loads(heddle("report", "--ptxas=no", "--format=json", path))
    expect(EVIL in json.dumps(lines).encode().decode("unicode_escape"), "JSON has another name")


def case_colours_stay_where_names_are_tame(folder):
    path = write(os.path.join(folder, "m.ptx"), KERNEL)
    expect(b"\33[" in heddle("report", "--ptxas=no", "--color=always", path), "no colour")


def case_names_of_files(folder):
    name = os.path.join(folder, "a\33[31m\u202e.ptx")
    write(name, KERNEL)
    for arguments in (["report", "--ptxas=no"], ["check"], ["report", "--ptxas=no", "--kernel=none"]):
        result = run(*arguments, name)
        tame(arguments, result.out, result.err)
    tame("several", *(run("dump", "--ir", name, name).out, run("rewrite", "-p", "all", name, name).out))
    tame("not there", run("check", name + "x").err)
    tame("usage", status(2, "report", "--format=" + EVIL, name).err, status(2, EVIL).err, status(2, "report", "--" + EVIL, name).err)
    write(os.path.join(folder, "a.ptx"), replays.kernel())
    launch = write(os.path.join(folder, "l\33[31m.yaml"), "module: a.ptx\nbuffers: {A: {type: u32, count: 4}}\nlaunches: [{kernel: k, grid: 1, block: 1, params: [A]}]\n")
    for technique in ("none", "bow"):
        result = run("replay", "--technique=" + technique, launch)
        expect(result.status == 0 and b"<1B>" in result.out, "exit %d: %s", result.status, result.err)
        tame("replay", result.out, result.err)
