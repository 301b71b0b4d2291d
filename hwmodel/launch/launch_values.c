/* Launch files: individual values for the device: kernel parameters, fields of structs, elements of buffers; and the
 * limits of what a file may hold. */
#include "hwmodel/launch/launch_reader.h"
#include <inttypes.h>

typedef hd_launch_reader reader;
enum { DEEPEST_STRUCT = 16 };

/* ---- limits ------------------------------------------------------------------------------------------------------ */

bool hd_launch_count_values(hd_launch_reader *r, const hd_yaml_node *node, uint64_t values)
{
    r->values += values;
    if (r->values > HD_MOST_VALUES)
        hd_yaml_error(
            node, HD_DIAG_BAD_VALUE,
            "with what aliases repeat, the file has over %u values; a step, a parameter or a field of a struct "
            "counts as %d",
            HD_MOST_VALUES, HD_ITEM_VALUES);
    return r->values <= HD_MOST_VALUES;
}

bool hd_launch_count_bytes(hd_launch_reader *r, const hd_yaml_node *node, uint64_t bytes)
{
    r->bytes = bytes > UINT64_MAX - r->bytes ? UINT64_MAX : r->bytes + bytes;
    if (r->bytes > HD_LARGEST_BUFFERS_BYTES)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE,
                      "with those before it, the buffers and their contents have over %llu bytes",
                      HD_LARGEST_BUFFERS_BYTES);
    return r->bytes <= HD_LARGEST_BUFFERS_BYTES;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

uint32_t hd_launch_find_buffer(hd_launch_reader *r, const hd_yaml_node *name, bool symbols)
{
    uint32_t count = symbols ? r->file->buffers.count : r->file->symbol_first;
    if (!hd_yaml_scalar(name))
        return HD_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (hd_yaml_is_word(name, r->file->buffers.items[i].name))
            return i;
    hd_yaml_error(name, HD_DIAG_BAD_VALUE, "there is no buffer '%s'", name->text);
    return HD_NONE;
}

static bool read_value(reader *r, const hd_yaml_node *node, hd_argument *a, uint32_t depth);

static bool read_buffer(reader *r, const hd_yaml_node *node, const hd_yaml_node *name, hd_argument *a)
{
    const hd_yaml_node *offset = hd_yaml_get(node, "offset");
    a->kind = HD_ARGUMENT_BUFFER;
    a->buffer = hd_launch_find_buffer(r, name, false);
    if (a->buffer == HD_NONE || !offset)
        return a->buffer != HD_NONE;
    a->size_bytes = r->file->buffers.items[a->buffer].size_bytes;
    if (!hd_is_expression(offset))
        return hd_yaml_u64(offset, 0, a->size_bytes, &a->offset);
    int64_t first;
    a->varying = offset;
    return hd_expression_whole(offset, &(hd_iteration){0, r->variables}, 0, (int64_t)a->size_bytes,
                               r->file->yaml->diagnostics, &first);
}

static bool read_texture(reader *r, const hd_yaml_node *name, hd_argument *a)
{
    a->kind = HD_ARGUMENT_TEXTURE;
    a->size_bytes = 8;
    if (!hd_yaml_scalar(name))
        return false;
    for (a->texture = 0; a->texture < r->file->textures.count; a->texture++)
        if (hd_yaml_is_word(name, r->file->textures.items[a->texture].name))
            return true;
    hd_yaml_error(name, HD_DIAG_BAD_VALUE, "there is no texture '%s'", name->text);
    return false;
}

static bool read_bytes(reader *r, const hd_yaml_node *list, hd_argument *a)
{
    if (!hd_yaml_sequence(list) || !hd_launch_count_values(r, list, list->count))
        return false;
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, (size_t)list->count + 1);
    a->kind = HD_ARGUMENT_BYTES;
    a->bytes = bytes;
    a->size_bytes = list->count;
    return hd_value_store_list(list, HD_TYPE_U8, list->count, bytes);
}

static bool read_iota(reader *r, const hd_yaml_node *node, hd_argument *a)
{
    unsigned char ignored[8];
    a->kind = HD_ARGUMENT_IOTA;
    a->varying = hd_yaml_get(node, "iota");
    a->elements = 1;
    a->size_bytes = hd_value_bytes((hd_type)a->type);
    return hd_yaml_known_keys(node, KEYS("iota")) && hd_yaml_need(node, "iota") &&
           hd_value_iota(a->varying, (hd_type)a->type, 0, ignored, r->file->yaml->diagnostics) &&
           hd_value_iota(a->varying, (hd_type)a->type, r->last, ignored, r->file->yaml->diagnostics);
}

