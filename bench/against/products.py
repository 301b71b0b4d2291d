"""Figures 5.10 and 5.11 of LARF: matrix products of 128 x 128, naive and tiled, and the experiments about them. Each kernel is launched twice
in a launch file of its own: the first time nothing is cached."""
import functools

from against import measure, text
from against.measure import ADDRESSES

GPU, TECHNIQUE = "fermi-gtx480", "release,larf(entries=200),larf(entries=200,instant)"
LRR = "--set=timing.core.policy=lrr"  # section 5.5.3: the baseline of LARF
PAST_L1 = "--set=timing.l1.global=0"
NAIVE, TILED = "matrixMulNaive", "matrixMul"
SHAPES = {NAIVE: ("[4, 16]", "[32, 8]"), TILED: ("[8, 8]", "[16, 16]")}
FIGURES = (("figure 5.11: performance of the naive product, LARF", [83.0]), ("figure 5.11: performance of the tiled product, beside the naive one with LARF", [8.0]),
           ("figure 5.11: performance of the tiled product, LARF", [10.0]),
           ("figure 5.11: physical registers in use, of static allocation: RFV / LARF, naive product", [None, 60.0]))
LOOP = "    for (int i = 0; i < k; i++)\n        sum = fmaf(a[row"
UNROLLED = "#pragma unroll 8\n" + LOOP


def file_of(kernel, label, module, shape):
    values = "type: f32, count: 16384, fill: {uniform: [-1, 1], seed: %d}"
    launch = (kernel, *shape, "A, B, C, {s32: 128}, {s32: 128}")
    return measure.launch_file("%s-%s" % (label, kernel), module, {"A": values % 11, "B": values % 13, "C": "type: f32, count: 16384"}, [launch, launch])


@functools.lru_cache(None)
def run(label, module, *options, kernels=(NAIVE, TILED), shape=None):
    """By kernel, for each of two launches: results by model. The first label says what the kernels are."""
    found = measure.Examples()
    for kernel in kernels:
        found[kernel] = measure.launches(("--time", "--no-compare", "--gpu=" + GPU, "--technique=" + TECHNIQUE, *options),
                                         file_of(kernel, label.replace(" ", "-"), module, shape or SHAPES[kernel]))
    found.setting = measure.setting("`heddle replay --time --no-compare --gpu=%s --technique='%s'%s`, %s%s, 128 x 128, each launched twice in a file of its own" % (
        GPU, TECHNIQUE, "".join(" " + o for o in options), " and ".join(kernels), label and ", " + label))
    return found


def model(at, kernel, instant=False):
    return next(m for m in at[kernel][0] if m.startswith("larf") and ("instant" in m) == instant)


def cycles(at, kernel, launch, which="baseline"):
    return at[kernel][launch][which]["cycles"]


def sped_up(at, kernel, launch, instant=False):
    return 100 * (cycles(at, kernel, launch) / cycles(at, kernel, launch, model(at, kernel, instant)) - 1)


def beside_naive(at, launch, instant=False):
    return 100 * (cycles(at, NAIVE, launch, model(at, NAIVE, instant)) / cycles(at, TILED, launch) - 1)


def held(at, which):
    """Of static allocation, in percent, of the naive product's physical registers."""
    models = at[NAIVE][0]
    return 100 * models[which]["allocated_registers_mean"] / models["release"]["registers_static"]


def settings():
    """What is changed, the run, which launch, and whether shared values are there at once."""
    module = measure.MODULES["matrixMul"]
    plain, past = run("", module, ADDRESSES, LRR), run("", module, ADDRESSES, LRR, PAST_L1)
    greedy = run("", module, ADDRESSES, PAST_L1)
    ordered = measure.edited(module, "matrixMul", text.spread)
    apart = run("readers as far from writers as stores and barriers and branches let them", ordered, ADDRESSES, LRR, PAST_L1)
    found = [("the matrices are in the L2 cache, as copies of GPGPU-Sim leave them: the second of two launches", plain, 1, False),
             ("loads from global memory do not use the L1 cache", past, 0, False), ("both", past, 1, False),
             ("both, and readers as far from writers as stores, barriers and branches let them, as in machine code, which PTXPlus is made of", apart, 1, False),
             ("both, with GTO in place of LRR", greedy, 1, False),
             ("shared values are there while their load is in flight", plain, 0, True)]
    unrolled = measure.compiled("matrixMul", "unrolled", LOOP, UNROLLED)
    if unrolled:
        found.insert(4, ("both, and the loop of the naive one unrolled by 8 instead of 4", run("the naive one unrolled by 8", unrolled, ADDRESSES, LRR, PAST_L1), 1, False))
    return plain, found


