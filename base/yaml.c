/* YAML reader: libyaml builds the document; its nodes are copied into one array per document, so that aliases share a
 * node and cyclic aliases need no special case. libyaml counts characters, diagnostics count bytes, so locations are
 * converted. Linear in the file's size. */
#include "base/yaml.h"
#include "base/intern.h"
#include <errno.h>
#include <yaml.h>

typedef struct reader {
    hd_yaml *out;
    yaml_document_t document;
    hd_yaml_node *nodes; /* by libyaml's id - 1 */
    uint32_t *bytes_of;  /* byte offset by character index; NULL: the text is ASCII */
    uint32_t characters;
} reader;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void index_characters(reader *r)
{
    const hd_source *s = &r->out->source;
    uint32_t i = 0, n = 0;
    while (i < s->length && (unsigned char)s->text[i] < 0x80)
        i++;
    r->characters = s->length;
    if (i == s->length)
        return;
    r->bytes_of = hd_malloc(((size_t)s->length + 1) * sizeof *r->bytes_of);
    for (i = 0; i < s->length; i++)
        if (((unsigned char)s->text[i] & 0xc0) != 0x80)
            r->bytes_of[n++] = i;
    r->bytes_of[n] = s->length;
    r->characters = n;
}

static uint32_t byte_of(const reader *r, size_t character)
{
    if (character > r->characters)
        character = r->characters;
    return r->bytes_of ? r->bytes_of[character] : (uint32_t)character;
}

/* Interned keys have dense ids, so the first occurrence of each key is found in an array. */
static void report_duplicates(const hd_yaml_node *mapping)
{
    hd_names names;
    const hd_yaml_node **first_of = hd_calloc((size_t)mapping->count + 2, sizeof(const hd_yaml_node *));
    hd_names_init(&names);
    for (uint32_t i = 0; i < mapping->count; i++) {
        const hd_yaml_node *key = mapping->items[2 * i];
        if (key->kind != HD_YAML_SCALAR || !key->length || strlen(key->text) != key->length) {
            hd_yaml_error(key, HD_DIAG_BAD_KEY, "a key must be a plain word");
            continue;
        }
        hd_name name = hd_names_add(&names, key->text, key->length);
        if (first_of[name]) {
            hd_diagnostic *d = hd_yaml_error(key, HD_DIAG_BAD_KEY, "key '%s' occurs twice", key->text);
            hd_note_add(key->document->diagnostics, d, &key->document->source, first_of[name]->span,
                        "the first one is here");
        }
        first_of[name] = key;
    }
    hd_names_free(&names);
    free(first_of);
}

static void copy_sequence(reader *r, const yaml_node_t *from, hd_yaml_node *to)
{
    const yaml_node_item_t *items = from->data.sequence.items.start;
    to->kind = HD_YAML_SEQUENCE;
    to->count = (uint32_t)(from->data.sequence.items.top - items);
    to->items = HD_ARENA_ARRAY(&r->out->arena, const hd_yaml_node *, to->count);
    for (uint32_t i = 0; i < to->count; i++)
        to->items[i] = &r->nodes[items[i] - 1];
}

static void copy_mapping(reader *r, const yaml_node_t *from, hd_yaml_node *to)
{
    const yaml_node_pair_t *pairs = from->data.mapping.pairs.start;
    to->kind = HD_YAML_MAPPING;
    to->count = (uint32_t)(from->data.mapping.pairs.top - pairs);
    to->items = HD_ARENA_ARRAY(&r->out->arena, const hd_yaml_node *, 2 * (size_t)to->count);
    for (uint32_t i = 0; i < to->count; i++) {
        to->items[2 * i] = &r->nodes[pairs[i].key - 1];
        to->items[2 * i + 1] = &r->nodes[pairs[i].value - 1];
    }
}

static void copy_node(reader *r, const yaml_node_t *from, hd_yaml_node *to)
{
    to->document = r->out;
    to->span = (hd_span){byte_of(r, from->start_mark.index), byte_of(r, from->end_mark.index)};
    if (from->type == YAML_SEQUENCE_NODE) {
        copy_sequence(r, from, to);
    } else if (from->type == YAML_MAPPING_NODE) {
        copy_mapping(r, from, to);
    } else {
        to->kind = HD_YAML_SCALAR;
        to->plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        to->length = (uint32_t)from->data.scalar.length;
        to->text = hd_arena_string(&r->out->arena, (const char *)from->data.scalar.value, from->data.scalar.length);
    }
}

static void copy_document(reader *r)
{
    yaml_node_t *first = r->document.nodes.start;
    uint32_t count = (uint32_t)(r->document.nodes.top - first);
    r->nodes = HD_ARENA_ARRAY(&r->out->arena, hd_yaml_node, count);
    for (uint32_t i = 0; i < count; i++)
        copy_node(r, &first[i], &r->nodes[i]);
    for (uint32_t i = 0; i < count; i++)
        if (r->nodes[i].kind == HD_YAML_MAPPING)
            report_duplicates(&r->nodes[i]);
    r->out->root = count ? &r->nodes[0] : NULL;
}

