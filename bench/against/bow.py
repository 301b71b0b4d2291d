"""BOW and BOW-WR."""
import re

from against import measure, text
from against.measure import accesses, average, change, energy, percent, replay, share

GPU = "--gpu=pascal-titan-x"
# [corf] chapter 3: a bank of 64 KB and the network between collectors; 4 schedulers issue 2 each a cycle of 1 GHz.
NETWORK_MW, ISSUED_A_CYCLE, CYCLE_NS = 33.2, 8, 1.0


def bypassed(examples, windows=(2, 3, 7)):
    return [percent(examples, share("bow-iw%d" % w, "rf_reads_eliminated", "operand_reads")) for w in windows]


def eliminated(examples, model="bow-wr-iw3"):
    return -percent(examples, lambda e: e[model]["rf_writes"] / e[model]["operand_writes"] - 1)


def written(examples):
    return [eliminated(examples, "bow-wr-iw%d" % w) for w in (2, 3)]


def classes(examples, model="bow-wr-iw3"):
    keys = ["destinations_" + c for c in ("rf", "boc", "both")]
    return [percent(examples, share(model, key, *keys)) for key in keys]


def classes_of_text():
    """Of 32-bit and of 64-bit destinations in the annotated text, the shares of the classes."""
    counts = {"R": {}, "RD": {}}
    for body in measure.annotated("select,regalloc,bow").values():
        for kind, tag in re.findall(r"^\s*(?:@!?%\w+ )?[a-z][\w.:]* %(RD|R)\d+[,|].*//@.*?\bbow (rf|boc|both)\b", body, re.M):
            counts[kind][tag] = counts[kind].get(tag, 0) + 1
    return [[100 * tags.get(t, 0) / max(1, sum(tags.values())) for t in ("rf", "boc", "both")] for tags in counts.values()]


def energies(page, at, tried):
    both = lambda examples, count: [percent(examples, change(m, count)) for m in ("bow-iw3", "bow-wr-iw3")]
    row = page.row("dynamic energy of the register file, BOW / BOW-WR, IW 3", [-36, -55], both(at, energy), at, signed=True)
    row.experiment("accesses of the register file alone, without those of the window", both(at, accesses))
    for what, examples in tried:
        row.experiment(what, both(examples, energy), examples)
    least = percent(at, lambda e: NETWORK_MW * CYCLE_NS / ISSUED_A_CYCLE * e["bow-iw3"]["issued"] / e["baseline"]["energy_pj"])
    row.note("Not charged: the network between the collectors, %g mW (the paper's overheads are 3 and 1.8 %% with it), as count mode has no time. At %d instructions"
             " a cycle of %g ns, the most that the schedulers issue, it is %.1f points; at half that rate twice as much. Nor is any leakage: 111.84 mW a bank of"
             " 64 KB, 1.11 mW a collector." % (NETWORK_MW, ISSUED_A_CYCLE, CYCLE_NS, least))


def rows(page, default, virtual, contracted):
    page.section("BOW, BOW-WR")
    far = replay("bow", GPU, files=measure.changed("select", text.spread), on="examples with readers as far from writers as stores, barriers and branches let them")
    row = page.row("reads bypassed, IW 2 / 3 / 7", [45, 59, "> 70"], bypassed(default), default)
    row.experiment("PTX's own registers and order", bypassed(virtual), virtual)
    row.note("In the text of nvcc's PTX, of a function's reads those whose register one of the last 1 / 2 / 6 instructions accesses, mean of %d functions: %.1f / %.1f / %.1f %%."
             % ((len(text.functions()),) + tuple(text.reads_in_window(w) for w in (2, 3, 7))))
    row = page.row("RF writes eliminated by BOW-WR, IW 2 / 3", [35, 52], written(default), default)
    tried = [("PTX's own registers", virtual), ("products and sums fused (the examples have -fmad=false)", contracted), ("readers as far from writers as blocks let them", far)]
    tried = [(what, examples) for what, examples in tried if examples]
    for what, examples in tried:
        row.experiment(what, written(examples), examples)
    row.experiment("write-back without the compiler's tags, IW 3: %.1f %%" % eliminated(default, "bow-wb-iw3"))
    row = page.row("destinations RF only / BOC only / both, IW 3", [21, 52, 27], classes(default), default)
    for what, examples in tried:
        row.experiment(what, classes(examples), examples)
    row.note("IW 3 bypasses %.1f %% of the reads in the last of these." % bypassed(far, (3,))[0])
    for what, found in zip(("32-bit destinations in the text", "64-bit destinations (mostly addresses) in the text"), classes_of_text()):
        row.experiment(what, found)
    energies(page, default, tried)
