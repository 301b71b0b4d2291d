/* Launch files: YAML to hd_launch_file. Every key and value is checked here; what needs the module (kernel names,
 * parameter sizes) is checked by hwmodel/session.c. Linear in the file and the data it describes. */
#include "hwmodel/launch.h"
#include "hwmodel/values.h"
#include <inttypes.h>

#define KEYS(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)
static const uint64_t LARGEST_BUFFER_BYTES = 1ull << 34;
enum { MOST_REPETITIONS = 1000000, LARGEST_SHARED_BYTES = 227 * 1024 };

typedef struct reader {
    hd_launch_file *file;
    const char *folder;
    bool good;
} reader;

/* ---- buffers and symbols ------------------------------------------------------------------------------------- */

static bool read_tolerance(const hd_yaml_node *expect, const char *key, hd_launch_buffer *b, double *value)
{
    const hd_yaml_node *node = hd_yaml_get(expect, key);
    if (!node)
        return true;
    if (hd_types[b->type].class != HD_CLASS_FLOAT || b->expect.is_hash) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "a tolerance fits only float values from a file or list");
        return false;
    }
    if (!hd_yaml_double(node, value))
        return false;
    if (!(*value >= 0)) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "a tolerance is not negative");
        return false;
    }
    return b->expect.tolerant = true;
}

static bool read_hash(const hd_yaml_node *node, uint64_t *hash)
{
    const char *text;
    *hash = 0;
    if (!hd_yaml_string(node, &text))
        return false;
    bool good = strlen(text) == 16 && strspn(text, "0123456789abcdefABCDEF") == 16;
    if (good)
        *hash = strtoull(text, NULL, 16);
    else
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "'%s' is not a hash of 16 hexadecimal digits", text);
    return good;
}

static bool read_expected_bytes(reader *r, const hd_yaml_node *expect, hd_launch_buffer *b)
{
    const hd_yaml_node *file = hd_yaml_get(expect, "file"), *values = hd_yaml_get(expect, "values");
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, b->size_bytes + 8);
    b->expect.bytes = bytes;
    b->expect.from_values = values != NULL;
    return values ? hd_value_store_list(values, b->type, b->count, bytes)
                  : hd_value_read_file(file, r->folder, b->size_bytes, bytes);
}

static bool read_expect(reader *r, const hd_yaml_node *expect, hd_launch_buffer *b)
{
    if (!hd_yaml_known_keys(expect, KEYS("file", "values", "xxh3", "abs", "rel")))
        return false;
    const hd_yaml_node *hash = hd_yaml_get(expect, "xxh3");
    if (!!hash + !!hd_yaml_get(expect, "file") + !!hd_yaml_get(expect, "values") != 1) {
        hd_yaml_error(expect, HD_DIAG_BAD_KEY, "an expectation is one of file, values, xxh3");
        return false;
    }
    b->expect.given = true;
    b->expect.node = expect;
    b->expect.is_hash = hash != NULL;
    if (!(hash ? read_hash(hash, &b->expect.hash) : read_expected_bytes(r, expect, b)))
        return false;
    return read_tolerance(expect, "abs", b, &b->expect.absolute) &&
           read_tolerance(expect, "rel", b, &b->expect.relative);
}

static bool read_size(const hd_yaml_node *node, hd_launch_buffer *b)
{
    const hd_yaml_node *count = hd_yaml_get(node, "count"), *values = hd_yaml_get(node, "values");
    if (!values)
        values = hd_yaml_get(hd_yaml_get(node, "fill"), "values");
    if (!hd_value_type(hd_yaml_need(node, "type"), &b->type))
        return false;
    uint32_t size = hd_value_bytes(b->type);
    if (count || !values) {
        if (!hd_yaml_u64(hd_yaml_need(node, "count"), 1, LARGEST_BUFFER_BYTES / size, &b->count))
            return false;
    } else {
        b->count = values->kind == HD_YAML_SEQUENCE ? values->count : 1;
    }
    b->size_bytes = b->count * size;
    return true;
}

static bool read_content(reader *r, const hd_yaml_node *node, hd_launch_buffer *b)
{
    const hd_yaml_node *fill = hd_yaml_get(node, "fill"), *values = hd_yaml_get(node, "values");
    const hd_yaml_node *expect = hd_yaml_get(node, "expect");
    if (fill && values) {
        hd_yaml_error(values, HD_DIAG_BAD_KEY, "fill and values exclude each other");
        return false;
    }
    if (values || (fill && !hd_yaml_is_word(fill, "zero"))) {
        unsigned char *bytes = hd_arena_calloc(&r->file->arena, b->size_bytes + 8);
        b->initial = bytes;
        if (!(values ? hd_value_store_list(values, b->type, b->count, bytes)
                     : hd_value_fill(fill, r->folder, b->type, b->count, bytes)))
            return false;
    }
    return !expect || read_expect(r, expect, b);
}

