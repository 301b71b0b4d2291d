"""LTRF and LTRF+, and RFC, the register cache that they are compared with."""
import re

from against import measure
from against.measure import accesses, average, mean, median, percent, replay, share

GPU = "--gpu=maxwell-ltrf"
MODELS = ("ltrf", "ltrf+", "rfc")
# What the paper does not say of its register cache.
RFC_VARIANTS = [("entries of its own for each active warp, which none displaces", "rfc(private)"),
                ("the longest unaccessed displaced, not the oldest result", "rfc(lru)"), ("what is read from the file takes an entry too", "rfc(fill,lru)"),
                ("turns of whole trace segments, not of one instruction", "rfc(turn=64)"), ("entries of warps that leave stay until displaced", "rfc(stay)"),
                ("without the words of 64-bit operands", "rfc(narrow)")]
RFC_SIZES = [8, 6, 4, 2, 1]
CROWD = ["rfc(entries=2)", "rfc(entries=2,private)", "rfc(entries=1,private)"]


def real(e):
    return e["ltrf"]["interval_instructions"] / e["ltrf"]["intervals"]


def ideal(e):
    return e["ltrf"]["interval_instructions"] / e["ltrf"]["optimal_intervals"]


def of_optimal(e):
    return 100 * real(e) / ideal(e)


def halves_of_vectors():
    """Percent of the words of intervals that their function also names as half of a 64-bit register, mean over examples."""
    shares = []
    for text in measure.annotated("select,regalloc,ltrf").values():
        halves = words = 0
        for body in re.split(r"^\s*(?:\.\w+ )*\.(?:entry|func)\b", text, flags=re.M)[1:]:
            wide = {int(n) + k for n in re.findall(r"%RD(\d+)\b", body) for k in (0, 1)}
            listed = [int(n) for vector in re.findall(r"ltrf_prefetch \(([\d,]+)\)", body) for n in vector.split(",")]
            halves, words = halves + sum(n in wide for n in listed), words + len(listed)
        if words:
            shares.append(100 * halves / words)
    return average(shares)


def counted(key):
    return {name: found.get(key, 0) for name, found in measure.all_passes("fermi-gtx480")["ltrf"].items()}


def grown(intervals, words=5):
    """Percent of code that the intervals' vectors add, each of 256 bits and an instruction."""
    return average(100 * words * intervals[name] / count for name, count in counted("instructions").items())


def larger_caches():
    """64-bit values are two words. 32 words hold 16 registers of 64 bits, 24 as many where half of them are."""
    found = []
    for words in (24, 32):
        model = "ltrf(n=%d)" % words
        passes = "select,regalloc," + model
        at = replay(model, GPU, files=measure.changed(passes), on="examples after `%s`" % passes)
        intervals = measure.each(lambda name: measure.statistics(passes, name)["ltrf - register-intervals"])
        what = "a cache of %d words a warp, as if %s values were of 64 bits and counted as one" % (words, "half of the" if words == 24 else "all")
        found.append((what, at, percent(at, share(model, "optimal_intervals", "intervals")), grown(intervals)))
    return found


def lengths(page, at):
    large = {name for name, models in at.items() if models["baseline"]["fewest_registers"] > 16}
    total = lambda key: sum(measure.values(at, lambda e: e["ltrf"][key]).values())
    instructions = total("interval_instructions")
    row = page.row("instructions an interval, mean of examples: real / optimal", [31.2, 34.7], [mean(at, real), mean(at, ideal)], at, unit="")
    row.experiment("medians of the examples", [median(at, real), median(at, ideal)])
    row.experiment("all instructions over all intervals", [instructions / total("intervals"), instructions / total("optimal_intervals")])
    row.experiment("medians of the %d examples whose every kernel has more than 16 registers" % len(large), [median(at, real, large), median(at, ideal, large)])
    found = measure.values(at, ideal)
    longest = max(found, key=found.get)
    row.note("A loop that fits in 16 registers is one interval for all its turns: %s alone has an optimal %.0f (real %.0f)." % (longest, found[longest], real(at[longest])))
    of_each = lambda f: sorted(measure.values(at, f).values())
    page.row("of single examples: least real, greatest real / least optimal, greatest optimal", [7, 45, 9, 53],
             [of_each(real)[0], of_each(real)[-1], of_each(ideal)[0], of_each(ideal)[-1]], at, unit="")


