/* Reads GPU descriptions: see gpu.h. */
#include "target/gpu.h"
#include "base/search.h"

#include "base/suggest.h"
#include <stdio.h>

const char *const hd_energy_keys[HD_ENERGY_COUNT] = {
    [HD_ENERGY_NONE] = "none",
#define HD_ENERGY(id, key, summary) [HD_ENERGY_##id] = key,
#include "target/energies.def"
#undef HD_ENERGY
};

typedef struct hd_limit_row {
    const char *key;
    size_t offset;
    uint32_t minimum, maximum;
    bool needed;
} hd_limit_row;

#define LIMIT(name, minimum, maximum, needed)                          \
    {                                                                  \
#name, offsetof(hd_gpu_limits, name), minimum, maximum, needed \
    }
static const hd_limit_row limit_rows[] = {
    LIMIT(sms, 1, 4096, false),
    LIMIT(warps_per_sm, 1, 1024, true),
    LIMIT(ctas_per_sm, 1, 1024, true),
    LIMIT(barriers_per_sm, 0, 4096, false),
    LIMIT(threads_per_cta, 1, 65536, true),
    LIMIT(registers_per_sm, 1, 1u << 24, true),
    LIMIT(registers_per_cta, 1, 1u << 24, true),
    LIMIT(registers_per_thread, 1, 65536, true),
    LIMIT(register_unit, 1, 65536, true),
    LIMIT(partitions, 1, 64, true),
    LIMIT(launch_partitions, 0, 64, false),
    LIMIT(shared_bytes_per_sm, 0, 1u << 30, true),
    LIMIT(shared_bytes_per_cta, 0, 1u << 30, true),
    LIMIT(shared_reserved_bytes_per_cta, 0, 1u << 30, false),
    LIMIT(shared_unit_bytes, 1, 1u << 20, true),
};
enum { LIMIT_ROWS = sizeof limit_rows / sizeof *limit_rows };

static bool read_carveouts(const hd_yaml_node *node, hd_gpu_limits *limits)
{
    if (!node)
        return true;
    if (!hd_yaml_sequence(node))
        return false;
    if (node->count > HD_GPU_CARVEOUTS) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "at most %d carve-outs", HD_GPU_CARVEOUTS);
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < node->count; i++)
        good = hd_yaml_u32(node->items[i], 0, 1u << 30, &limits->carveout_bytes[i]) && good;
    limits->carveout_count = node->count;
    return good;
}

static bool read_limits(const hd_yaml_node *node, hd_gpu_limits *limits)
{
    const char *keys[LIMIT_ROWS + 1];
    for (uint32_t i = 0; i < LIMIT_ROWS; i++)
        keys[i] = limit_rows[i].key;
    keys[LIMIT_ROWS] = "shared_carveouts_bytes";
    if (!node || !hd_yaml_mapping(node))
        return false;
    bool good = hd_yaml_known_keys(node, keys, LIMIT_ROWS + 1);
    for (uint32_t i = 0; i < LIMIT_ROWS; i++) {
        const hd_limit_row *row = &limit_rows[i];
        const hd_yaml_node *value = row->needed ? hd_yaml_need(node, row->key) : hd_yaml_get(node, row->key);
        if (!value) {
            good = good && !row->needed;
            continue;
        }
        good = hd_yaml_u32(value, row->minimum, row->maximum, (uint32_t *)((char *)limits + row->offset)) && good;
    }
    return read_carveouts(hd_yaml_get(node, "shared_carveouts_bytes"), limits) && good;
}

