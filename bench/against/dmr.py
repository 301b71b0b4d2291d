"""Warped-DMR on its paper's machine beside the paper: coverage, cycles, energy of the units, and what its motivation is drawn from (active
threads, types of instructions, how far readers are from writers), from the timeline of one SM."""
import functools
import json
import os
import re
import tempfile

from against import cycles, measure
from against.measure import ADDRESSES, average

GPU = "fermi-warped-dmr"
# Table 4.4, by the names that they have here.
PAPER = ("bfs", "matrixMul", "gaussian", "vectorAdd", "dct8x8", "reduction", "backprop", "hotspot", "mummer")
MODELS = ("warped-dmr", "warped-dmr-enhanced")
COVERAGE = ("warped-dmr-inorder", "warped-dmr-8", *MODELS)
ARITHMETIC = ("int_add", "int_mad", "fp_add", "fp_mul", "fp_mad")
SFU = re.compile(r"(sin|cos|ex2|lg2|rcp|sqrt|rsqrt|tanh)\b.*f32")
LDST = re.compile(r"(ld|ldu|st|atom|red|cp|prefetch|prefetchu|membar|fence|tex|tld4|suld|sust|ldmatrix)\b")
CONTROL = re.compile(r"(bra|brx|ret|exit|bar|barrier|call|trap|mma|wmma|nanosleep)\b")


def names():
    """Of the paper's applications, those of this run; if there are none, all of this run."""
    return tuple(name for name in PAPER if name in measure.SOURCES) or tuple(measure.SOURCES)


def of(name, function):
    """Of an application, which may be none of this run."""
    return function(name) if name in measure.SOURCES else float("nan")


def timed(technique, *options):
    return cycles.timed(GPU, technique, *options, only=names())


@functools.lru_cache(None)
def counted(technique, only=None):
    """By example and model: the counters of all its launches, added up, in count mode."""
    done = measure.heddle("replay", "-j2", "--no-compare", "--gpu=" + GPU, "--technique=" + technique, "--format=json",
                          *(file for name, file in measure.SOURCES.items() if only is None or name in only))
    examples = measure.Examples()
    for kernel in json.loads(done.stdout)["kernels"]:
        models = examples.setdefault(os.path.basename(os.path.dirname(kernel["launch"]["file"])), {})
        for result in kernel["results"]:
            total = models.setdefault(result["model"], {})
            for key in ("lane_operations", "lane_operations_verified", "lane_operations_redundant"):
                total[key] = total.get(key, 0) + result[key]
    examples.setting = measure.setting("`heddle replay --no-compare --gpu=%s --technique='%s'`, %s" % (
        GPU, technique, "the paper's applications" if only else "the examples"))
    return examples


def coverage(at, model):
    return {name: 100 * models[model]["lane_operations_verified"] / models[model]["lane_operations"]
            for name, models in at.items() if models[model]["lane_operations"]}


# ---- what the timeline of an SM shows -----------------------------------------------------------------------------------

def kind(text):
    return "LD/ST" if LDST.match(text) else None if CONTROL.match(text) else "SFU" if SFU.match(text) else "SP"


