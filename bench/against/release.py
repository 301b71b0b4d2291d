"""RFV: release flags, renaming, power gating and wear levelling."""
from against import measure
from against.measure import accesses, median, mean, percent, replay, share

GPU = "--gpu=fermi-rfv"


def launches(model):
    return lambda e: e[model]["variation_of_launches"] / accesses(e[model])


def touched(e):
    return e["release"]["registers_touched"] / e["release"]["registers_static"] - 1


def best(at):
    return 100 * min(measure.values(at, touched).values())


def decoded(e, model):
    return (e[model]["flag_words_decoded"] + e[model]["release_list_words"]) / e[model]["issued"]


def flags(page, at):
    row = page.row("flag words decoded, of instructions: no cache / 10 entries", [11, 0.2], [percent(at, lambda e, m=m: decoded(e, m)) for m in ("release-nocache", "release")], at, signed=True)
    lists = percent(at, share("release", "release_list_words", "issued"))
    pir = lambda e: e["release"]["flag_words_decoded"] / e["release"]["issued"]
    row.experiment("without words of release lists (pbr), which the cache does not hold: %.1f %%" % lists,
                   [percent(at, lambda e, m=m: e[m]["flag_words_decoded"] / e[m]["issued"]) for m in ("release-nocache", "release")])
    words = {name: found["words"] for name, found in measure.all_passes("fermi-gtx480")["release"].items()}
    small = set(sorted(words, key=words.get)[:len(words) // 2])
    row.note("Flag words (pir) with the cache: %.1f %% in the half of the examples with the fewest words in the text (at most %d), %.1f %% in the others."
             % (percent(at, pir, small), max(words[name] for name in small), percent(at, pir, set(at) - small)))


def wear(page, at, everything):
    models = ("release-static", "release-wear")
    row = page.row("variation of accesses by register: without / with wear levelling", ["> 1", 0.2], [mean(at, launches(m)) for m in models], at, unit="")
    row.note("Of each launch, and their mean by accesses; medians of the examples %.2f / %.2f." % tuple(median(at, launches(m)) for m in models))
    row.experiment("a table that renames every register", [mean(everything, launches(m)) for m in models], everything)
    row.experiment("all launches together, as if each had registers of its own", [mean(at, lambda e, m=m: measure.variation(e[m])) for m in models])
    given = measure.values(at, lambda e: e["release-wear"]["registers_mapped"] / e["release-wear"]["physical_registers"])
    order, third = sorted(given, key=given.get), len(given) // 3
    for what, names in (("the third of the examples that give a physical register out least, at most %.0f times" % given[order[third - 1]], order[:third]),
                        ("the third between", order[third:-third]), ("the third that do so most, at least %.0f times" % given[order[-third]], order[-third:])):
        row.experiment(what, [mean(at, launches(m), set(names)) for m in models])


def power(page, at):
    off = lambda m: -percent(at, share(m, "subarrays_gated_time", "subarrays_gated_time", "subarrays_powered_time"))
    row = page.row("static power, sub-arrays without power: RFV / the same gating without renaming", [-47, None], [off("release"), off("release-static")], at, signed=True)
    row.note("%.1f of the %.1f points need no renaming: they are registers that the examples' launches leave unallocated. Renaming adds %.1f."
             % (-off("release-static"), -off("release"), off("release-static") - off("release")))
    row.note("Not charged: the leakage of the table, 0.27 of the file's 89.6 mW (0.3 points); an instruction counts as one cycle, and a wake-up's energy as none.")


def rows(page):
    at = replay("release", GPU)
    everything = replay("release", GPU, files=measure.changed("select,regalloc,release(table=65536)", options=(GPU,)), on="examples after `select,regalloc,release(table=65536)`")
    page.section("RFV")
    row = page.row("registers touched, of those allocated: mean / best", [-16, -43], [percent(at, touched), best(at)], at, signed=True)
    row.experiment("at most allocated at one time, instead of touched at any time, mean alone: %.1f %%" % percent(at, lambda e: e["release"]["peak"] / e["release-static"]["peak"] - 1))
    row.experiment("a table that renames every register", [percent(everything, touched), best(everything)], everything)
    flags(page, at)
    wear(page, at, everything)
    power(page, at)
    page.row("code growth", [None], [measure.growth("release")], measure.setting("`heddle rewrite -p all --gpu=fermi-gtx480`, the examples"), signed=True)
