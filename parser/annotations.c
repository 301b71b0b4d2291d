/* Collects a module's annotations from comments, extended spelling and section, compares them, and attaches them to the
 * functions. Syntax and rules are defined in heddle-annotations(7).
 *
 * Comments are searched only in the gaps between statements, so that reading is linear and almost free without
 * annotations. A function records the spans of all annotation text, so that the emitter can omit or replace it.
 */
#include "parser/annotations.h"

#include "base/json_text.h"
#include "ir/opcode_text.h"
#include "ir/operand_loads.h"
#include "ir/words/section.h"
#include "parser/memory_operand.h"

typedef struct feeding { /* a load with the modifier of a memory operand (parser/memory_operand.h) */
    uint32_t load;
    hd_span modifier;
} feeding;

typedef struct gatherer {
    hd_function *function;
    const char *text;
    hd_annotation_set comments, extended;
    hd_u32_array waiting;  /* .heddle statements (index in function->statements) that precede their instruction */
    HD_ARRAY(feeding) fed; /* loads that precede their consumer */
    bool ok;
} gatherer;

static void report(const gatherer *g, hd_diagnostic_kind kind, hd_span span, const char *what)
{
    hd_module *module = g->function->module;
    hd_report(module->diagnostics, kind, module->source, span, "%s", what);
}

/* ---- comments ---------------------------------------------------------------------------------------------------- */

static hd_span trimmed(const char *text, hd_span span)
{
    while (span.begin < span.end && hd_is_blank(text[span.begin]))
        span.begin++;
    while (span.end > span.begin && hd_is_blank(text[span.end - 1]))
        span.end--;
    return span;
}

/* The next part of [*at, end), up to a semicolon. */
static hd_span next_piece(const char *text, uint32_t *at, uint32_t end)
{
    const char *semicolon = memchr(text + *at, ';', end - *at);
    hd_span piece = {*at, semicolon ? (uint32_t)(semicolon - text) : end};
    *at = semicolon ? piece.end + 1 : end;
    return trimmed(text, piece);
}

static bool has_known_kind(const char *text, hd_span words)
{
    for (uint32_t at = words.begin; at < words.end;)
        if (hd_annotation_text_kind(text, next_piece(text, &at, words.end)))
            return true;
    return false;
}

static void keep_foreign(gatherer *g, hd_span piece, uint32_t instruction)
{
    const char *bytes = hd_arena_copy(&g->function->module->arena, g->text + piece.begin, piece.end - piece.begin);
    hd_array_push(&g->function->foreign_annotations,
                  (hd_foreign_annotation){0, instruction, piece.end - piece.begin, bytes});
}

/* A comment after an instruction or the opening brace: `words` is the text after the @. */
static void take_comment(gatherer *g, hd_span whole, hd_span words, uint32_t instruction)
{
    bool known = has_known_kind(g->text, words);
    for (uint32_t at = words.begin; at < words.end;) {
        hd_span piece = next_piece(g->text, &at, words.end);
        hd_text_outcome outcome = hd_annotation_read_text(g->function, piece, instruction, &g->comments);
        if (outcome == HD_TEXT_UNKNOWN)
            report(g, HD_DIAG_UNKNOWN_ANNOTATION, piece.begin < piece.end ? piece : whole,
                   "unknown annotation; kept as it is");
        if (outcome == HD_TEXT_UNKNOWN && known)
            keep_foreign(g, piece, instruction);
        g->ok &= outcome != HD_TEXT_WRONG;
    }
    whole.begin -= whole.begin > 0 && hd_is_blank(g->text[whole.begin - 1]);
    if (known)
        hd_array_push(&g->function->annotation_texts, whole);
}

enum { OWNED_BY_NOTHING = 0xfffffffe }; /* HD_NONE is the function, lower values are ordinals */

/* Reads a comment that starts at `at`; returns its end. */
static uint32_t read_comment(gatherer *g, uint32_t at, uint32_t end, uint32_t owner)
{
    const char *text = g->text;
    bool is_line = text[at + 1] == '/';
    uint32_t stop = at + 2;
    while (stop < end && (is_line ? text[stop] != '\n' : text[stop] != '*' || text[stop + 1] != '/'))
        stop++;
    uint32_t after = is_line || stop >= end ? stop : stop + 2;
    while (is_line && text[stop - 1] == '\r')
        stop--;
    if (stop <= at + 2 || text[at + 2] != '@')
        return after;
    hd_span words = trimmed(text, (hd_span){at + 3, stop}),
            whole = {at, is_line ? trimmed(text, (hd_span){at, stop}).end : after};
    if (owner == OWNED_BY_NOTHING || (!is_line && memchr(text + at, '\n', stop - at))) {
        if (has_known_kind(text, words))
            report(g, HD_DIAG_MISPLACED_ANNOTATION, whole,
                   "this annotation follows no instruction on its line; ignored");
    } else {
        take_comment(g, whole, words, owner);
    }
    return after;
}

