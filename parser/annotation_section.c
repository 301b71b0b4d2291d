/* `.section .heddle`: from `.b8` lines to bytes (ir/words/section.h) to one part per function. Linear in the section.
 *
 * The text has been parsed as a section; here it is scanned again for its numbers, because a section of a million tags
 * must not become a million interned tokens.
 */
#include "parser/annotations.h"

#include "base/scan.h"
#include "ir/words/section.h"

typedef struct hd_section_text {
    hd_module *module;
    hd_span span;
    hd_bytes bytes;
} hd_section_text;

static bool wrong(hd_module *module, hd_diagnostic_kind kind, hd_span span, const char *what)
{
    hd_report(module->diagnostics, kind, module->source, span, ".section .heddle: %s", what);
    return false;
}

/* ---- text to bytes ----------------------------------------------------------------------------------------------- */

/* Reads a number from 0 to 255, decimal or 0x hexadecimal; false if there is none. */
static bool read_byte(const char *text, uint32_t *at, uint8_t *byte)
{
    uint32_t prefix = text[*at] == '0' && text[*at + 1] == 'x' ? 2 : 0;
    const char *digits = text + *at + prefix;
    uint64_t value;
    bool good = hd_take_number(&digits, NULL, prefix ? 16 : 10, UINT8_MAX, &value);
    *at = (uint32_t)(digits - text);
    *byte = (uint8_t)value;
    return good;
}

static bool is_width(const char *text, uint32_t at)
{
    return memcmp(text + at, ".b8", 3) == 0 && hd_is_space(text[at + 3]);
}

/* Reads the numbers between the braces. */
static bool read_bytes(hd_section_text *section)
{
    const char *text = section->module->source->text;
    const char *brace = memchr(text + section->span.begin, '{', section->span.end - section->span.begin);
    uint32_t end = section->span.end - 1; /* the } */
    uint32_t at = hd_after_trivia(text, brace ? (uint32_t)(brace - text) + 1 : end, end);
    while (at < end) {
        bool ok = is_width(text, at);
        uint32_t begin = at;
        at += 2;
        do {
            uint8_t byte = 0;
            at = hd_after_trivia(text, at + 1, end);
            begin = ok ? at : begin;
            ok = ok && at < end && read_byte(text, &at, &byte);
            hd_array_push(&section->bytes, byte);
            at = ok ? hd_after_trivia(text, at, end) : at;
        } while (ok && at < end && text[at] == ',');
        if (!ok)
            return wrong(section->module, HD_DIAG_BAD_ANNOTATION, (hd_span){begin, begin + 1},
                         "only .b8 with numbers from 0 to 255 may be here");
    }
    return true;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

typedef struct hd_section_walk {
    hd_section_text *text;
    const hd_parse_options *options;
    hd_section_part *parts;
    uint32_t *function_of_name; /* by hd_name: index of the function with a body + 1 */
    hd_function *function;      /* owner of the records that follow; NULL: drop them */
    hd_section_part *part;      /* its part */
    bool seen_function;
    hd_register_keys keys;
} hd_section_walk;

static bool malformed(hd_section_walk *walk, const char *what)
{
    return wrong(walk->text->module, HD_DIAG_BAD_ANNOTATION, walk->text->span, what);
}

/* Handles a record for a function that does not exist (any more). */
static bool missing_function(hd_section_walk *walk, const char *name, uint32_t length)
{
    hd_module *module = walk->text->module;
    walk->function = NULL;
    if (walk->options && walk->options->drop_stale)
        hd_report(module->diagnostics, HD_DIAG_STALE_DROPPED, module->source, walk->text->span,
                  "annotations of '%.*s' dropped: there is no such function", (int)length, name);
    else
        hd_report(module->diagnostics, HD_DIAG_STALE_ANNOTATION, module->source, walk->text->span,
                  "annotations of a function '%.*s' that the module does not have; --drop-stale drops them",
                  (int)length, name);
    return walk->options && walk->options->drop_stale;
}

static bool start_function(hd_section_walk *walk, const hd_section_record *record)
{
    hd_module *module = walk->text->module;
    const char *name;
    uint32_t length;
    uint64_t hash;
    hd_register_keys_free(&walk->keys);
    walk->seen_function = true;
    if (!hd_section_function(record, &hash, &name, &length))
        return malformed(walk, "a function record is too short");
    uint32_t index = walk->function_of_name[hd_names_find(&module->names, name, length)];
    if (index == 0)
        return missing_function(walk, name, length);
    walk->function = module->functions.items[index - 1];
    walk->part = &walk->parts[index - 1];
    if (walk->part->present)
        return malformed(walk, "it names a function twice");
    walk->part->present = true;
    walk->part->hash = hash;
    walk->part->span = walk->text->span;
    /* if the function changed, report only that */
    if (hash != hd_function_hash(walk->function))
        walk->function = NULL;
    return true;
}

static bool take_record(hd_section_walk *walk, const hd_section_record *record)
{
    hd_module *module = walk->text->module;
    if (!walk->seen_function || record->kind < HD_RECORD_FIRST_ANNOTATION)
        return malformed(walk, walk->seen_function ? "a reserved record kind" : "annotations before any function");
    if (!walk->function)
        return true;
    const hd_annotation_info *info = hd_annotation_find(record->kind);
    if (!info) {
        hd_report(module->diagnostics, HD_DIAG_UNKNOWN_ANNOTATION, module->source, walk->text->span,
                  ".section .heddle: a record of unknown kind %u for '%s' is kept as it is", record->kind,
                  hd_names_text(&module->names, walk->function->name));
        const char *bytes = hd_arena_copy(&module->arena, record->payload, record->length);
        hd_array_push(&walk->part->foreign, (hd_foreign_annotation){record->kind, HD_NONE, record->length, bytes});
        return true;
    }
    const char *error = hd_section_decode(record, info, walk->function, &walk->keys, &walk->part->set);
    if (error)
        hd_report(module->diagnostics, HD_DIAG_BAD_ANNOTATION, module->source, walk->text->span,
                  ".section .heddle: '%s' of '%s': %s", info->name, hd_names_text(&module->names, walk->function->name),
                  error);
    return !error;
}

static bool read_records(hd_section_walk *walk, hd_section_reader *reader)
{
    hd_section_record record;
    hd_section_status status;
    bool ok = true;
    while (ok && (status = hd_section_next(reader, &record)) != HD_SECTION_END) {
        if (status != HD_SECTION_OK) {
            ok = malformed(walk, "a record does not fit");
        } else if (record.kind == HD_RECORD_FUNCTION) {
            ok = start_function(walk, &record);
        } else {
            ok = take_record(walk, &record);
        }
    }
    hd_register_keys_free(&walk->keys);
    return ok;
}

static uint32_t *functions_by_name(const hd_module *module)
{
    uint32_t *index = hd_calloc(module->names.entries.count, sizeof *index);
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->has_body)
            index[module->functions.items[i]->name] = i + 1;
    index[HD_NO_NAME] = 0;
    return index;
}

