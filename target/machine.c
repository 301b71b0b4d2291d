/* Reads the section `timing` of GPU descriptions: see machine.h. */
#include "target/machine.h"

#include "base/array.h"

typedef struct key_row {
    const char *section, *key;
    size_t offset;
    uint32_t minimum, maximum;
} key_row;

static const key_row key_rows[] = {
#define HD_MACHINE_KEY(section, key, minimum, maximum, unit, summary) \
    {#section, #key, offsetof(hd_machine, section.key), minimum, maximum},
#include "target/machine.def"
};
enum { KEY_ROWS = sizeof key_rows / sizeof *key_rows, SECTION_KEYS = 24, CHOICE_WORDS = 4 };

static const struct choice_row {
    const char *section, *key;
    size_t offset;
    const char *words[CHOICE_WORDS];
} choice_rows[] = {
#define HD_MACHINE_CHOICE(section, key, type, words, summary) \
    {#section, #key, offsetof(hd_machine, section.key), {words}},
#include "target/machine.def"
};
enum { CHOICE_ROWS = sizeof choice_rows / sizeof *choice_rows };
_Static_assert(sizeof(hd_core_kind) == sizeof(uint32_t) && sizeof(hd_scheduler_policy) == sizeof(uint32_t),
               "choices are read as numbers");

static const char *const unit_keys[HD_MACHINE_UNITS] = {
#define HD_MACHINE_UNIT(id, key, fallback, fixed, summary) key,
#include "target/machine.def"
};
static const uint8_t unit_fallbacks[HD_MACHINE_UNITS] = {
#define HD_MACHINE_UNIT(id, key, fallback, fixed, summary) HD_MACHINE_UNIT_##fallback,
#include "target/machine.def"
};
static const bool fixed_units[HD_MACHINE_UNITS] = {
#define HD_MACHINE_UNIT(id, key, fallback, fixed, summary) fixed,
#include "target/machine.def"
};
static const char *const class_keys[HD_MACHINE_CLASSES] = {
#define HD_MACHINE_CLASS(id, key, unit, summary) key,
#include "target/machine.def"
};
static const uint8_t class_units[HD_MACHINE_CLASSES] = {
#define HD_MACHINE_CLASS(id, key, unit, summary) HD_MACHINE_UNIT_##unit,
#include "target/machine.def"
};

/* ---- sections of numbers ----------------------------------------------------------------------------------------- */

static bool read_choices(const hd_yaml_node *node, const char *section, hd_machine *machine)
{
    bool good = true;
    for (uint32_t i = 0; i < CHOICE_ROWS; i++) {
        uint32_t words = 0;
        if (strcmp(choice_rows[i].section, section))
            continue;
        while (words < CHOICE_WORDS && choice_rows[i].words[words])
            words++;
        good = hd_yaml_choice(hd_yaml_need(node, choice_rows[i].key), choice_rows[i].words, words,
                              (uint32_t *)((char *)machine + choice_rows[i].offset)) &&
               good;
    }
    return good;
}

static uint32_t list_keys(const char *section, const char *keys[SECTION_KEYS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < KEY_ROWS; i++)
        if (!strcmp(key_rows[i].section, section))
            keys[count++] = key_rows[i].key;
    for (uint32_t i = 0; i < CHOICE_ROWS; i++)
        if (!strcmp(choice_rows[i].section, section))
            keys[count++] = choice_rows[i].key;
    return count;
}

static bool read_section(const hd_yaml_node *timing, const char *section, hd_machine *machine)
{
    const char *keys[SECTION_KEYS];
    const hd_yaml_node *node = hd_yaml_need(timing, section);
    if (!node || !hd_yaml_mapping(node))
        return false;
    bool good = hd_yaml_known_keys(node, keys, list_keys(section, keys));
    for (uint32_t i = 0; i < KEY_ROWS; i++)
        if (!strcmp(key_rows[i].section, section))
            good = hd_yaml_u32(hd_yaml_need(node, key_rows[i].key), key_rows[i].minimum, key_rows[i].maximum,
                               (uint32_t *)((char *)machine + key_rows[i].offset)) &&
                   good;
    return read_choices(node, section, machine) && good;
}

/* ---- units and classes of operations ----------------------------------------------------------------------------- */

static bool read_units(const hd_yaml_node *node, hd_machine *machine)
{
    if (!node || !hd_yaml_mapping(node) || !hd_yaml_known_keys(node, unit_keys, HD_MACHINE_UNITS))
        return false;
    bool good = true;
    for (uint32_t u = 0; u < HD_MACHINE_UNITS; u++)
        good = hd_yaml_u32(hd_yaml_need(node, unit_keys[u]), 0, 64, &machine->units[u]) && good;
    for (uint32_t u = 0; u < HD_MACHINE_UNITS && good; u++)
        if (!machine->units[u] && !machine->units[unit_fallbacks[u]]) {
            hd_yaml_error(node, HD_DIAG_BAD_VALUE, "there is no unit of kind '%s', and none that executes in its place",
                          unit_keys[u]);
            good = false;
        }
    return good;
}

static bool read_class(const hd_yaml_node *node, hd_machine_class_timing *timing)
{
    if (!node || !hd_yaml_sequence(node))
        return false;
    if (node->count != 2) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "an operation has two numbers: [latency, interval], in cycles");
        return false;
    }
    return hd_yaml_u32(node->items[0], 1, 10000, &timing->latency) &&
           hd_yaml_u32(node->items[1], 1, 10000, &timing->interval);
}