/* Both keys or none. */
static bool read_leakage(const hd_yaml_node *node, hd_energy_figure *figure)
{
    const hd_yaml_node *leakage = hd_yaml_get(node, "leakage_mw"), *bytes = hd_yaml_get(node, "leakage_bytes");
    if (!leakage && !bytes)
        return true;
    if (!hd_yaml_double(hd_yaml_need(node, "leakage_mw"), &figure->leakage_mw) ||
        !hd_yaml_u32(hd_yaml_need(node, "leakage_bytes"), 1, 1 << 30, &figure->leakage_bytes))
        return false;
    if (figure->leakage_mw >= 0 && figure->leakage_mw < 1e9)
        return true;
    hd_yaml_error(leakage, HD_DIAG_BAD_VALUE, "leakage lies between 0 and 1e9 mW");
    return false;
}

static bool read_energy(const hd_yaml_node *node, hd_energy_figure *figure)
{
    static const char *const keys[] = {"dynamic_pj", "leakage_mw", "leakage_bytes", "derived", "source"};
    if (!hd_yaml_mapping(node) || !hd_yaml_known_keys(node, keys, sizeof keys / sizeof *keys))
        return false;
    const hd_yaml_node *dynamic = hd_yaml_need(node, "dynamic_pj"), *derived = hd_yaml_get(node, "derived");
    figure->known = hd_yaml_double(dynamic, &figure->dynamic_pj) &&
                    hd_yaml_string(hd_yaml_need(node, "source"), &figure->source) && read_leakage(node, figure) &&
                    (!derived || hd_yaml_string(derived, &figure->derived));
    if (figure->known && !(figure->dynamic_pj >= 0 && figure->dynamic_pj < 1e9)) {
        hd_yaml_error(dynamic, HD_DIAG_BAD_VALUE, "an energy lies between 0 and 1e9 pJ");
        figure->known = false;
    }
    return figure->known;
}

static bool read_energies(const hd_yaml_node *node, hd_gpu *gpu)
{
    if (!node)
        return true;
    if (!hd_yaml_mapping(node) || !hd_yaml_known_keys(node, hd_energy_keys + 1, HD_ENERGY_COUNT - 1))
        return false;
    bool good = true;
    for (uint32_t e = 1; e < HD_ENERGY_COUNT; e++) {
        const hd_yaml_node *figure = hd_yaml_get(node, hd_energy_keys[e]);
        good = (!figure || read_energy(figure, &gpu->energies[e])) && good;
    }
    return good;
}

static bool read_compute(const hd_yaml_node *node, hd_gpu *gpu)
{
    const char *text;
    if (!hd_yaml_string(node, &text))
        return false;
    char *end, *point;
    unsigned long major = strtoul(text, &point, 10), minor = *point == '.' ? strtoul(point + 1, &end, 10) : 0;
    if (point == text || *point != '.' || end == point + 1 || *end || major > 99 || minor > 9) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "a compute capability is written as in 8.0");
        return false;
    }
    gpu->compute_major = (uint32_t)major;
    gpu->compute_minor = (uint32_t)minor;
    return true;
}

static bool read_design(const hd_yaml_node *node, hd_register_file_design *d)
{
    static const char *const keys[] = {"cell", "network", "banks", "bank_size", "capacity", "area", "power", "latency"};
    double *const numbers[] = {&d->banks, &d->bank_size, &d->capacity, &d->area, &d->power, &d->latency};
    if (!hd_yaml_mapping(node) || !hd_yaml_known_keys(node, keys, 8))
        return false;
    bool good = hd_yaml_string(hd_yaml_need(node, "cell"), &d->cell) &&
                hd_yaml_string(hd_yaml_need(node, "network"), &d->network);
    for (uint32_t i = 0; i < 6 && good; i++) {
        const hd_yaml_node *number = hd_yaml_need(node, keys[2 + i]);
        good = hd_yaml_double(number, numbers[i]);
        if (good && !(*numbers[i] > 0 && *numbers[i] < 1e6)) {
            hd_yaml_error(number, HD_DIAG_BAD_VALUE, "a relative number lies between 0 and 1e6");
            good = false;
        }
    }
    return good;
}

