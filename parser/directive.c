/* Directives: the module's head, files and locations, sections, pragmas, aliases, tables of targets and prototypes.
 * Directives that no pass interprets are kept as tokens. */
#include "parser/builder.h"

#include "base/scan.h"

#include <stdio.h>

enum { HD_TARGET_RANGE_LIMIT = 65536 };

/* ---- the head of the module -------------------------------------------------------------------------------------- */

static void out_of_order(hd_builder *b, const hd_node *word, const char *why)
{
    hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(word), "%s", why);
}

static void push_verbatim(hd_builder *b, hd_verbatim_kind kind, hd_name name, uint32_t begin, uint32_t end)
{
    hd_verbatim v = {(uint8_t)kind, name, hd_build_tokens(b, begin, end)};
    hd_array_push(&b->module->verbatims, v);
    hd_build_statement(b, HD_STATEMENT_VERBATIM, b->module->verbatims.count - 1, begin, end);
}

/* A diagnostic about what is newer than this program: an error with --strict, else a warning. */
static void report_newer(hd_builder *b, const hd_node *node, const char *message)
{
    if (b->module->strict)
        b->module->diagnostics->severity[HD_DIAG_NEWER_VERSION] = HD_ERROR;
    hd_builder_error(b, NEWER_VERSION, hd_node_span(node), "%s", message);
}

/* Reads MAJOR.MINOR; false if it is no such number. */
static bool read_version(const char *text, const hd_token *number, uint32_t value[2])
{
    uint32_t part = 0;
    for (uint32_t at = number->begin; at < number->end; at++) {
        if (text[at] == '.' && part == 0)
            part = 1;
        else if (text[at] < '0' || text[at] > '9' || value[part] > 1000)
            return false;
        else
            value[part] = value[part] * 10 + (uint32_t)(text[at] - '0');
    }
    return part == 1 && text[number->end - 1] != '.';
}

void hd_build_version(hd_builder *b, const hd_node *word, const hd_node *number)
{
    enum { NEWEST_MAJOR = 9 };
    static const uint8_t last_minor[NEWEST_MAJOR + 1] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 4}; /* by major version */
    uint32_t value[2] = {0, 0};
    bool is_number = read_version(hd_builder_source(b)->text, &number->token, value);
    bool is_newer = value[0] > NEWEST_MAJOR || (value[0] == NEWEST_MAJOR && value[1] > last_minor[NEWEST_MAJOR]);
    if (b->saw_version || b->module->statements.count)
        out_of_order(b, word, ".version occurs once, before all else");
    b->saw_version = true;
    if (!is_number || value[0] == 0 || (!is_newer && value[1] > last_minor[value[0]]))
        hd_builder_error(b, BAD_VERSION, hd_node_span(number),
                         "not a PTX version MAJOR.MINOR, of which 1.0 is the first");
    else if (is_newer)
        report_newer(b, number, "newer than PTX 9.4, the newest version that is known; read as that one");
    b->module->version_major = value[0];
    b->module->version_minor = value[1];
    push_verbatim(b, HD_VERBATIM_VERSION, HD_NO_NAME, word->token.begin, number->token.end);
}

/* The number of "sm_90", "compute_90", "sm_90a", "sm_100f"; 0 if it is not a target. `known`: whether the number and
 * its suffix are among those that this program was written for. */
static uint32_t target_number(const char *text, bool *known)
{
    enum { NEWEST_TARGET = 121 };
    const char *digits = strncmp(text, "sm_", 3) == 0 ? text + 3 : strncmp(text, "compute_", 8) == 0 ? text + 8 : "";
    uint64_t number;
    bool good = hd_take_number(&digits, NULL, 10, 9999, &number);
    bool is_suffix = *digits >= 'a' && *digits <= 'z' && !digits[1];
    *known = number <= NEWEST_TARGET && (!*digits || *digits == 'a' || *digits == 'f');
    return good && (!*digits || is_suffix) ? (uint32_t)number : 0;
}

/* Whether the word is an option of .target. */
static bool take_target_option(hd_builder *b, const hd_node *word, const char *text)
{
    if (strcmp(text, "texmode_independent") == 0)
        b->samplers_apart = true;
    else if (strcmp(text, "debug") == 0)
        b->wants_debug = true;
    else if (strcmp(text, "map_f64_to_f32") == 0 && b->module->target_number >= 13)
        hd_builder_error(b, BAD_TARGET, hd_node_span(word), "map_f64_to_f32 is for targets below sm_13");
    else if (strcmp(text, "texmode_unified") != 0 && strcmp(text, "map_f64_to_f32") != 0)
        return false;
    return true;
}

