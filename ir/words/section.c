/* Codec of the annotation section. See ir/words/section.h; the layout is defined in heddle-annotations(7).
 *
 * Writing and reading are linear in bytes. The reader validates everything: lengths against the remaining bytes, counts
 * against the minimum size of their items, so that no input makes it allocate more than a small multiple of its size.
 */
#include "ir/words/section.h"

#include "base/bytes.h"
#include "base/hash.h"

static const uint8_t MAGIC[4] = {'H', 'D', 'L', '1'};
enum { LENGTH_AT = 8, PAYLOAD_HEADER_BYTES = 3, HASH_BYTES = 8 };

bool hd_statement_is_annotation_section(const hd_module *module, const hd_statement *statement)
{
    if (statement->kind != HD_STATEMENT_VERBATIM ||
        module->verbatims.items[statement->index].kind != HD_VERBATIM_SECTION)
        return false;
    return strcmp(hd_names_text(&module->names, module->verbatims.items[statement->index].name), HD_SECTION_NAME) == 0;
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

static void put_bytes(hd_bytes *out, const void *bytes, uint32_t count)
{
    if (count)
        memcpy(hd_array_extend(out, count), bytes, count);
}

static void put_integer(hd_bytes *out, uint64_t value, uint32_t bytes)
{
    hd_store_bytes(hd_array_extend(out, bytes), value, bytes);
}

static void put_leb(hd_bytes *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        hd_array_push(out, (uint8_t)(value | 0x80));
    hd_array_push(out, (uint8_t)value);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

void hd_section_begin(hd_bytes *out)
{
    hd_array_clear(out);
    put_bytes(out, MAGIC, sizeof MAGIC);
    put_integer(out, HD_SECTION_MAJOR, 2);
    put_integer(out, HD_SECTION_MINOR, 2);
    put_integer(out, 0, 4);
}

bool hd_section_end(hd_bytes *out)
{
    if (out->count > UINT32_MAX - HD_SECTION_CHECKSUM_BYTES)
        return false;
    hd_store_bytes(out->items + LENGTH_AT, out->count - HD_SECTION_HEADER_BYTES, 4);
    put_integer(out, hd_hash(out->items, out->count), HD_SECTION_CHECKSUM_BYTES);
    return true;
}

/* Starts a record; its payload's length is filled in by end_record. */
static uint32_t begin_record(hd_bytes *out, uint16_t kind)
{
    put_integer(out, kind, 2);
    put_integer(out, 0, 4);
    return out->count;
}

static void end_record(hd_bytes *out, uint32_t payload)
{
    hd_store_bytes(out->items + payload - 4, out->count - payload, 4);
}

static uint32_t inline_bits(const hd_annotation_info *info)
{
    uint32_t highest = info->value == HD_VALUE_CHOICE ? hd_annotation_word_count(info) - 1 : 0;
    return highest ? 32 - (uint32_t)__builtin_clz(highest) : 0;
}

/* State for writing a function's records. */
typedef struct encoder {
    hd_bytes *out;
    const hd_function *function;
    uint32_t *ordinals; /* hd_declaration_ordinals */
} encoder;

static void put_list(const encoder *e, const hd_annotation *a, bool registers)
{
    put_leb(e->out, a->count);
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t word = e->function->annotation_words.items[a->value + i];
        hd_register_key key = registers ? hd_register_key_of(e->function, word) : (hd_register_key){0, word};
        if (registers)
            put_leb(e->out, e->ordinals ? e->ordinals[key.declaration] : key.declaration);
        put_leb(e->out, key.index);
    }
}

/* Writes one entry; `last` is the ordinal of the previous entry. */
static void put_entry(const encoder *e, const hd_annotation_info *info, const hd_annotation *a, uint32_t last,
                      uint32_t bits)
{
    uint32_t ordinal = info->anchor == HD_ANCHOR_FUNCTION ? 0 : a->instruction;
    uint64_t head = (uint64_t)(ordinal - last) << 1 | (a->slot != 0);
    put_leb(e->out, head << bits | (info->value == HD_VALUE_CHOICE ? a->value : 0));
    if (a->slot)
        put_leb(e->out, a->slot);
    if (info->value == HD_VALUE_NUMBER || info->value == HD_VALUE_BITS)
        put_leb(e->out, a->value);
    else if (hd_annotation_is_list(info))
        put_list(e, a, info->value == HD_VALUE_REGISTERS);
}

static uint32_t count_kind(const hd_function *function, uint16_t kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < function->annotations.count; i++)
        count += function->annotations.items[i].kind == kind;
    return count;
}