def speed(page):
    plain, found = settings()
    row = page.row(*FIGURES[0], [sped_up(plain, NAIVE, 0)], plain, signed=True)
    for what, at, launch, instant in found:
        row.experiment(what, [sped_up(at, NAIVE, launch, instant)], at)
    row.note("A load that the L1 cache would serve in 35 cycles leaves LARF nothing to save, as the shared value is waited for as long: %.0f %% of the loads are skipped in any case." % (
        100 * plain[NAIVE][1][model(plain, NAIVE)]["global_loads_skipped"] / plain[NAIVE][1][model(plain, NAIVE)]["global_loads"]))
    row = page.row(*FIGURES[1], [beside_naive(plain, 0)], plain, signed=True)
    for what, at, launch, instant in found:
        row.experiment(what, [beside_naive(at, launch, instant)], at)
    count = lambda kernel: plain[kernel][0]["baseline"]["slots_issued"]
    row.note("At equal instructions per cycle it would be %+.1f %%: the naive one issues %d instructions, the tiled one %d. No setting gives this figure together with the one above." % (
        100 * (count(NAIVE) / count(TILED) - 1), count(NAIVE), count(TILED)))
    row = page.row(*FIGURES[2], [sped_up(plain, TILED, 0)], plain, signed=True, known=False)
    for what, at, launch, instant in found[:3]:
        row.experiment(what, [sped_up(at, TILED, launch, instant)], at)
    large = measure.compiled("matrixMul", "tiles", "#define TILE 16", "#define TILE 32")
    if large:
        wide = run("tiles of 32 x 32", large, ADDRESSES, LRR, kernels=(TILED,), shape=("[4, 4]", "[32, 32]"))
        row.experiment("tiles of 32 x 32, as the SDK has them from compute capability 2.0 on", [sped_up(wide, TILED, 0)], wide)
    row.note("None of its loads is shared: a warp of 16 x 16 threads covers two rows, whose addresses have no one stride; and of the 16 blocks of 32 x 32 threads an SM has one. "
             "The paper's reason, more resident thread blocks, does not follow from its numbers: 17 and 24 KB saved are 40 % of 42 and 60 KB, and the register file has 128.")


def registers(page):
    module = measure.MODULES["matrixMul"]
    plain = run("", module, ADDRESSES, LRR)
    row = page.row(*FIGURES[3], [held(plain, "release"), held(plain, model(plain, NAIVE))], plain)
    for what, source in (("readers as far from writers as stores, barriers and branches let them, as in machine code, which PTXPlus is made of", module),
                         ("the same, and the loop unrolled by 8 instead of 4", measure.compiled("matrixMul", "unrolled", LOOP, UNROLLED))):
        if source:
            label = "ordered" + ("-unrolled" if source != module else "")
            at = run("readers as far from writers as stores and barriers and branches let them" + (", unrolled by 8" if source != module else ""),
                     measure.edited(source, label, text.spread), ADDRESSES, LRR, kernels=(NAIVE,))
            row.experiment(what, [held(at, "release"), held(at, model(at, NAIVE))], at)
    row.note("In the order of nvcc's PTX two of the loop's 13 registers hold loaded values, so sharing all of them frees 15 % at most.")


def rows(page):
    if "matrixMul" in measure.SOURCES:
        speed(page)
        registers(page)
        return
    for figure, paper in FIGURES:
        page.row(figure, paper, [float("nan")] * len(paper), measure.setting("matrixMul is not in this run"), signed=len(paper) == 1)
