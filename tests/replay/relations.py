"""What holds between the counters of any model on any launch, whatever its technique: a new row of hwmodel/rf/models/models.def is
covered as it is. Energies and headlines are computed again from the tables that say how."""
import math
import os
import re

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# (parts, wholes): the sum of the parts is at most that of the wholes.
AT_MOST = [
    (["rf_writes"], ["operand_writes", "registers_written_back"]),
    (["rf_reads_eliminated"], ["operand_reads"]), (["memory_operands"], ["rf_reads_eliminated"]),
    (["single_use_by_arithmetic", "single_use_stored"], ["single_use_accesses"]),
    (["multi_operand_reads"], ["operand_reads"]), (["coalesceable_instructions"], ["multi_operand_instructions"]),
    (["coalesced_instructions"], ["multi_operand_instructions"]), (["coalesced_instructions"], ["rf_reads_eliminated"]),
    (["float_reads_coalesced"], ["rf_reads_eliminated"]), (["relocations"], ["width_overflows"]),
    (["entries_held"], ["registers_held"]), (["registers_held"], ["registers_declared"]),
    (["partners_colocated"], ["partners_present"]), (["pairs_allocated"], ["partners_present"]),
    (["pairs_colocated"], ["pairs_allocated"]), (["pairs_colocated"], ["partners_colocated"]),
    (["registers_touched"], ["physical_registers"]), (["flag_words_decoded"], ["flag_words"]),
    (["optimal_intervals"], ["intervals"]), (["interval_shortest"], ["interval_longest"]),
    (["optimal_shortest"], ["optimal_longest"]), (["extended_accesses"], ["operand_reads", "operand_writes"]),
    (["acquires_at_once"], ["acquires"]),
    (["stt_ram_reads"], ["rf_reads"]), (["stt_ram_writes"], ["rf_writes"]), (["buffer_entries_drained"], ["buffer_entries_used"]),
    (["buffer_entries_used"], ["buffer_writes"]), (["buffer_periods_same_bank"], ["buffer_periods"]), (["buffer_reads"], ["operand_reads"]),
]
# (sum of these, wholes): nothing, or the sum of the wholes.
ALL_OR_NONE = [
    (["destinations_rf", "destinations_boc", "destinations_both"], ["operand_writes"]),
    (["width_1", "width_2", "width_3", "width_4"], ["operand_reads", "operand_writes"]),
    (["interval_instructions"], ["warp_instructions"]),
    (["buffer_periods_to_8", "buffer_periods_9_to_16", "buffer_periods_17_to_32", "buffer_periods_33_to_64"], ["buffer_periods"]),
    (["buffer_lookups"], ["operand_reads", "operand_writes"]),
    (["buffer_accesses_gated"], ["buffer_reads", "buffer_writes", "buffer_entries_drained"]),
]


def rows(path, macro):
    """The columns of each row of a table: strings without their quotes."""
    with open(os.path.join(TOP, path), encoding="ascii") as file:
        found = re.findall(r"^%s\((.*)\)$" % macro, file.read(), re.M)
    return [[a or b.strip() for a, b in re.findall(r'"((?:[^"\\]|\\.)*)"|([^,\s"][^,"]*)', row)] for row in found]


KEYS = {row[0]: row[2] for row in rows("hwmodel/rf/counters.def", "HD_COUNTER")}
COSTS = {row[2]: row[3] for row in rows("hwmodel/rf/counters.def", "HD_COUNTER")}
APART = {KEYS[whole]: KEYS[part] for part, whole in rows("hwmodel/rf/apart.def", "HD_COUNTER_APART")}
ENERGY_KEYS = {row[0]: row[1] for row in rows("target/energies.def", "HD_ENERGY")}
HEADLINES = {row[4]: row for row in rows("hwmodel/rf/models/headlines.def", "HD_HEADLINE")}


