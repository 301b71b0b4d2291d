"""Cycles, IPC and energy with leakage of each technique on its paper's machine (heddle replay --time), beside the paper's figures."""
import functools

from against import measure, products
from against.measure import ADDRESSES, average

# What the machine of CORF has and fermi-gtx480's does not: four banks, as its section 2.7 counts them.
CORF_BANKS = "--set=timing.core.banks=4"
DESIGNS = {6: 5.3, 7: 6.3}  # of LTRF's table 2: latency of the main register file


# What papers evaluate, of what is in examples/.
APPLICATIONS = {
    "hrf": ("vectorAdd", "scalarProd", "fastWalsh", "reduction", "mergeSort", "histogram", "dct8x8", "mersenneTwister", "MonteCarlo", "sobol",
            "binomialOptions", "dxtc", "bfs", "kmeans", "gaussian", "needle", "bitonicSort"),
    "shrink": ("matrixMul", "BlackScholes", "dct8x8", "reduction", "vectorAdd", "backprop", "bfs", "heartwall", "hotspot", "lud", "gaussian", "libor",
               "laplace3D", "nn", "mummer", "scalarProd"),
    "larf": ("lenet", "2mm", "matrixMul"),
}


def applications(paper):
    """Those of this run, or all where it has none of them."""
    return tuple(name for name in APPLICATIONS[paper] if name in measure.SOURCES) or tuple(measure.SOURCES)


def of_examples(only):
    return tuple(file for name, file in measure.SOURCES.items() if only is None or name in only)


@functools.lru_cache(None)
def timed(gpu, technique, *options, only=None, kernels=()):
    """By example and model: cycles, energies and warps of all its launches, added up. An example with a launch that has no cycles
    for a model has none for it. only: of these examples; kernels: (example, its kernels), of those alone."""
    examples = measure.added_up(("--time", "--no-compare", "--gpu=" + gpu, "--technique=" + technique, *options), of_examples(only), kernels)
    examples.setting = measure.setting("`heddle replay --time --no-compare --gpu=%s --technique='%s'%s`, %s" % (
        gpu, technique, "".join(" " + o for o in options), "the examples" if only is None else "the paper's applications") + (", those kernels that the paper's have" if kernels else ""))
    return examples


def changes(at, model, key, beside=None, inverse=False):
    """By example, in percent: how the model's figure differs from the baseline's, of the same run or of `beside`."""
    found = {}
    for name, models in at.items():
        base = (beside or at).get(name, {}).get("baseline")
        if base and model in models and base[key] and models[model][key]:
            ratio = models[model][key] / base[key]
            found[name] = 100 * ((1 / ratio if inverse else ratio) - 1)
    return found


def speedup(at, model, beside=None):
    return average(changes(at, model, "cycles", beside, inverse=True).values())


def change(at, model, key, beside=None):
    return average(changes(at, model, key, beside).values())


def whole(at, model):
    """Of dynamic and static energy together."""
    for models in at.values():
        for total in models.values():
            total["whole"] = total["dynamic_pj"] + total["static_pj"]
    return change(at, model, "whole")


def extremes(at, model):
    found = changes(at, model, "cycles", inverse=True)
    least, most = min(found, key=found.get), max(found, key=found.get)
    return "%s: from %+.1f %% (%s) to %+.1f %% (%s), in %d of %d examples faster" % (
        model, found[least], least, found[most], most, sum(v > 0 for v in found.values()), len(found))


def spread(row, at, *models):
    for model in models:
        row.note(extremes(at, model))


def collectors(row, at, gpu, models, *options):
    """Experiments: what the ports of collectors do, what a file without conflicts would give, and what one SM with all thread blocks."""
    named = ",".join(models)
    ports = timed(gpu, named, *options, "--set=timing.core.collector_ports=0")
    row.experiment("collectors that receive all their operands at once", [speedup(ports, m) for m in models], ports)
    alone = timed(gpu, named, *options, "--sms=1")
    row.experiment("one SM, which takes all thread blocks", [speedup(alone, m) for m in models], alone)
    perfect = timed(gpu, "baseline", *(o for o in options if o != CORF_BANKS), "--set=timing.core.banks=64", "--set=timing.core.collector_ports=0")
    row.note("The baseline with 64 banks and collectors that receive all their operands at once, which no operand waits for: %+.1f %%. A technique that only"
             " saves reads can hardly gain more in these applications." % speedup(perfect, "baseline", at))