static void report_parser(reader *r, const yaml_parser_t *parser)
{
    uint32_t at = byte_of(r, parser->problem_mark.index);
    if (parser->error == YAML_MEMORY_ERROR)
        hd_out_of_memory(0);
    if (parser->error == YAML_READER_ERROR && parser->problem_offset <= r->out->source.length)
        at = (uint32_t)parser->problem_offset;
    hd_report(r->out->diagnostics, HD_DIAG_BAD_YAML, &r->out->source, (hd_span){at, at}, "%s%s%s",
              parser->problem ? parser->problem : "no YAML", parser->context ? " " : "",
              parser->context ? parser->context : "");
}

static void refuse_second_document(reader *r, yaml_parser_t *parser)
{
    yaml_document_t next;
    if (!yaml_parser_load(parser, &next)) {
        report_parser(r, parser);
        return;
    }
    if (yaml_document_get_root_node(&next)) {
        hd_span span = {byte_of(r, next.start_mark.index), byte_of(r, next.start_mark.index)};
        hd_report(r->out->diagnostics, HD_DIAG_BAD_YAML, &r->out->source, span, "a second document in one file");
    }
    yaml_document_delete(&next);
}

static void start_parser(const hd_yaml *out, yaml_parser_t *parser)
{
    if (!yaml_parser_initialize(parser))
        hd_out_of_memory(sizeof *parser);
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)out->source.text, out->source.length);
}

enum { MOST_NESTED = 1000, MOST_NODES = 1 << 20 };

static bool may_be_too_large(const hd_source *source)
{
    uint32_t brackets = 0;
    for (uint32_t i = 0; i < source->length; i++)
        brackets += source->text[i] == '[' || source->text[i] == '{';
    return brackets > MOST_NESTED || source->length > MOST_NODES;
}

/* libyaml's time is quadratic in the nesting depth of brackets, and a node takes a hundred times the memory of its
 * text. Events take none. Syntax errors are left to libyaml. */
static bool is_too_large(reader *r)
{
    yaml_parser_t parser;
    yaml_event_t event;
    uint32_t depth = 0, nodes = 0;
    bool too_large = false;
    if (!may_be_too_large(&r->out->source))
        return false;
    start_parser(r->out, &parser);
    for (bool more = true; more && !too_large && yaml_parser_parse(&parser, &event);) {
        bool begins = event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        depth += begins;
        depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        nodes += begins || event.type == YAML_SCALAR_EVENT;
        more = event.type != YAML_STREAM_END_EVENT;
        too_large = depth > MOST_NESTED || nodes > MOST_NODES;
        if (too_large) {
            uint32_t at = byte_of(r, event.start_mark.index);
            hd_report(r->out->diagnostics, HD_DIAG_BAD_YAML, &r->out->source, (hd_span){at, at},
                      depth > MOST_NESTED ? "more than %d lists and mappings in each other"
                                          : "more than %d values, lists and mappings in a file",
                      depth > MOST_NESTED ? MOST_NESTED : MOST_NODES);
        }
        yaml_event_delete(&event);
    }
    if (parser.error == YAML_MEMORY_ERROR)
        hd_out_of_memory(0);
    yaml_parser_delete(&parser);
    return too_large;
}

static void parse(hd_yaml *out)
{
    reader r = {.out = out};
    yaml_parser_t parser;
    uint32_t errors = out->diagnostics->error_count;
    index_characters(&r);
    if (is_too_large(&r)) {
        free(r.bytes_of);
        return;
    }
    start_parser(out, &parser);
    if (!yaml_parser_load(&parser, &r.document)) {
        report_parser(&r, &parser);
    } else {
        copy_document(&r);
        yaml_document_delete(&r.document);
        if (!out->root)
            hd_report(out->diagnostics, HD_DIAG_EMPTY_INPUT, &out->source, (hd_span){0, 0}, "the file holds nothing");
        else
            refuse_second_document(&r, &parser);
    }
    if (out->diagnostics->error_count != errors)
        out->root = NULL;
    yaml_parser_delete(&parser);
    free(r.bytes_of);
}

static hd_yaml *new_yaml(hd_diagnostics *diagnostics)
{
    hd_yaml *out = hd_calloc(1, sizeof *out);
    out->diagnostics = diagnostics;
    return out;
}

hd_yaml *hd_yaml_read(const char *path, hd_diagnostics *diagnostics)
{
    return hd_yaml_read_unless(path, NULL, NULL, diagnostics);
}

hd_yaml *hd_yaml_read_unless(const char *path, const hd_given_files *given,
                             bool (*refuses)(hd_source *, hd_diagnostics *), hd_diagnostics *diagnostics)
{
    hd_yaml *out = new_yaml(diagnostics);
    out->given = given;
    if (!hd_given_read(given, path, &out->source)) {
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read %s: %s", path,
                  hd_source_why(errno));
        return out;
    }
    if (!refuses || !refuses(&out->source, diagnostics))
        parse(out);
    return out;
}