def energies(gpu):
    """By key of target/energies.def: pJ of an access, of those that the description gives."""
    with open(os.path.join(TOP, "target", "gpus", gpu + ".yaml"), encoding="utf-8") as file:
        text = file.read()
    known = {key: float(pj) for key, pj in re.findall(r"^  (\w+):\n    dynamic_pj: ([\d.]+)", text, re.M)}
    capacity = re.search(r"^  renaming_table:\n(?:    .*\n)*?    leakage_bytes: (\d+)", text, re.M)
    if capacity:  # RFV's, of 1 KB: in logarithms on the line through 1 KB 1.14 pJ and 5 KB 1.83 pJ
        doublings = math.log2(int(capacity.group(1)) / 1024)
        known["small_table"] = known["renaming_table"] * 2 ** (-doublings * math.log2(1.83 / 1.14) / math.log2(5))
        # LARF's: a name for each register of the file
        registers = int(re.search(r"^  registers_per_sm: (\d+)", text, re.M).group(1)) // 32
        doublings = math.log2(registers * math.ceil(math.log2(registers)) // 8 / 1024)
        known["name_table"] = known["small_table"] * 2 ** (doublings * math.log2(1.83 / 1.14) / math.log2(5))
    return known


def derived_energies(gpu):
    """The keys of those that the description derives."""
    with open(os.path.join(TOP, "target", "gpus", gpu + ".yaml"), encoding="utf-8") as file:
        return set(re.findall(r"^  (\w+):\n(?:    (?!derived)\w+: .*\n)*    derived:", file.read(), re.M))


def priced(result, key):
    """How many of what the counter counts have its energy."""
    return result[key] - result[APART[key]] if key in APART else result[key]


def smaller(result):
    """Which part of the energy an access of a register file takes that lacks some percent: at half the size, a fifth less."""
    less = re.search(r"\bless=(\d+)", result["options"] or "")
    return (1 - int(less.group(1)) / 100) ** math.log2(1 / 0.8) if less else 1.0


def needs(result, keys):
    """Did the model access a structure with one of these energies, or a register file of another size?"""
    return smaller(result) != 1 or any(cost != "NONE" and priced(result, key) and ENERGY_KEYS[cost] in keys for key, cost in COSTS.items())


def expected_energy(result, known):
    """None where a counter has an energy that is not known."""
    total = 0.0
    for key, cost in COSTS.items():
        structure = ENERGY_KEYS.get(cost)
        if structure == "renaming_table" and result["technique"] in ("release", "gpu-shrink"):
            structure = "small_table"
        if structure == "renaming_table" and result["technique"] == "larf":
            structure = "name_table"
        if cost != "NONE" and priced(result, key):
            if structure not in known:
                return None
            total += priced(result, key) * known[structure] * (smaller(result) if structure == "register_bank" else 1)
    return total


def expected_headline(result):
    _, kind, part, whole, *_ = HEADLINES[result["headline"]["title"]]
    if kind == "VARIATION":
        return result["physical_access_variation"]
    if not result[KEYS[whole]]:
        return None
    value = result[KEYS[part]] / result[KEYS[whole]]
    return {"SHARE": value, "QUOTIENT": value, "REST": 1 - value, "CHANGE": value - 1}[kind]


def near(a, b):
    return a is b is None or (a is not None and b is not None and abs(a - b) <= 1e-6 * max(1, abs(a)))


def broken(result, baseline, kernel, known):
    """What does not hold of the model's counters on the launch."""
    value = dict(result, warp_instructions=kernel["warp_instructions"])
    total = lambda keys: sum(value[key] for key in keys)
    found = ["%s > %s" % (" + ".join(parts), " + ".join(wholes)) for parts, wholes in AT_MOST if total(parts) > total(wholes)]
    found += ["%s is neither 0 nor %s" % (" + ".join(parts), " + ".join(wholes)) for parts, wholes in ALL_OR_NONE if total(parts) not in (0, total(wholes))]
    fetched = total(["lane_copies", "registers_prefetched", "registers_refetched", "registers_spilled"])
    if value["rf_reads"] - fetched + value["rf_reads_eliminated"] != value["operand_reads"]:
        found.append("operands do not come from the register file or from elsewhere")
    if not total(["window_writes", "cache_writes", "buffer_writes", "memory_operands"]) and value["rf_writes"] - value["registers_refilled"] != value["operand_writes"]:
        found.append("results are written nowhere")
    if value["operand_reads"] < baseline["operand_reads"] or value["operand_writes"] < baseline["operand_writes"]:
        found.append("operands are missing that the baseline has")
    if value["intervals"] and (value["cache_reads"], value["cache_writes"]) != (
            value["operand_reads"] + value["rf_writes"], value["operand_writes"] + value["rf_reads"]):
        found.append("the cache is not accessed for all that the register-intervals move")
    if value["registers_static"] and value["allocated_registers"]["peak"] > value["registers_static"]:
        found.append("more registers are allocated than without renaming")
    if not near(value["energy_pj"], expected_energy(result, known)):
        found.append("energy %s, not %s" % (value["energy_pj"], expected_energy(result, known)))
    if value["headline"] and not near(value["headline"]["value"], expected_headline(result)):
        found.append("headline %s, not %s" % (value["headline"], expected_headline(result)))
    accesses = lambda r: r["rf_reads"] + r["rf_writes"]
    if not near(value["rf_accesses_normalized"], accesses(value) / accesses(baseline) if accesses(baseline) else None):
        found.append("accesses are not normalized to the baseline")
    if value["verified"] is not True or value["failed_check"] is not None:
        found.append("not verified")
    return found
