/* Numbers, fills and comparisons of launch files; the definitions are in docs/launch-fills.md. A fused multiply-add
 * would change the last bit of a fill: gcc makes none under -std=c17, clang is told. */
#include "hwmodel/values.h"
#include "hwmodel/narrow.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

bool hd_value_type(const hd_yaml_node *node, hd_type *type)
{
    static const uint8_t allowed[] = {HD_TYPE_F32, HD_TYPE_F64, HD_TYPE_F16, HD_TYPE_BF16, HD_TYPE_S8,  HD_TYPE_S16,
                                      HD_TYPE_S32, HD_TYPE_S64, HD_TYPE_U8,  HD_TYPE_U16,  HD_TYPE_U32, HD_TYPE_U64,
                                      HD_TYPE_B8,  HD_TYPE_B16, HD_TYPE_B32, HD_TYPE_B64};
    const char *words[sizeof allowed];
    uint32_t index;
    for (uint32_t i = 0; i < sizeof allowed; i++)
        words[i] = hd_types[allowed[i]].spelling;
    if (!hd_yaml_choice(node, words, sizeof allowed, &index))
        return false;
    *type = (hd_type)allowed[index];
    return true;
}

/* ---- one number ---------------------------------------------------------------------------------------------- */

static void store(unsigned char *bytes, uint64_t value, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t load(const unsigned char *bytes, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static void store_float(hd_type type, double value, unsigned char *bytes)
{
    uint64_t bits = 0;
    if (type == HD_TYPE_F64) {
        memcpy(&bits, &value, 8);
    } else if (type == HD_TYPE_F32) {
        float narrow = (float)value;
        memcpy(&bits, &narrow, 4);
    } else {
        bits = type == HD_TYPE_F16 ? hd_f16_from_double(value) : hd_bf16_from_double(value);
    }
    store(bytes, bits, hd_value_bytes(type));
}

/* Sign and magnitude into an integer type; false where it does not fit. */
static bool store_integer(hd_type type, bool negative, uint64_t magnitude, unsigned char *bytes)
{
    uint32_t bits = hd_types[type].bits;
    uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1, half = all / 2 + 1;
    uint8_t class = hd_types[type].class;
    if (negative ? class == HD_CLASS_UNSIGNED ? magnitude != 0 : magnitude > half
                 : magnitude > (class == HD_CLASS_SIGNED ? half - 1 : all))
        return false;
    store(bytes, negative ? 0 - magnitude : magnitude, bits / 8);
    return true;
}

static bool store_double(hd_type type, double value, unsigned char *bytes)
{
    if (hd_types[type].class == HD_CLASS_FLOAT) {
        store_float(type, value, bytes);
        return true;
    }
    double whole = trunc(value);
    if (!(fabs(whole) < 18446744073709551616.0))
        return false;
    return store_integer(type, whole < 0, (uint64_t)fabs(whole), bytes);
}

bool hd_value_store(const hd_yaml_node *node, hd_type type, unsigned char *bytes)
{
    bool negative;
    uint64_t magnitude;
    double value;
    bool good;
    if (hd_types[type].class != HD_CLASS_FLOAT && hd_yaml_is_integer(node, &negative, &magnitude))
        good = store_integer(type, negative, magnitude, bytes);
    else if (!hd_yaml_double(node, &value))
        return false;
    else
        good = store_double(type, value, bytes);
    if (!good)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "%s does not fit .%s", node->text, hd_types[type].spelling);
    return good;
}

bool hd_value_store_list(const hd_yaml_node *list, hd_type type, uint64_t count, unsigned char *bytes)
{
    if (!hd_yaml_sequence(list))
        return false;
    if (list->count != count) {
        hd_yaml_error(list, HD_DIAG_BAD_VALUE, "%" PRIu32 " values are listed where %" PRIu64 " are needed",
                      list->count, count);
        return false;
    }
    for (uint32_t i = 0; i < list->count; i++)
        if (!hd_value_store(list->items[i], type, bytes + (size_t)i * hd_value_bytes(type)))
            return false;
    return true;
}

/* ---- fills --------------------------------------------------------------------------------------------------- */

static uint64_t splitmix(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

typedef struct generator {
    double a, b;
    uint64_t seed;
} generator;

static double iota_at(const generator *g, uint64_t i) { return g->a + (double)i * g->b; }
static double uniform_at(const generator *g, uint64_t i)
{
    return g->a + (double)(splitmix(g->seed, i) >> 11) * 0x1p-53 * (g->b - g->a);
}
static double normal_at(const generator *g, uint64_t i)
{
    double u = (double)((splitmix(g->seed, 2 * i) >> 11) + 1) * 0x1p-53;
    double v = (double)(splitmix(g->seed, 2 * i + 1) >> 11) * 0x1p-53;
    return g->a + g->b * (sqrt(-2 * log(u)) * cos(6.283185307179586476925286766559 * v));
}

typedef struct fill_target {
    const hd_yaml_node *fill, *value; /* the mapping, and the value of its first key */
    const char *folder;
    hd_type type;
    uint64_t count;
    unsigned char *bytes;
} fill_target;

static bool generate(const fill_target *t, const generator *g, double (*at)(const generator *, uint64_t))
{
    uint32_t size = hd_value_bytes(t->type);
    for (uint64_t i = 0; i < t->count; i++)
        if (!store_double(t->type, at(g, i), t->bytes + i * size)) {
            hd_yaml_error(t->value, HD_DIAG_BAD_VALUE, "element %" PRIu64 ", %.17g, does not fit .%s", i, at(g, i),
                          hd_types[t->type].spelling);
            return false;
        }
    return true;
}

static bool two_numbers(const fill_target *t, generator *g)
{
    if (!hd_yaml_sequence(t->value))
        return false;
    if (t->value->count != 2) {
        hd_yaml_error(t->value, HD_DIAG_BAD_VALUE, "two numbers are expected here");
        return false;
    }
    const hd_yaml_node *seed = hd_yaml_get(t->fill, "seed");
    return hd_yaml_double(t->value->items[0], &g->a) && hd_yaml_double(t->value->items[1], &g->b) &&
           (!seed || hd_yaml_u64(seed, 0, UINT64_MAX, &g->seed));
}

/* START + i * STEP in whole numbers, in 128 bits so that an overflow is seen. 0: not of whole numbers; 1: done; -1:
 * reported. */
static int whole_iota(const fill_target *t)
{
    bool minus[2];
    uint64_t magnitude[2];
    __int128 term[2];
    for (uint32_t k = 0; k < 2; k++) {
        if (!hd_yaml_is_integer(t->value->items[k], &minus[k], &magnitude[k]))
            return 0;
        term[k] = minus[k] ? -(__int128)magnitude[k] : (__int128)magnitude[k];
    }
    for (uint64_t i = 0; i < t->count; i++) {
        __int128 v = term[0] + (__int128)i * term[1];
        unsigned __int128 size = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
        if (size > UINT64_MAX ||
            !store_integer(t->type, v < 0, (uint64_t)size, t->bytes + i * hd_value_bytes(t->type))) {
            hd_yaml_error(t->value, HD_DIAG_BAD_VALUE, "element %" PRIu64 " does not fit .%s", i,
                          hd_types[t->type].spelling);
            return -1;
        }
    }
    return 1;
}

static bool fill_constant(const fill_target *t)
{
    unsigned char one[8];
    uint32_t size = hd_value_bytes(t->type);
    if (!hd_value_store(t->value, t->type, one))
        return false;
    for (uint64_t i = 0; i < t->count; i++)
        memcpy(t->bytes + i * size, one, size);
    return true;
}
static bool fill_iota(const fill_target *t)
{
    generator g = {0};
    if (!two_numbers(t, &g))
        return false;
    int whole = hd_types[t->type].class == HD_CLASS_FLOAT ? 0 : whole_iota(t);
    return whole ? whole > 0 : generate(t, &g, iota_at);
}
static bool fill_uniform(const fill_target *t)
{
    generator g = {0};
    return two_numbers(t, &g) && generate(t, &g, uniform_at);
}
static bool fill_normal(const fill_target *t)
{
    generator g = {0};
    return two_numbers(t, &g) && generate(t, &g, normal_at);
}
static bool fill_values(const fill_target *t) { return hd_value_store_list(t->value, t->type, t->count, t->bytes); }
static bool fill_file(const fill_target *t)
{
    return hd_value_read_file(t->value, t->folder, t->count * hd_value_bytes(t->type), t->bytes);
}

static const struct fill_kind {
    const char *key;
    bool seeded;
    bool (*run)(const fill_target *);
} fill_kinds[] = {
    {"constant", false, fill_constant}, {"iota", false, fill_iota},     {"uniform", true, fill_uniform},
    {"normal", true, fill_normal},      {"values", false, fill_values}, {"file", false, fill_file},
};
enum { FILL_KINDS = sizeof fill_kinds / sizeof *fill_kinds };

bool hd_value_fill(const hd_yaml_node *fill, const char *folder, hd_type type, uint64_t count, unsigned char *bytes)
{
    if (hd_yaml_is_word(fill, "zero"))
        return true;
    if (fill->kind != HD_YAML_MAPPING) {
        hd_yaml_error(fill, HD_DIAG_BAD_VALUE,
                      "a fill is zero or one of {constant: V}, {iota: [START, STEP]}, "
                      "{uniform: [LO, HI], seed: N}, {normal: [MEAN, SD], seed: N}, {values: [...]}, {file: PATH}");
        return false;
    }
    for (uint32_t k = 0; k < FILL_KINDS; k++) {
        fill_target t = {fill, hd_yaml_get(fill, fill_kinds[k].key), folder, type, count, bytes};
        const char *const keys[] = {fill_kinds[k].key, "seed"};
        if (t.value)
            return hd_yaml_known_keys(fill, keys, fill_kinds[k].seeded ? 2 : 1) && fill_kinds[k].run(&t);
    }
    const char *const keys[] = {"constant", "iota", "uniform", "normal", "values", "file"};
    if (hd_yaml_known_keys(fill, keys, FILL_KINDS))
        hd_yaml_error(fill, HD_DIAG_BAD_KEY, "the fill says no kind");
    return false;
}

/* ---- files --------------------------------------------------------------------------------------------------- */

char *hd_value_path(hd_arena *arena, const char *folder, const char *name)
{
    if (*name == '/' || !*folder)
        return hd_arena_string(arena, name, strlen(name));
    return hd_arena_printf(arena, "%s/%s", folder, name);
}

/* The whole file into `bytes`; -1: errno, 0: another size, 1: done. */
static int read_exactly(const char *path, uint64_t size, unsigned char *bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t filled = 0;
    ssize_t got = 1;
    unsigned char extra;
    if (file < 0)
        return -1;
    while (filled < size && got > 0) {
        got = read(file, bytes + filled, size - filled);
        filled += got > 0 ? (uint64_t)got : 0;
    }
    if (got > 0 || !size)
        got = read(file, &extra, 1);
    int error = errno;
    close(file);
    errno = error;
    return got < 0 ? -1 : got == 0 && filled == size;
}

bool hd_value_read_file(const hd_yaml_node *node, const char *folder, uint64_t size, unsigned char *bytes)
{
    const char *name;
    if (!hd_yaml_string(node, &name))
        return false;
    char *path = hd_value_path(&node->document->arena, folder, name);
    int result = read_exactly(path, size, bytes);
    if (result < 0)
        hd_yaml_error(node, HD_DIAG_UNREADABLE, "cannot read %s: %s", path, strerror(errno));
    else if (!result)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "%s does not have the buffer's size, %" PRIu64 " bytes", path, size);
    return result == 1;
}

/* ---- comparing ----------------------------------------------------------------------------------------------- */

double hd_value_to_double(hd_type type, const unsigned char *bytes)
{
    uint64_t bits = load(bytes, hd_value_bytes(type));
    double d;
    float f;
    if (type == HD_TYPE_F16)
        return hd_f16_to_double((uint16_t)bits);
    if (type == HD_TYPE_F64) {
        memcpy(&d, &bits, 8);
        return d;
    }
    uint32_t narrow = (uint32_t)(type == HD_TYPE_BF16 ? bits << 16 : bits);
    memcpy(&f, &narrow, 4);
    return f;
}

bool hd_value_matches(hd_type type, const unsigned char *got, const unsigned char *want, const hd_value_rule *rule)
{
    if (!memcmp(got, want, hd_value_bytes(type)))
        return true;
    if (hd_types[type].class != HD_CLASS_FLOAT || !(rule->tolerant || rule->any_nan))
        return false;
    double g = hd_value_to_double(type, got), w = hd_value_to_double(type, want);
    if (isnan(w) || isnan(g))
        return isnan(w) && isnan(g);
    if (!rule->tolerant)
        return false;
    if (isinf(w) || isinf(g))
        return g == w;
    return fabs(g - w) <= rule->absolute + rule->relative * fabs(w);
}

void hd_value_print(hd_type type, const unsigned char *bytes, char *text, size_t size)
{
    uint32_t bytes_count = hd_value_bytes(type);
    uint64_t bits = load(bytes, bytes_count);
    uint32_t unused = 64 - 8 * bytes_count;
    switch ((hd_type_class)hd_types[type].class) {
    case HD_CLASS_FLOAT:
        snprintf(text, size, "%.*g (0x%0*" PRIx64 ")", type == HD_TYPE_F64 ? 17 : 9, hd_value_to_double(type, bytes),
                 (int)bytes_count * 2, bits);
        return;
    case HD_CLASS_SIGNED:
        snprintf(text, size, "%" PRId64, (int64_t)(bits << unused) >> unused);
        return;
    case HD_CLASS_UNSIGNED:
        snprintf(text, size, "%" PRIu64, bits);
        return;
    case HD_CLASS_BITS:
    case HD_CLASS_NONE:
    case HD_CLASS_PRED:
    case HD_CLASS_OPAQUE:
    case HD_CLASS_ODD:
        snprintf(text, size, "0x%0*" PRIx64, (int)bytes_count * 2, bits);
    }
}