/* Writes the record of one kind; nothing if the function has none. */
static void put_kind(const encoder *e, const hd_annotation_info *info)
{
    hd_bytes *out = e->out;
    const hd_function *function = e->function;
    uint32_t count = count_kind(function, info->number), bits = inline_bits(info), last = 0;
    if (count == 0)
        return;
    uint32_t record = begin_record(out, info->number);
    const uint8_t shape[PAYLOAD_HEADER_BYTES] = {info->anchor, info->value, (uint8_t)bits};
    put_bytes(out, shape, sizeof shape);
    put_leb(out, count);
    for (uint32_t i = 0; i < function->annotations.count; i++) {
        const hd_annotation *a = &function->annotations.items[i];
        if (a->kind != info->number)
            continue;
        put_entry(e, info, a, last, bits);
        last = a->instruction;
    }
    end_record(out, record);
}

/* Copies foreign records with kinds in [from, below). */
static void put_foreign(hd_bytes *out, const hd_function *function, uint32_t from, uint32_t below)
{
    for (uint32_t i = 0; i < function->foreign_annotations.count; i++) {
        const hd_foreign_annotation *foreign = &function->foreign_annotations.items[i];
        if (foreign->kind < from || foreign->kind >= below)
            continue;
        uint32_t record = begin_record(out, foreign->kind);
        put_bytes(out, foreign->bytes, foreign->length);
        end_record(out, record);
    }
}

void hd_section_add_function(hd_bytes *out, const hd_function *function, uint64_t hash)
{
    const hd_names *names = &function->module->names;
    uint32_t record = begin_record(out, HD_RECORD_FUNCTION), from = HD_RECORD_FIRST_ANNOTATION;
    encoder e = {out, function, hd_declaration_ordinals(function)};
    put_integer(out, hash, HASH_BYTES);
    put_bytes(out, hd_names_text(names, function->name), hd_names_length(names, function->name));
    end_record(out, record);
    for (uint32_t i = 0; i < hd_annotation_info_count; i++) {
        put_foreign(out, function, from, hd_annotation_infos[i].number);
        put_kind(&e, &hd_annotation_infos[i]);
        from = hd_annotation_infos[i].number + 1u;
    }
    put_foreign(out, function, from, 0x10000);
    free(e.ordinals);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

hd_section_status hd_section_open(hd_section_reader *reader, const uint8_t *bytes, uint32_t length)
{
    *reader = (hd_section_reader){bytes, HD_SECTION_HEADER_BYTES, length};
    if (length < HD_SECTION_HEADER_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return HD_SECTION_MALFORMED;
    if (hd_load_bytes(bytes + sizeof MAGIC, 2) != HD_SECTION_MAJOR)
        return HD_SECTION_VERSION;
    if (length - HD_SECTION_HEADER_BYTES < HD_SECTION_CHECKSUM_BYTES ||
        hd_load_bytes(bytes + LENGTH_AT, 4) != length - HD_SECTION_HEADER_BYTES - HD_SECTION_CHECKSUM_BYTES)
        return HD_SECTION_MALFORMED;
    reader->end = length - HD_SECTION_CHECKSUM_BYTES;
    if (hd_load_bytes(bytes + reader->end, HD_SECTION_CHECKSUM_BYTES) != hd_hash(bytes, reader->end))
        return HD_SECTION_CHECKSUM;
    return HD_SECTION_OK;
}

hd_section_status hd_section_next(hd_section_reader *reader, hd_section_record *record)
{
    uint32_t left = reader->end - reader->at;
    if (left == 0)
        return HD_SECTION_END;
    if (left < HD_RECORD_HEADER_BYTES)
        return HD_SECTION_MALFORMED;
    record->kind = (uint16_t)hd_load_bytes(reader->bytes + reader->at, 2);
    record->length = (uint32_t)hd_load_bytes(reader->bytes + reader->at + 2, 4);
    record->payload = reader->bytes + reader->at + HD_RECORD_HEADER_BYTES;
    if (record->length > left - HD_RECORD_HEADER_BYTES)
        return HD_SECTION_MALFORMED;
    reader->at += HD_RECORD_HEADER_BYTES + record->length;
    return HD_SECTION_OK;
}

bool hd_section_function(const hd_section_record *record, uint64_t *hash, const char **name, uint32_t *name_length)
{
    if (record->length <= HASH_BYTES)
        return false;
    *hash = hd_load_bytes(record->payload, HASH_BYTES);
    *name = (const char *)record->payload + HASH_BYTES;
    *name_length = record->length - HASH_BYTES;
    return true;
}

typedef struct cursor {
    const uint8_t *at, *end;
    const char *error; /* NULL: no error so far */
} cursor;

static uint64_t fail(cursor *c, const char *error)
{
    if (!c->error)
        c->error = error;
    return 0;
}

static uint64_t get_leb(cursor *c)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return byte == 0 && shift ? fail(c, "a number is written longer than it needs") : value;
    }
    return fail(c, "a number is cut off or too large");
}

