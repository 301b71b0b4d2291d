/* Lossless text: the source is copied in as few runs as possible; only changes of passes, and annotations, are written
 * from the IR. Linear in the text; an unchanged function costs only its copy.
 *
 * There are two ways through a body. If only annotations changed, the walk goes from annotation to annotation. If
 * instructions changed, it goes from statement to statement: changed ones are printed in place of the old text, new
 * ones get a line of their own after the statement before, removed ones are omitted together with the text between
 * them, except comments after the statement before.
 */
#include "emitters/ir/print.h"

#include "ir/opcode_text.h"

/* LF and CR LF end a comment, a CR alone does not. */
static bool ends_comment(const char *text, uint32_t at)
{
    return text[at] == '\n' || (text[at] == '\r' && text[at + 1] == '\n');
}

/* ---- copying ----------------------------------------------------------------------------------------------------- */

static void copy(hd_printer *p, uint32_t to)
{
    if (to > p->at) {
        hd_write(p->out, p->text + p->at, to - p->at);
        p->at = to;
    }
}

/* Copies up to `to`, without the annotation texts that begin before it. */
static void copy_to(hd_printer *p, uint32_t to)
{
    while (p->drop < p->drop_end && p->drop->begin < to) {
        copy(p, p->drop->begin);
        p->at = hd_max(p->at, p->drop->end);
        p->drop++;
    }
    copy(p, to);
}

static void leave_out(hd_printer *p, uint32_t to)
{
    p->at = hd_max(p->at, to);
    while (p->drop < p->drop_end && p->drop->end <= p->at)
        p->drop++;
}

/* Whether only blanks remain between `at` and the line's end. */
static bool rest_is_blank(const hd_printer *p, uint32_t at)
{
    for (const hd_span *drop = p->drop;;) {
        if (drop < p->drop_end && drop->begin <= at) {
            at = hd_max(at, drop->end);
            drop++;
        } else if (hd_is_blank(p->text[at])) {
            at++;
        } else {
            return at >= p->module->source->length || ends_comment(p->text, at);
        }
    }
}

/* ---- annotations in place ---------------------------------------------------------------------------------------- */

/* The start of the line if `at` is its first text, as addresses in listings of machine code are not; else the end of
 * the preceding text. */
static uint32_t line_begin(const hd_printer *p, uint32_t at)
{
    bool listing = p->module->is_machine;
    if (p->module->is_json) /* an object, perhaps after others on its line */
        return at;
    while (at > 0 && (listing ? !hd_is_line_end(p->text[at - 1]) : hd_is_blank(p->text[at - 1])))
        at--;
    if (at > 0 && hd_is_line_end(p->text[at - 1]))
        at -= at > 1 && p->text[at - 1] == '\n' && p->text[at - 2] == '\r' ? 2 : 1;
    return at;
}

static void put_comment(hd_printer *p, const hd_annotation_run *run)
{
    if (p->mode == HD_PRINT_PORTABLE && !hd_annotation_run_empty(run))
        hd_emit_comment(p->out, run, !p->module->is_json && rest_is_blank(p, p->at));
}

/* Copies an instruction of the source, with its annotations. */
static void copy_instruction(hd_printer *p, hd_span span, const hd_annotation_run *run)
{
    if (p->mode == HD_PRINT_EXTENDED && run->first < run->end) {
        hd_opcode_text walk;
        hd_span modifier;
        hd_opcode_text_start(&walk, p->text, span);
        while (hd_opcode_text_next(&walk, &modifier))
            ;
        copy_to(p, walk.opcode_end);
        hd_print_mark_load(p, run);
        hd_emit_modifiers(p->out, run);
    }
    copy_to(p, span.end);
    put_comment(p, run);
}

/* .heddle statements precede the line that starts with the instruction, in JSON its object. */
static void put_heddle(hd_printer *p, uint32_t begin, const hd_annotation_run *run)
{
    if (p->mode == HD_PRINT_EXTENDED && hd_annotation_run_has_statements(run)) {
        copy_to(p, line_begin(p, begin));
        hd_emit_heddle_statements(p->out, run, p->line_end);
    }
}

static void put_wide(hd_printer *p, const hd_function *f, const hd_annotation_walk *walk)
{
    hd_annotation_run wide = hd_annotation_run_wide(walk);
    copy_to(p, hd_body_text(f));
    put_comment(p, &wide);
    if (p->mode == HD_PRINT_EXTENDED)
        hd_emit_heddle_statements(p->out, &wide, p->line_end);
}

