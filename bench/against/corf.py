"""CORF and CORF++."""
from against import measure, text
from against.measure import ADDRESSES, accesses, change, energy, mean, percent, replay, share

GPU = "--gpu=fermi-gtx480"
MODELS = "corf,corf++,corf-first-fit(shared),corf-first-fit(kept),corf(shared),corf(kept)"
THREE = ("corf-first-fit", "corf", "corf++")
# [corf] table 2.2 and section 2.8; two schedulers issue one each a cycle; 700 MHz is the GTX 480's of the HRF paper.
TABLE_PJ, TABLE_MW, BANK_MW, LOGIC_MW, LOGIC_STATIC_MW = 1.83, 5.56, 89.6, 57.0, 0.2
ISSUED_A_CYCLE, CYCLE_NS, OVERHEAD = 2, 1 / 0.7, 3.0
BUDGET = 100000
SHORT = "addresses of 32 bits, in one register each, as in the PTXPlus that the paper uses"
VARIANTS = [("shared", "one pool for all warps of a CTA, not one a warp"), ("kept", "slices kept when values shrink")]


def coalesced(model):
    return share(model, "coalesced_instructions", "multi_operand_instructions")


def narrow(page, at, floats, integers):
    widths = ["width_%d" % n for n in (1, 2, 3, 4)]
    shares = [percent(at, share("corf", key, *widths)) for key in widths]
    page.row("operands and results of one byte / narrow (less than 4)", [33, 65], [shares[0], sum(shares[:3])], at)
    multi = share("corf", "multi_operand_instructions", "issued")
    row = page.row("instructions with two source registers or more", [40], [percent(at, multi)], at)
    row.experiment("in nvcc's text, a 64-bit source (mostly an address) counted as two", [text.several_sources(True)])
    row.experiment("in nvcc's text, a 64-bit source counted as one", [text.several_sources(False)])
    page.row("their share of the reads", ["> 70"], [percent(at, share("corf", "multi_operand_reads", "operand_reads"))], at)
    could = share("corf", "coalesceable_instructions", "multi_operand_instructions")
    row = page.row("of them, operands that would fit in one entry", [69], [percent(at, could)], at)
    by_kind(row, lambda names: [percent(at, could, names)], floats, integers)


def by_kind(row, figures, floats, integers):
    row.experiment("integer examples alone (%d)" % len(integers), figures(integers))
    row.experiment("floating-point examples alone (%d), where more than a fifth of the accesses are of such instructions" % len(floats), figures(floats))


def approximated(passes=None):
    """The examples with a part whose odd cycles were too many to count."""
    key = "components with too many odd cycles to count"
    if passes is None:
        return {name for name, found in measure.all_passes("fermi-gtx480")["corf++"].items() if found.get(key)}
    return {name for name, found in measure.each(lambda n: measure.statistics(passes, n, GPU)).items() if found.get("corf++ - " + key)}


def alignment(row, at, about):
    """What is the paper's rule, and what the approximation of it."""
    row.note("CORF++ is not the paper's rule everywhere: in %d of %d examples some part of the graph has more odd cycles than the pass counts, and its sides are an approximation's."
             % (len(about), len(at)))
    figures = lambda names: [percent(at, coalesced(m), names) for m in THREE]
    row.experiment("the %d examples where CORF++ is the rule" % (len(at) - len(about)), figures(set(at) - about))
    row.experiment("the %d where it is the approximation" % len(about), figures(about))
    passes = "select,regalloc,corf++(budget=%d)" % BUDGET
    more = replay("corf++", GPU, files=measure.changed(passes, options=(GPU,)), on="examples after `%s`" % passes)
    row.experiment("%d steps an edge to count odd cycles, not 8: %d examples are approximated, CORF++ coalesces %.1f %%" % (BUDGET, len(approximated(passes)), percent(more, coalesced("corf++"))), at=more)


def coalescing(page, at, apart, short, floats, integers):
    about = approximated()
    row = page.row("of them, coalesced: first fit / CORF / CORF++ (an approximation of its rule in %d of %d examples)" % (len(about), len(at)), [4, 23, 48], [percent(at, coalesced(m)) for m in THREE], at)
    by_kind(row, lambda names: [percent(at, coalesced(m), names) for m in THREE], floats, integers)
    for option, what in VARIANTS:
        row.experiment("%s, first fit and CORF: %.1f / %.1f %%" % ((what,) + tuple(percent(at, coalesced("%s(%s)" % (m, option))) for m in THREE[:2])))
    row.experiment("without pairs of the two halves of a 64-bit register, CORF: %.1f %% (PTXPlus, which the paper uses, has 32-bit addresses)"
                   % percent(apart, coalesced("corf")), at=apart)
    row.experiment(SHORT, [percent(short, coalesced(m)) for m in THREE], short)
    alignment(row, at, about)


def reductions(page, at, short, floats, integers):
    for model, name, paper, part in (("corf", "CORF", [-10, -12, -4.5], 0.23), ("corf++", "CORF++", [-23, -27, -9.9], 0.48)):
        row = page.row("accesses of the register file, %s: all / integer / floating" % name, paper,
                       [percent(at, change(model, accesses), names) for names in (None, integers, floats)], at, signed=True)
        done, per = mean(at, coalesced(model)), mean(at, lambda e: accesses(e["baseline"]) / e["baseline"]["issued"])
        multi = mean(at, share("corf", "multi_operand_instructions", "issued"))
        row.note("Each coalesced instruction saves one access: %.2f of %.2f multi-operand instructions, of %.2f accesses an instruction: %.1f %%; moves cost %.1f %%."
                 % (done, multi, per, -100 * done * multi / per, percent(at, lambda e, m=model: e[m]["lane_copies"] / accesses(e["baseline"]))))
        for option, what in VARIANTS if model == "corf" else ():
            row.experiment(what, [percent(at, change("%s(%s)" % (model, option), accesses), names) for names in (None, integers, floats)])
        row.experiment(SHORT, [percent(short, change(model, accesses), names) for names in (None, integers, floats)], short)
        row.note("The paper's own figures: %.2f of 40 %% of the instructions, which make 70 %% of the reads, two each, are %.1f %% of the reads; %.1f %% if they made"
                 " all of them; writes are not counted yet." % ((part,) + tuple(100 * part * 0.4 / (0.8 / reads) for reads in (0.7, 1))))


