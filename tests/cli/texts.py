"""Properties that hold for every text: each fixture, and texts derived from it, goes through rewrite and strip.

A property is a function of a Text; a case is (property, variant). FULL=1 tries all on all; else derived texts share
the slower properties between them.
"""
import concurrent.futures
import glob
import os
import re
import subprocess

import ptx_tokens
import toolkit
from support import BUILD, CUBINCMP, TOP, Failed, expect, heddle, read, same, write

COMMENT = re.compile(rb" (?://@bow[^\r\n]*?(?=[ \t]*(?:\r|\n|$))|/\*@bow[^*]*\*/)")
SECTION = b".section .heddle"
# A whole instruction on a line of its own, without a comment.
ALONE = re.compile(r"^\t(@!?%p\d+ )?[a-z][a-z0-9_.:]*[ \t]*[^\"/;]*;$")
THREADS = len(os.sched_getaffinity(0))
FULL = os.environ.get("FULL") == "1"


# ---- derived texts ---------------------------------------------------------------------------------------------------

def each_instruction(text, change):
    """The lines that hold one whole instruction, changed: change(line, its number among them)."""
    lines, count = text.split("\n"), 0
    for i, line in enumerate(lines):
        if ALONE.match(line):
            lines[i] = change(line, count)
            count += 1
    return "\n".join(lines)


def join_statements(text):
    """Up to three instructions a line."""
    lines, on_line = [], 0
    for line in text.split("\n"):
        if ALONE.match(line) and 0 < on_line < 3:
            lines[-1] += " " + line.strip()
            on_line += 1
        else:
            lines.append(line)
            on_line = 1 if ALONE.match(line) else 0
    return "\n".join(lines)


COMMENTS = (" // the author's words", "// no blank", " /* one */", " /* one */ /* two */ // three", "  \t", " /* over\n\ttwo lines */",
            "\t/* begins here\n ends here */ // and goes on", "//", " /**/", "")
VARIANTS = {
    "as it is": lambda text: text,
    "CR LF": lambda text: text.replace("\n", "\r\n"),
    "lone CR": lambda text: re.sub(r"//[^\n]*|^#[^\n]*", "", text, flags=re.M).replace("\n", "\r"),
    "some lone CR": lambda text: each_instruction(text, lambda line, n: line + " // one\r two" if n % 2 else "\r" + line + "\r"),
    "no final newline": lambda text: text.rstrip("\n"),
    "final control-Z": lambda text: text + "\x1a",
    "comments behind instructions": lambda text: each_instruction(text, lambda line, n: line + COMMENTS[n % len(COMMENTS)]),
    "statements share lines": join_statements,
    "comments within instructions": lambda text: each_instruction(text, lambda line, n: line[:-1] + " /* a\nb */ ;" if n % 3 == 0 else line),
    "no blanks": lambda text: each_instruction(text, lambda line, n: re.sub(r"[ \t]+(?=[^ \t])", " ", line).strip().replace(", ", ",")),
    "trailing words": lambda text: text + "// the end\n/* at\nlast */\n\n",
    "leading words": lambda text: "/* before\nall */ // \n" + text,
}


class Text:
    """A text and what heddle makes of it, made on demand."""

    def __init__(self, name, data, folder):
        self.name, self.data = name, data
        self.path = write(os.path.join(folder, name), data)
        self.made = {}

    def get(self, key, *arguments, of=None):
        """heddle's answer for this text, or for what an earlier key made."""
        if key not in self.made:
            path = self.path if of is None else "-"
            self.made[key] = heddle(*arguments, path, stdin=self.made[of] if of else b"")
        return self.made[key]

    def bow(self):
        return self.get("bow", "rewrite", "-p", "bow")

    def extended(self):
        return self.get("extended", "rewrite", "-p", "bow", "--emit=extended")

    def canonical(self):
        return self.get("canonical", "rewrite", "--canonical")


# ---- properties ------------------------------------------------------------------------------------------------------