static void print_annotated(hd_printer *p, const hd_function *f, hd_annotation_walk *walk)
{
    for (uint32_t i; p->mode != HD_PRINT_PLAIN && (i = hd_annotation_walk_next(walk)) != HD_NONE;) {
        hd_annotation_run run = hd_annotation_run_of(walk, i);
        put_heddle(p, f->instructions.items[i].span.begin, &run);
        copy_instruction(p, f->instructions.items[i].span, &run);
    }
}

/* ---- changed code ------------------------------------------------------------------------------------------------ */

/* Skips blanks and comments from `at`, at most to `end`. */
static uint32_t skip_trivia(const hd_printer *p, uint32_t at, uint32_t end)
{
    const char *text = p->text;
    while (at < end) {
        if (hd_is_blank(text[at]) || hd_is_line_end(text[at])) {
            at++;
        } else if (text[at] == '#' || (text[at] == '/' && text[at + 1] == '/')) {
            while (at < end && !ends_comment(text, at))
                at++;
        } else if (text[at] == '/' && text[at + 1] == '*') {
            for (at += 2; at < end && !(text[at] == '*' && text[at + 1] == '/'); at++)
                ;
            at += 2;
        } else {
            return at;
        }
    }
    return end;
}

/* Skips one token, or a part of one. */
static uint32_t skip_piece(const hd_printer *p, uint32_t at, uint32_t end)
{
    if (p->text[at] == '"')
        for (at++; at < end && p->text[at] != '"'; at++)
            ;
    return at + 1;
}

/* Copies the comment that may follow the previous statement, up to the line's end. */
static void finish_line(hd_printer *p, uint32_t end)
{
    uint32_t at = p->at;
    while (at < end && !ends_comment(p->text, at)) {
        uint32_t next = hd_is_blank(p->text[at]) ? at + 1 : p->text[at] == '/' ? skip_trivia(p, at, end) : at;
        if (next == at)
            return;
        for (; at < next && !ends_comment(p->text, at); at++)
            ;
    }
    if (at < end)
        copy_to(p, at);
}

/* Starts a new line if only blanks follow: the previous line may end in a comment. */
static void start_line(hd_printer *p, uint32_t end)
{
    while (p->at < end && hd_is_blank(p->text[p->at]))
        leave_out(p, p->at + 1);
    hd_write_string(p->out, p->line_end);
    hd_write_char(p->out, '\t');
}

/* Copies the text before a statement of the source, without removed statements. */
static void copy_gap(hd_printer *p, uint32_t end)
{
    uint32_t run = p->at, at = skip_trivia(p, run, end);
    if (at < end) {
        finish_line(p, end);
        while (at < end) {
            run = skip_piece(p, at, end);
            at = skip_trivia(p, run, end);
        }
        bool line_is_finished = ends_comment(p->text, p->at);
        leave_out(p, hd_min(run, end));
        if (line_is_finished && !rest_is_blank(p, p->at))
            start_line(p, end);
    }
    copy_to(p, end);
}

static void new_line(hd_printer *p, const hd_function *f)
{
    finish_line(p, f->body.end);
    hd_write_string(p->out, p->line_end);
    hd_write_char(p->out, '\t');
}

/* A statement without text, or one that moved. */
static void print_new(hd_printer *p, const hd_function *f, const hd_statement *statement, const hd_annotation_run *run)
{
    hd_speller speller = {p->out, p->module, f, false};
    if (p->mode == HD_PRINT_EXTENDED && hd_annotation_run_has_statements(run)) {
        finish_line(p, f->body.end);
        hd_emit_heddle_statements(p->out, run, p->line_end);
    }
    new_line(p, f);
    if (statement->kind == HD_STATEMENT_INSTRUCTION)
        hd_print_instruction(p, &f->instructions.items[statement->index], run);
    else
        hd_spell_statement(&speller, statement);
    put_comment(p, run);
}

