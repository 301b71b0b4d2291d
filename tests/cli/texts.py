"""Properties that hold for every text: each fixture, and texts derived from it, goes through rewrite and strip.

A property is a generator over a text: it yields what it asks of heddle, (arguments, text), and gets the answer. All texts
go through their properties in step, so that what they ask with the same arguments is one run of heddle: a start takes
longer than a text. A case is (property, variant). FULL=1 tries all on all; else derived texts share the slower properties
between them.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import tempfile

import ptx_tokens
import toolkit
from support import BUILD, CUBINCMP, TOP, Failed, expect, heddle, read, run as run_heddle, same, write

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
    "comments after instructions": lambda text: each_instruction(text, lambda line, n: line + COMMENTS[n % len(COMMENTS)]),
    "statements share lines": join_statements,
    "comments within instructions": lambda text: each_instruction(text, lambda line, n: line[:-1] + " /* a\nb */ ;" if n % 3 == 0 else line),
    "no blanks": lambda text: each_instruction(text, lambda line, n: re.sub(r"[ \t]+(?=[^ \t])", " ", line).strip().replace(", ", ",")),
    "trailing words": lambda text: text + "// the end\n/* at\nlast */\n\n",
    "leading words": lambda text: "/* before\nall */ // \n" + text,
}


BOW = ("rewrite", "-p", "bow")
EXTENDED = ("rewrite", "-p", "bow", "--emit=extended")
TO_EXTENDED = ("rewrite", "--emit=extended")
CANONICAL = ("rewrite", "--canonical")


# ---- properties ------------------------------------------------------------------------------------------------------

def the_same_tokens(text, other):
    why = ptx_tokens.difference(text.decode("ascii").rstrip("\x1a"), other.decode("ascii").rstrip("\x1a"))
    expect(why is None, "%s", why)


def without_section(data):
    """Less the section and the line end before it."""
    return re.sub(rb"\r?\n?\.section \.heddle\s*\{[^}]*\}", b"", data.replace(b"\r\n", b"\n"))


def rewrite_without_passes_is_the_input(text):
    same(text, (yield ("rewrite",), text))


def strip_without_annotations_is_the_input(text):
    same(text, (yield ("strip",), text))


def takes_sections(text):
    return int(re.search(rb"\.version\s+(\d+)", text).group(1)) >= 2


def strip_gives_back_the_input(text):
    bow = yield BOW, text
    expect((SECTION in bow) == takes_sections(text), "a section is missing, or in PTX before 2.0")
    expect(len(COMMENT.findall(bow)) > 1, "no comments were written")
    same(text, (yield ("strip",), bow))


def strip_of_extended_gives_back_the_input(text):
    extended = yield EXTENDED, text
    expect(b".bow::" in extended, "no modifier was written")
    same(text, (yield ("strip",), extended))


def annotating_keeps_every_line(text):
    kept = COMMENT.sub(b"", without_section((yield BOW, text)))
    same(text.replace(b"\r\n", b"\n"), kept)


def annotated_text_stays_as_it_is(text):
    bow = yield BOW, text
    same(bow, (yield ("rewrite",), bow))


def annotating_twice_is_annotating_once(text):
    bow = yield BOW, text
    same(bow, (yield BOW, bow))


def other_passes_options_replace_the_annotations(text):
    wider = ("rewrite", "-p", "bow(iw=7)")
    bow, wide = (yield BOW, text), (yield wider, text)
    expect(wide != bow, "the window's size changes nothing")
    same(wide, (yield wider, bow))


def extended_and_back_is_portable(text):
    bow, extended = (yield BOW, text), (yield EXTENDED, text)
    same(bow, (yield ("rewrite",), extended))


def portable_to_extended_is_extended(text):
    bow, extended = (yield BOW, text), (yield EXTENDED, text)
    same(extended, (yield TO_EXTENDED, bow))


def comments_alone_are_enough(text):
    alone = yield ("rewrite", "-p", "bow", "--no-section"), text
    bow, extended = (yield BOW, text), (yield EXTENDED, text)
    expect(SECTION not in alone, "a section in spite of --no-section")
    same(extended, (yield TO_EXTENDED, alone))
    same(text, (yield ("strip",), alone))
    same(alone, (yield ("rewrite", "--no-section"), bow), "comments taken from both")


def the_section_alone_is_enough(text):
    if not takes_sections(text):
        return
    bow, extended = (yield BOW, text), (yield EXTENDED, text)
    alone = COMMENT.sub(b"", bow)
    expect(len(alone) < len(bow) and SECTION in alone, "nothing was cut")
    same(extended, (yield TO_EXTENDED, alone))
    same(text, (yield ("strip",), alone))
    same(bow, (yield BOW, alone), "annotated again")


def canonical_has_the_same_tokens(text):
    the_same_tokens(text, (yield CANONICAL, text))


def canonical_is_a_fixed_point(text):
    canonical = yield CANONICAL, text
    same(canonical, (yield CANONICAL, canonical))


def canonical_does_not_depend_on_spacing(text):
    """Comments, line ends and spacing of the input leave no trace."""
    plain = re.sub(rb"/\*.*?\*/|//[^\r\n]*", b" ", text, flags=re.S).rstrip(b"\x1a")
    canonical = yield CANONICAL, text
    same(canonical, (yield CANONICAL, plain))


def operands_in_memory_both_ways(text):
    for passes in ("demo", "select,regalloc,demo"):
        portable = yield ("rewrite", "-p", passes), text
        extended = yield ("rewrite", "-p", passes, "--emit=extended"), text
        same(extended, (yield TO_EXTENDED, portable), "portable to extended")
        same(portable, (yield ("rewrite",), extended), "extended to portable")
        same(extended, (yield TO_EXTENDED, extended), "extended once more")
        same((yield ("strip",), portable), (yield ("strip",), extended), "stripped")
        heddle("check", "-", stdin=extended)
        if b"//@demo\n" in portable and b".loc" not in portable:
            expect(b"]:ld." in extended, "no operand stands in memory")


def canonical_with_annotations(text):
    annotated = yield ("rewrite", "--canonical", "-p", "bow"), text
    bow, extended = (yield BOW, text), (yield EXTENDED, text)
    the_same_tokens(text, without_section(annotated))
    same(annotated, (yield CANONICAL, bow), "from the annotated text")
    same(annotated, (yield CANONICAL, extended), "from the extended spelling")
    same(annotated, (yield CANONICAL, annotated), "once more")
    same((yield CANONICAL, text), (yield ("strip",), annotated), "stripped")


def canonical_extended(text):
    both = yield ("rewrite", "--canonical", "--emit=extended", "-p", "bow"), text
    same(both, (yield ("rewrite", "--canonical", "--emit=extended"), (yield EXTENDED, text)))
    same((yield CANONICAL, text), (yield ("strip",), both))


def threads_do_not_show(text):
    """Threads share the functions of one text that is alone, and comes from standard input."""
    bow, extended = (yield BOW, text), (yield EXTENDED, text)
    if len(re.findall(rb"^[^/\n]*\.(?:entry|func)\b", text, re.M)) > 1:
        for option in ("-j1", "-j2", "-j4"):
            same(bow, heddle("rewrite", option, "-p", "bow", "-", stdin=text), option)
        same(extended, heddle("rewrite", "-j4", "--emit=extended", "-p", "bow", "-", stdin=text), "extended")


def annotations_check_out(text):
    out = heddle("check", "-", stdin=(yield BOW, text))
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


def answer_all(arguments, texts, folder):
    """{text: what heddle makes of it, or the error}. One run for all; where that fails, one for each."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        paths = [write(os.path.join(place, "%d.ptx" % n), text) for n, text in enumerate(texts)]
        out = os.path.join(place, "out")
        os.mkdir(out)
        if run_heddle(*arguments, "-o", out + "/", *paths).status == 0:
            return {text: read(os.path.join(out, "%d.ptx" % n)) for n, text in enumerate(texts)}
        answers = {}
        for text, path in zip(texts, paths):
            alone = run_heddle(*arguments, path)
            why = Failed("heddle %s: exit %d: %s" % (" ".join(arguments), alone.status, alone.err.strip()[:300]))
            answers[text] = why if alone.status else alone.out
        return answers