static bool read_classes(const hd_yaml_node *node, hd_machine *machine)
{
    if (!node || !hd_yaml_mapping(node) || !hd_yaml_known_keys(node, class_keys, HD_MACHINE_CLASSES))
        return false;
    bool good = true;
    for (uint32_t c = 0; c < HD_MACHINE_CLASSES; c++) {
        uint8_t unit = class_units[c];
        machine->classes[c].unit = machine->units[unit] ? unit : unit_fallbacks[unit];
        good = read_class(hd_yaml_need(node, class_keys[c]), &machine->classes[c]) && good;
    }
    return good;
}

/* ---- what numbers must be together ------------------------------------------------------------------------------- */

/* Reports `rule` at a section of `timing` that breaks it. */
static bool check(const hd_yaml_node *timing, const char *section, bool good, const char *rule)
{
    if (!good)
        hd_yaml_error(hd_yaml_get(timing, section), HD_DIAG_BAD_VALUE, "%s", rule);
    return good;
}

static bool is_power(uint32_t value) { return value && !(value & (value - 1)); }

static bool core_fits(const hd_yaml_node *node, const hd_machine *m)
{
    switch (m->core.kind) {
    case HD_CORE_COLLECTOR:
        return check(node, "core", m->core.collectors && !m->core.read_cycles && !m->core.queue,
                     "a core of kind 'collector' needs core.collectors, and has no read_cycles and no queue");
    case HD_CORE_SUBCORE:
        return check(
            node, "core",
            !m->core.collectors && !m->core.collector_ports && m->core.read_cycles && m->core.queue &&
                m->core.issue_width == 1 && m->core.bank_latency == 1 && m->core.bank_interval == 1 &&
                m->core.bank_groups == m->core.schedulers && m->core.banks <= 64,
            "a core of kind 'subcore' needs core.read_cycles and core.queue, no collectors and no ports of "
            "them, an issue_width, "
            "a bank_latency and a bank_interval of 1, as many bank_groups as schedulers, and at most 64 banks");
    }
    return false;
}