def the_same_tokens(text, other):
    why = ptx_tokens.difference(text.decode("ascii").rstrip("\x1a"), other.decode("ascii").rstrip("\x1a"))
    expect(why is None, "%s", why)


def without_section(data):
    """Less the section and the line end before it."""
    return re.sub(rb"\r?\n?\.section \.heddle\s*\{[^}]*\}", b"", data.replace(b"\r\n", b"\n"))


def rewrite_without_passes_is_the_input(text):
    same(text.data, heddle("rewrite", text.path))


def strip_without_annotations_is_the_input(text):
    same(text.data, heddle("strip", text.path))


def takes_sections(text):
    return int(re.search(rb"\.version\s+(\d+)", text.data).group(1)) >= 2


def strip_gives_back_the_input(text):
    expect((SECTION in text.bow()) == takes_sections(text), "a section is missing, or in PTX before 2.0")
    expect(len(COMMENT.findall(text.bow())) > 1, "no comments were written")
    same(text.data, heddle("strip", "-", stdin=text.bow()))


def strip_of_extended_gives_back_the_input(text):
    expect(b".bow::" in text.extended(), "no modifier was written")
    same(text.data, heddle("strip", "-", stdin=text.extended()))


def annotating_keeps_every_line(text):
    kept = COMMENT.sub(b"", without_section(text.bow()))
    same(text.data.replace(b"\r\n", b"\n"), kept)


def annotated_text_stays_as_it_is(text):
    same(text.bow(), heddle("rewrite", "-", stdin=text.bow()))


def annotating_twice_is_annotating_once(text):
    same(text.bow(), heddle("rewrite", "-p", "bow", "-", stdin=text.bow()))


def other_passes_options_replace_the_annotations(text):
    wide = heddle("rewrite", "-p", "bow(iw=7)", text.path)
    expect(wide != text.bow(), "the window's size changes nothing")
    same(wide, heddle("rewrite", "-p", "bow(iw=7)", "-", stdin=text.bow()))


def extended_and_back_is_portable(text):
    same(text.bow(), heddle("rewrite", "-", stdin=text.extended()))


def portable_to_extended_is_extended(text):
    same(text.extended(), heddle("rewrite", "--emit=extended", "-", stdin=text.bow()))


def comments_alone_are_enough(text):
    alone = heddle("rewrite", "-p", "bow", "--no-section", text.path)
    expect(SECTION not in alone, "a section in spite of --no-section")
    same(text.extended(), heddle("rewrite", "--emit=extended", "-", stdin=alone))
    same(text.data, heddle("strip", "-", stdin=alone))
    same(alone, heddle("rewrite", "--no-section", "-", stdin=text.bow()), "comments taken from both")


def the_section_alone_is_enough(text):
    if not takes_sections(text):
        return
    alone = COMMENT.sub(b"", text.bow())
    expect(len(alone) < len(text.bow()) and SECTION in alone, "nothing was cut")
    same(text.extended(), heddle("rewrite", "--emit=extended", "-", stdin=alone))
    same(text.data, heddle("strip", "-", stdin=alone))
    same(text.bow(), heddle("rewrite", "-p", "bow", "-", stdin=alone), "annotated again")


def canonical_has_the_same_tokens(text):
    the_same_tokens(text.data, text.canonical())


def canonical_is_a_fixed_point(text):
    text.canonical()
    same(text.canonical(), heddle("rewrite", "--canonical", "-", stdin=text.canonical()))


def canonical_does_not_depend_on_spacing(text):
    """Comments, line ends and spacing of the input leave no trace."""
    plain = re.sub(rb"/\*.*?\*/|//[^\r\n]*", b" ", text.data, flags=re.S).rstrip(b"\x1a")
    same(text.canonical(), heddle("rewrite", "--canonical", "-", stdin=plain))