@functools.lru_cache(None)
def issued(name):
    """Of SM 0, by launch: (cycle, opcode, threads, warp, line) of each instruction, for 100,000 cycles at most."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "timeline.json")
        measure.heddle("replay", "-j2", "--time", "--no-compare", "--gpu=" + GPU, "--technique=baseline", "--timeline=" + path, "--timeline-cycles=0:100000",
                       "-o", os.devnull, measure.SOURCES[name])
        if not os.path.exists(path):
            return []
        with open(path, encoding="ascii") as file:
            events = json.load(file)["traceEvents"]
    launches = {}
    for event in events:
        if event.get("cat") == "issue":
            args = event["args"]
            launches.setdefault(event["pid"], []).append((event["ts"], event["name"], args["threads"], args["warp"], args.get("line")))
    return [sorted(launch) for launch in launches.values()]


def issued_in(name):
    return [issue for launch in issued(name) for issue in launch]


def one_thread(name):
    all_of = issued_in(name)
    return 100 * sum(threads == 1 for _, _, threads, _, _ in all_of) / len(all_of)


def shares(name):
    kinds = [kind(text) for _, text, _, _, _ in issued_in(name)]
    kinds = [k for k in kinds if k]
    return [100 * kinds.count(k) / len(kinds) for k in ("SP", "SFU", "LD/ST")]


def runs(name):
    """How many instructions of a type follow each other, on average."""
    lengths = []
    for launch in issued(name):
        last = None
        for _, text, _, _, _ in launch:
            now = kind(text)
            if now and now == last:
                lengths[-1] += 1
            elif now:
                lengths.append(1)
            last = now or last
    return average(lengths)


def accesses_by_line(name):
    """Registers that the instructions of a line read and write, in nvcc's PTX. Predicates are not registers."""
    functions = json.loads(measure.heddle("dump", "--ir", "--json", measure.MODULES[name]).stdout)["functions"]
    found = {}
    for number, function in enumerate(functions):
        wide = [r["type"] != "pred" for r in function["registers"]]
        for i in function["instructions"]:
            found.setdefault(i["line"], []).append(([(number, r) for r in i["reads"] if wide[r]], [(number, r) for r in i["writes"] if wide[r]]))
    return found


def distances(name):
    """Cycles from a write of a register to each read of it, of the first warp of the SM."""
    lines, found = accesses_by_line(name), []
    for launch in issued(name):
        written, first = {}, min((warp for _, _, _, warp, _ in launch), default=0)
        for cycle, _, _, warp, line in launch:
            for reads, writes in lines.get(line, []) if warp == first else []:
                found += [cycle - written[r] for r in reads if r in written]
                written.update({r: cycle for r in writes})
    return found