def step(generator, answer):
    """(what it asks, None) or (None, why it failed or None)"""
    try:
        return (generator.throw(answer) if isinstance(answer, Exception) else generator.send(answer)), None
    except StopIteration:
        return None, None
    except (Failed, subprocess.TimeoutExpired, OSError, ValueError) as error:
        return None, error


def try_all(chosen, pool, folder):
    """{(property, name): why} of those that failed, of [(property, name, text)]."""
    running = [(check, name, check(text), None) for check, name, text in chosen]
    known, failed = {}, {}
    while running:
        asked = []
        for (check, name, generator, _), (question, why) in zip(running, pool.map(lambda r: step(r[2], r[3]), running)):
            if why:
                failed[check, name] = "%s: %s" % (name, why)
            if question:
                asked.append((check, name, generator, question))
        new = {}
        for arguments, text in (question for *_, question in asked):
            if (arguments, text) not in known:
                new.setdefault(arguments, {})[text] = None
        for arguments, answers in zip(new, pool.map(lambda item: answer_all(item[0], list(item[1]), folder), new.items())):
            known.update(((arguments, text), answer) for text, answer in answers.items())
        running = [(check, name, generator, known[question]) for check, name, generator, question in asked]
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
    chosen = [(check, name, text) for n, (name, text) in enumerate(texts)
              for check in (properties if original or FULL or (n + turn) % 3 == 0 else ALWAYS)]
    failed = try_all(chosen, pool, folder)
    for check in properties:
        why = [reason for (of, _), reason in failed.items() if of is check]
        count = sum(of is check for of, *_ in chosen)
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
    path = write(os.path.join(folder, name), data)
    cubin = assemble(ptxas, folder, "plain-" + name, data, architecture, options)
    forms = {"bow": heddle(*BOW, path), "no-section": heddle("rewrite", "-p", "bow", "--no-section", path),
             "canonical-bow": heddle("rewrite", "--canonical", "-p", "bow", path),
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