void hd_build_target_word(hd_builder *b, const hd_node *word)
{
    hd_name name = hd_full_name(b, &word->token);
    const char *text = hd_names_text(&b->module->names, name);
    bool known;
    uint32_t number = target_number(text, &known);
    if (number && !b->module->target_number) {
        b->module->target = name;
        b->module->target_number = number;
        if (!known)
            report_newer(b, word,
                         "newer than sm_121, or of a family that is not known; read as the nearest known target");
        return;
    }
    if (!take_target_option(b, word, text))
        hd_builder_error(b, BAD_TARGET, hd_node_span(word),
                         number ? "more than one target" : "no target that is known");
}

void hd_build_target(hd_builder *b, const hd_node *word, const hd_node *last)
{
    if (b->saw_target || !b->saw_version || b->module->statements.count > 1)
        out_of_order(b, word, ".target occurs once, directly after .version");
    b->saw_target = true;
    push_verbatim(b, HD_VERBATIM_TARGET, HD_NO_NAME, word->token.begin, last->token.end);
}

void hd_build_address_size(hd_builder *b, const hd_node *word, const hd_node *number)
{
    uint32_t bits = hd_build_u32(b, number);
    uint32_t expected = (uint32_t)b->saw_version + b->saw_target;
    if (b->module->statements.count != expected)
        out_of_order(b, word, ".address_size occurs once, directly after .target");
    if (bits != 32 && bits != 64)
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(number), "an address has 32 or 64 bits");
    else
        b->module->address_bits = bits;
    push_verbatim(b, HD_VERBATIM_ADDRESS_SIZE, HD_NO_NAME, word->token.begin, number->token.end);
}

/* ---- debugging --------------------------------------------------------------------------------------------------- */

void hd_build_file(hd_builder *b, const hd_node *word, const hd_node *number, const hd_node *name, const hd_node *stamp)
{
    uint32_t index = hd_build_u32(b, number), begin = name->token.begin + 1,
             length = name->token.end - name->token.begin;
    hd_name text =
        length > 2 ? hd_names_add(&b->module->names, hd_builder_source(b)->text + begin, length - 2) : HD_NO_NAME;
    hd_use *use = hd_use_of(b, number->token.name); /* keyed by the spelling of the number */
    if (number->token.name && use->flags & HD_USE_FILE)
        hd_builder_error(b, REDECLARED, hd_node_span(number), "file number %u is taken", index);
    use->flags |= HD_USE_FILE;
    hd_array_push(&b->module->files, (hd_file){index, text});
    push_verbatim(b, HD_VERBATIM_FILE, HD_NO_NAME, word->token.begin,
                  stamp->token.end ? stamp->token.end : name->token.end);
}

void hd_build_section_width(hd_builder *b, const hd_node *word)
{
    const char *text = hd_names_text(&b->module->names, word->token.name);
    if (strcmp(text, ".b8") != 0 && strcmp(text, ".b16") != 0 && strcmp(text, ".b32") != 0 && strcmp(text, ".b64") != 0)
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(word), "a section holds .b8, .b16, .b32 and .b64 values only");
}

void hd_build_section_since(hd_builder *b, const hd_node *at, uint32_t major, uint32_t minor, const char *what)
{
    const hd_module *m = b->module;
    if (m->version_major < major || (m->version_major == major && m->version_minor < minor))
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(at), "%s needs PTX %u.%u; the module is of PTX %u.%u", what,
                         major, minor, m->version_major, m->version_minor);
}

void hd_build_section(hd_builder *b, const hd_node *word, const hd_node *name, const hd_node *close)
{
    hd_name text = hd_token_spelling(&b->lexer, &name->token);
    b->saw_debug |= strncmp(hd_names_text(&b->module->names, text), ".debug", 6) == 0;
    push_verbatim(b, HD_VERBATIM_SECTION, text, word->token.begin, close->token.end);
}

void hd_build_verbatim(hd_builder *b, hd_verbatim_kind kind, const hd_node *begin, const hd_node *end)
{
    push_verbatim(b, kind, HD_NO_NAME, begin->token.begin, end->token.end);
}