def bow(page):
    at = timed("pascal-titan-x", "bow-iw3,bow-wr-iw3,bow-wr-iw3-half")
    row = page.row("IPC, BOW / BOW-WR, IW 3", [11.0, 13.0], [speedup(at, m) for m in ("bow-iw3", "bow-wr-iw3")], at, signed=True)
    collectors(row, at, "pascal-titan-x", ("bow-iw3", "bow-wr-iw3"))
    spread(row, at, "bow-iw3", "bow-wr-iw3")
    page.row("IPC that half the entries lose, BOW-WR, points", [2.0], [speedup(at, "bow-wr-iw3") - speedup(at, "bow-wr-iw3-half")], at)
    page.row("energy of the register file with leakage, BOW / BOW-WR", [None, None], [whole(at, m) for m in ("bow-iw3", "bow-wr-iw3")], at, signed=True)


def corf(page):
    at = timed("fermi-gtx480", "corf,corf++,corf-release,corf++-release", CORF_BANKS)
    row = page.row("IPC, CORF / CORF++, four banks", [4.0, 9.0], [speedup(at, m) for m in ("corf", "corf++")], at, signed=True)
    other = timed("fermi-gtx480", "corf,corf++")
    row.experiment("16 banks, as GPGPU-Sim has them", [speedup(other, m) for m in ("corf", "corf++")], other)
    short = timed("fermi-gtx480", "corf,corf++", CORF_BANKS, ADDRESSES)
    row.experiment("addresses of 32 bits, as PTXPlus has them", [speedup(short, m) for m in ("corf", "corf++")], short)
    policy = timed("fermi-gtx480", "corf,corf++", CORF_BANKS, "--set=timing.core.policy=two-level", "--set=timing.core.active_warps=4")
    row.experiment("two-level schedulers of 4 warps each, as the paper has them; it does not say how many", [speedup(policy, m) for m in ("corf", "corf++")], policy)
    collectors(row, at, "fermi-gtx480", ("corf", "corf++"), CORF_BANKS)
    spread(row, at, "corf", "corf++")
    page.row("leakage of the register file: packing / with virtualization", [-33.0, -52.0], [change(at, m, "static_pj") for m in ("corf", "corf++-release")], at, signed=True)
    row = page.row("dynamic energy, CORF / CORF++", [-8.5, -17.0], [change(at, m, "dynamic_pj") for m in ("corf", "corf++")], at, signed=True)
    row.experiment("addresses of 32 bits, as PTXPlus has them", [change(short, m, "dynamic_pj") for m in ("corf", "corf++")], short)


def regmutex(page):
    half = ("--set=limits.registers_per_sm=16384", "--set=limits.registers_per_cta=16384")
    full = timed("fermi-gtx480", "regmutex,regmutex-paired")
    at = timed("fermi-gtx480", "regmutex,regmutex-paired", *half)
    spread(page.row("cycles, RegMutex / paired", [-13.0, -8.0], [change(full, m, "cycles") for m in ("regmutex", "regmutex-paired")], full, signed=True), full, "regmutex")
    applied = {n for n, models in full.items() if "regmutex" in models and models["regmutex"]["cycles"] != models["baseline"]["cycles"]}
    alone = average(v for n, v in changes(full, "regmutex", "cycles").items() if n in applied)
    page.rows[-1].note("It changes %d of %d examples%s." % (len(applied), len(full), "; over these alone: %+.1f %%" % alone if applied else ""))
    page.row("cycles with half the register file: baseline / RegMutex / paired, beside the whole file's baseline", [23.0, 9.0, 17.0],
             [change(at, m, "cycles", full) for m in ("baseline", "regmutex", "regmutex-paired")], at, signed=True)
    page.row("occupancy with half the file, RegMutex", [None], [average(100 * (models["regmutex"]["occupied"] / models["regmutex"]["cycles"]
             / (models["baseline"]["occupied"] / models["baseline"]["cycles"]) - 1) for models in at.values() if "regmutex" in models and "baseline" in models)], at, signed=True)


def release(page):
    at = timed("fermi-rfv", "release,release-nocache,release-static")
    row = page.row("cycles, RFV", [None], [change(at, "release", "cycles")], at, signed=True)
    row.note("Of that, the banks of the renamed registers alone (release-static, nothing renamed): %+.1f %%." % change(at, "release-static", "cycles"))
    spread(row, at, "release")
    page.row("static power: RFV", [-47.0], [average(100 * (models["release"]["static_pj"] / models["release"]["cycles"] / (models["baseline"]["static_pj"] / models["baseline"]["cycles"]) - 1)
             for models in at.values() if "release" in models)], at, signed=True)