def motivation(page):
    where = measure.setting("`heddle replay --time --gpu=%s --technique=baseline --timeline=... --timeline-cycles=0:100000`, the paper's applications" % GPU)
    row = page.row("figure 4.1: instructions of bfs with one active thread", ["> 40"], [of("bfs", one_thread)], where)
    row.note("In the others: " + ", ".join("%s %.0f %%" % (n, one_thread(n)) for n in names() if n != "bfs") + ".")
    row = page.row("figure 4.4: instructions of SP / SFU / LD/ST", [None, None, None], [average(shares(n)[k] for n in names()) for k in range(3)], where)
    row.note("; ".join("%s %.0f / %.0f / %.0f" % (n, *shares(n)) for n in names()))
    lengths = {n: runs(n) for n in names()}
    row = page.row("figure 4.7 (a): instructions of a type in a row: median, longest mean of an application", [(0, 6), (0, 20)],
                   [sorted(lengths.values())[len(lengths) // 2], max(lengths.values())], where, unit="")
    row.note(", ".join("%s %.1f" % (n, lengths[n]) for n in names()))
    far = {n: sorted(distances(n)) for n in names()}
    every = [d for n in far for d in far[n]]
    row = page.row("figure 4.7 (b): cycles from a write to its read of at least 8; of more than 100", [100.0, 50.0],
                   [100 * sum(d >= 8 for d in every) / len(every), 100 * sum(d > 100 for d in every) / len(every)], where)
    row.note("Shortest: " + ", ".join("%s %d" % (n, far[n][0]) for n in names() if far[n]) + ". An instruction reads its operands in 2 cycles here, and a move has its result "
             "after 1 and an addition after 4; the paper's pipeline has 3 stages for reading, and 1 to 4 for units.")
    row.experiment("of at least 6, with an addition between", [100 * sum(d >= 6 for d in every) / len(every), 100 * sum(d > 100 for d in every) / len(every)])


# ---- the technique ------------------------------------------------------------------------------------------------------

def covered(page):
    which = COVERAGE
    at, everything = counted(",".join(which), names()), counted(",".join(which))
    row = page.row("figure 4.8 (a): coverage, 8 lanes / 4 lanes, cross mapping / enhanced", [91.91, 93.87, 100.0], [average(coverage(at, m).values()) for m in which[1:]], at)
    row.note("4 lanes in order: %.1f %%; the paper draws it, and says that cross mapping is 9.6 points better, here %.1f." % (
        average(coverage(at, which[0]).values()), average(coverage(at, which[2]).values()) - average(coverage(at, which[0]).values())))
    row.note("cross mapping: " + ", ".join("%s %.1f" % (n, v) for n, v in coverage(at, "warped-dmr").items()))
    row.experiment("all examples, instead of the paper's applications", [average(coverage(everything, m).values()) for m in which[1:]], everything)
    page.row("coverage of hotspot, cross mapping", [70.0], [of("hotspot", coverage(at, "warped-dmr").get)], at)
    page.row("coverage, overall", [96.43], [average(coverage(at, "warped-dmr").values())], at).note("The paper's summary has another number than its figure 4.8 (a).")


def queue(page):
    at = timed(",".join(MODELS))
    row = page.row("figures 4.8 (b), 4.9: cycles with 10 entries / enhanced", [8.0, 11.0], [cycles.change(at, m, "cycles") for m in MODELS], at, signed=True)
    for model in MODELS:
        changed = cycles.changes(at, model, "cycles")
        row.note(model + ": " + ", ".join("%s %+.1f" % (n, v) for n, v in changed.items()))
    for text, options in (("one SM, which takes all thread blocks", ("--sms=1",)), ("addresses of 32 bits, as in the paper's PTX", (ADDRESSES,)),
                          ("simple arithmetic with results after 1 cycle", tuple("--set=timing.operations.%s=[1,1]" % o for o in ARITHMETIC))):
        other = timed(",".join(MODELS), *options)
        row.experiment(text, [cycles.change(other, m, "cycles") for m in MODELS], other)
    page.row("worst of the applications, 10 entries", [16.0], [max(cycles.changes(at, "warped-dmr", "cycles").values())], at, signed=True).note(
        "The paper's text has 16 %, and 18 % for MatrixMul.")
    matrix(page)


def matrix(page):
    models = ("warped-dmr(entries=1)", "warped-dmr(entries=5)", "warped-dmr")
    run = lambda *options: cycles.timed(GPU, ",".join(models), *options, only=("matrixMul",) if "matrixMul" in measure.SOURCES else names())
    change = lambda where, model: of("matrixMul", cycles.changes(where, model, "cycles").get)
    at = run()
    row = page.row("cycles of MatrixMul with 1 / 10 entries", [70.0, 18.0], [change(at, m) for m in (models[0], models[2])], at, signed=True)
    row.note("With 5 entries: %+.1f %%." % change(at, models[1]))
    for text, options in (("one SM, which takes all thread blocks", ("--sms=1",)),
                          ("one SM, and simple arithmetic with results after 1 cycle", ("--sms=1", *("--set=timing.operations.%s=[1,1]" % o for o in ARITHMETIC)))):
        other = run(*options)
        row.experiment(text, [change(other, m) for m in (models[0], models[2])], other)


def energy(page):
    at = counted(",".join(COVERAGE), names())
    more = lambda model: average(100 * models[model]["lane_operations_redundant"] / models[model]["lane_operations"] for models in at.values())
    page.row("figure 4.10: energy of the execution units, Warped-DMR / enhanced: about twice", [100.0, None], [more(m) for m in MODELS], at, signed=True).note(
        "One active thread of a cluster is repeated by three idle lanes.")
    clocked = timed(",".join(MODELS))
    row = page.row("energy of the register file and of what the technique adds, Warped-DMR / enhanced", [None, None], [cycles.whole(clocked, m) for m in MODELS], clocked, signed=True)
    row.note("The paper has +12 % of the energy of the whole device, which is not modelled.")


def rows(page):
    motivation(page)
    covered(page)
    queue(page)
    energy(page)