static bool read_section(hd_section_text *text, const hd_parse_options *options, hd_section_part *parts)
{
    hd_section_reader reader;
    hd_section_walk walk = {.text = text, .options = options, .parts = parts};
    if (!read_bytes(text))
        return false;
    switch (hd_section_open(&reader, text->bytes.items, text->bytes.count)) {
    case HD_SECTION_OK: {
        walk.function_of_name = functions_by_name(text->module);
        bool ok = read_records(&walk, &reader);
        free(walk.function_of_name);
        return ok;
    }
    case HD_SECTION_VERSION:
        return wrong(text->module, HD_DIAG_ANNOTATION_VERSION, text->span,
                     "written by a later version, whose layout is not known");
    case HD_SECTION_CHECKSUM:
        return wrong(text->module, HD_DIAG_ANNOTATION_CHECKSUM, text->span,
                     "the checksum does not match; it was damaged or edited");
    case HD_SECTION_MALFORMED:
    case HD_SECTION_END: break;
    }
    return malformed(&walk, "no annotation data: wrong magic or length");
}

bool hd_annotation_read_section(hd_module *module, const hd_parse_options *options, hd_section_part *parts)
{
    hd_section_text text = {.module = module};
    bool found = false, ok = true;
    for (uint32_t i = 0; i < module->statements.count && ok; i++) {
        const hd_statement *statement = &module->statements.items[i];
        if (!hd_statement_is_annotation_section(module, statement))
            continue;
        if (found) {
            ok = wrong(module, HD_DIAG_BAD_ANNOTATION, statement->span,
                       "a module has one such section, and this is another");
            break;
        }
        found = true;
        text.span = statement->span;
        ok = read_section(&text, options, parts);
    }
    hd_array_free(&text.bytes);
    return ok;
}