/* Unknown pragmas are kept; this one is valid in bodies only. */
void hd_build_pragma(hd_builder *b, const hd_node *string)
{
    static const char in_bodies[] = "\"enable_smem_spilling\"";
    const char *text = hd_builder_source(b)->text + string->token.begin;
    uint32_t length = string->token.end - string->token.begin;
    if (!b->function && length == sizeof in_bodies - 1 && memcmp(text, in_bodies, length) == 0)
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(string), "this pragma is for the inside of functions only");
}

void hd_build_heddle(hd_builder *b, const hd_node *statement)
{
    b->module->extended = true;
    push_verbatim(b, HD_VERBATIM_OTHER, HD_NO_NAME, statement->token.begin, statement->token.end);
}

void hd_build_alias(hd_builder *b, const hd_node *word, const hd_node *alias, const hd_node *of, const hd_node *end)
{
    const hd_node *names[] = {alias, of};
    b->saw_other = true;
    for (int i = 0; i < 2; i++) {
        hd_name name = hd_full_name(b, &names[i]->token);
        const hd_use *use = hd_use_of(b, name);
        if (use->kind != HD_BIND_SYMBOL || b->module->symbols.items[use->value].kind != HD_SYMBOL_FUNCTION)
            hd_builder_error(b, UNDECLARED_NAME, hd_node_span(names[i]), "no function '%s' is declared before here",
                             hd_names_text(&b->module->names, name));
        else if (i == 0 && b->module->functions.items[b->module->symbols.items[use->value].function]->has_body)
            hd_builder_error(b, REDECLARED, hd_node_span(alias), "an alias has no body of its own");
    }
    push_verbatim(b, HD_VERBATIM_ALIAS, HD_NO_NAME, word->token.begin, end->token.end);
}

/* ---- .loc -------------------------------------------------------------------------------------------------------- */

static uint32_t location_number(hd_builder *b, const hd_node *number)
{
    const char *text = hd_builder_source(b)->text + number->token.begin;
    const char *end = hd_builder_source(b)->text + number->token.end;
    uint64_t value;
    bool plain =
        number->token.name && *text != '0' && hd_take_number(&text, end, 10, UINT32_MAX, &value) && text == end;
    return plain ? (uint32_t)value : hd_build_u32(b, number);
}

static uint32_t spelled(hd_builder *b, const hd_node *n)
{
    return n->token.name ? n->token.name : hd_token_spelling(&b->lexer, &n->token);
}

/* Whether it is spelled as it would be printed: decimal, without leading zeros, within 32 bits. */
static bool is_plain(const hd_builder *b, const hd_node *n)
{
    const char *text = hd_builder_source(b)->text + n->token.begin;
    uint32_t length = n->token.end - n->token.begin, digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    return digits == length && length <= 9 && (text[0] != '0' || length == 1);
}

void hd_build_location(hd_builder *b, const hd_node *word, const hd_node *file, const hd_node *line,
                       const hd_node *column)
{
    hd_location l = {
        .file = location_number(b, file), .line = location_number(b, line), .column = location_number(b, column)};
    if (!is_plain(b, file) || !is_plain(b, line) || !is_plain(b, column)) {
        uint32_t names[4] = {hd_token_spelling(&b->lexer, &word->token), spelled(b, file), spelled(b, line),
                             spelled(b, column)};
        l.tokens = (hd_tokens){b->module->tokens.count, 4};
        memcpy(hd_array_extend(&b->module->tokens, 4), names, sizeof names);
    }
    b->location = b->module->locations.count;
    hd_array_push(&b->module->locations, l);
    hd_build_statement(b, HD_STATEMENT_LOCATION, b->location, word->token.begin, column->token.end);
}

static bool is_word(const hd_builder *b, const hd_node *n, const char *word)
{
    return n->token.end - n->token.begin == strlen(word) &&
           memcmp(hd_builder_source(b)->text + n->token.begin, word, strlen(word)) == 0;
}

/* , function_name LABEL[+N], inlined_at F L C: reaches the builder before the location itself. */
void hd_build_inlined_at(hd_builder *b, const hd_node *word, const hd_node *label, const hd_node *at,
                         const hd_node *file, const hd_node *line, const hd_node *column)
{
    hd_location l = {.function_name = hd_full_name(b, &label->token),
                     .function_offset = b->inlined_offset,
                     .inlined_file = location_number(b, file),
                     .inlined_line = location_number(b, line),
                     .inlined_column = location_number(b, column)};
    if (!is_word(b, word, "function_name"))
        hd_builder_error(b, SYNTAX, hd_node_span(word), "expected function_name");
    if (!is_word(b, at, "inlined_at"))
        hd_builder_error(b, SYNTAX, hd_node_span(at), "expected inlined_at");
    b->location_extra = l;
}