static void print_statement(hd_printer *p, const hd_function *f, const hd_statement *statement,
                            hd_annotation_walk *walk)
{
    bool is_instruction = statement->kind == HD_STATEMENT_INSTRUCTION;
    hd_annotation_run run = {.function = f};
    if (is_instruction)
        run = hd_annotation_run_of(walk, statement->index);
    if (statement->span.begin >= statement->span.end || statement->span.begin < p->at) {
        print_new(p, f, statement, &run);
        return;
    }
    if (!is_instruction) {
        copy_gap(p, statement->span.begin);
        copy_to(p, statement->span.end);
        return;
    }
    const hd_instruction *insn = &f->instructions.items[statement->index];
    bool statements = p->mode == HD_PRINT_EXTENDED && hd_annotation_run_has_statements(&run);
    copy_gap(p, statements ? line_begin(p, statement->span.begin) : statement->span.begin);
    put_heddle(p, statement->span.begin, &run);
    copy_to(p, statement->span.begin);
    if (insn->flags & (HD_INSN_DIRTY | HD_INSN_FRESH)) {
        hd_print_instruction(p, insn, &run);
        leave_out(p, statement->span.end);
        put_comment(p, &run);
    } else {
        copy_instruction(p, statement->span, &run);
    }
}

static void print_changed(hd_printer *p, const hd_function *f, hd_annotation_walk *walk)
{
    for (uint32_t i = 0; i < f->statements.count; i++)
        if (!hd_statement_is_heddle(p->module, &f->statements.items[i]))
            print_statement(p, f, &f->statements.items[i], walk);
    copy_gap(p, f->body.end - 1);
}

/* ---- module ------------------------------------------------------------------------------------------------------ */

/* Whether the function's text is unchanged. */
static bool stays(const hd_printer *p, const hd_function *f, bool anew)
{
    if (!f->has_body || f->body.end <= f->body.begin)
        return true;
    if (f->changed || f->annotations_changed)
        return false;
    return !anew || (f->annotation_texts.count == 0 && (p->mode == HD_PRINT_PLAIN || f->annotations.count == 0));
}

static void print_function(hd_printer *p, const hd_function *f, bool anew)
{
    if (stays(p, f, anew))
        return;
    hd_annotation_walk walk;
    hd_annotation_walk_start(&walk, f);
    p->drop = f->annotation_texts.items;
    p->drop_end = p->drop ? p->drop + f->annotation_texts.count : NULL;
    put_wide(p, f, &walk);
    if (f->changed)
        print_changed(p, f, &walk);
    else
        print_annotated(p, f, &walk);
    copy_to(p, f->body.end);
    p->drop = p->drop_end = NULL;
    hd_annotation_walk_end(&walk);
}

/* Whether all annotations must be rewritten: the input has them in another spelling than the output, or only in a
 * section that is omitted. */
static bool must_write_anew(const hd_printer *p)
{
    if (p->mode != HD_PRINT_PORTABLE || p->module->extended)
        return true;
    for (uint32_t i = 0; p->no_section && i < p->module->statements.count; i++)
        if (hd_statement_is_annotation_section(p->module, &p->module->statements.items[i]))
            return true;
    return false;
}

static bool anything_changed(const hd_module *module)
{
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->changed || module->functions.items[i]->annotations_changed)
            return true;
    return false;
}

/* Index of the last statement other than our section; HD_NONE: none. */
static uint32_t last_statement(const hd_module *module)
{
    uint32_t i = module->statements.count;
    while (i > 0 && hd_statement_is_annotation_section(module, &module->statements.items[i - 1]))
        i--;
    return i ? i - 1 : HD_NONE;
}

static uint32_t before_section(const hd_printer *p, uint32_t begin)
{
    if (begin == 0 || !hd_is_line_end(p->text[begin - 1]))
        return begin;
    return begin > 1 && p->text[begin - 1] == '\n' && p->text[begin - 2] == '\r' ? begin - 2 : begin - 1;
}

bool hd_print_lossless(hd_printer *p)
{
    const hd_module *module = p->module;
    bool anew = must_write_anew(p), ok = true;
    if (!anew && !anything_changed(module)) {
        hd_write(p->out, p->text, module->source->length);
        return true;
    }
    uint32_t last = last_statement(module);
    for (uint32_t i = 0; i < module->statements.count; i++) {
        const hd_statement *statement = &module->statements.items[i];
        if (hd_statement_is_annotation_section(module, statement)) {
            copy_to(p, before_section(p, statement->span.begin));
            leave_out(p, statement->span.end);
        } else if (statement->kind == HD_STATEMENT_FUNCTION) {
            print_function(p, module->functions.items[statement->index], anew);
        }
        if (i == last && p->mode == HD_PRINT_PORTABLE && !p->no_section) {
            copy_to(p, statement->span.end);
            ok = hd_emit_section(p->out, module, p->line_end, p->line_end);
        }
    }
    copy_to(p, module->source->length);
    return ok;
}
