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
# Those that their kernels there have: ours build data on the GPU, too, or compute the same in other ways.
KERNELS = (("bfs", ("expand", "settle")), ("matrixMul", ("matrixMul",)), ("gaussian", ("Fan1", "Fan2")), ("mummer", ("match",)),
           ("backprop", ("layerForward", "adjustWeights")), ("reduction", ("reducePartial", "reduceFinal")))
MODELS = ("warped-dmr", "warped-dmr-enhanced")
COVERAGE = ("warped-dmr-inorder", "warped-dmr-8", *MODELS)
ARITHMETIC = ("int_add", "int_mad", "fp_add", "fp_mul", "fp_mad")
SFU = re.compile(r"(sin|cos|ex2|lg2|rcp|sqrt|rsqrt|tanh)\b.*f32")
TIMELINE = "`heddle replay --time --gpu=%s --technique=baseline --timeline=... --timeline-cycles=0:100000%s`, the paper's applications"
LRR = "--set=timing.core.policy=lrr"
FEWER = "those kernels that the paper's have"
LDST = re.compile(r"(ld|ldu|st|atom|red|cp|prefetch|prefetchu|membar|fence|tex|tld4|suld|sust|ldmatrix)\b")
CONTROL = re.compile(r"(bra|brx|ret|exit|bar|barrier|call|trap|mma|wmma|nanosleep)\b")


def names():
    """Of the paper's applications, those of this run; if there are none, all of this run."""
    return tuple(name for name in PAPER if name in measure.SOURCES) or tuple(measure.SOURCES)


def of(name, function):
    """Of an application, which may be none of this run."""
    return function(name) if name in measure.SOURCES else float("nan")


def timed(technique, *options, kernels=()):
    return cycles.timed(GPU, technique, *options, only=names(), kernels=kernels)


@functools.lru_cache(None)
def counted(technique, only=None, kernels=()):
    """By example and model: the counters of all its launches, added up, in count mode. kernels: as of cycles.timed."""
    examples = measure.added_up(("--no-compare", "--gpu=" + GPU, "--technique=" + technique), cycles.of_examples(only), kernels)
    examples.setting = measure.setting("`heddle replay --no-compare --gpu=%s --technique='%s'`, %s%s" % (
        GPU, technique, "the paper's applications" if only else "the examples", ", " + FEWER if kernels else ""))
    return examples


def coverage(at, model, verified="lane_operations_verified", of_all="lane_operations"):
    return {name: 100 * models[model][verified] / models[model][of_all] for name, models in at.items() if models[model][of_all]}


def whole_coverage(at, model):
    """Of instructions: one counts where all its active threads are verified."""
    return coverage(at, model, "instructions_verified", "instructions_to_verify")


# ---- what the timeline of an SM shows -----------------------------------------------------------------------------------

def kind(text):
    return "LD/ST" if LDST.match(text) else None if CONTROL.match(text) else "SFU" if SFU.match(text) else "SP"


@functools.lru_cache(None)
def issued(name, *options):
    """Of SM 0, by launch: (cycle, opcode, threads, warp, line) of each instruction, for 100,000 cycles at most. name: or a launch file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "timeline.json")
        measure.heddle("replay", "-j2", "--time", "--no-compare", "--gpu=" + GPU, "--technique=baseline", "--timeline=" + path, "--timeline-cycles=0:100000",
                       *options, "-o", os.devnull, measure.SOURCES.get(name, name))
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


def one_thread_cycles(name):
    """Of the cycles from each issue to the next, those after an instruction with one active thread."""
    one = every = 0
    for launch in issued(name):
        for (cycle, _, threads, _, _), (after, *_) in zip(launch, launch[1:]):
            every += after - cycle
            one += (after - cycle) * (threads == 1)
    return 100 * one / every


def graph(nodes):
    """A launch file of bfs with so many nodes, in thread blocks as in the example, with degrees as there."""
    count, byte, grid = "type: s32, count: %d", "type: u8, count: %d" % nodes, "%d" % (nodes // 128)
    buffers = {"DEGREE": count % nodes + ", fill: {uniform: [0, 8], seed: 31}", "EDGES": count % (8 * nodes) + ", fill: {uniform: [0, %d], seed: 32}" % nodes,
               "NODES": count % (2 * nodes), "FRONTIER": byte, "UPDATING": byte, "VISITED": byte, "COST": count % nodes, "AGAIN": "type: u32, count: 1"}
    start = ("start", grid, "128", "FRONTIER, VISITED, COST, NODES, DEGREE, {s32: 8}, {s32: 3}, {s32: %d}" % nodes)
    level = """  - until: {buffer: AGAIN, index: 0, equals: 0, at_most: 100}
    steps:
      - {set: AGAIN}
      - {kernel: expand, grid: %s, block: 128, params: [NODES, EDGES, FRONTIER, UPDATING, VISITED, COST, {s32: %d}]}
      - {kernel: settle, grid: %s, block: 128, params: [FRONTIER, UPDATING, VISITED, AGAIN, {s32: %d}]}