def table_energy(e, model):
    return 100 * e[model]["renaming_accesses"] * TABLE_PJ / e["baseline"]["energy_pj"]


def energies(page, at, short):
    models = ("corf", "corf++")
    ours = [percent(at, change(m, energy)) for m in models]
    table = [mean(at, lambda e, m=m: table_energy(e, m)) for m in models]
    row = page.row("dynamic energy of the register file, CORF / CORF++", [-8.5, -17], ours, at, signed=True)
    row.experiment("accesses of the register file alone, without those of the renaming table", [o - t for o, t in zip(ours, table)])
    row.experiment(SHORT, [percent(short, change(m, energy)) for m in models], short)
    row.note("Not charged: packers, unpackers, width logic and allocation logic, which the paper has as %g mW of dynamic power, as count mode has no time. Two bounds from the"
             " paper's figures. All its overheads are %g %%: in place of the table's %.1f %% they make %.1f / %.1f %%."
             % ((LOGIC_MW, OVERHEAD, table[0]) + tuple(o - t + OVERHEAD for o, t in zip(ours, table))))
    logic = mean(at, lambda e: 100 * LOGIC_MW * CYCLE_NS / ISSUED_A_CYCLE * e["corf"]["issued"] / e["baseline"]["energy_pj"])
    row.note("And %g mW all the time, if they are of one SM, are %.1f points at %d instructions a cycle of %.2f ns, the most that the schedulers issue, and more when fewer are issued: %+.1f /"
             " %+.1f %%. The paper does not say how often the logic is active, and %.1f points do not fit its %g %%."
             % ((LOGIC_MW, logic, ISSUED_A_CYCLE, CYCLE_NS) + tuple(o + logic for o in ours) + (logic, OVERHEAD)))


def pairs(page, at, apart, floats, integers):
    fits, joined = share("corf", "partners_colocated", "partners_present"), share("corf", "pairs_colocated", "pairs_allocated")
    row = page.row("pairs of CORF that fit in one entry, of allocations", [80], [percent(at, fits)], at)
    by_kind(row, lambda names: [percent(at, fits, names)], floats, integers)
    row.experiment("pairs that meet, each counted once in a call of a function, in one entry at some time", [percent(at, joined)])
    for option, what in VARIANTS:
        row.experiment(what, [percent(at, share("corf(%s)" % option, "partners_colocated", "partners_present"))])
    row.experiment("without pairs of the two halves of a 64-bit register", [percent(apart, fits)], apart)


def allocation(page, at):
    held = lambda m, key: percent(at, lambda e: e[m][key] / e[m]["registers_declared"] - 1)
    packed, both = held("corf-first-fit", "entries_held"), [held(m, "entries_held") for m in ("corf-release", "corf++-release")]
    row = page.row("registers allocated: packing / virtualization / both", [-34, -35, -54], [packed, held("corf-release", "registers_held"), both[0]], at, signed=True)
    row.note("With CORF++'s packing, both: %.1f %%. Of packing, %.1f %% is from registers that were not written yet." % (both[1], -held("corf-first-fit", "registers_held")))
    row.experiment("slices kept when values shrink, first fit: %.1f %%" % held("corf-first-fit(kept)", "entries_held"))
    added = 100 * (TABLE_MW + LOGIC_STATIC_MW) / BANK_MW
    row = page.row("leakage, at best, from the allocation: packing / both by CORF / both by CORF++", [-33, None, -52], [number + added for number in [packed] + both], at, signed=True)
    row.note("No leakage is charged: it needs time. This is the most that counts allow: instructions stand for time, an entry that is not held leaks nothing and wakes up for nothing,"
             " and the table's %g and the logic's %g mW are added to the file's %g mW (+%.1f points; the paper has 5.4)."
             " The paper's own 54 %% of the allocation without its 5.4 points are 48.6 %%, not 52." % (TABLE_MW, LOGIC_STATIC_MW, BANK_MW, added))


def rows(page):
    at = replay(MODELS, GPU)
    apart = replay("corf", GPU, files=measure.changed("select,regalloc,corf", text.halves_apart, (GPU,)), on="examples without CORF's pairs of the two halves of a 64-bit register")
    short = replay(",".join(THREE), GPU, ADDRESSES)
    floating = lambda e: e["corf"]["float_accesses"] / (e["corf"]["operand_reads"] + e["corf"]["operand_writes"])
    floats = {name for name, part in measure.values(at, floating).items() if part > 0.2}
    integers = set(at) - floats
    page.section("CORF, CORF++")
    narrow(page, at, floats, integers)
    coalescing(page, at, apart, short, floats, integers)
    reductions(page, at, short, floats, integers)
    energies(page, at, short)
    pairs(page, at, apart, floats, integers)
    allocation(page, at)
    page.row("code growth: CORF / CORF++", [1.3, None], [measure.growth("corf"), measure.growth("corf++")], measure.setting("`heddle rewrite -p all %s`, the examples" % GPU), signed=True)
