"""Annotated texts that somebody changed: conflicts, damaged sections, stale annotations."""
import os
import re

from support import TOP, expect, heddle, read, run, same

KERNEL = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %r<4>;
	ld.param.u64 %r1, [p];
	cvta.to.global.u64 %r2, %r1;
	add.s64 %r3, %r2, 8;
	st.global.u64 [%r3], %r2;
	ret;
}
"""
SECOND = KERNEL[KERNEL.index(b".visible"):].replace(b"k(.param .u64 p)", b"second(.param .u64 q)").replace(b"[p]", b"[q]")


def annotated(source=KERNEL):
    return heddle("rewrite", "-p", "bow", "-", stdin=source)


def refused(slug, text, *options):
    result = run("rewrite", *options, "-", stdin=text)
    expect(result.status == 1 and result.out == b"", "exit %d, %d bytes written", result.status, len(result.out))
    expect("[%s]" % slug in result.err, "no [%s] in %s", slug, result.err[:300])


def change_byte(text, index, change):
    """The text with one of the section's numbers changed."""
    head, section = text.split(b".section .heddle")
    numbers = list(re.finditer(rb"\d+(?=[,\n])", section[section.index(b".b8") + 3:]))
    at = section.index(b".b8") + 3
    number = numbers[index]
    new = b"%d" % change(int(number.group()))
    return head + b".section .heddle" + section[:at + number.start()] + new + section[at + number.end():]


def case_any_changed_byte_of_the_section_is_noticed(folder):
    text = annotated()
    count = sum(line.count(b",") + 1 for line in text.split(b"\n") if line.startswith(b".b8"))
    for index in range(count):
        result = run("rewrite", "-", stdin=change_byte(text, index, lambda byte: byte ^ 1))
        expect(result.status == 1 and re.search(r"\[(annotation-checksum|annotation-version|bad-annotation)\]", result.err),
               "byte %d of %d: exit %d: %s", index, count, result.status, result.err[:200])


def case_a_wrong_checksum(folder):
    refused("annotation-checksum", change_byte(annotated(), -1, lambda byte: byte ^ 1))


def case_a_major_version_of_the_future(folder):
    refused("annotation-version", change_byte(annotated(), 4, lambda byte: 2))


def case_two_sections(folder):
    text = annotated()
    refused("bad-annotation", text + text[text.index(b".section"):])


def case_comments_against_section(folder):
    text = annotated()
    other = {b"boc": b"rf", b"rf": b"boc", b"both": b"rf"}
    first = re.search(rb"//@bow (\w+)", text)
    changed = text[:first.start(1)] + other[first.group(1)] + text[first.end(1):]
    refused("annotation-conflict", changed)
    same(KERNEL, heddle("strip", "-", stdin=changed), "strip takes out what contradicts itself, too")


def case_one_comment_is_missing(folder):
    refused("annotation-conflict", re.sub(rb" //@bow \w+", b"", annotated(), count=1))


def case_stale_annotations(folder):
    stale = annotated().replace(b"%r2, 8;", b"%r2, 16;")
    refused("stale-annotation", stale)
    same(KERNEL.replace(b"%r2, 8;", b"%r2, 16;"), heddle("strip", "-", stdin=stale))
    result = run("rewrite", "--drop-stale", "-", stdin=stale)
    expect(result.status == 0 and "warning: " in result.err and "[stale-dropped]" in result.err, "exit %d: %s", result.status, result.err)
    same(KERNEL.replace(b"%r2, 8;", b"%r2, 16;"), result.out)
    refused("stale-dropped", stale, "--drop-stale", "-Werror")
    same(annotated(KERNEL.replace(b"%r2, 8;", b"%r2, 16;")), heddle("rewrite", "--drop-stale", "-p", "bow", "-", stdin=stale))


def case_code_that_changes_behind_annotations(folder):
    """What techniques said goes, with a warning, where a later command changes the function; elsewhere it stays."""
    untouched = SECOND.replace(b"cvta.to.global.u64 %r2, %r1", b"add.s64 %r2, %r1, 4")
    for technique in "bow", "release(table=65536)", "ltrf(dead)", "corf":
        text = heddle("rewrite", "-p", technique, "-", stdin=KERNEL + untouched)
        result = run("rewrite", "-p", "cvta,copyprop,dce", "-", stdin=text)
        expect(result.status == 0 and result.err.count("[stale-dropped]") == 1 and "annotations of 'k' dropped (%s): " % technique.split("(")[0] in result.err,
               "%s", result.err)
        at = b".visible .entry second"
        same(heddle("rewrite", "-p", "cvta,copyprop,dce", "-", stdin=KERNEL), result.out[:result.out.index(at)])
        same(text[text.index(at):text.index(b".section")], result.out[result.out.index(at):result.out.index(b".section")])
        checked = run("check", "-", stdin=result.out)
        expect(checked.status == 0, "%s", checked.err)