def shrink(page):
    models = ("gpu-shrink", "gpu-shrink-40", "gpu-shrink-30")
    at = timed("fermi-rfv", "release,gpu-shrink,gpu-shrink-40,gpu-shrink-30,gpu-shrink-ungated", only=applications("shrink"))
    alone = timed("fermi-rfv", "release,gpu-shrink,gpu-shrink-40,gpu-shrink-30", "--sms=1", only=applications("shrink"))
    ordered = timed("fermi-rfv", "gpu-shrink(ordered)", "--sms=1", only=applications("shrink"))
    beside = lambda runs, model, base: average(100 * (m[model]["cycles"] / m[base]["cycles"] - 1) for m in runs.values() if model in m and base in m)
    row = page.row("cycles on a register file that is 50 / 40 / 30 % smaller", [0.58, 0.0, 0.0], [change(at, m, "cycles") for m in models], at, signed=True)
    row.note("Of that, RFV on the whole file: %+.1f %%; relative to that: %+.1f / %+.1f / %+.1f %%." % (change(at, "release", "cycles"), *(beside(at, m, "release") for m in models)))
    row.note("In %d of %d examples nothing differs from RFV on the whole file." % (
        sum(m["gpu-shrink"]["cycles"] == m["release"]["cycles"] for m in at.values() if "gpu-shrink" in m), len(at)))
    row.experiment("beside RFV on the whole file: in the paper the four applications that are not throttled have exactly 0, so it charges nothing for renaming",
                   [beside(at, m, "release") for m in models], at)
    row.experiment("one SM, which takes all thread blocks", [change(alone, m, "cycles") for m in models], alone)
    row.note("There, beside RFV on the whole file: %+.1f / %+.1f / %+.1f %%; of half the file, what that does in each application that needs more, with the registers that RFV has at most, of 512: %s." % (
        *(beside(alone, m, "release") for m in models), ", ".join("%s %+.0f %% (%d)" % (name, 100 * (m["gpu-shrink"]["cycles"] / m["release"]["cycles"] - 1), m["release"]["most"])
                                                                 for name, m in alone.items() if "gpu-shrink" in m and "release" in m and m["release"]["most"] > 512)))
    row.experiment("the same, and each block leaves free what all with more registers may need, not only the one with the most (ordered)",
                   [change(ordered, "gpu-shrink(ordered)", "cycles"), None, None], ordered)
    row.note("There, beside RFV on the whole file: %+.1f %%. Algorithm 1 reserves for one block; the others keep what they have and cannot go on, until one runs after the other." % average(
        100 * (m["gpu-shrink(ordered)"]["cycles"] / alone[name]["release"]["cycles"] - 1) for name, m in ordered.items()
        if "gpu-shrink(ordered)" in m and "release" in alone.get(name, {})))
    spread(row, at, "gpu-shrink")
    page.row("figure 3.2: applications with more than 512 warp registers in use at a time, of 16 there", [7], [sum(models["release"]["most"] > 512 for models in at.values()
             if "release" in models)], at, unit="")
    page.rows[-1].note("Here of %d: %s." % (len(at), ", ".join("%s %d" % (name, m["release"]["most"]) for name, m in at.items() if "release" in m and m["release"]["most"] > 512)))
    row = page.row("energy with leakage: RFV on the whole file / half the file / half the file with gating", [None, None, -42.0],
                   [whole(at, m) for m in ("release", "gpu-shrink-ungated", "gpu-shrink")], at, signed=True)
    full = timed("fermi-rfv", "release,gpu-shrink,gpu-shrink-40,gpu-shrink-30", "--sms=1", only=applications("shrink"))
    row.experiment("one SM, which takes all thread blocks and so has fewer registers that nobody holds", [whole(full, "release"), None, whole(full, "gpu-shrink")], full)
    row.note("An access of half the file takes 20 % less by the paper's figure 3.1, which is an input here.")