/* The text between two statements. */
static void read_gap(gatherer *g, uint32_t at, uint32_t end, uint32_t owner)
{
    const char *text = g->text;
    bool json = g->function->module->is_json;
    while (at < end) {
        if (text[at] == '/' && at + 1 < end && (text[at + 1] == '/' || text[at + 1] == '*')) {
            at = read_comment(g, at, end, owner);
        } else if (json && text[at] == '"') {
            uint32_t string = hd_json_string_end(text, at, end);
            at = string == HD_JSON_NONE ? at + 1 : string;
        } else if (text[at] == '#' && !json) { /* a line marker */
            while (at < end && !hd_is_line_end(text[at]))
                at++;
        } else {
            bool other = json && text[at] == '{'; /* an object without an instruction */
            owner = other || hd_is_line_end(text[at]) ? OWNED_BY_NOTHING : owner;
            at++;
        }
    }
}

/* ---- extended spelling ------------------------------------------------------------------------------------------- */

static bool is_heddle_statement(const gatherer *g, const hd_statement *statement)
{
    return statement->kind == HD_STATEMENT_VERBATIM && statement->span.end - statement->span.begin > 7 &&
           memcmp(g->text + statement->span.begin, ".heddle", 7) == 0;
}

/* A statement with the blanks before it and one line end before these. */
static hd_span with_line(const char *text, hd_span span)
{
    while (span.begin > 0 && hd_is_blank(text[span.begin - 1]))
        span.begin--;
    if (span.begin > 0 && hd_is_line_end(text[span.begin - 1]))
        span.begin -= span.begin > 1 && text[span.begin - 1] == '\n' && text[span.begin - 2] == '\r' ? 2 : 1;
    return span;
}

static void read_heddle(gatherer *g, const hd_statement *statement, uint32_t instruction)
{
    hd_span words = {statement->span.begin + 7, statement->span.end - 1};
    hd_text_outcome outcome = hd_annotation_read_text(g->function, words, instruction, &g->extended);
    if (outcome == HD_TEXT_UNKNOWN)
        report(g, HD_DIAG_BAD_ANNOTATION, statement->span, "unknown annotation");
    g->ok &= outcome == HD_TEXT_READ;
}

static void take_heddle(gatherer *g, uint32_t index)
{
    const hd_statement *statement = &g->function->statements.items[index];
    hd_span words = {statement->span.begin + 7, statement->span.end - 1};
    const hd_annotation_info *info = hd_annotation_text_kind(g->text, words);
    hd_array_push(&g->function->annotation_texts, with_line(g->text, statement->span));
    if (info && info->anchor != HD_ANCHOR_FUNCTION)
        hd_array_push(&g->waiting, index);
    else
        read_heddle(g, statement, HD_NONE);
}

/* Annotates the load, and the source of the next instruction other than such loads that names its register. */
static void read_for_next(gatherer *g, hd_span modifier, uint32_t load)
{
    hd_array_push(&g->fed, ((feeding){load, modifier}));
    hd_array_push(&g->extended.items, (hd_annotation){.kind = HD_OPERAND_LOAD, .instruction = load});
}

/* The slot of the source of an instruction (HD_NONE: none follows) that a load feeds. */
static uint32_t source_for(gatherer *g, const feeding *fed, uint32_t ordinal)
{
    const hd_function *f = g->function;
    const hd_instruction *load = &f->instructions.items[fed->load];
    const hd_operand *loaded = hd_insn_operands(f, load);
    bool has_register = load->operand_count && loaded->kind == HD_OPERAND_REGISTER && ordinal != HD_NONE;
    uint32_t found = HD_NONE, count = 0;
    for (uint32_t s = 0, o; has_register && (o = hd_insn_source_slot(f, &f->instructions.items[ordinal], s)) != HD_NONE;
         s++)
        if (f->operands.items[o].value == loaded->value) {
            found = s;
            count++;
        }
    if (count != 1)
        report(g, HD_DIAG_BAD_ANNOTATION, fed->modifier,
               count ? "the instruction reads the register of its operand in memory elsewhere, too"
                     : "the operand in memory is where the instruction reads no such register");
    return count == 1 ? found : HD_NONE;
}

