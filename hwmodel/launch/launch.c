/* Launch files: YAML to hd_launch_file; this file reads the file's head, buffers, symbols and expectations. Every key
 * and value is checked while reading; checks that need the module (kernel names, parameter sizes) are in
 * hwmodel/launch/session.c. Linear in the file and its data.
 *
 * Buffers may be referenced before their definition: names and sizes are read first, then textures, contents, steps.
 */
#include "hwmodel/launch/launch.h"
#include "hwmodel/launch/launch_reader.h"
#include "parser/recognize.h"
#include <inttypes.h>

typedef hd_launch_reader reader;

static bool count_listed(reader *r, const hd_yaml_node *list)
{
    return list->kind != HD_YAML_SEQUENCE || hd_launch_count_values(r, list, list->count);
}

/* ---- expectations ------------------------------------------------------------------------------------------------ */

static bool read_tolerance(const hd_yaml_node *expect, const char *key, hd_launch_buffer *b, double *value)
{
    const hd_yaml_node *node = hd_yaml_get(expect, key);
    if (!node)
        return true;
    if (hd_types[b->type].class != HD_CLASS_FLOAT || b->expect.is_hash) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "a tolerance fits only float values, not integers and not a hash");
        return false;
    }
    if (!hd_yaml_double(node, value))
        return false;
    if (!(*value >= 0)) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "a tolerance is not negative");
        return false;
    }
    return b->expect.rule.tolerant = true;
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
    const hd_yaml_node *file = hd_yaml_get(expect, "file"), *values = hd_yaml_get(expect, "values"),
                       *text = hd_yaml_get(expect, "text"), *fill = hd_yaml_get(expect, "fill");
    if (!hd_launch_count_bytes(r, expect, b->size_bytes))
        return false;
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, b->size_bytes + 8);
    b->expect.bytes = bytes;
    b->expect.rule.any_nan = values || text;
    if (values)
        return count_listed(r, values) && hd_value_store_list(values, b->type, b->count, bytes);
    if (text)
        return hd_value_read_text(text, r->folder, b->type, b->count, bytes);
    hd_seeding as_written = {0, 0};
    return fill ? hd_value_fill(fill, r->folder, &as_written, b->type, b->count, bytes)
                : hd_value_read_file(file, r->folder, b->size_bytes, bytes);
}

static bool read_expected_buffer(reader *r, const hd_yaml_node *name, hd_launch_buffer *b)
{
    uint32_t other = b->expect.other = hd_launch_find_buffer(r, name, true);
    if (other == HD_NONE)
        return false;
    const hd_launch_buffer *o = &r->file->buffers.items[other];
    if (o->type == b->type && o->count == b->count)
        return true;
    hd_yaml_error(name, HD_DIAG_BAD_VALUE, "'%s' is %" PRIu64 " x .%s, '%s' is %" PRIu64 " x .%s", o->name, o->count,
                  hd_types[o->type].spelling, b->name, b->count, hd_types[b->type].spelling);
    return false;
}

static bool read_expect(reader *r, const hd_yaml_node *expect, hd_launch_buffer *b)
{
    static const char *const kinds[] = {"file", "text", "values", "fill", "xxh3", "buffer"};
    const hd_yaml_node *hash = hd_yaml_get(expect, "xxh3"), *other = hd_yaml_get(expect, "buffer");
    uint32_t given = 0;
    if (!hd_yaml_known_keys(expect, KEYS("file", "text", "values", "fill", "xxh3", "buffer", "abs", "rel", "ulp")))
        return false;
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        given += hd_yaml_get(expect, kinds[i]) != NULL;
    if (given != 1) {
        hd_yaml_error(expect, HD_DIAG_BAD_KEY, "an expectation is one of file, text, values, fill, xxh3, buffer");
        return false;
    }
    b->expect.given = true;
    b->expect.node = expect;
    b->expect.is_hash = hash != NULL;
    if (!(hash    ? read_hash(hash, &b->expect.hash)
          : other ? read_expected_buffer(r, other, b)
                  : read_expected_bytes(r, expect, b)))
        return false;
    return read_tolerance(expect, "abs", b, &b->expect.rule.absolute) &&
           read_tolerance(expect, "rel", b, &b->expect.rule.relative) &&
           read_tolerance(expect, "ulp", b, &b->expect.rule.ulps);
}

/* ---- sizes and contents ------------------------------------------------------------------------------------------ */