def ltrf(page):
    large = ("--set=limits.registers_per_sm=524288", "--set=limits.registers_per_cta=524288")
    base = timed("maxwell-ltrf", "ltrf,ltrf+,rfc")
    designs = []
    for design, paper in ((6, [32.0, None, None]), (7, [28.0, 31.0, None])):
        latency, interval = ("--set=timing.core.bank_%s=%d" % (what, round(DESIGNS[design])) for what in ("latency", "interval"))
        banks = "--set=timing.core.banks=128"  # table 2: eight times the 16 of design 1
        at = timed("maxwell-ltrf", "ltrf,ltrf+,rfc", *large, latency, interval, banks)
        row = page.row("IPC with design %d, LTRF / LTRF+ / RFC, beside the baseline of design 1" % design, paper, [speedup(at, m, base) for m in ("ltrf", "ltrf+", "rfc")], at, signed=True)
        row.note("The baseline on this file: %+.1f %%." % speedup(at, "baseline", base))
        designs.append(row)
        if design == 7:
            piped = timed("maxwell-ltrf", "ltrf,ltrf+,rfc", *large, latency, banks)
            row.experiment("banks that take an access every cycle", [speedup(piped, m, base) for m in ("ltrf", "ltrf+", "rfc")], piped)
    room = timed("maxwell-ltrf", "baseline", *large)
    for row in designs:
        row.note("The capacity alone, at the latency of design 1, which is the ideal file of the paper's figure 3: the baseline %+.1f %%; there +37 %%, on average"
                 " over the applications that a larger register file lets have more warps." % speedup(room, "baseline", base))
    row = page.row("IPC with the register file of design 1, LTRF / LTRF+ / RFC", [None, None, None], [speedup(base, m) for m in ("ltrf", "ltrf+", "rfc")], base, signed=True)
    spread(row, base, "ltrf", "rfc")


def demo(page):
    at = timed("turing-rtx2060", "demo")
    row = page.row("performance, DeMO", [20.0], [speedup(at, "demo")], at, signed=True)
    collectors(row, at, "turing-rtx2060", ("demo",))
    spread(row, at, "demo")
    page.row("energy of the register file with leakage, DeMO", [None], [whole(at, "demo")], at, signed=True)


def power(at, model):
    """Of the register file and what is added, beside the baseline's, in percent; by example."""
    rate = lambda total: (total["dynamic_pj"] + total["static_pj"]) / total["cycles"]
    return {name: 100 * (rate(models[model]) / rate(models["baseline"]) - 1) for name, models in at.items() if model in models and "baseline" in models}


def ratio(at, model, part, whole, factor=1):
    return average(factor * sum(models[model][p] for p in part) / models[model][whole] for models in at.values() if model in models and models[model][whole])


def buffers_leak(at, model):
    """The leakage of the write buffers, in percent of the power of the register file."""
    leaks = lambda total: total["static_pj"] / total["cycles"]
    return average(100 * (leaks(models[model]) - leaks(models["stt-ram"])) / (leaks(models[model]) + models[model]["dynamic_pj"] / models[model]["cycles"])
                   for models in at.values() if model in models and "stt-ram" in models)


def area(bits):
    """Of 128 KB of STT-RAM and so many bits of SRAM, in percent of 128 KB of SRAM: table 1, by capacity."""
    return 100 * (0.038 + 0.194 * bits / (8 * 131072)) / 0.194


def each_other(at):
    """Cycles between two active periods of a warp, by those of an active period and the number of other warps; mean over applications."""
    found = []
    for models in at.values():
        total = models["baseline"]
        others = 48 * total["occupied"] / total["cycles"] - 1
        if total["inactive_periods"] and others > 0:
            found.append(total["inactive_cycles"] / total["inactive_periods"] / (total["active_cycles"] / total["active_periods"]) / others)
    return average(found)