/* In an array of structs: the values of this field in all of them. */
static bool read_column(reader *r, const hd_yaml_node *fill, hd_argument *a)
{
    a->kind = HD_ARGUMENT_COLUMN;
    a->elements = 1;
    a->size_bytes = hd_value_bytes((hd_type)a->type);
    if (!hd_launch_count_bytes(r, fill, r->elements * a->size_bytes))
        return false;
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, r->elements * a->size_bytes + 8);
    a->bytes = bytes;
    return hd_value_fill(fill, r->folder, &r->seeding, (hd_type)a->type, r->elements, bytes);
}

static bool read_formula(reader *r, const hd_yaml_node *node, hd_argument *a)
{
    unsigned char ignored[8];
    a->kind = HD_ARGUMENT_FORMULA;
    a->varying = node;
    a->elements = 1;
    a->size_bytes = hd_value_bytes((hd_type)a->type);
    return hd_expression_store(node, &(hd_iteration){0, r->variables}, (hd_type)a->type, r->file->yaml->diagnostics,
                               ignored);
}

static bool read_number(reader *r, const hd_yaml_node *node, hd_argument *a)
{
    hd_type type;
    if (node->count != 1) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "a scalar parameter is one {TYPE: VALUE}");
        return false;
    }
    if (!hd_value_type(node->items[0], &type))
        return false;
    const hd_yaml_node *value = node->items[1];
    a->type = (uint8_t)type;
    if (value->kind == HD_YAML_MAPPING)
        return r->elements ? read_column(r, value, a) : read_iota(r, value, a);
    if (hd_is_expression(value))
        return read_formula(r, value, a);
    bool list = value->kind == HD_YAML_SEQUENCE;
    if (list && !hd_launch_count_values(r, value, value->count))
        return false;
    a->kind = HD_ARGUMENT_NUMBER;
    a->elements = list ? value->count : 1;
    a->size_bytes = a->elements * hd_value_bytes(type);
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, a->size_bytes + 8);
    a->bytes = bytes;
    return list ? hd_value_store_list(value, type, a->elements, bytes) : hd_value_store(value, type, bytes);
}

/* ---- structs ----------------------------------------------------------------------------------------------------- */

static bool read_pad(const hd_yaml_node *node, hd_argument *a)
{
    a->kind = HD_ARGUMENT_PAD;
    return hd_yaml_known_keys(node, KEYS("pad")) && hd_yaml_u64(hd_yaml_get(node, "pad"), 1, 4096, &a->size_bytes);
}

static bool read_fields(reader *r, const hd_yaml_node *list, hd_argument *a, uint32_t depth)
{
    if (!hd_yaml_sequence(list))
        return false;
    if (!list->count || depth == DEEPEST_STRUCT) {
        hd_yaml_error(list, HD_DIAG_BAD_VALUE,
                      list->count ? "structs are nested too deeply" : "a struct has at least one field");
        return false;
    }
    if (!hd_launch_count_values(r, list, (uint64_t)list->count * HD_ITEM_VALUES))
        return false;
    hd_argument *fields = HD_ARENA_ARRAY(&r->file->arena, hd_argument, list->count);
    a->kind = HD_ARGUMENT_STRUCT;
    a->elements = 1;
    a->fields = fields;
    a->field_count = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        const hd_yaml_node *node = list->items[i];
        fields[i] = (hd_argument){.node = node, .buffer = HD_NONE};
        if (hd_yaml_get(node, "pad") ? !read_pad(node, &fields[i]) : !read_value(r, node, &fields[i], depth + 1))
            return false;
    }
    return true;
}

/* {struct: [FIELD, ...]}, or with `count` an array of them. */
static bool read_structs(reader *r, const hd_yaml_node *node, hd_argument *a, uint32_t depth)
{
    const hd_yaml_node *fields = hd_yaml_get(node, "struct"), *count = hd_yaml_get(node, "count");
    uint64_t elements = 1;
    if (!hd_yaml_known_keys(node, KEYS("struct", "count")) ||
        (count && !hd_yaml_u64(count, 1, HD_MOST_STRUCTS, &elements)))
        return false;
    if (!count)
        return read_fields(r, fields, a, depth);
    if (!r->elements)
        return hd_launch_read_struct(r, fields, elements, a);
    hd_yaml_error(count, HD_DIAG_BAD_VALUE, "an array of structs in an array of structs; list its structs");
    return false;
}