static void feed(gatherer *g, uint32_t ordinal)
{
    for (uint32_t i = 0; i < g->fed.count; i++) {
        uint32_t slot = source_for(g, &g->fed.items[i], ordinal);
        g->ok &= slot != HD_NONE;
        if (slot != HD_NONE)
            hd_array_push(&g->extended.items,
                          (hd_annotation){.kind = HD_OPERAND_SOURCE, .slot = (uint16_t)slot, .instruction = ordinal});
    }
    hd_array_clear(&g->fed);
}

static hd_text_outcome read_modifier(gatherer *g, hd_span modifier, uint32_t ordinal, bool *loads)
{
    if (hd_is_memory_operand_modifier(g->text + modifier.begin, modifier.end - modifier.begin)) {
        *loads = true;
        read_for_next(g, modifier, ordinal);
        return HD_TEXT_READ;
    }
    uint32_t before = g->extended.items.count;
    hd_text_outcome outcome = hd_annotation_read_modifier(g->function, modifier, ordinal, &g->extended);
    *loads = *loads || (g->extended.items.count > before && hd_array_last(&g->extended.items).kind == HD_OPERAND_LOAD);
    return outcome;
}

static void take_instruction(gatherer *g, uint32_t ordinal)
{
    for (uint32_t i = 0; i < g->waiting.count; i++)
        read_heddle(g, &g->function->statements.items[g->waiting.items[i]], ordinal);
    hd_array_clear(&g->waiting);
    if (!g->function->module->extended)
        return;
    hd_opcode_text walk;
    hd_span modifier;
    bool loads = false;
    hd_opcode_text_start(&walk, g->text, g->function->instructions.items[ordinal].span);
    while (hd_opcode_text_next(&walk, &modifier)) {
        hd_text_outcome outcome = read_modifier(g, modifier, ordinal, &loads);
        if (outcome != HD_TEXT_UNKNOWN)
            hd_array_push(&g->function->annotation_texts, modifier);
        g->ok &= outcome != HD_TEXT_WRONG;
    }
    if (!loads)
        feed(g, ordinal);
}

static void gather(gatherer *g)
{
    hd_function *function = g->function;
    uint32_t at = hd_body_text(function), owner = HD_NONE;
    for (uint32_t i = 0; i < function->statements.count; i++) {
        const hd_statement *statement = &function->statements.items[i];
        read_gap(g, at, statement->span.begin, owner);
        owner = OWNED_BY_NOTHING;
        if (statement->kind == HD_STATEMENT_INSTRUCTION) {
            owner = statement->index;
            take_instruction(g, owner);
        } else if (is_heddle_statement(g, statement)) {
            take_heddle(g, i);
        }
        at = statement->span.end;
    }
    read_gap(g, at, function->body.end, owner);
    feed(g, HD_NONE);
    for (uint32_t i = 0; i < g->waiting.count; i++) {
        report(g, HD_DIAG_BAD_ANNOTATION, function->statements.items[g->waiting.items[i]].span,
               "no instruction follows that it could belong to");
        g->ok = false;
    }
}

/* ---- one function ------------------------------------------------------------------------------------------------ */

static hd_span instruction_span(const hd_function *function, uint32_t instruction)
{
    if (instruction < function->instructions.count)
        return function->instructions.items[instruction].span;
    return (hd_span){function->body.begin, function->body.begin + 1};
}

/* Sorts a set; an annotation that occurs twice is an error. */
static void finish_set(gatherer *g, hd_annotation_set *set)
{
    hd_annotation_set_sort(set);
    for (uint32_t i = 1; i < set->items.count; i++) {
        const hd_annotation *a = &set->items.items[i - 1], *b = &set->items.items[i];
        if (a->instruction == b->instruction && a->kind == b->kind && a->slot == b->slot) {
            report(g, HD_DIAG_BAD_ANNOTATION, instruction_span(g->function, a->instruction),
                   "the same annotation occurs twice here");
            g->ok = false;
        }
    }
}