def hrf(page):
    at = timed("fermi-hrf", "hrf,hrf-pg,stt-ram,stt-ram(pipelined),hrf(banks=16),hrf(banks=16,write=1),hrf(loads),hrf-pg(wake=0),hrf-pg(wake=50)", only=applications("hrf"))
    row = page.row("IPC, HRF", [-4.2], [speedup(at, "hrf")], at, signed=True)
    row.experiment("operands from 16 banks, 8 for each of the two, as many as the SRAM has", [speedup(at, "hrf(banks=16)")], at)
    row.experiment("and writes to STT-RAM of a cycle", [speedup(at, "hrf(banks=16,write=1)")], at)
    row.experiment("results of loads in the write buffer", [speedup(at, "hrf(loads)")], at)
    alone = timed("fermi-hrf", "hrf,stt-ram,hrf(banks=16)", "--sms=1", only=applications("hrf"))
    row.experiment("one SM, which takes all thread blocks", [speedup(alone, "hrf")], alone)
    row.experiment("one SM, and operands from 16 banks", [speedup(alone, "hrf(banks=16)")], alone)
    spread(row, at, "hrf")
    row = page.row("IPC, STT-RAM alone", [-33.0], [speedup(at, "stt-ram")], at, signed=True)
    row.experiment("only the bank of a write is busy", [speedup(at, "stt-ram(pipelined)")], at)
    row.experiment("one SM, which takes all thread blocks", [speedup(alone, "stt-ram")], alone)
    spread(row, at, "stt-ram")
    page.row("IPC that waking up gated entries costs: 10 / 50 cycles, points", [None, None],
             [speedup(at, "hrf-pg(wake=0)") - speedup(at, m) for m in ("hrf-pg", "hrf-pg(wake=50)")], at)
    lrr = timed("fermi-hrf", "hrf", "--set=timing.core.policy=lrr", only=applications("hrf"))
    page.row("IPC, HRF, beside a baseline whose warps are all active", [None], [speedup(lrr, "hrf")], lrr, signed=True)
    writes = lambda model: ratio(at, model, ("rf_writes",), "operand_writes", 100) - 100
    row = page.row("writes to STT-RAM", [-64.0], [writes("hrf")], at, signed=True)
    row.experiment("results of loads in the write buffer", [writes("hrf(loads)")], at)
    row = page.row("power of the register file, HRF", [-66.0], [average(power(at, "hrf").values())], at, signed=True)
    row.experiment("operands from 16 banks", [average(power(at, "hrf(banks=16)").values())], at)
    page.row("power of the register file, HRF+PG", [-76.0], [average(power(at, "hrf-pg").values())], at, signed=True)
    page.rows[-1].note("The power of the whole GPU (figure 11, -19 %) is not modelled.")
    row = page.row("leakage of the write buffers, of the power with HRF", [39.0], [buffers_leak(at, "hrf")], at)
    row.experiment("operands from 16 banks", [buffers_leak(at, "hrf(banks=16)")], at)
    row = page.row("cycles of an active period / between two of a warp", [234.0, 11000.0],
                   [ratio(at, "baseline", ("active_cycles",), "active_periods"), ratio(at, "baseline", ("inactive_cycles",), "inactive_periods")], at, unit="")
    periods = lambda where: [ratio(where, "baseline", ("active_cycles",), "active_periods"), ratio(where, "baseline", ("inactive_cycles",), "inactive_periods")]
    warps = lambda where: 48 * ratio(where, "baseline", ("occupied",), "cycles")
    row.experiment("one SM, which takes all thread blocks", periods(alone), alone)
    for what, options in (("one SM, and loads from global memory do not use the L1 cache", "--set=timing.l1.global=0"), ("one SM, and its L1 cache answers after 1 cycle", "--set=timing.l1.latency=1"),
                          ("one SM, and addresses of 32 bits", ADDRESSES)):
        other = timed("fermi-hrf", "baseline", "--sms=1", options, only=applications("hrf"))
        row.experiment(what, periods(other), other)
    row.note("The paper's 234 is its 11000 divided by 47, the others of 48 warps, each of which has its turn in between. Here %.1f warps are resident on average, on one SM %.1f, where the "
             "cycles between two periods are %.2f times those of an active period for each other warp: with 48 warps it would be %.0f." % (
                 warps(at), warps(alone), each_other(alone), 47 * periods(alone)[0]))
    page.row("active periods with at most 16 entries used", ["> 50"], [ratio(at, "hrf", ("buffer_periods_to_8", "buffer_periods_9_to_16"), "buffer_periods", 100)], at)
    row = page.row("silicon area, STT-RAM alone / HRF+PG, SRAM by capacity", [19.6, 28.3], [area(0), area(1.16 * (32 * 2 * 64 * 38 + 64 * 7))], at)
    row.experiment("one write buffer for each block of STT-RAM; the paper's text has two", [area(0), area(1.16 * (32 * 64 * 38 + 64 * 7))])


def shared(at, model):
    """Of the loads from global memory, in percent."""
    return average(100 * models[model]["global_loads_skipped"] / models[model]["global_loads"] for models in at.values() if models.get(model, {}).get("global_loads"))