uint64_t hd_argument_bytes(const hd_argument *a, uint32_t address_bytes, uint32_t *align)
{
    *align = 1;
    switch ((hd_argument_kind)a->kind) {
    case HD_ARGUMENT_BUFFER: return *align = address_bytes;
    case HD_ARGUMENT_TEXTURE: return *align = 8;
    case HD_ARGUMENT_NUMBER:
    case HD_ARGUMENT_IOTA:
    case HD_ARGUMENT_FORMULA:
    case HD_ARGUMENT_COLUMN: *align = hd_value_bytes((hd_type)a->type); return a->size_bytes;
    case HD_ARGUMENT_BYTES:
    case HD_ARGUMENT_PAD: return a->size_bytes;
    case HD_ARGUMENT_STRUCT: break;
    }
    uint64_t at = 0;
    for (uint32_t i = 0; i < a->field_count; i++) {
        uint32_t own;
        uint64_t bytes = hd_argument_bytes(&a->fields[i], address_bytes, &own);
        at = (at + own - 1) / own * own + bytes;
        *align = hd_max(*align, own);
    }
    return (at + *align - 1) / *align * *align * a->elements;
}

static bool lay_fields(const hd_argument *a, const hd_iteration *it, const hd_addresses *addresses, unsigned char *to)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < a->field_count; i++) {
        uint32_t align;
        uint64_t bytes = hd_argument_bytes(&a->fields[i], addresses->address_bytes, &align);
        at = (at + align - 1) / align * align;
        if (!hd_argument_lay(&a->fields[i], it, addresses, to + at))
            return false;
        at += bytes;
    }
    return true;
}

static bool lay_structs(const hd_argument *a, const hd_iteration *it, const hd_addresses *addresses, unsigned char *to)
{
    uint32_t align;
    uint64_t stride = hd_argument_bytes(a, addresses->address_bytes, &align) / a->elements;
    if (a->elements == 1)
        return lay_fields(a, it, addresses, to);
    for (uint64_t i = 0; i < a->elements; i++)
        if (!lay_fields(a, &(hd_iteration){i, it->variables}, addresses, to + i * stride))
            return false;
    return true;
}

static bool lay_address(const hd_argument *a, const hd_iteration *it, const hd_addresses *addresses, unsigned char *to)
{
    int64_t offset = (int64_t)a->offset;
    if (a->varying && !hd_expression_whole(a->varying, it, 0, (int64_t)a->size_bytes, addresses->diagnostics, &offset))
        return false;
    uint64_t value = addresses->buffers[a->buffer] + (uint64_t)offset;
    memcpy(to, &value, addresses->address_bytes);
    return true;
}

bool hd_argument_lay(const hd_argument *a, const hd_iteration *it, const hd_addresses *addresses, unsigned char *to)
{
    switch ((hd_argument_kind)a->kind) {
    case HD_ARGUMENT_BUFFER: return lay_address(a, it, addresses, to);
    case HD_ARGUMENT_TEXTURE: memcpy(to, &addresses->textures[a->texture].handle, 8); return true;
    case HD_ARGUMENT_NUMBER:
    case HD_ARGUMENT_BYTES: memcpy(to, a->bytes, a->size_bytes); return true;
    case HD_ARGUMENT_IOTA: return hd_value_iota(a->varying, (hd_type)a->type, it->k, to, addresses->diagnostics);
    case HD_ARGUMENT_FORMULA: return hd_expression_store(a->varying, it, (hd_type)a->type, addresses->diagnostics, to);
    case HD_ARGUMENT_COLUMN: memcpy(to, a->bytes + it->k * a->size_bytes, a->size_bytes); return true;
    case HD_ARGUMENT_STRUCT: return lay_structs(a, it, addresses, to);
    case HD_ARGUMENT_PAD: return true;
    }
    return false;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool read_value(reader *r, const hd_yaml_node *node, hd_argument *a, uint32_t depth)
{
    *a = (hd_argument){.node = node, .buffer = HD_NONE};
    if (node->kind == HD_YAML_SCALAR)
        return read_buffer(r, node, node, a);
    if (!hd_yaml_mapping(node))
        return false;
    const hd_yaml_node *buffer = hd_yaml_get(node, "buffer"), *bytes = hd_yaml_get(node, "bytes"),
                       *texture = hd_yaml_get(node, "texture"), *fields = hd_yaml_get(node, "struct");
    if (buffer)
        return hd_yaml_known_keys(node, KEYS("buffer", "offset")) && read_buffer(r, node, buffer, a);
    if (texture)
        return hd_yaml_known_keys(node, KEYS("texture")) && read_texture(r, texture, a);
    if (bytes)
        return hd_yaml_known_keys(node, KEYS("bytes")) && read_bytes(r, bytes, a);
    if (fields)
        return read_structs(r, node, a, depth);
    return read_number(r, node, a);
}

bool hd_launch_read_argument(hd_launch_reader *r, const hd_yaml_node *node, hd_argument *a)
{
    return read_value(r, node, a, 0);
}

bool hd_launch_read_struct(hd_launch_reader *r, const hd_yaml_node *fields, uint64_t count, hd_argument *a)
{
    *a = (hd_argument){.node = fields, .buffer = HD_NONE};
    r->elements = count;
    bool good = read_fields(r, fields, a, 0);
    r->elements = 0;
    a->elements = count;
    return good;
}