static void read_buffer(reader *r, const hd_yaml_node *name, const hd_yaml_node *node, bool symbol)
{
    hd_launch_buffer b = {.name = name->text, .node = name};
    bool good = symbol ? hd_yaml_known_keys(node, KEYS("type", "count", "values", "fill", "expect"))
                       : hd_yaml_known_keys(node, KEYS("type", "count", "fill", "expect"));
    good = good && read_size(node, &b) && read_content(r, node, &b);
    r->good = r->good && good;
    if (symbol)
        hd_array_push(&r->file->symbols, b);
    else
        hd_array_push(&r->file->buffers, b);
}

static void read_buffers(reader *r, const hd_yaml_node *map, bool symbols)
{
    if (!map)
        return;
    if (!hd_yaml_mapping(map)) {
        r->good = false;
        return;
    }
    for (uint32_t i = 0; i < map->count; i++)
        read_buffer(r, map->items[2 * i], map->items[2 * i + 1], symbols);
}

/* Index of a buffer that is named; HD_NONE (reported) where there is none. */
static uint32_t find_buffer(reader *r, const hd_yaml_node *name)
{
    if (!hd_yaml_scalar(name))
        return HD_NONE;
    for (uint32_t i = 0; i < r->file->buffers.count; i++)
        if (hd_yaml_is_word(name, r->file->buffers.items[i].name))
            return i;
    hd_yaml_error(name, HD_DIAG_BAD_VALUE, "there is no buffer '%s'", name->text);
    return HD_NONE;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static bool read_buffer_argument(reader *r, const hd_yaml_node *node, const hd_yaml_node *name, hd_argument *a)
{
    const hd_yaml_node *offset = hd_yaml_get(node, "offset");
    a->kind = HD_ARGUMENT_BUFFER;
    a->buffer = find_buffer(r, name);
    return a->buffer != HD_NONE &&
           (!offset || hd_yaml_u64(offset, 0, r->file->buffers.items[a->buffer].size_bytes, &a->offset));
}

static bool read_bytes_argument(reader *r, const hd_yaml_node *list, hd_argument *a)
{
    if (!hd_yaml_sequence(list))
        return false;
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, (size_t)list->count + 1);
    a->kind = HD_ARGUMENT_BYTES;
    a->bytes = bytes;
    a->size_bytes = list->count;
    return hd_value_store_list(list, HD_TYPE_U8, list->count, bytes);
}

static bool read_scalar_argument(reader *r, const hd_yaml_node *node, hd_argument *a)
{
    hd_type type;
    if (node->count != 1) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "a scalar parameter is one {TYPE: VALUE}");
        return false;
    }
    if (!hd_value_type(node->items[0], &type))
        return false;
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, 8);
    a->kind = HD_ARGUMENT_SCALAR;
    a->type = (uint8_t)type;
    a->bytes = bytes;
    a->size_bytes = hd_value_bytes(type);
    return hd_value_store(node->items[1], type, bytes);
}

static bool read_argument(reader *r, const hd_yaml_node *node, hd_argument *a)
{
    *a = (hd_argument){.node = node, .buffer = HD_NONE};
    if (node->kind == HD_YAML_SCALAR)
        return read_buffer_argument(r, node, node, a);
    if (!hd_yaml_mapping(node))
        return false;
    const hd_yaml_node *buffer = hd_yaml_get(node, "buffer"), *bytes = hd_yaml_get(node, "bytes");
    if (buffer)
        return hd_yaml_known_keys(node, KEYS("buffer", "offset")) && read_buffer_argument(r, node, buffer, a);
    if (bytes)
        return hd_yaml_known_keys(node, KEYS("bytes")) && read_bytes_argument(r, bytes, a);
    return read_scalar_argument(r, node, a);
}

static bool read_arguments(reader *r, const hd_yaml_node *list, hd_launch *l)
{
    bool good = true;
    if (!list)
        return true;
    if (!hd_yaml_sequence(list))
        return false;
    l->arguments = HD_ARENA_ARRAY(&r->file->arena, hd_argument, list->count);
    l->argument_count = list->count;
    for (uint32_t i = 0; i < list->count; i++)
        good = read_argument(r, list->items[i], &l->arguments[i]) && good;
    return good;
}

/* One to three numbers; a single one need not be a list. */
static bool read_extent(const hd_yaml_node *node, const uint32_t limits[3], uint32_t extent[3])
{
    extent[0] = extent[1] = extent[2] = 1;
    if (!node)
        return false;
    if (node->kind == HD_YAML_SCALAR)
        return hd_yaml_u32(node, 1, limits[0], &extent[0]);
    if (!hd_yaml_sequence(node))
        return false;
    if (node->count < 1 || node->count > 3) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "one to three numbers are expected here");
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < node->count; i++)
        good = hd_yaml_u32(node->items[i], 1, limits[i], &extent[i]) && good;
    return good;
}