static uint32_t get_u32(cursor *c)
{
    uint64_t value = get_leb(c);
    return value > UINT32_MAX ? (uint32_t)fail(c, "a number is too large") : (uint32_t)value;
}

static uint32_t get_register(cursor *c, hd_function *function, hd_register_keys *keys)
{
    hd_register_key key = {0};
    key.declaration = get_u32(c);
    key.index = get_u32(c);
    if (!keys->sorted)
        hd_register_keys_init(keys, function);
    uint32_t reg = c->error ? HD_NONE : hd_register_keys_find(keys, key);
    return reg == HD_NONE ? (uint32_t)fail(c, "a register that the function does not declare") : reg;
}

static void get_list(cursor *c, const hd_annotation_info *info, hd_function *function, hd_register_keys *keys,
                     hd_annotation_set *set, hd_annotation *a)
{
    uint64_t count = get_leb(c);
    a->value = set->words.count;
    a->count = (uint32_t)count;
    if (count > (uint64_t)(c->end - c->at)) {
        fail(c, "a list is longer than its record");
        return;
    }
    for (uint64_t i = 0; i < count && !c->error; i++)
        hd_array_push(&set->words, info->value == HD_VALUE_REGISTERS ? get_register(c, function, keys) : get_u32(c));
}

static uint32_t slots_of(const hd_annotation_info *info, const hd_function *function, uint32_t ordinal)
{
    const hd_instruction *insn = &function->instructions.items[ordinal];
    if (!hd_annotation_has_slots(info))
        return 1;
    return info->anchor == HD_ANCHOR_OPERAND ? hd_insn_destination_count(function, insn)
                                             : hd_insn_source_count(function, insn);
}

/* Reads ordinal and slot of an entry whose head, without the inline bits, is `head`; `last` is the previous entry, NULL
 * for the first. */
static void get_anchor(cursor *c, uint64_t head, const hd_annotation_info *info, const hd_function *function,
                       const hd_annotation *last, hd_annotation *a)
{
    bool is_function = info->anchor == HD_ANCHOR_FUNCTION;
    uint64_t ordinal = (head >> 1) + (last ? last->instruction : 0), slot = head & 1 ? get_leb(c) : 0;
    if (head & 1 && slot == 0)
        fail(c, "slot 0 is written though it is implied");
    else if (is_function && (head >> 1 != 0 || slot != 0 || last))
        fail(c, "an annotation of the whole function has another anchor");
    else if (!is_function && ((head >> 1) >= function->instructions.count || ordinal >= function->instructions.count))
        fail(c, "an instruction that the function does not have");
    else if (!is_function && last && head >> 1 == 0 && slot <= last->slot)
        fail(c, "entries do not ascend");
    else if (!is_function && slot >= slots_of(info, function, (uint32_t)ordinal))
        fail(c, "an operand slot that the instruction does not have");
    a->instruction = is_function ? HD_NONE : (uint32_t)ordinal;
    a->slot = (uint16_t)slot;
}

static hd_annotation get_entry(cursor *c, const hd_annotation_info *info, hd_function *function, hd_register_keys *keys,
                               const hd_annotation *last, hd_annotation_set *set)
{
    hd_annotation a = {.kind = info->number};
    uint32_t bits = inline_bits(info);
    uint64_t head = get_leb(c);
    get_anchor(c, head >> bits, info, function, last, &a);
    if (info->value == HD_VALUE_CHOICE) {
        a.value = (uint32_t)(head & ((1u << bits) - 1));
        if (a.value >= hd_annotation_word_count(info))
            fail(c, "a choice that the kind does not have");
    } else if (info->value == HD_VALUE_NUMBER || info->value == HD_VALUE_BITS) {
        a.value = get_u32(c);
    } else if (info->value != HD_VALUE_FLAG) {
        get_list(c, info, function, keys, set, &a);
    }
    return a;
}

const char *hd_section_decode(const hd_section_record *record, const hd_annotation_info *info, hd_function *function,
                              hd_register_keys *keys, hd_annotation_set *set)
{
    cursor c = {record->payload + PAYLOAD_HEADER_BYTES, record->payload + record->length, NULL};
    if (record->length < PAYLOAD_HEADER_BYTES)
        return "a record is too short";
    if (record->payload[0] != info->anchor || record->payload[1] != info->value ||
        record->payload[2] != inline_bits(info))
        return "a record's anchor or type is not that of its kind";
    uint64_t count = get_leb(&c);
    hd_annotation last = {0};
    for (uint64_t i = 0; i < count && !c.error; i++) {
        hd_annotation a = get_entry(&c, info, function, keys, i ? &last : NULL, set);
        if (!c.error)
            hd_array_push(&set->items, a);
        last = a;
    }
    if (!c.error && c.at != c.end)
        return "a record is longer than its entries";
    return c.error;
}
