"""Small modules around single statements of forms.tsv.

A statement's names say what must be declared: registers by their first letter (p predicate, h 16, x 32, y 64, z 128 bit,
f .f32, d .f64, c 8 bit), g a .global and sh a .shared array, cst a .const array, tx a texture, sf a surface, fn and fnr
functions, pp a kernel parameter, lc and lp .local arrays, ts a branch target table, pr a prototype, ctg call targets,
L0 and L1 labels after the statement.

As a program: modules.py OUTDIR writes each module to OUTDIR/NNN.ptx, and OUTDIR/expect.tsv (file, verdict, statement).
"""
import os
import re
import sys

REGISTER_TYPES = {"p": ".pred", "h": ".b16", "x": ".b32", "y": ".b64", "z": ".b128", "f": ".f32", "d": ".f64", "c": ".b8"}
NEWEST = (".version 9.0", ".target sm_121a", ".address_size 64")
# Statements that newer versions refuse are wrapped in the headers of their time.
LEGACY = {"mad": (".version 1.4", ".target sm_13"), "shfl": (".version 6.0", ".target sm_30", ".address_size 64"),
          "vote": (".version 6.0", ".target sm_30", ".address_size 64")}


def module(statement, header=NEWEST):
    def has(word):
        return re.search(r"\b%s\b" % word, statement)

    lines = list(header)
    if has("g"):
        lines.append(".global .b32 g[64];")
    if has("sh"):
        lines.append(".shared .b32 sh[64];")
    if has("cst"):
        lines.append((".const[1]" if "const[" in statement else ".const") + " .b32 cst[64];")
    if has("tx"):
        lines.append(".global .texref tx;")
    if has("sf"):
        lines.append(".global .surfref sf;")
    if has("fn"):
        lines.append(".func fn { ret; }")
    if has("fnr") or re.search(r"\by0,\(x0\)", statement):
        lines.append(".func (.reg .b32 o) fnr (.reg .b32 i) { mov.b32 o,i; ret; }")
    lines.append(".entry k (.param .u32 pp) {" if has("pp") else ".entry k {")
    names = sorted(set(re.findall(r"\b([phxyzfdc])(\d+)\b", statement)))
    lines += [".reg %s %s%s;" % (REGISTER_TYPES[letter], letter, number) for letter, number in names]
    if has("r0"):
        lines.append(".reg .b32 r0;")
    lines += [".local .b32 %s[8];" % name for name in ("lc", "lp") if has(name)]
    if has("ts"):
        lines.append("ts: .branchtargets L0, L1;")
    if has("pr"):
        lines.append("pr: .callprototype (.reg .b32 _) _ (.reg .b32 _);")
    if has("ctg"):
        lines.append("ctg: .calltargets fnr;")
    lines.append(statement + ";")
    place = len(lines)
    if has("L0") or has("ts"):
        lines.append("L0:")
    if has("ts"):
        lines.append("L1:")
    return "\n".join(lines + ["ret;", "}"]) + "\n", place


def forms(path):
    """(case name, verdict, statement, text, line of the statement)"""
    with open(path) as table:
        rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    for number, row in enumerate(rows):
        instruction, verdict, _, target, statement = row[:5]
        # What only one family of targets has is wrapped for that family.
        header = (NEWEST[0], ".target " + target, NEWEST[2]) if target[-1] in "af" else NEWEST
        if verdict == "legacy":
            verdict, header = "accept", LEGACY[instruction]
        text, place = module(statement, header)
        yield "%03d" % number, verdict, statement, text, place


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    with open(os.path.join(sys.argv[1], "expect.tsv"), "w") as expect:
        here = os.path.dirname(os.path.abspath(__file__))
        for name, verdict, statement, text, _ in forms(os.path.join(here, "forms.tsv")):
            with open(os.path.join(sys.argv[1], name + ".ptx"), "w") as out:
                out.write(text)
            expect.write("%s.ptx\t%s\t%s\n" % (name, verdict, statement))