static const hd_yaml_node *listed_values(const hd_yaml_node *node)
{
    const hd_yaml_node *values = hd_yaml_get(node, "values");
    return values ? values : hd_yaml_get(hd_yaml_get(node, "fill"), "values");
}

static bool read_size(reader *r, const hd_yaml_node *node, hd_launch_buffer *b)
{
    const hd_yaml_node *count = hd_yaml_get(node, "count"), *values = listed_values(node);
    b->type = HD_TYPE_B8;
    if (hd_yaml_get(node, "struct")) {
        b->count = 1;
        return !count || hd_yaml_u64(count, 1, HD_MOST_STRUCTS, &b->count);
    }
    if (!hd_value_type(hd_yaml_need(node, "type"), &b->type))
        return false;
    uint32_t size = hd_value_bytes(b->type);
    if (count || !values) {
        if (!hd_yaml_u64(hd_yaml_need(node, "count"), 1, HD_LARGEST_BUFFERS_BYTES / size, &b->count))
            return false;
    } else {
        b->count = values->kind == HD_YAML_SEQUENCE ? values->count : 1;
    }
    b->size_bytes = b->count * size;
    return hd_launch_count_bytes(r, count ? count : values, b->size_bytes);
}

/* An element that is an address or a handle. */
static bool read_link(reader *r, const hd_yaml_node *node, hd_launch_buffer *b, uint64_t i, hd_link *link)
{
    link->at = i * hd_value_bytes(b->type);
    if (!hd_launch_read_argument(r, node, &link->value))
        return false;
    bool address = link->value.kind == HD_ARGUMENT_BUFFER || link->value.kind == HD_ARGUMENT_TEXTURE;
    if (!address || hd_types[b->type].class == HD_CLASS_FLOAT || hd_value_bytes(b->type) < 4) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE,
                      address ? "an address does not fit .%s"
                              : "an element is a number, {buffer: NAME} or {texture: NAME}",
                      hd_types[b->type].spelling);
        return false;
    }
    b->link_count++;
    return true;
}

static bool read_values(reader *r, const hd_yaml_node *list, hd_launch_buffer *b, unsigned char *bytes)
{
    hd_link *links;
    if (!hd_yaml_sequence(list) || list->count != b->count)
        return hd_value_store_list(list, b->type, b->count, bytes);
    uint32_t mappings = 0;
    if (!count_listed(r, list))
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        mappings += list->items[i]->kind == HD_YAML_MAPPING;
    b->links = links = HD_ARENA_ARRAY(&r->file->arena, hd_link, mappings);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i]->kind == HD_YAML_MAPPING
                ? !read_link(r, list->items[i], b, i, &links[b->link_count])
                : !hd_value_store(list->items[i], b->type, bytes + (size_t)i * hd_value_bytes(b->type)))
            return false;
    return true;
}

static bool read_struct(reader *r, const hd_yaml_node *fields, uint64_t count, hd_launch_buffer *b)
{
    hd_link *link = HD_ARENA_NEW(&r->file->arena, hd_link);
    uint32_t align;
    b->links = link;
    b->link_count = 1;
    if (!hd_launch_read_struct(r, fields, count, &link->value))
        return false;
    uint64_t one = hd_argument_bytes(&link->value, 8, &align) / count;
    if (!hd_launch_count_bytes(r, fields, one > UINT64_MAX / count ? UINT64_MAX : one * count))
        return false;
    b->count = b->size_bytes = one * count;
    return true;
}

static bool read_content(reader *r, const hd_yaml_node *node, hd_launch_buffer *b)
{
    const hd_yaml_node *fill = hd_yaml_get(node, "fill"), *values = listed_values(node),
                       *structure = hd_yaml_get(node, "struct");
    if (fill && values && hd_yaml_get(node, "values")) {
        hd_yaml_error(values, HD_DIAG_BAD_KEY, "fill and values exclude each other");
        return false;
    }
    if (structure && (fill || values || hd_yaml_get(node, "type"))) {
        hd_yaml_error(structure, HD_DIAG_BAD_KEY, "struct excludes type, fill and values");
        return false;
    }
    if (structure)
        return read_struct(r, structure, b->count, b);
    if (!values && (!fill || (!b->is_symbol && hd_yaml_is_word(fill, "zero"))))
        return true;
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, b->size_bytes + 8);
    b->initial = bytes;
    if (!values)
        return hd_value_fill(fill, r->folder, &r->seeding, b->type, b->count, bytes);
    return (!fill || hd_yaml_known_keys(fill, KEYS("values"))) && read_values(r, values, b, bytes);
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* PATH, {file: PATH} or {text: PATH} */
static bool read_save(reader *r, const hd_yaml_node *node, hd_launch_buffer *b)
{
    const char *path;
    const hd_yaml_node *name = node;
    if (node && node->kind == HD_YAML_MAPPING) {
        name = hd_yaml_get(node, "text");
        b->save_text = name != NULL;
        if (!hd_yaml_known_keys(node, KEYS("file", "text")) || !(name = name ? name : hd_yaml_need(node, "file")))
            return false;
    }
    if (!node)
        return true;
    if (!hd_yaml_string(name, &path))
        return false;
    b->save = hd_value_path(&r->file->arena, r->folder, path);
    return true;
}