""" % (grid, nodes, grid, nodes)
    return measure.launch_file("bfs-%d" % nodes, measure.MODULES["bfs"], buffers, [start, level])


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


def distances(name, *options):
    """Cycles from a write of a register to each read of it, of the first warp of the SM."""
    lines, found = accesses_by_line(name), []
    for launch in issued(name, *options):
        written, first = {}, min((warp for _, _, _, warp, _ in launch), default=0)
        for cycle, _, _, warp, line in launch:
            for reads, writes in lines.get(line, []) if warp == first else []:
                found += [cycle - written[r] for r in reads if r in written]
                written.update({r: cycle for r in writes})
    return found


def motivation(page):
    where = measure.setting(TIMELINE % (GPU, ""))
    row = page.row("figure 4.1: instructions of bfs with one active thread", ["> 40"], [of("bfs", one_thread)], where)
    if "bfs" in measure.SOURCES:
        large = graph(65536)
        row.experiment("65,536 nodes, as in table 4.4", [one_thread(large)])
        row.experiment("of the cycles from each issue to the next, as the figure's title has it, instead of the instructions: %.1f %%" % one_thread_cycles("bfs"))
        row.experiment("of those cycles, with 65,536 nodes", [one_thread_cycles(large)])
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
    deep = [d for n in names() for d in distances(n, "--set=timing.core.bank_latency=2", "--set=timing.operations.move=[4,1]")]
    row.experiment("operands read in 3 cycles, as the paper's pipeline has it, and moves with results after 4, as additions", [
        100 * sum(d >= 8 for d in deep) / len(deep), 100 * sum(d > 100 for d in deep) / len(deep)],
        measure.setting(TIMELINE % (GPU, " --set=timing.core.bank_latency=2 --set=timing.operations.move=[4,1]")))


# ---- the technique ------------------------------------------------------------------------------------------------------

def covered(page):
    which = COVERAGE
    at = counted(",".join(which), names())
    row = page.row("figure 4.8 (a): coverage, 8 lanes / 4 lanes, cross mapping / enhanced", [91.91, 93.87, 100.0], [average(coverage(at, m).values()) for m in which[1:]], at)
    row.note("4 lanes in order: %.1f %%; the paper draws it, and says that cross mapping is 9.6 points better, here %.1f." % (
        average(coverage(at, which[0]).values()), average(coverage(at, which[2]).values()) - average(coverage(at, which[0]).values())))
    row.note("cross mapping: " + ", ".join("%s %.1f" % (n, v) for n, v in coverage(at, "warped-dmr").items()))
    few = counted(",".join(which), names(), KERNELS)
    row.experiment(FEWER + ", and of the instructions, as the figure's caption has it: those whose active threads are all verified",
                   [average(whole_coverage(few, m).values()) for m in which[1:]], few)
    inorder = average(whole_coverage(few, which[0]).values())
    row.note("There: 4 lanes in order %.1f %%, cross mapping %.1f points better." % (inorder, average(whole_coverage(few, which[2]).values()) - inorder))
    row = page.row("coverage of hotspot, cross mapping", [70.0], [of("hotspot", coverage(at, "warped-dmr").get)], at)
    row.experiment("of the instructions, as the figure's caption has it: those whose active threads are all verified", [of("hotspot", whole_coverage(at, "warped-dmr").get)], at)
    for cells in (512,) if "hotspot" in measure.SOURCES else ():
        large = stencil(cells)
        row.experiment("the same, %d x %d cells, as in table 4.4" % (cells, cells), [whole_coverage(large, "warped-dmr")["hotspot"]], large)
    row = page.row("coverage, overall", [96.43], [average(coverage(at, "warped-dmr").values())], at)
    row.experiment("of the instructions, as above", [average(whole_coverage(at, "warped-dmr").values())], at)
    row.note("The paper's summary has another number than its figure 4.8 (a).")


def covered_everywhere(page):
    at = counted(",".join(COVERAGE))
    page.row("figure 4.8 (a): coverage, 8 lanes / 4 lanes, cross mapping / enhanced, all examples", [91.91, 93.87, 100.0], [average(coverage(at, m).values()) for m in COVERAGE[1:]], at)


@functools.lru_cache(None)
def stencil(cells, *options):
    """Of one launch of hotspot on so many rows of cells, two time steps in tiles of 16 x 16: results by model."""
    values, tiles = "type: f32, count: %d" % cells ** 2, "[%d, %d]" % (-(-cells // 12), -(-cells // 12))
    buffers = {"POWER": values + ", fill: {uniform: [0, 0.01], seed: 61}", "A": values + ", fill: {uniform: [320, 340], seed: 62}", "B": values}
    file = measure.launch_file("hotspot-%d" % cells, measure.MODULES["hotspot"], buffers, [("hotspot", tiles, "[16, 16]",
                               "{s32: 2}, POWER, A, B, {s32: %d}, {s32: %d}, {f32: 6.8359375e-06}, {f32: 10}, {f32: 10}, {f32: 320}, {f32: 1.4583333e-07}" % (cells, cells))])
    found = measure.Examples({"hotspot": measure.launches(("--no-compare", "--gpu=" + GPU, "--technique=warped-dmr", *options), file)[0]})
    found.setting = measure.setting("`heddle replay --no-compare --gpu=%s --technique=warped-dmr%s`, hotspot, one launch on %d x %d cells" % (GPU, "".join(" " + o for o in options), cells, cells))
    return found


def queue(page):
    at = timed(",".join(MODELS))
    row = page.row("figures 4.8 (b), 4.9: cycles with 10 entries / enhanced", [8.0, 11.0], [cycles.change(at, m, "cycles") for m in MODELS], at, signed=True)
    for model in MODELS:
        changed = cycles.changes(at, model, "cycles")
        row.note(model + ": " + ", ".join("%s %+.1f" % (n, v) for n, v in changed.items()))
    others = []
    for text, options in (("one SM, which takes all thread blocks", ("--sms=1",)), ("addresses of 32 bits, as in the paper's PTX", (ADDRESSES,)),
                          ("simple arithmetic with results after 1 cycle", tuple("--set=timing.operations.%s=[1,1]" % o for o in ARITHMETIC))):
        other = timed(",".join(MODELS), *options)
        row.experiment(text, [cycles.change(other, m, "cycles") for m in MODELS], other)
        others.append((text, other))
    few = timed(",".join(MODELS), kernels=KERNELS)
    row.experiment(FEWER, [cycles.change(few, m, "cycles") for m in MODELS], few)
    worst = lambda where: max(cycles.changes(where, "warped-dmr", "cycles").values())
    row = page.row("worst of the applications, 10 entries", [16.0], [worst(at)], at, signed=True)
    for text, other in others:
        row.experiment(text, [worst(other)], other)
    rest = [v for n, v in cycles.changes(few, "warped-dmr", "cycles").items() if n != "hotspot"]
    row.experiment("without hotspot the worst is %+.1f %%" % max(rest, default=float("nan")), None, few)
    if "hotspot" in measure.SOURCES:
        large = stencil(512, "--time")
        cost = {model: result["cycles"] for model, result in large["hotspot"].items()}
        row.experiment("hotspot on 512 x 512 cells, as in table 4.4", [100 * (cost["warped-dmr"] / cost["baseline"] - 1)], large)
        slots = {key: value for key, value in large["hotspot"]["baseline"].items() if key.startswith("slots_")}
        row.note("There the baseline issues in %.0f %% of the cycles, and %.0f %% of the instructions are of one type (SP), so most of what must be repeated finds its unit taken." % (
            100 * slots["slots_issued"] / sum(slots.values()), shares("hotspot")[0]))
    row.note("The paper's text has 16 %, and 18 % for MatrixMul.")


@functools.lru_cache(None)
def product(*options):
    """The cycles of the tiled product in 5 x 10 thread blocks, as table 4.4 has it, in two launches after each other, by model."""
    values, launch = "type: f32, count: 12800, fill: {uniform: [-1, 1], seed: %d}", ("matrixMul", "[5, 10]", "[16, 16]", "A, B, C, {s32: 80}, {s32: 80}")
    file = measure.launch_file("product", measure.MODULES["matrixMul"], {"A": values % 11, "B": values % 13, "C": "type: f32, count: 12800"}, [launch, launch])
    words = ("--time", "--no-compare", "--gpu=" + GPU, "--technique=warped-dmr(entries=1),warped-dmr(entries=5),warped-dmr", *options)
    found = measure.Examples(measure.launches(words, file))
    found.setting = measure.setting("`heddle replay --time --no-compare --gpu=%s --technique='warped-dmr(entries=1),warped-dmr(entries=5),warped-dmr'%s`, the tiled product "
                                    "of 160 x 80 by 80 x 80 in 5 x 10 thread blocks, launched twice" % (GPU, "".join(" " + o for o in options)))
    return found


def matrix(page):
    simple = tuple("--set=timing.operations.%s=[1,1]" % o for o in ARITHMETIC)
    figure = lambda entries: ("cycles of MatrixMul with %d entr%s" % (entries, "y" if entries == 1 else "ies"), [70.0 if entries == 1 else 18.0])
    if "matrixMul" not in measure.SOURCES:
        for entries in (1, 10):
            page.row(*figure(entries), [float("nan")], measure.setting("matrixMul is not in this run"), signed=True)
        return
    plain, alone, turns, turns_alone = product(), product("--sms=1"), product(LRR), product(LRR, "--sms=1")
    for entries, model in ((1, "warped-dmr(entries=1)"), (10, "warped-dmr")):
        change = lambda where, launch: cycles.changes(where, model, "cycles")[launch]
        row = page.row(*figure(entries), [change(plain, 0)], plain, signed=True)
        row.experiment("the matrices are in the L2 cache: the second of two launches", [change(plain, 1)], plain)
        row.experiment("one SM, which takes all thread blocks", [change(alone, 0)], alone)
        other = product("--sms=1", *simple)
        row.experiment("one SM, and simple arithmetic with results after 1 cycle", [change(other, 0)], other)
        row.experiment("LRR in place of GTO", [change(turns, 0)], turns)
        row.experiment("LRR, and the matrices in the L2 cache", [change(turns, 1)], turns)
        row.experiment("LRR, and one SM", [change(turns_alone, 0)], turns_alone)
        if entries == 1:
            row.note("With LRR warps issue the same instruction one after the other, so more instructions of a type come in a row than with GTO, which leaves a warp only where it waits.")



def energy(page):
    at = counted(",".join(COVERAGE), names())
    more = lambda where, model: average(100 * models[model]["lane_operations_redundant"] / models[model]["lane_operations"] for models in where.values())
    row = page.row("figure 4.10: energy of the execution units, Warped-DMR / enhanced: about twice", [100.0, None], [more(at, m) for m in MODELS], at, signed=True)
    few = counted(",".join(COVERAGE), names(), KERNELS)
    row.experiment(FEWER, [more(few, m) for m in MODELS], few)
    row.note("One active thread of a cluster is repeated by three idle lanes: in mummer all of building the tree, which the paper's does on the host.")
    clocked = timed(",".join(MODELS))
    row = page.row("energy of the register file and of what the technique adds, Warped-DMR / enhanced", [None, None], [cycles.whole(clocked, m) for m in MODELS], clocked, signed=True)
    row.note("The paper has +12 % of the energy of the whole device, which is not modelled.")


SECTIONS = tuple(("Warped-DMR, %s: fermi-warped-dmr" % title, add) for title, add in (
    ("what it is drawn from", motivation), ("coverage", covered), ("coverage of all examples", covered_everywhere), ("cycles", queue), ("MatrixMul", matrix), ("energy", energy)))
