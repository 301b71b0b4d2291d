"""RegMutex: extended sets, and table 4.1 by the pass and by a recount of the paper's rule."""
import functools
import os
import re

from against import measure
from against.measure import mean, percent, replay, share

GPU = "fermi-gtx480"
# [corf] table 4.1 of the RegMutex chapter: application, registers a thread, |Bs|; the second half on half a register file.
TABLE_4_1 = [("BFS", 21, 18), ("CUTCP", 25, 20), ("DWT2D", 44, 38), ("HotSpot3D", 32, 24), ("MRI-Q", 21, 18), ("ParticleFilter", 32, 20),
             ("RadixSort", 33, 30), ("SAD", 30, 20), ("Gaussian", 12, 8), ("HeartWall", 28, 20), ("LavaMD", 37, 28), ("MergeSort", 15, 12),
             ("MonteCarlo", 13, 12), ("SPMV", 16, 12), ("SRAD", 18, 12), ("TPACF", 28, 20)]
BLOCKS = [128, 192, 256, 384, 512, 768]
WARPS, CTAS, FILE = 48, 8, 1024


def values_at_once(count):
    """A kernel with so many values that live at once, and an address."""
    loads = "".join("ld.global.u32 %%r%d, [%%rd1+%d];\n" % (i, 4 * i) for i in range(count))
    sums = "".join("add.u32 %%r0, %%r0, %%r%d;\n" % i for i in range(1, count))
    path = os.path.join(measure.WORK, "values%d.ptx" % count)
    with open(path, "w", encoding="ascii") as file:
        file.write(".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<%d>;\n.reg .b64 %%rd<2>;\n"
                   "ld.param.u64 %%rd1, [p];\n%s%sst.global.u32 [%%rd1], %%r0;\nret;\n}\n" % (count + 1, loads, sums))
    return path


@functools.lru_cache(None)
def synthetic(registers):
    """A kernel that allocates so many registers."""
    paths = map(values_at_once, range(registers, 1, -1))
    return next(path for path in paths if measure.statistics("select,regalloc", path)["regalloc - general registers"] == registers)


def half_file():
    with open(os.path.join(measure.TOP, "target", "gpus", GPU + ".yaml"), encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(measure.WORK, "half.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(registers_per_(?:sm|cta): )%d" % (32 * FILE), r"\g<1>%d" % (16 * FILE), text))
    return path


def by_pass(registers, gpu, block):
    """|Bs|; all registers where no extended set is needed."""
    found = measure.statistics("select,regalloc,regmutex", synthetic(registers), "--gpu=" + gpu, "--block=%d" % block)
    return found.get("regmutex - base-set registers") or registers


def fours(registers):
    return (registers + 3) // 4 * 4


def resident(registers, file, warps):
    return min(CTAS, WARPS // warps, file // (warps * fours(registers))) * warps


def by_rule(fractions_of, all_registers, file, block):
    """|Bs| as section 4.3.1 has it, written down again: the extended set is a fraction of one count, the base set what is left of another."""
    warps, best = block // 32, None
    for extended in sorted({fractions_of * k // 20 for k in range(2, 8)}):
        if extended and extended % 2 == 0:
            base = all_registers - extended
            held = resident(base, file, warps)
            while held and file - held * base < extended:
                held -= warps
            sections = min(held, (file - held * base) // extended)
            if best is None or held > best[0] or held == best[0] and best[1] * 2 <= held and sections > best[1]:
                best = held, sections, base
    return best[2] if best and best[0] > resident(all_registers, file, warps) else all_registers


READINGS = [("rounded", lambda n: (fours(n), fours(n))), ("exact", lambda n: (n, n)), ("fractions of exact", lambda n: (n, fours(n)))]


def table_4_1(page):
    """Which of the table's base sets follow, in which reading of `registers`, and with CTAs of which sizes."""
    lines, counts, differ = [], {}, 0
    for place, (name, registers, paper) in enumerate(TABLE_4_1):
        file, gpu = (FILE, GPU) if place < 8 else (FILE // 2, half_file())
        passed = [by_pass(fours(registers), gpu, block) for block in BLOCKS]
        found = {text: [by_rule(*reading(registers), file, block) for block in BLOCKS] for text, reading in READINGS}
        differ += sum(a != b for a, b in zip(passed, found["rounded"]))
        found["rounded"] = passed
        follows = next((text for text, bases in found.items() if paper in bases), "*open*")
        counts[follows] = counts.get(follows, 0) + 1
        lines.append("| %s%s | %d (%d) | %d | %s | %s |" % (name, "" if place < 8 else ", half a file", registers, fours(registers), paper, " | ".join(
            ", ".join(map(str, bases)) for bases in [passed] + [found[text] for text, _ in READINGS[1:]]), follows))
    row = page.row("table 4.1: base sets that follow from the rule, with the count rounded to fours", [len(TABLE_4_1)], [counts.get("rounded", 0)],
                   measure.setting("`heddle rewrite -p select,regalloc,regmutex --gpu=fermi-gtx480 --block=N`, a kernel of so many registers"), unit="")
    exact = counts.get("rounded", 0) + counts.get("exact", 0)
    row.experiment("also those that follow with the table's own count, before it is rounded", [exact])
    row.experiment("also those whose extended set is a fraction of that count and whose base set is what is left of the rounded one", [exact + counts.get("fractions of exact", 0)])
    row.note("%d are *open*: the table below." % counts.get("*open*", 0))
    row.note("The rule written down again in the script differs from the pass in %d of %d cases. The paper does not give the CTAs' sizes: a base set follows where one of %s threads gives it."
             % (differ, len(TABLE_4_1) * len(BLOCKS), ", ".join(map(str, BLOCKS))))
    page.finish()
    page.say("\n| application | registers (rounded) | paper | the pass, CTAs of %s threads | before rounding | fractions of the exact count | follows |\n"
             "| --- | ---: | ---: | --- | --- | --- | --- |\n%s" % (" / ".join(map(str, BLOCKS)), "\n".join(lines)))


def rows(page):
    at = replay("regmutex", "--gpu=" + GPU)
    page.section("RegMutex")
    users = {name for name, models in at.items() if models.get("regmutex", {}).get("acquires")}
    page.row("examples that need an extended set", [None], [len(users)], at, unit="").note(", ".join(sorted(users)))
    page.row("resident warps of those: without / with", [None, None], [mean(at, lambda e, k=k: e["regmutex"][k], users) for k in ("resident_warps_without", "resident_warps")], at, unit="")
    page.row("acquires that did not have to wait: RegMutex / paired warps", [None, None],
             [percent(at, share(m, "acquires_at_once", "acquires"), users) for m in ("regmutex", "regmutex-paired")], at)
    table_4_1(page)