/* Names and sizes. */
static bool declare_buffers(reader *r, const hd_yaml_node *map, bool symbols)
{
    bool good = true;
    if (!map)
        return true;
    if (!hd_yaml_mapping(map))
        return false;
    if (map->count > HD_MOST_BUFFERS) {
        hd_yaml_error(map, HD_DIAG_BAD_VALUE, "there are at most %d of them", HD_MOST_BUFFERS);
        return false;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        const hd_yaml_node *name = map->items[2 * i], *node = map->items[2 * i + 1];
        hd_launch_buffer b = {.name = name->text, .node = name, .is_symbol = symbols, .expect.other = HD_NONE};
        bool known =
            symbols ? hd_yaml_known_keys(node, KEYS("type", "count", "values", "struct", "fill", "expect", "save"))
                    : hd_yaml_known_keys(node, KEYS("type", "count", "address", "struct", "fill", "expect", "save"));
        const hd_yaml_node *address = hd_yaml_get(node, "address");
        good = known && read_size(r, node, &b) && good;
        good = good && (!address || hd_yaml_u64(address, 1, UINT64_MAX, &b.address));
        good = good && read_save(r, hd_yaml_get(node, "save"), &b);
        hd_array_push(&r->file->buffers, b);
    }
    return good;
}

/* Contents, then expectations (the size of a struct is known only now). */
static bool fill_buffers(reader *r, const hd_yaml_node *map, uint32_t first)
{
    bool good = true;
    for (uint32_t i = 0; map && i < map->count; i++)
        good = read_content(r, map->items[2 * i + 1], &r->file->buffers.items[first + i]) && good;
    for (uint32_t i = 0; map && good && i < map->count; i++) {
        const hd_yaml_node *expect = hd_yaml_get(map->items[2 * i + 1], "expect");
        good = !expect || read_expect(r, expect, &r->file->buffers.items[first + i]);
    }
    return good;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static const char *folder_of(hd_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return "";
    return hd_arena_string(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

static bool read_data(reader *r, const hd_yaml_node *root)
{
    const hd_yaml_node *buffers = hd_yaml_get(root, "buffers"), *symbols = hd_yaml_get(root, "symbols");
    bool good = declare_buffers(r, buffers, false);
    r->file->symbol_first = r->file->buffers.count;
    good = declare_buffers(r, symbols, true) && good;
    return good && hd_launch_read_textures(r, hd_yaml_get(root, "textures")) && fill_buffers(r, buffers, 0) &&
           fill_buffers(r, symbols, r->file->symbol_first);
}

static bool read_memory_base(reader *r, const hd_yaml_node *node)
{
    if (!node || !hd_yaml_u64(node, 0, UINT64_MAX, &r->file->memory_base))
        return !node;
    if (hd_memory_base_fits(r->file->memory_base))
        return true;
    hd_yaml_error(
        node, HD_DIAG_BAD_VALUE,
        "memory begins at a multiple of 0x200000 from 0x700001000000 to 0x7ffeff000000 with a lower half from "
        "0x1000000 to 0xff000000");
    return false;
}

bool hd_launch_code_read(const char *word, hd_launch_code *code)
{
    static const char *const words[] = {
        [HD_CODE_UNSAID] = "", [HD_CODE_PTX] = "ptx", [HD_CODE_MACHINE] = "machine", [HD_CODE_AUTO] = "auto"};
    for (uint32_t i = HD_CODE_PTX; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *code = (hd_launch_code)i;
            return true;
        }
    *code = HD_CODE_UNSAID;
    return !word;
}

static bool read_code(reader *r, const hd_yaml_node *node)
{
    const char *word;
    if (!node || !hd_yaml_string(node, &word))
        return !node;
    if (hd_launch_code_read(word, &r->file->code))
        return true;
    hd_yaml_error(node, HD_DIAG_BAD_VALUE, "the code is ptx, machine or auto, not '%s'", word);
    return false;
}

static bool read_order(const hd_yaml_node *node, const char **order)
{
    hd_ordering ignored;
    if (!node || !hd_yaml_string(node, order))
        return !node;
    if (hd_ordering_read(*order, &ignored))
        return true;
    hd_yaml_error(node, HD_DIAG_BAD_VALUE, "an order is " HD_ORDERING_FORM ", not '%s'", *order);
    return false;
}

/* The file expects what its launches leave of its own seed, so only another one drops expectations. */
static bool read_seed(reader *r, const hd_yaml_node *node)
{
    bool good = !node || hd_yaml_u32(node, 1, UINT32_MAX, &r->file->seed);
    if (r->seeding.seed)
        r->file->seed = r->seeding.seed;
    r->seeding.seed = r->file->seed;
    return good;
}

/* PATH, or [PATH, ...] */
static bool read_modules(reader *r, const hd_yaml_node *node)
{
    const char *path;
    bool list = node && node->kind == HD_YAML_SEQUENCE;
    r->file->module = node;
    if (!node)
        return false;
    if (list && !node->count) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "at least one module is expected here");
        return false;
    }
    uint32_t count = list ? node->count : 1;
    r->file->module_paths = HD_ARENA_ARRAY(&r->file->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!hd_yaml_string(list ? node->items[i] : node, &path))
            return false;
        r->file->module_paths[r->file->module_count++] = hd_value_path(&r->file->arena, r->folder, path);
    }
    return true;
}