static bool read_designs(const hd_yaml_node *node, hd_gpu *gpu)
{
    if (!node)
        return true;
    if (!hd_yaml_sequence(node))
        return false;
    if (node->count > HD_GPU_DESIGNS) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "at most %d designs", HD_GPU_DESIGNS);
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < node->count; i++)
        good = read_design(node->items[i], &gpu->designs[gpu->design_count++]) && good;
    return good;
}

static bool read_register_file(const hd_yaml_node *node, hd_gpu *gpu)
{
    static const char *const keys[] = {"banks", "designs"};
    if (!node)
        return true;
    return hd_yaml_mapping(node) && hd_yaml_known_keys(node, keys, 2) &&
           hd_yaml_u32(hd_yaml_need(node, "banks"), 1, 1024, &gpu->register_banks) &&
           read_designs(hd_yaml_get(node, "designs"), gpu);
}

static bool read_gpu(hd_gpu *gpu)
{
    static const char *const keys[] = {"name",   "summary",       "compute",  "address_bits",
                                       "limits", "register_file", "energies", "timing"};
    const hd_yaml_node *root = gpu->yaml->root;
    if (!root || !hd_yaml_mapping(root))
        return false;
    bool good = hd_yaml_known_keys(root, keys, sizeof keys / sizeof *keys);
    gpu->address_bits = 64;
    good = hd_yaml_string(hd_yaml_need(root, "name"), &gpu->name) && good;
    good = hd_yaml_string(hd_yaml_need(root, "summary"), &gpu->summary) && good;
    good = read_compute(hd_yaml_need(root, "compute"), gpu) && good;
    good = hd_yaml_address_bits(root, &gpu->address_bits) && good;
    good = read_limits(hd_yaml_need(root, "limits"), &gpu->limits) && good;
    good = read_register_file(hd_yaml_get(root, "register_file"), gpu) && good;
    good = hd_machine_read(hd_yaml_get(root, "timing"), &gpu->machine) && good;
    return read_energies(hd_yaml_get(root, "energies"), gpu) && good;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml")) ||
           (length > 4 && !strcmp(name + length - 4, ".yml"));
}

static const hd_gpu_file *find_built_in(const char *name)
{
    uint32_t found = HD_FIND_ROW(hd_gpu_files, hd_gpu_file_count, name, name, strlen(name));
    return found < hd_gpu_file_count ? &hd_gpu_files[found] : NULL;
}

/* Spells a compute capability as "sm_90": from sm_90a, compute_90, sm90, 90, 9.0. Returns false if `name` is none. */
static bool spell_capability(const char *name, char *to, size_t size)
{
    static const char *const prefixes[] = {"sm_", "compute_", "sm"};
    unsigned major, minor;
    int length = 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) {
            name += strlen(prefixes[i]);
            break;
        }
    if (*name < '0' || *name > '9')
        return false;
    if (sscanf(name, "%2u.%1u%n", &major, &minor, &length) == 2 && !name[length])
        return snprintf(to, size, "sm_%u%u", major, minor) > 0;
    if (sscanf(name, "%4u%n", &major, &length) != 1)
        return false;
    bool has_features = (name[length] == 'a' || name[length] == 'f') && !name[length + 1];
    return (has_features || !name[length]) && snprintf(to, size, "sm_%u", major) > 0;
}

static hd_yaml *read_built_in(const char *name, hd_diagnostics *diagnostics)
{
    char capability[24];
    const hd_gpu_file *file = find_built_in(name);
    if (!file && spell_capability(name, capability, sizeof capability))
        file = find_built_in(capability);
    if (file)
        return hd_yaml_from_memory(file->name, file->text, file->length, diagnostics);
    hd_arena arena = {0};
    hd_suggestion near = hd_suggest(name);
    char *known = hd_arena_string(&arena, "", 0), phrase[HD_SUGGEST_PHRASE];
    for (uint32_t i = 0; i < hd_gpu_file_count; i++) {
        known = hd_arena_printf(&arena, "%s%s%s", known, i ? ", " : "", hd_gpu_files[i].name);
        hd_suggest_from(&near, hd_gpu_files[i].name);
    }
    hd_diagnostic *d = hd_report(diagnostics, HD_DIAG_UNKNOWN_GPU, NULL, (hd_span){0, 0}, "no GPU is called '%s'%s",
                                 name, hd_suggest_phrase(&near, phrase));
    hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "known are %s, and description files (*.yaml)", known);
    hd_arena_free(&arena);
    return NULL;
}