hd_yaml *hd_yaml_from_memory(const char *name, const char *text, size_t length, hd_diagnostics *diagnostics)
{
    hd_yaml *out = new_yaml(diagnostics);
    hd_source_from_memory(&out->source, name, text, length);
    parse(out);
    return out;
}

hd_yaml *hd_yaml_attach(hd_yaml *yaml)
{
    hd_yaml *text = hd_calloc(1, sizeof *text);
    text->diagnostics = yaml->diagnostics;
    text->attached = yaml->attached;
    yaml->attached = text;
    return text;
}

void hd_yaml_free(hd_yaml *yaml)
{
    if (!yaml)
        return;
    for (hd_yaml *text = yaml->attached, *next; text; text = next) {
        next = text->attached;
        hd_source_free(&text->source);
        hd_arena_free(&text->arena);
        free(text);
    }
    hd_array_free(&yaml->files);
    hd_source_free(&yaml->source);
    hd_arena_free(&yaml->arena);
    free(yaml);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static uint32_t index_of(const hd_yaml_node *mapping, const char *key, size_t length)
{
    for (uint32_t i = 0; i < mapping->count; i++) {
        const hd_yaml_node *k = mapping->items[2 * i];
        if (k->kind == HD_YAML_SCALAR && k->length == length && !memcmp(k->text, key, length))
            return i;
    }
    return mapping->count;
}

/* A copy of the mapping in which the i-th pair, or another one, is this. */
static const hd_yaml_node *with_pair(hd_arena *arena, const hd_yaml_node *mapping, uint32_t i, const hd_yaml_node *key,
                                     const hd_yaml_node *value)
{
    hd_yaml_node *copy = hd_arena_copy(arena, mapping, sizeof *mapping);
    copy->count += i == mapping->count;
    copy->items = HD_ARENA_ARRAY(arena, const hd_yaml_node *, 2 * (size_t)copy->count);
    memcpy(copy->items, mapping->items, 2 * (size_t)mapping->count * sizeof *copy->items);
    copy->items[2 * i] = key;
    copy->items[2 * i + 1] = value;
    return copy;
}

/* `node` with the value at the rest of the path; NULL: there is no such mapping, which was reported. O(depth). */
static const hd_yaml_node *changed(hd_arena *arena, const hd_yaml_node *node, const char *path, const hd_yaml_node *key,
                                   const hd_yaml_node *value)
{
    const char *end = strchr(path, '.');
    size_t length = end ? (size_t)(end - path) : strlen(path);
    if (node->kind != HD_YAML_MAPPING) {
        hd_yaml_error(key, HD_DIAG_BAD_KEY, "there are no keys in what '.%s' is to be in", path);
        return NULL;
    }
    uint32_t i = index_of(node, path, length);
    if (!end)
        return with_pair(arena, node, i, i < node->count ? node->items[2 * i] : key, value);
    if (i == node->count) {
        hd_yaml_error(key, HD_DIAG_BAD_KEY, "there is no section '%.*s'", (int)length, path);
        return NULL;
    }
    const hd_yaml_node *part = changed(arena, node->items[2 * i + 1], end + 1, key, value);
    return part ? with_pair(arena, node, i, node->items[2 * i], part) : NULL;
}

/* "a.b=1" is read as the document "a.b: 1", in which errors are shown. */
bool hd_yaml_set(hd_yaml *yaml, const char *name, const char *setting)
{
    const char *equals = strchr(setting, '=');
    uint32_t errors = yaml->diagnostics->error_count;
    char *text = equals && equals != setting
                     ? hd_arena_printf(&yaml->arena, "%.*s: %s", (int)(equals - setting), setting, equals + 1)
                     : hd_arena_string(&yaml->arena, setting, strlen(setting));
    hd_yaml *value = hd_yaml_from_memory(hd_arena_printf(&yaml->arena, "%s=%s", name, setting), text, strlen(text),
                                         yaml->diagnostics);
    const hd_yaml_node *pair = value->root;
    value->attached = yaml->attached;
    yaml->attached = value;
    if (yaml->diagnostics->error_count != errors)
        return false;
    if (text == setting || !equals || pair->kind != HD_YAML_MAPPING || pair->count != 1) {
        hd_report(yaml->diagnostics, HD_DIAG_BAD_VALUE, &value->source, (hd_span){0, 0}, "'%s' is not KEY=VALUE",
                  setting);
        return false;
    }
    hd_yaml_node *key = hd_arena_copy(&yaml->arena, pair->items[0], sizeof *key);
    const char *last = strrchr(key->text, '.');
    const char *path = key->text;
    key->text = last ? last + 1 : path;
    key->length = (uint32_t)strlen(key->text);
    const hd_yaml_node *root = changed(&yaml->arena, yaml->root, path, key, pair->items[1]);
    if (root)
        yaml->root = root;
    return root;
}