static bool read_file(reader *r, const hd_yaml_node *root)
{
    if (!root || !hd_yaml_mapping(root))
        return false;
    bool good = hd_yaml_known_keys(root, KEYS("module", "code", "address_bits", "memory_base", "seed", "block_order",
                                              "buffer_order", "buffers", "symbols", "textures", "launches"));
    good = read_modules(r, hd_yaml_need(root, "module")) && good;
    good = read_code(r, hd_yaml_get(root, "code")) && good;
    good = hd_yaml_address_bits(root, &r->file->address_bits) && good;
    good = read_memory_base(r, hd_yaml_get(root, "memory_base")) && good;
    good = read_seed(r, hd_yaml_get(root, "seed")) && good;
    good = read_order(hd_yaml_get(root, "block_order"), &r->file->block_order) && good;
    good = read_order(hd_yaml_get(root, "buffer_order"), &r->file->buffer_order) && good;
    good = read_data(r, root) && good;
    const hd_yaml_node *launches = hd_yaml_need(root, "launches");
    return launches && hd_launch_read_steps(r, launches) && good;
}

/* What a launch leaves of other data is not what the file expects; that two buffers are equal is. */
static void drop_expectations(hd_launch_file *file)
{
    for (uint32_t i = 0; i < file->buffers.count; i++)
        if (file->buffers.items[i].expect.other == HD_NONE)
            file->buffers.items[i].expect.given = false;
}

hd_launch_file *hd_launch_read(const char *path, uint32_t seed, hd_diagnostics *diagnostics)
{
    return hd_launch_read_given(path, NULL, seed, diagnostics);
}

hd_launch_file *hd_launch_read_given(const char *path, const hd_given_files *given, uint32_t seed,
                                     hd_diagnostics *diagnostics)
{
    hd_launch_file *file = hd_calloc(1, sizeof *file);
    hd_arena_init(&file->arena);
    file->path = hd_arena_string(&file->arena, path, strlen(path));
    file->yaml = hd_yaml_read_unless(path, given, hd_refuse_foreign_launch, diagnostics);
    reader r = {.file = file, .folder = folder_of(&file->arena, path), .seeding.seed = seed};
    file->valid = read_file(&r, file->yaml->root);
    if (seed && r.seeding.fills)
        drop_expectations(file);
    return file;
}

void hd_launch_free(hd_launch_file *file)
{
    if (!file)
        return;
    hd_array_free(&file->buffers);
    hd_array_free(&file->textures);
    hd_array_free(&file->launches);
    hd_yaml_free(file->yaml);
    hd_arena_free(&file->arena);
    free(file);
}