/* The number in the name of a built-in description "sm_80"; 0 for other names. */
static uint32_t capability_of(const char *name)
{
    unsigned number = 0;
    int length = 0;
    return sscanf(name, "sm_%u%n", &number, &length) == 1 && !name[length] ? number : 0;
}

const char *hd_gpu_name_for(uint32_t target, uint32_t *found)
{
    const char *name = NULL, *newest_name = NULL;
    uint32_t newest = 0;
    *found = UINT32_MAX;
    for (uint32_t i = 0; i < hd_gpu_file_count; i++) {
        uint32_t number = capability_of(hd_gpu_files[i].name);
        if (number >= target && number && number < *found) {
            *found = number;
            name = hd_gpu_files[i].name;
        }
        if (number > newest) {
            newest = number;
            newest_name = hd_gpu_files[i].name;
        }
    }
    if (name)
        return name;
    *found = newest;
    return newest_name;
}

static bool is_launch_file(const hd_yaml *yaml)
{
    const hd_yaml_node *root = yaml->root;
    bool is = root && root->kind == HD_YAML_MAPPING && hd_yaml_get(root, "launches") && !hd_yaml_get(root, "limits");
    if (is)
        hd_yaml_error(root, HD_DIAG_BAD_KEY,
                      "this is a launch file; heddle reads a GPU description here: heddle-gpu(5)");
    return is;
}

/* Those with a section `timing`, with commas. */
char *hd_gpu_names_with_timing(hd_arena *arena)
{
    hd_diagnostics none;
    char *names = hd_arena_string(arena, "", 0);
    hd_diagnostics_init(&none);
    for (uint32_t i = 0; i < hd_gpu_file_count; i++) {
        hd_gpu *gpu = hd_gpu_load(hd_gpu_files[i].name, &none);
        if (gpu->valid && gpu->machine.known)
            names = hd_arena_printf(arena, "%s%s%s", names, *names ? ", " : "", hd_gpu_files[i].name);
        hd_gpu_free(gpu);
    }
    hd_diagnostics_free(&none);
    return names;
}

hd_gpu *hd_gpu_load(const char *name, hd_diagnostics *diagnostics)
{
    return hd_gpu_load_given(name, NULL, diagnostics);
}

hd_gpu *hd_gpu_load_given(const char *name, const hd_given_files *given, hd_diagnostics *diagnostics)
{
    hd_gpu *gpu = hd_calloc(1, sizeof *gpu);
    gpu->yaml = is_path(name) ? hd_yaml_read_unless(name, given, NULL, diagnostics) : read_built_in(name, diagnostics);
    gpu->valid = gpu->yaml && !is_launch_file(gpu->yaml) && read_gpu(gpu);
    return gpu;
}

bool hd_gpu_set(hd_gpu *gpu, const char *const *settings, uint32_t count)
{
    hd_yaml *yaml = gpu->yaml;
    for (uint32_t i = 0; i < count; i++)
        if (!hd_yaml_set(yaml, "--set", settings[i]))
            return gpu->valid = false;
    if (count) {
        *gpu = (hd_gpu){.yaml = yaml};
        gpu->valid = read_gpu(gpu);
    }
    return gpu->valid;
}

void hd_gpu_free(hd_gpu *gpu)
{
    if (gpu && gpu->yaml)
        hd_yaml_free(gpu->yaml);
    free(gpu);
}