def optimality(page, at, larger):
    row = page.row("real of optimal", [89], [mean(at, of_optimal)], at)
    for what, more, optimal, _ in larger:
        row.experiment(what, [optimal], more)
    row.note("Of the words in intervals %.1f %% are also named as half of a 64-bit register." % halves_of_vectors())
    ours, edges = counted("register-intervals"), counted("register-intervals along control-flow edges only")
    stricter = {name for name in at if ours[name] != edges[name]}
    row.experiment("the %d examples in which the sound order of a warp makes no more intervals than edges of control flow" % (len(at) - len(stricter)), [mean(at, of_optimal, set(at) - stricter)])
    row.experiment("the %d in which it does" % len(stricter), [mean(at, of_optimal, stricter)])
    large = {name for name, models in at.items() if models["baseline"]["fewest_registers"] > 16}
    row.experiment("the %d examples whose every kernel has more than 16 registers" % len(large), [mean(at, of_optimal, large)])


def main_file(page, at):
    left = lambda examples, m: 1 / mean(examples, lambda e: accesses(e[m]) / accesses(e["baseline"]))
    row = page.row("fewer accesses of the main register file, times: LTRF / LTRF+ / RFC", [(4, 6), None, None], [left(at, m) for m in MODELS], at, unit="")
    for latency in (0, 8):
        other = replay("ltrf,rfc", GPU, "--latency=%d" % latency)
        row.experiment("loads from global memory take %d instructions" % latency if latency else "no warp leaves the cache for a load", [left(other, m) for m in MODELS], other)
        row.note("Of the accesses of LTRF then, registers fetched again: %.1f %%; as measured above %.1f %%." % tuple(
            percent(x, lambda e: e["ltrf"]["registers_refetched"] / accesses(e["ltrf"])) for x in (other, at)))
    row.note("Each load from global memory that is waited for makes the warp leave the cache, as count mode has no data cache.")


def rows(page):
    at = replay("ltrf,rfc", GPU)
    larger = larger_caches()
    page.section("LTRF, LTRF+")
    lengths(page, at)
    optimality(page, at, larger)
    main_file(page, at)
    row = page.row("code growth: vectors alone / with an instruction each", [7, 9], [grown(counted("register-intervals"), 4), measure.growth("ltrf")],
                   measure.setting("`heddle rewrite -p all --gpu=fermi-gtx480`, the examples"), signed=True)
    row.note("A function's word for the size of the cache is %.1f points of the second." % (measure.growth("ltrf") - grown(counted("register-intervals"))))
    row.experiment("register-intervals along control-flow edges only, as in the paper", [grown(counted("register-intervals along control-flow edges only"), words) for words in (4, 5)])
    for what, more, _, growth in larger:
        row.experiment(what, [growth * 4 / 5, growth], more)
    cache(page, at)


def cache(page, base):
    sizes = ["rfc(entries=%d)" % n for n in RFC_SIZES]
    at = replay(",".join([model for _, model in RFC_VARIANTS] + sizes), GPU)
    hits = lambda examples, model: percent(examples, share(model, "rf_reads_eliminated", "operand_reads"))
    of_all = lambda examples, model: percent(examples, share(model, "rf_reads_eliminated", "operand_reads", "operand_writes"))
    page.section("RFC, the register cache that LTRF is compared with", "128 entries, shared by 8 active warps; a result takes the oldest one's entry.")
    row = page.row("operand reads that the cache serves", [(8, 30)], [hits(base, "rfc")], base, known=False)
    found = sorted(measure.values(base, share("rfc", "rf_reads_eliminated", "operand_reads")).values())
    row.note("Of single examples from %.1f to %.1f %%. What the paper counts as its hit rate is *open*: it gives neither what is divided nor by what." % (100 * found[0], 100 * found[-1]))
    for text, model in RFC_VARIANTS:
        row.experiment(text, [hits(at, model)], at)
    row.experiment("of all operand reads and results, of which results are none", [of_all(base, "rfc")])
    for entries, model in zip(RFC_SIZES, sizes):
        row.experiment("%d entries" % (8 * entries), [hits(at, model)], at)
    crowd = replay(",".join(CROWD), GPU, "--active-warps=64")
    for text, model in zip(("all 64 warps active, no two-level scheduler, 128 entries shared", "the same, 2 entries for each", "the same, 1 entry for each"), CROWD):
        row.experiment(text, [hits(crowd, model)], crowd)
        row.experiment("%s; of all reads and results" % text, [of_all(crowd, model)], crowd)
    idle = replay("ltrf,rfc", GPU, "--latency=0")
    row.experiment("no warp leaves for a load", [hits(idle, "rfc")], idle)