def operands_in_memory_both_ways(text):
    for passes in ("demo", "select,regalloc,demo"):
        portable = heddle("rewrite", "-p", passes, text.path)
        extended = heddle("rewrite", "-p", passes, "--emit=extended", text.path)
        same(extended, heddle("rewrite", "--emit=extended", "-", stdin=portable), "portable to extended")
        same(portable, heddle("rewrite", "-", stdin=extended), "extended to portable")
        same(extended, heddle("rewrite", "--emit=extended", "-", stdin=extended), "extended once more")
        same(heddle("strip", "-", stdin=portable), heddle("strip", "-", stdin=extended), "stripped")
        heddle("check", "-", stdin=extended)
        if b"//@demo\n" in portable and b".loc" not in portable:
            expect(b"]:ld." in extended, "no operand stands in memory")


def canonical_with_annotations(text):
    annotated = heddle("rewrite", "--canonical", "-p", "bow", text.path)
    the_same_tokens(text.data, without_section(annotated))
    same(annotated, heddle("rewrite", "--canonical", "-", stdin=text.bow()), "from the annotated text")
    same(annotated, heddle("rewrite", "--canonical", "-", stdin=text.extended()), "from the extended spelling")
    same(annotated, heddle("rewrite", "--canonical", "-", stdin=annotated), "once more")
    same(text.canonical(), heddle("strip", "-", stdin=annotated), "stripped")


def canonical_extended(text):
    both = heddle("rewrite", "--canonical", "--emit=extended", "-p", "bow", text.path)
    same(both, heddle("rewrite", "--canonical", "--emit=extended", "-", stdin=text.extended()))
    same(text.canonical(), heddle("strip", "-", stdin=both))


def threads_do_not_show(text):
    for option in ("-j1", "-j2", "-j4"):
        same(text.bow(), heddle("rewrite", option, "-p", "bow", text.path), option)
    same(text.extended(), heddle("rewrite", "-j4", "--emit=extended", "-p", "bow", text.path), "extended")


def annotations_check_out(text):
    out = heddle("check", "-", stdin=text.bow())
    expect(b": sound" in out, "check says %r", out)


ALWAYS = (strip_gives_back_the_input, annotating_keeps_every_line)
ON_VARIANTS = (rewrite_without_passes_is_the_input, annotating_twice_is_annotating_once, extended_and_back_is_portable,
               strip_of_extended_gives_back_the_input, the_section_alone_is_enough, canonical_has_the_same_tokens)
ON_FIXTURES = ON_VARIANTS + (strip_without_annotations_is_the_input, annotated_text_stays_as_it_is,
                            other_passes_options_replace_the_annotations, portable_to_extended_is_extended,
                            comments_alone_are_enough, canonical_is_a_fixed_point, canonical_does_not_depend_on_spacing,
                            canonical_with_annotations, canonical_extended, threads_do_not_show, annotations_check_out,
                            operands_in_memory_both_ways)


# ---- running ---------------------------------------------------------------------------------------------------------

def fixtures():
    paths = sorted(glob.glob(os.path.join(TOP, "tests/ptx/**/*.ptx"), recursive=True) + glob.glob(os.path.join(TOP, "examples/*/*.ptx")))
    return [(os.path.basename(path), read(path)) for path in paths]


def has_a_destination(data):
    return re.search(rb"^[ \t]*(ld|mov|add)[.\w]*[ \t]+[%$\w]+ *,", data, re.M) is not None


def try_all(properties, name, data, folder):
    """{property: why} of those that failed."""
    text, failed = Text(name, data, folder), {}
    for check in properties:
        try:
            check(text)
        except (Failed, subprocess.TimeoutExpired, OSError, ValueError) as error:
            failed[check.__name__] = "%s: %s" % (name, error)
    return failed