def larf(page):
    models = ("larf", "larf-las", "larf-infinite")
    at = timed("pascal-larf", ",".join(models + ("release",)), only=applications("larf"))
    row = page.row("performance, LARF / LARF + LAS / LARF with an unlimited table", [None, None, None], [speedup(at, m) for m in models], at, signed=True)
    row.note("The papers' are +7 % (MobileNet) and +10 % (CifarNet), up to +70, 60, 9, 7 and 6 % of five others, of which LeNet and 2MM are here as lenet and 2mm.")
    row.note("RFV alone, whose renaming and flags LARF uses: %+.1f %%." % speedup(at, "release"))
    for what, options in (("renaming and flag words take no cycles", "direct"), ("and shared values are there while their load is in flight", "direct,instant"),
                          ("no partial sharing", "perfect")):
        names = ["larf(%s)" % options, "larf(las,%s)" % options, "larf(entries=2048,%s)" % options]
        other = timed("pascal-larf", ",".join(names), only=applications("larf"))
        row.experiment(what, [speedup(other, m) for m in modelled(other, names)], other)
    spread(row, at, "larf", "larf-las")
    page.row("loads from global memory that are skipped (counted without time), LARF / LARF + LAS / unlimited table", [None, None, None], [shared(at, m) for m in models], at)
    row = page.row("the same, the most of all applications", [80.0], [max((100 * ms["larf-las"]["global_loads_skipped"] / ms["larf-las"]["global_loads"] for ms in at.values()
                   if ms.get("larf-las", {}).get("global_loads")), default=0)], at)
    row.experiment("the most of all kernels: figures 5.7 and 5.8 are of layers, each a kernel or more", [100 * max(ms["larf-las"]["skipped_most"] for ms in at.values() if "larf-las" in ms)], at)
    row = page.row("reads from the L2 cache, LARF / LARF + LAS / unlimited table", [None, None, None], [change(at, m, "l2_reads") for m in models], at, signed=True)
    schedulers = []
    for name, options in (("two-level schedulers of 4 warps each", ("--set=timing.core.policy=two-level", "--set=timing.core.active_warps=4")), ("GTO", ("--set=timing.core.policy=gto",))):
        other = timed("pascal-larf", ",".join(models + ("release",)), *options, only=applications("larf"))
        row.experiment(name + " in place of LRR", [change(other, m, "l2_reads") for m in models], other)
        schedulers.append(other)
    row = page.row("figure 5.6: performance, LARF with two-level / GTO / LRR / LAS, beside LRR without LARF; LAS is best", [None] * 4,
                   [*(speedup(other, "larf", at) for other in schedulers), speedup(at, "larf"), speedup(at, "larf-las")], at, signed=True)


def modelled(at, names):
    """The models of a run, as it calls them, in the order of `names`."""
    found = sorted({m for models in at.values() for m in models} - {"baseline"})
    return names if set(names) <= set(found) else found


HEAD = """# The papers' cycles beside ours

Generated by `bench/cycles --write`; not to be edited. `heddle replay --time` runs all of `examples/` (%d applications) on the machine of each
paper, as its description has it (heddle-gpu(5)). A figure is the mean of the applications' changes against the baseline, with all launches of
an application added up, or of those that the paper has, as each setting says; *IPC* is the change of the baseline's cycles divided by the technique's. No constant was chosen to meet a figure.

What keeps the figures apart from the papers' in general: the applications are others and short, and many have fewer thread blocks than the
machine has room for; addresses have 64 bits, two registers each, unless a row says otherwise; machine instructions are those of PTX after `select,regalloc`. *Difference* is
computed as in [papers.md](papers.md)."""


def rows(page, *more, only=(), path=None):
    """more: sections of other modules, (title, function of the page). only: with words, sections whose titles have none of them are
    kept as they are on the page at `path`."""
    page.say(HEAD % len(measure.SOURCES))
    for title, add in (("BOW, BOW-WR: pascal-titan-x", bow), ("CORF, CORF++: fermi-gtx480", corf), ("RegMutex: fermi-gtx480", regmutex),
                       ("RFV: fermi-rfv", release), ("GPU-Shrink: fermi-rfv", shrink), ("LTRF, LTRF+, RFC: maxwell-ltrf", ltrf),
                       ("DeMO: turing-rtx2060", demo), ("HRF, HRF+PG: fermi-hrf", hrf), ("LARF, LAS: pascal-larf", larf),
                       ("LARF, matrix products: fermi-gtx480", products.rows), *more):
        if only and not any(word in title for word in only):
            page.keep(title, path)
            continue
        page.section(title)
        add(page)
    page.tail()