static bool small_cache_fits(const hd_yaml_node *node, const hd_machine *m, const char *section, uint32_t bytes,
                             uint32_t line_bytes, uint32_t ways)
{
    bool good = is_power(line_bytes) && line_bytes >= m->l2.sector_bytes && line_bytes <= m->l2.line_bytes &&
                bytes % (line_bytes * ways) == 0;
    if (!good)
        hd_yaml_error(
            hd_yaml_get(node, section), HD_DIAG_BAD_VALUE,
            "%s.line_bytes is a power of two, from a sector to a line of the L2 cache, and %s.bytes a multiple "
            "of %s.line_bytes times %s.ways",
            section, section, section, section);
    return good;
}

static bool fit_together(const hd_yaml_node *node, const hd_machine *m)
{
    bool good = core_fits(node, m);
    good = check(node, "core", m->core.policy != HD_POLICY_TWO_LEVEL || m->core.active_warps,
                 "the two-level policy needs core.active_warps of 1 or more") &&
           good;
    good =
        check(node, "core", m->core.banks % m->core.bank_groups == 0, "core.banks is a multiple of core.bank_groups") &&
        good;
    good = check(node, "l1",
                 is_power(m->l1.line_bytes) && is_power(m->l1.sector_bytes) && is_power(m->l2.line_bytes) &&
                     is_power(m->l2.sector_bytes) && is_power(m->dram.row_bytes),
                 "lines, sectors and rows are powers of two") &&
           good;
    good = check(node, "l1", m->l1.sector_bytes <= m->l1.line_bytes && m->l2.sector_bytes <= m->l2.line_bytes,
                 "a sector is at most a line") &&
           good;
    good =
        check(node, "l1", m->l1.line_bytes == m->l2.line_bytes && m->l1.sector_bytes >= m->l2.sector_bytes,
              "lines of both caches have the same size, and a sector of the L1 cache is one of the L2 cache or more") &&
        good;
    good = small_cache_fits(node, m, "fetch", m->fetch.bytes, m->fetch.line_bytes, m->fetch.ways) && good;
    good = small_cache_fits(node, m, "constant", m->constant.bytes, m->constant.line_bytes, m->constant.ways) && good;
    good = small_cache_fits(node, m, "texture", m->texture.bytes, m->texture.line_bytes, m->texture.ways) && good;
    good =
        check(node, "fetch", is_power(m->fetch.instruction_bytes), "fetch.instruction_bytes is a power of two") && good;
    good = check(node, "l1", m->l1.bytes % (m->l1.line_bytes * m->l1.ways) == 0,
                 "l1.bytes is a multiple of l1.line_bytes times l1.ways") &&
           good;
    return check(node, "l2", m->l2.bytes % (m->l2.slices * m->l2.line_bytes * m->l2.ways) == 0,
                 "l2.bytes is a multiple of l2.slices times l2.line_bytes times l2.ways") &&
           good;
}

bool hd_machine_unit_is_fixed(const hd_machine *m, hd_machine_unit unit)
{
    return fixed_units[unit] && m->units[unit] % m->core.schedulers == 0;
}

bool hd_machine_read(const hd_yaml_node *node, hd_machine *machine)
{
    static const char *const keys[] = {"source",   "clocks",  "core", "fetch",        "units", "operations", "shared",
                                       "constant", "texture", "l1",   "interconnect", "l2",    "dram"};
    static const char *const sections[] = {"clocks",  "core", "fetch",        "shared", "constant",
                                           "texture", "l1",   "interconnect", "l2",     "dram"};
    if (!node)
        return true;
    if (!hd_yaml_mapping(node))
        return false;
    bool good = hd_yaml_known_keys(node, keys, sizeof keys / sizeof *keys);
    good = hd_yaml_string(hd_yaml_need(node, "source"), &machine->source) && good;
    for (uint32_t s = 0; s < sizeof sections / sizeof *sections; s++)
        good = read_section(node, sections[s], machine) && good;
    good = read_units(hd_yaml_need(node, "units"), machine) && good;
    good = read_classes(hd_yaml_need(node, "operations"), machine) && good;
    machine->known = good && fit_together(node, machine);
    return machine->known;
}