def run_variant(cases, pool, variant, derive, files, folder):
    original = variant == "as it is"
    properties = ALWAYS + (ON_FIXTURES if original else ON_VARIANTS)
    texts = []
    for name, data in files:
        derived = derive(data.decode("ascii")).encode("ascii")
        if derived != data or original:
            texts.append((name, derived))
    # ALWAYS holds for every text; of the rest, each variant takes every third fixture, beginning at another one.
    turn = list(VARIANTS).index(variant)
    chosen = [properties if original or FULL or (n + turn) % 3 == 0 else ALWAYS for n in range(len(texts))]
    results = list(pool.map(lambda p, item: try_all(p, item[0], item[1], folder), chosen, texts))
    for check in properties:
        why = [failed[check.__name__] for failed in results if check.__name__ in failed]
        count = sum(check in p for p in chosen)
        name = "%s, %s: %d texts" % (check.__name__.replace("_", " "), variant, count)
        if not count:
            why = ["no fixture has what this variant changes"]
        cases.report(name, "%d fail; %s" % (len(why), why[0]) if why else None)


def assemble(ptxas, folder, name, data, architecture, options):
    path = write(os.path.join(folder, name + ".ptx"), data)
    done = subprocess.run([ptxas, "-arch=" + architecture, "-o", path + ".cubin", path] + options, capture_output=True, timeout=300)
    if done.returncode:
        raise Failed("ptxas refuses %s: %s" % (name, done.stderr.decode("utf-8", "replace").strip().split("\n")[0]))
    return path + ".cubin"


ASSEMBLED = ("matrixMul.sm_75", "control.sm_100.ptx", "calls.sm_120.rdc-lineinfo", "newer.sm_90.lineinfo", "vectorAdd.sm_100.G", "memory.sm_80")


def machine_code_is_the_same(ptxas, name, data, folder):
    architecture = re.search(r"\.(sm_\w+)", name).group(1)
    options = (["-c"] if ".rdc" in name else []) + (["-g"] if ".G" in name else []) + (["-lineinfo"] if "lineinfo" in name else [])
    text = Text(name, data, folder)
    cubin = assemble(ptxas, folder, "plain-" + name, data, architecture, options)
    forms = {"bow": text.bow(), "no-section": heddle("rewrite", "-p", "bow", "--no-section", text.path),
             "canonical-bow": heddle("rewrite", "--canonical", "-p", "bow", text.path),
             "lone-CR": heddle("rewrite", "-p", "bow", "-", stdin=VARIANTS["lone CR"](data.decode("ascii")).encode()),
             "shared-lines": heddle("rewrite", "-p", "bow", "-", stdin=join_statements(data.decode("ascii")).encode())}
    for form, rewritten in forms.items():
        other = assemble(ptxas, folder, form + "-" + name, rewritten, architecture, options)
        done = subprocess.run([CUBINCMP, cubin, other], capture_output=True, timeout=60)
        expect(done.returncode == 0, "%s: %s", form, done.stdout.decode("utf-8", "replace").split("\n")[0])


def run_ptxas(cases, pool, files):
    ptxas = toolkit.find_tool("ptxas")
    if not ptxas:
        print("skip ptxas takes rewritten PTX: ptxas not found (PATH, CUDA_HOME, /usr/local/cuda)")
        return
    chosen = [item for item in files if item[0].startswith(ASSEMBLED)]
    jobs = [pool.submit(cases.run_one, "ptxas makes the same machine code of %s" % name,
                        lambda folder, name=name, data=data: machine_code_is_the_same(ptxas, name, data, folder))
            for name, data in chosen]
    for job in jobs:
        job.result()


def run(cases):
    files = [item for item in fixtures() if has_a_destination(item[1])]
    if len(files) < 20:
        cases.report("fixtures", "only %d PTX files found" % len(files))
    slow = toolkit.is_slow(BUILD)
    files = files[::8] if slow else files
    with concurrent.futures.ThreadPoolExecutor(max(2, THREADS)) as pool:
        for variant, derive in VARIANTS.items():
            cases.run_one("make " + variant, lambda folder, v=variant, d=derive: run_variant(cases, pool, v, d, files, folder))
        if not slow:
            run_ptxas(cases, pool, files)