static bool read_shape(const hd_yaml_node *node, hd_launch *l)
{
    static const uint32_t grid_limits[3] = {0x7fffffff, 65535, 65535}, block_limits[3] = {1024, 1024, 64};
    const hd_yaml_node *block = hd_yaml_need(node, "block"), *shared = hd_yaml_get(node, "shared");
    bool good = read_extent(hd_yaml_need(node, "grid"), grid_limits, l->grid);
    good = read_extent(block, block_limits, l->block) && good;
    if (good && l->block[0] * l->block[1] * l->block[2] > 1024) {
        hd_yaml_error(block, HD_DIAG_BAD_VALUE, "a block has at most 1024 threads");
        good = false;
    }
    if (good && (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] > UINT32_MAX / 32) {
        hd_yaml_error(hd_yaml_get(node, "grid"), HD_DIAG_BAD_VALUE, "a grid has at most %" PRIu32 " blocks here",
                      UINT32_MAX / 32);
        good = false;
    }
    return (!shared || hd_yaml_u32(shared, 0, LARGEST_SHARED_BYTES, &l->shared_bytes)) && good;
}

static bool read_until(reader *r, const hd_yaml_node *until, hd_launch *l)
{
    const hd_yaml_node *index = hd_yaml_get(until, "index");
    if (!hd_yaml_known_keys(until, KEYS("buffer", "equals", "at_most", "index")))
        return false;
    const hd_yaml_node *name = hd_yaml_need(until, "buffer"), *equals = hd_yaml_need(until, "equals");
    if (!name || !equals || (l->until_buffer = find_buffer(r, name)) == HD_NONE)
        return false;
    const hd_launch_buffer *b = &r->file->buffers.items[l->until_buffer];
    return (!index || hd_yaml_u64(index, 0, b->count - 1, &l->until_index)) &&
           hd_value_store(equals, b->type, l->until_equals) &&
           hd_yaml_u32(hd_yaml_need(until, "at_most"), 1, MOST_REPETITIONS, &l->until_at_most);
}

static bool read_repetition(reader *r, const hd_yaml_node *node, hd_launch *l)
{
    const hd_yaml_node *repeat = hd_yaml_get(node, "repeat"), *until = hd_yaml_get(node, "until");
    if (repeat && until) {
        hd_yaml_error(until, HD_DIAG_BAD_KEY, "repeat and until exclude each other");
        return false;
    }
    return (!repeat || hd_yaml_u32(repeat, 1, MOST_REPETITIONS, &l->repeat)) && (!until || read_until(r, until, l));
}

static void read_launch(reader *r, const hd_yaml_node *node)
{
    hd_launch l = {.repeat = 1, .until_buffer = HD_NONE, .node = node};
    bool good = hd_yaml_known_keys(node, KEYS("kernel", "grid", "block", "shared", "params", "repeat", "until"));
    good = hd_yaml_string(hd_yaml_need(node, "kernel"), &l.kernel) && good;
    if (node->kind == HD_YAML_MAPPING) {
        good = read_shape(node, &l) && good;
        good = read_arguments(r, hd_yaml_get(node, "params"), &l) && good;
        good = read_repetition(r, node, &l) && good;
    }
    r->good = r->good && good;
    hd_array_push(&r->file->launches, l);
}

static void read_launches(reader *r, const hd_yaml_node *list)
{
    if (!hd_yaml_sequence(list)) {
        r->good = false;
        return;
    }
    for (uint32_t i = 0; i < list->count; i++)
        read_launch(r, list->items[i]);
    if (!list->count) {
        hd_yaml_error(list, HD_DIAG_BAD_VALUE, "at least one launch is expected here");
        r->good = false;
    }
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

static const char *folder_of(hd_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return "";
    return hd_arena_string(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

static void read_file(reader *r, const hd_yaml_node *root)
{
    const char *module = NULL;
    if (!root || !hd_yaml_mapping(root)) {
        r->good = false;
        return;
    }
    r->good = hd_yaml_known_keys(root, KEYS("module", "buffers", "symbols", "launches"));
    r->good = hd_yaml_string(hd_yaml_need(root, "module"), &module) && r->good;
    if (module)
        r->file->module_path = hd_value_path(&r->file->arena, r->folder, module);
    read_buffers(r, hd_yaml_get(root, "buffers"), false);
    read_buffers(r, hd_yaml_get(root, "symbols"), true);
    read_launches(r, hd_yaml_need(root, "launches"));
}

hd_launch_file *hd_launch_read(const char *path, hd_diagnostics *diagnostics)
{
    hd_launch_file *file = hd_calloc(1, sizeof *file);
    hd_arena_init(&file->arena);
    file->path = hd_arena_string(&file->arena, path, strlen(path));
    file->yaml = hd_yaml_read(path, diagnostics);
    reader r = {.file = file, .folder = folder_of(&file->arena, path)};
    read_file(&r, file->yaml->root);
    file->valid = r.good;
    return file;
}

void hd_launch_free(hd_launch_file *file)
{
    if (!file)
        return;
    hd_array_free(&file->buffers);
    hd_array_free(&file->symbols);
    hd_array_free(&file->launches);
    hd_yaml_free(file->yaml);
    hd_arena_free(&file->arena);
    free(file);
}
