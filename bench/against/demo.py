"""DeMO: operands in memory, and the registers that they save."""
import re

from against import measure
from against.measure import average, mean, percent, replay, share, statistics

GPU = "--gpu=turing-rtx2060"
# [demo] the author's data: distinct registers of the PTX before and after, by kernel; ours after the same algorithm.
REGISTERS = [("hotspot", "hotspot", "hotspot", 151, 144), ("nw", "needle", "needleGrow", 416, 288), ("nn", "nn", "distances", 74, 72)]


def of_suites():
    """The examples after algorithms of the suites that the paper evaluates."""
    with open(measure.os.path.join(measure.TOP, "examples", "README.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` .*\| ([^|]*) \|$", file.read(), re.M)
    return {name for name, by in rows if re.search(r"Rodinia|Parboil|PolyBench|Lonestar", by)} & set(measure.SOURCES)


def saved(page):
    at = measure.setting("`heddle rewrite -p demo --kernel=NAME --stats`, nvcc's PTX")
    numbers = lambda passes: [tuple(statistics(passes, example, "--kernel=" + kernel).get("demo - distinct registers " + when, 0) for when in ("before", "after"))
                              for _, example, kernel, _, _ in REGISTERS]
    parts = lambda pairs: [100.0 * after / max(1, before) - 100 for before, after in pairs]
    ours = numbers("demo")
    row = page.row("distinct registers of the PTX: %s" % " / ".join(work for work, *_ in REGISTERS), parts([r[3:] for r in REGISTERS]), parts(ours), at, signed=True)
    row.experiment("one operand in memory an instruction", parts(numbers("demo(operands=1)")))
    row.note("The author's data beside ours after the same algorithm, which is another text: %s." % "; ".join(
        "%s %d to %d, `%s` of `examples/%s` %d to %d" % ((work, before, after, kernel, example) + pair) for (work, example, kernel, before, after), pair in zip(REGISTERS, ours)))
    plain = measure.each(lambda name: statistics("select,regalloc", name))
    first = measure.each(lambda name: statistics("select,demo,regalloc", name))
    of_first = lambda what: average(100 * s["demo - %s after" % what] / s["demo - %s before" % what] - 100 for s in first.values() if s.get("demo - %s before" % what))
    key = "regalloc - general registers"
    allocated = average(100 * first[name][key] / plain[name][key] - 100 for name in first if plain[name].get(key) and first[name].get(key))
    page.row("before allocation: distinct registers / maximum register pressure / allocated registers", [None] * 3,
             [of_first("distinct registers"), of_first("maximum register pressure"), allocated],
             measure.setting("`heddle rewrite -p select,demo,regalloc --stats`, and without `demo`, the examples"), signed=True)


def single_use(page, at, virtual, contracted, suites):
    single = share("demo", "single_use_accesses", "operand_reads", "operand_writes")
    row = page.row("accesses of the register file that are of single-use loads", [26], [percent(at, single)], at)
    row.experiment("PTX's own registers and order", [percent(virtual, single)], virtual)
    if contracted:
        row.experiment("products and sums fused", [percent(contracted, single)], contracted)
    row.experiment("the %d examples after algorithms of the paper's suites" % len(suites), [percent(at, single, suites)])
    row.experiment("the %d others" % (len(at) - len(suites)), [percent(at, single, set(at) - suites)])
    row.note("An instruction has %.2f operands and results on average, of them %.2f of such loads." % (
        mean(at, lambda e: (e["demo"]["operand_reads"] + e["demo"]["operand_writes"]) / e["demo"]["issued"]), mean(at, share("demo", "single_use_accesses", "issued"))))


def in_text(word):
    """Percent of the single-use loads of an example's text that are read so, mean over examples."""
    kinds = [{key: n for key, n in found.items() if key.startswith("single-use, read")} for found in measure.all_passes("fermi-gtx480")["demo"].values()]
    return average(100 * sum(n for key, n in found.items() if word in key) / sum(found.values()) for found in kinds if sum(found.values()))


def rows(page):
    at, virtual = replay("demo", GPU), replay("demo", GPU, "--virtual")
    files = measure.fused()
    contracted = replay("demo", GPU, files=files, on=measure.FUSED) if files else None
    suites = of_suites()
    page.section("DeMO")
    single_use(page, at, virtual, contracted, suites)
    for text, paper, key, word in (("feed arithmetic", "> 50", "by_arithmetic", "arithmetic"), ("are stored (copies)", 26, "stored", "by a store")):
        of_accesses = share("demo", "single_use_" + key, "single_use_accesses")
        row = page.row("single-use loads, as executed, that " + text, [paper], [percent(at, of_accesses)], at)
        row.experiment("counted in the text", [in_text(word)])
        row.experiment("executed, PTX's own registers and order", [percent(virtual, of_accesses)], virtual)
        row.experiment("examples after algorithms of the paper's suites", [percent(at, of_accesses, suites)])
    saved(page)