/* The first location at which two sets differ. */
static hd_span first_difference(const hd_function *function, const hd_annotation_set *a, const hd_annotation_set *b)
{
    uint32_t count = hd_min(a->items.count, b->items.count), i = 0;
    const hd_annotation *x = a->items.items, *y = b->items.items;
    while (i < count && x[i].instruction == y[i].instruction && x[i].kind == y[i].kind && x[i].slot == y[i].slot &&
           x[i].value == y[i].value)
        i++;
    uint32_t left = i < a->items.count ? x[i].instruction : HD_NONE,
             right = i < b->items.count ? y[i].instruction : HD_NONE;
    return instruction_span(function, hd_min(left, right));
}

/* Merges `other` into `set`: if both have annotations, they must be equal. */
static bool merge_sets(gatherer *g, hd_annotation_set *set, hd_annotation_set *other, const char *what)
{
    if (other->items.count == 0)
        return true;
    if (set->items.count == 0) {
        hd_annotation_set_free(set);
        *set = *other;
        *other = (hd_annotation_set){0};
        return true;
    }
    if (hd_annotation_set_equal(set, other))
        return true;
    hd_module *module = g->function->module;
    hd_report(module->diagnostics, HD_DIAG_ANNOTATION_CONFLICT, module->source,
              first_difference(g->function, set, other), "%s disagree about '%s'", what,
              hd_names_text(&module->names, g->function->name));
    return false;
}

/* True if the section's record is for other code. Then the function's annotations are dropped, or it is an error. */
static bool is_stale(gatherer *g, const hd_section_part *part, const hd_parse_options *options)
{
    hd_module *module = g->function->module;
    const char *name = hd_names_text(&module->names, g->function->name);
    if (!part->present || part->hash == hd_function_hash(g->function))
        return false;
    if (options && options->drop_stale) {
        hd_report(module->diagnostics, HD_DIAG_STALE_DROPPED, module->source, g->function->header_span,
                  "annotations of '%s' dropped: it changed since it was annotated", name);
        hd_array_clear(&g->function->foreign_annotations);
        g->function->annotations_changed = true;
    } else {
        hd_diagnostic *d = hd_report(module->diagnostics, HD_DIAG_STALE_ANNOTATION, module->source,
                                     g->function->header_span, "'%s' changed since it was annotated", name);
        hd_note_add(module->diagnostics, d, module->source, part->span,
                    "annotated here; --drop-stale drops its annotations, heddle strip all");
        g->ok = false;
    }
    return true;
}

static bool read_function(hd_function *function, hd_section_part *part, const hd_parse_options *options)
{
    gatherer g = {.function = function, .text = function->module->source->text, .ok = true};
    gather(&g);
    finish_set(&g, &g.comments);
    finish_set(&g, &g.extended);
    finish_set(&g, &part->set);
    if (!is_stale(&g, part, options) && g.ok) {
        g.ok &= merge_sets(&g, &g.comments, &g.extended, "comments and extended spelling");
        g.ok &= merge_sets(&g, &g.comments, &part->set, "comments and section");
        for (uint32_t i = 0; i < part->foreign.count; i++)
            hd_array_push(&function->foreign_annotations, part->foreign.items[i]);
        hd_array_fit(&g.comments.items);
        hd_annotations_take(function, &g.comments);
    }
    hd_annotation_set_free(&g.comments);
    hd_annotation_set_free(&g.extended);
    hd_array_free(&g.waiting);
    hd_array_free(&g.fed);
    return g.ok;
}

/* Only locates annotations; errors in them are ignored. */
static void locate(hd_module *module)
{
    hd_diagnostics *saved = module->diagnostics, silent;
    hd_diagnostics_init(&silent);
    module->diagnostics = &silent;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        gatherer g = {.function = module->functions.items[i], .text = module->source->text};
        if (g.function->has_body)
            gather(&g);
        hd_annotation_set_free(&g.comments);
        hd_annotation_set_free(&g.extended);
        hd_array_free(&g.waiting);
        hd_array_free(&g.fed);
    }
    module->diagnostics = saved;
    hd_diagnostics_free(&silent);
}

bool hd_read_annotations(hd_module *module, const hd_parse_options *options)
{
    if (options && options->locate_annotations) {
        locate(module);
        return true;
    }
    uint32_t count = module->functions.count;
    hd_section_part *parts = hd_calloc(count + 1, sizeof *parts);
    bool ok = hd_annotation_read_section(module, options, parts);
    for (uint32_t i = 0; i < count; i++) {
        if (ok && module->functions.items[i]->has_body)
            ok &= read_function(module->functions.items[i], &parts[i], options);
        hd_annotation_set_free(&parts[i].set);
        hd_array_free(&parts[i].foreign);
    }
    free(parts);
    return ok;
}