def case_passes_that_do_not_go_with_annotations(folder):
    """As in one list: what brought the annotations comes before the passes."""
    plain = KERNEL + SECOND
    for technique, then, says in (("corf", "corf++", "both decide where"), ("corf++", "bow,corf", "both decide where")):
        text = heddle("rewrite", "-p", technique, "-", stdin=plain)
        result = run("rewrite", "-p", then, "-", stdin=text)
        expect(result.status == 1 and not result.out and result.err.count("[clashing-pass]") == 2, "exit %d: %s", result.status, result.err)
        expect("the annotations of '%s' that 'k' has: %s" % (technique, says) in result.err, "%s", result.err)
        expect(heddle("rewrite", "-p", "bow", "-", stdin=text).count(b"bow_window") == 2, "what goes with it does not run")
        expect(b"corf" in heddle("rewrite", "-p", then, "-", stdin=heddle("strip", "-", stdin=text)), "not without them")
        same(text, heddle("rewrite", "-p", technique, "-", stdin=text), "the same once more")
        anew = run("rewrite", "-p", "regalloc," + then, "-", stdin=text)
        expect(anew.status == 0 and anew.err.count("[stale-dropped]") == 2, "what an allocation drops still clashes: %s", anew.err)
        one = run("rewrite", "-p", then, "--kernel=k", "-", stdin=heddle("rewrite", "-p", technique, "--kernel=second", "-", stdin=plain))
        expect(one.status == 0, "another function's annotations: %s", one.err)


def case_regmutex_and_what_comes_behind(folder):
    """Techniques that change code drop what others said of it, with a warning; none follows an extended set that it does not know."""
    source = read(os.path.join(TOP, "examples/dxtc/dxtc.ptx"))
    machine = ("--gpu=sm_90", "--block=1024")
    allocated = heddle("rewrite", "-p", "select,regalloc", "-", stdin=source)
    sets = heddle("rewrite", "-p", "regmutex", *machine, "-", stdin=allocated)
    expect(b"regmutex" in sets, "no extended set is needed")
    for then in "demo", "release", "ltrf", "corf", "corf++", "bow,demo":
        result = run("rewrite", "-p", then, *machine, "-", stdin=sets)
        expect(result.status in (1, 2) and not result.out, "%s behind regmutex: exit %d", then, result.status)
    heddle("rewrite", "-p", "bow", *machine, "-", stdin=sets)
    tagged = heddle("rewrite", "-p", "ltrf(dead),corf,release,bow", *machine, "-", stdin=allocated)
    for then in "demo", "regmutex", "regalloc":
        result = run("rewrite", "-p", then, *machine, "-", stdin=tagged)
        expect(result.status == 0 and "dropped (bow, ltrf, corf, release): '%s' changed" % then in result.err, "%s", result.err)
        same(heddle("rewrite", "-p", then, *machine, "-", stdin=allocated), result.out)


def case_only_the_changed_function_is_stale(folder):
    text = annotated(KERNEL + SECOND)
    at = text.index(b"second")
    stale = text[:at] + text[at:].replace(b"%r2, 8;", b"%r2, 16;")
    refused("stale-annotation", stale)
    kept = heddle("rewrite", "--drop-stale", "-", stdin=stale)
    expect(kept.count(b"bow_window") == 1 and kept.index(b"bow_window") < kept.index(b"second"), "%r", kept)
    same(annotated(KERNEL) [:annotated(KERNEL).index(b".section")], kept[:kept.index(b".visible .entry second")])
    same(kept, heddle("rewrite", "-", stdin=kept), "what is left is good")


def case_a_function_that_went_away(folder):
    text = annotated(KERNEL + SECOND)
    begin = text.index(b".visible .entry second")
    gone = text[:begin] + text[text.index(b".section"):]
    refused("stale-annotation", gone)
    expect(b"bow_window" in heddle("rewrite", "--drop-stale", "-", stdin=gone), "the other function lost its annotations")


def case_comments_alone_are_never_stale(folder):
    text = annotated()
    alone = text[:text.index(b"\n.section")].replace(b"%r2, 8;", b"%r2, 16;") + b"\n"
    same(alone, heddle("rewrite", "-", stdin=alone))


def case_comments_and_debug_lines_are_not_stale(folder):
    """What the hash leaves out may change: comments, spacing, .loc, .file."""
    text = annotated()
    moved = text.replace(b"\tst.global", b"\t// a comment\n\t.loc 1 2 3\n\t  st.global").replace(b".section", b".file 1 \"x.cu\"\n.section")
    same(moved, heddle("rewrite", "-", stdin=moved))


def case_unknown_annotations_stay(folder):
    text = KERNEL.replace(b"ret;", b"ret; //@other_tool 5")
    result = run("rewrite", "-", stdin=text)
    expect(result.status == 0 and "[unknown-annotation]" in result.err, "exit %d: %s", result.status, result.err)
    same(text, result.out)
    same(text, heddle("strip", "-", stdin=heddle("rewrite", "-p", "bow", "-", stdin=text)))


def case_misplaced_annotations(folder):
    result = run("rewrite", "-", stdin=KERNEL.replace(b"\tret;", b"//@bow rf\n\tret;"))
    expect(result.status == 0 and "[misplaced-annotation]" in result.err, "exit %d: %s", result.status, result.err)


def case_bad_annotations(folder):
    for bad in (b"bow", b"bow nowhere", b"bow rf,rf", b"bow rf;bow boc", b"bow_window 3", b"bow rf rf"):
        refused("bad-annotation", KERNEL.replace(b"%r2, 8;", b"%r2, 8; //@" + bad))
