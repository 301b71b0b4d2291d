/* Fills of launch files, and the data files they read; definitions in docs/launch-fills.md. A fused multiply-add would
 * change the last bit of a fill: gcc generates none under -std=c17, clang is instructed not to. */
#include "base/open.h"
#include "hwmodel/memory/narrow.h"
#include "hwmodel/launch/values.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* ---- fills ------------------------------------------------------------------------------------------------------- */

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
    hd_seeding *seeding;
    hd_type type;
    uint64_t count;
    unsigned char *bytes;
} fill_target;

static bool generate(const fill_target *t, const generator *g, double (*at)(const generator *, uint64_t))
{
    uint32_t size = hd_value_bytes(t->type);
    for (uint64_t i = 0; i < t->count; i++)
        if (!hd_value_store_double(t->type, at(g, i), t->bytes + i * size)) {
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

/* Reads both numbers of an iota, if they are integers. */
static bool whole_terms(const hd_yaml_node *pair, __int128 term[2])
{
    bool minus;
    uint64_t magnitude;
    for (uint32_t k = 0; k < 2; k++) {
        if (!hd_yaml_is_integer(pair->items[k], &minus, &magnitude))
            return false;
        term[k] = minus ? -(__int128)magnitude : (__int128)magnitude;
    }
    return true;
}

static bool store_whole(hd_type type, __int128 v, unsigned char *bytes)
{
    unsigned __int128 size = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
    return size <= UINT64_MAX && hd_value_store_integer(type, v < 0, (uint64_t)size, bytes);
}

/* START + i * STEP in integers, in 128 bits to detect overflow. 0: not integers; 1: done; -1: reported. */
static int whole_iota(const fill_target *t)
{
    __int128 term[2];
    if (!whole_terms(t->value, term))
        return 0;
    for (uint64_t i = 0; i < t->count; i++) {
        if (!store_whole(t->type, term[0] + (__int128)i * term[1], t->bytes + i * hd_value_bytes(t->type))) {
            hd_yaml_error(t->value, HD_DIAG_BAD_VALUE, "element %" PRIu64 " does not fit .%s", i,
                          hd_types[t->type].spelling);
            return -1;
        }
    }
    return 1;
}

bool hd_value_iota(const hd_yaml_node *pair, hd_type type, uint64_t k, unsigned char *bytes,
                   hd_diagnostics *diagnostics)
{
    generator g = {0};
    fill_target t = {.value = pair, .type = type};
    __int128 term[2];
    if (!two_numbers(&t, &g))
        return false;
    bool whole = hd_types[type].class != HD_CLASS_FLOAT && whole_terms(pair, term);
    if (whole ? store_whole(type, term[0] + (__int128)k * term[1], bytes)
              : hd_value_store_double(type, iota_at(&g, k), bytes))
        return true;
    hd_yaml_report(diagnostics, pair, HD_DIAG_BAD_VALUE, "the value of repetition %" PRIu64 " does not fit .%s", k,
                   hd_types[type].spelling);
    return false;
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
static bool fill_at_random(const fill_target *t, double (*at)(const generator *, uint64_t))
{
    generator g = {0};
    if (!two_numbers(t, &g))
        return false;
    if (t->seeding->seed)
        g.seed = splitmix(g.seed, t->seeding->seed);
    t->seeding->fills++;
    return generate(t, &g, at);
}
static bool fill_uniform(const fill_target *t) { return fill_at_random(t, uniform_at); }
static bool fill_normal(const fill_target *t) { return fill_at_random(t, normal_at); }
static bool fill_values(const fill_target *t) { return hd_value_store_list(t->value, t->type, t->count, t->bytes); }
static bool fill_file(const fill_target *t)
{
    return hd_value_read_file(t->value, t->folder, t->count * hd_value_bytes(t->type), t->bytes);
}

static bool fill_text(const fill_target *t)
{
    return hd_value_read_text(t->value, t->folder, t->type, t->count, t->bytes);
}

static const struct fill_kind {
    const char *key;
    bool seeded;
    bool (*run)(const fill_target *);
} fill_kinds[] = {
    {"constant", false, fill_constant}, {"iota", false, fill_iota},     {"uniform", true, fill_uniform},
    {"normal", true, fill_normal},      {"values", false, fill_values}, {"file", false, fill_file},
    {"text", false, fill_text},
};
enum { FILL_KINDS = sizeof fill_kinds / sizeof *fill_kinds };

bool hd_value_fill(const hd_yaml_node *fill, const char *folder, hd_seeding *seeding, hd_type type, uint64_t count,
                   unsigned char *bytes)
{
    if (hd_yaml_is_word(fill, "zero"))
        return true;
    if (fill->kind != HD_YAML_MAPPING) {
        hd_yaml_error(fill, HD_DIAG_BAD_VALUE,
                      "a fill is zero or one of {constant: V}, {iota: [START, STEP]}, "
                      "{uniform: [LO, HI], seed: N}, {normal: [MEAN, SD], seed: N}, {values: [...]}, {file: PATH}, "
                      "{text: PATH}");
        return false;
    }
    for (uint32_t k = 0; k < FILL_KINDS; k++) {
        fill_target t = {fill, hd_yaml_get(fill, fill_kinds[k].key), folder, seeding, type, count, bytes};
        const char *const keys[] = {fill_kinds[k].key, "seed"};
        if (t.value)
            return hd_yaml_known_keys(fill, keys, fill_kinds[k].seeded ? 2 : 1) && fill_kinds[k].run(&t);
    }
    const char *const keys[] = {"constant", "iota", "uniform", "normal", "values", "file", "text"};
    if (hd_yaml_known_keys(fill, keys, FILL_KINDS))
        hd_yaml_error(fill, HD_DIAG_BAD_KEY, "the fill says no kind");
    return false;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

char *hd_value_path(hd_arena *arena, const char *folder, const char *name)
{
    if (*name == '/' || !*folder)
        return hd_arena_string(arena, name, strlen(name));
    return hd_arena_printf(arena, "%s/%s", folder, name);
}

/* Reads the whole file into `bytes`; -1: see errno, 0: wrong size, 1: done. */
static int read_exactly(const hd_given_files *given, const char *path, uint64_t size, unsigned char *bytes)
{
    const hd_given_file *in_memory = hd_given_find(given, path);
    if (in_memory && in_memory->length == size && size)
        memcpy(bytes, in_memory->bytes, size);
    if (in_memory)
        return in_memory->length == size;
    if (given && given->only) {
        errno = HD_NOT_GIVEN;
        return -1;
    }
    int file = hd_open_input(path);
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

/* The same of a file that zstd compressed. */
static int unpack_exactly(const hd_given_files *given, const char *path, uint64_t size, unsigned char *bytes)
{
    hd_source packed;
    if (!hd_given_read(given, path, &packed))
        return -1;
    bool fits = ZSTD_getFrameContentSize(packed.text, packed.length) == size;
    fits = fits && ZSTD_decompress(bytes, size, packed.text, packed.length) == size;
    hd_source_free(&packed);
    return fits;
}

static bool is_packed(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".zst") == 0;
}

bool hd_value_read_file(const hd_yaml_node *node, const char *folder, uint64_t size, unsigned char *bytes)
{
    const char *name;
    if (!hd_yaml_string(node, &name))
        return false;
    char *path = hd_value_path(&node->document->arena, folder, name);
    hd_array_push(&node->document->files, path);
    const hd_given_files *given = node->document->given;
    int result = is_packed(path) ? unpack_exactly(given, path, size, bytes) : read_exactly(given, path, size, bytes);
    if (result < 0)
        hd_yaml_error(node, HD_DIAG_UNREADABLE, "cannot read %s: %s", path, hd_open_why(errno));
    else if (!result)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "%s does not have the buffer's size, %" PRIu64 " bytes", path, size);
    return result == 1;
}

/* ---- text files -------------------------------------------------------------------------------------------------- */

static bool is_separator(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ';'; }

/* Finds the next number; false at the end. Comments extend from # to the end of the line. */
static bool next_word(const hd_source *s, size_t *at, size_t *end)
{
    while (*at < s->length && (is_separator(s->text[*at]) || s->text[*at] == '#'))
        if (s->text[*at] == '#')
            while (*at < s->length && s->text[*at] != '\n')
                (*at)++;
        else
            (*at)++;
    for (*end = *at; *end < s->length && !is_separator(s->text[*end]) && s->text[*end] != '#';)
        (*end)++;
    return *at < s->length;
}

enum { LONGEST_WORD = 64 };

/* Treats each word like a scalar of a YAML file, so that conversion and reports are the same. */
static bool read_words(const hd_yaml_node *node, hd_yaml *text, hd_type type, uint64_t count, unsigned char *bytes)
{
    uint64_t found = 0;
    for (size_t at = 0, end; next_word(&text->source, &at, &end); at = end, found++) {
        char word[LONGEST_WORD + 1] = {0};
        uint32_t length = (uint32_t)hd_min(end - at, LONGEST_WORD);
        memcpy(word, text->source.text + at, length);
        hd_yaml_node number = {.document = text,
                               .kind = HD_YAML_SCALAR,
                               .plain = true,
                               .text = word,
                               .length = length,
                               .span = {(uint32_t)at, (uint32_t)end}};
        if (end - at > LONGEST_WORD) {
            hd_yaml_error(&number, HD_DIAG_BAD_VALUE, "a number has at most %d characters", LONGEST_WORD);
            return false;
        }
        if (found < count && !hd_value_store(&number, type, bytes + found * hd_value_bytes(type)))
            return false;
    }
    if (found != count)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "%s holds %" PRIu64 " numbers where %" PRIu64 " are needed",
                      text->source.name, found, count);
    return found == count;
}

bool hd_value_read_text(const hd_yaml_node *node, const char *folder, hd_type type, uint64_t count,
                        unsigned char *bytes)
{
    const char *name;
    if (!hd_yaml_string(node, &name))
        return false;
    const char *path = hd_value_path(&node->document->arena, folder, name);
    hd_yaml *text = hd_yaml_attach(node->document);
    hd_array_push(&node->document->files, path);
    if (!hd_given_read(node->document->given, path, &text->source)) {
        hd_yaml_error(node, HD_DIAG_UNREADABLE, "cannot read %s: %s", path, hd_source_why(errno));
        return false;
    }
    return read_words(node, text, type, count, bytes);
}