void hd_build_inlined(hd_builder *b, const hd_node *end)
{
    hd_location *l = &b->module->locations.items[b->location], extra = b->location_extra;
    hd_statement *s = &hd_array_last(&b->function->statements);
    extra.file = l->file;
    extra.line = l->line;
    extra.column = l->column;
    extra.tokens = l->tokens;
    *l = extra;
    s->span.end = end->token.end;
    b->module->tokens.count -= extra.tokens.count;
    hd_tokens tokens = hd_build_tokens(b, s->span.begin, s->span.end);
    b->module->locations.items[b->location].tokens = tokens;
}

/* ---- tables of targets, prototypes ------------------------------------------------------------------------------- */

void hd_build_table(hd_builder *b, hd_table_kind kind, const hd_node *name)
{
    hd_function *f = b->function;
    hd_table table = {.kind = (uint8_t)kind,
                      .name = hd_full_name(b, &name->token),
                      .first = f->table_entries.count,
                      .span = hd_node_span(name)};
    b->table = f->tables.count;
    hd_array_push(&f->tables, table);
    b->declarator = *name;
    b->prototype_counts[0] = b->prototype_counts[1] = 0;
    b->constants.count = 0;
}

static void branch_target(hd_builder *b, hd_name name, hd_span span)
{
    hd_array_push(&b->function->table_entries, HD_NONE);
    hd_label_refer(b, name, span, (b->function->table_entries.count - 1) | HD_REFERENCE_TABLE, false);
}

static void call_target(hd_builder *b, hd_name name, hd_span span)
{
    const hd_use *use = hd_use_of(b, name);
    bool good = use->kind == HD_BIND_SYMBOL && b->module->symbols.items[use->value].kind == HD_SYMBOL_FUNCTION;
    if (!good)
        hd_builder_error(b, UNDECLARED_NAME, span, "no function '%s' is declared before here",
                         hd_names_text(&b->module->names, name));
    hd_array_push(&b->function->table_entries, good ? use->value : HD_NONE);
}

/* A name, or a range: A<2> is A0, A1. */
void hd_build_table_target(hd_builder *b, const hd_node *name, const hd_node *count)
{
    bool branches = b->function->tables.items[b->table].kind == HD_TABLE_BRANCH_TARGETS;
    void (*add)(hd_builder *, hd_name, hd_span) = branches ? branch_target : call_target;
    if (!count) {
        add(b, hd_full_name(b, &name->token), hd_node_span(name));
        return;
    }
    uint32_t members = hd_build_u32(b, count), length = name->token.end - name->token.begin;
    if (members > HD_TARGET_RANGE_LIMIT) {
        hd_builder_error(b, BAD_DIRECTIVE, hd_node_span(count), "a range of targets has at most %d members",
                         HD_TARGET_RANGE_LIMIT);
        return;
    }
    for (uint32_t i = 0; i < members; i++) {
        b->spelling.count = 0;
        hd_array_reserve(&b->spelling, length + 16u);
        memcpy(b->spelling.items, hd_builder_source(b)->text + name->token.begin, length);
        int digits = snprintf(b->spelling.items + length, 16, "%u", i);
        add(b, hd_names_add(&b->module->names, b->spelling.items, length + (uint32_t)digits), hd_node_span(name));
    }
}

void hd_build_table_no_return(hd_builder *b) { b->function->tables.items[b->table].no_return = true; }

void hd_build_table_end(hd_builder *b, const hd_node *end)
{
    hd_function *f = b->function;
    hd_table *table = &f->tables.items[b->table];
    table->count = f->table_entries.count - table->first;
    table->result_count = (uint16_t)b->prototype_counts[0];
    table->parameter_count = (uint16_t)b->prototype_counts[1];
    table->span.end = end->token.end;
    table->tokens = hd_build_tokens(b, table->span.begin, end->token.end);
    hd_build_statement(b, HD_STATEMENT_TABLE, b->table, table->span.begin, end->token.end);
    hd_declare(b, &b->declarator.token, HD_BIND_TABLE, b->table);
}
