/* Expands memory operands before scanning; the syntax is defined in heddle-annotations(7).
 *
 * A text without "]:" costs one search. Otherwise one walk over the text, which recognizes comments and strings and
 * copies it once. Constant expressions may contain "]:" too (a[1]?b[2]:c): a line with a '?' is not changed, nor is one
 * that begins with a directive. Linear.
 */
#include "parser/memory_operand.h"

#include "base/scan.h"
#include "ir/operand_loads.h"

static const char for_next[] = "::next";

void hd_write_memory_operand_modifier(hd_writer *out)
{
    hd_write_format(out, ".%s%s", hd_annotation_find(HD_OPERAND_LOAD)->name, for_next);
}

bool hd_is_memory_operand_modifier(const char *text, size_t length)
{
    const char *name = hd_annotation_find(HD_OPERAND_LOAD)->name;
    size_t end = 1 + strlen(name);
    return length == end + strlen(for_next) && *text == '.' && !memcmp(text + 1, name, end - 1) &&
           !memcmp(text + end, for_next, strlen(for_next));
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '$' || c == '%'; }
static bool is_opcode(char c) { return is_word(c) || c == '.' || c == ':'; }

static uint32_t skip_word(const char *line, uint32_t at, uint32_t length)
{
    while (at < length && is_word(line[at]))
        at++;
    return at;
}

uint32_t hd_line_after_guard(const char *line, uint32_t length)
{
    uint32_t at = hd_after_blanks(line, 0, length);
    if (at >= length || line[at] != '@')
        return at;
    at = hd_after_blanks(line, at + 1, length);
    if (at < length && line[at] == '!')
        at = hd_after_blanks(line, at + 1, length);
    return hd_after_blanks(line, skip_word(line, at, length), length);
}

uint32_t hd_line_after_opcode(const char *line, uint32_t at, uint32_t length)
{
    while (at < length && is_opcode(line[at]))
        at++;
    return at;
}

/* An operand, as offsets in its line: [open, close) the address, [load, load_end) the load's opcode, [load_end, name)
 * blanks, [name, end) the register. */
typedef struct parts {
    uint32_t open, close, load, load_end, name, end;
} parts;

static bool begins_line(const char *line, uint32_t opcode, uint32_t at)
{
    if (opcode >= at || !is_letter(line[opcode]))
        return false;
    uint32_t end = hd_line_after_opcode(line, opcode, at);
    for (uint32_t i = end; i < at; i++)
        if (strchr(";{}:\"/", line[i]))
            return false;
    return end < at && hd_is_blank(line[end]) && line[end - 1] != ':';
}

/* The operand with its "]:" at `at`; text before `from` belongs to others. */
static const char *find_parts(const char *line, uint32_t length, uint32_t from, uint32_t at, parts *p)
{
    p->open = p->close = at + 1;
    while (p->open > from && line[p->open] != '[')
        p->open--;
    uint32_t before = p->open;
    while (before > from && hd_is_blank(line[before - 1]))
        before--;
    if (before == from || line[before - 1] != ',')
        return "an operand in memory is an address in brackets after a comma";
    p->load = at + 2;
    p->load_end = hd_line_after_opcode(line, p->load, length);
    if (p->load_end - p->load < 4 || memcmp(line + p->load, "ld.", 3) != 0)
        return "the ':' of an operand in memory is followed by its load: [address]:ld.global.f32 %f1";
    p->name = hd_after_blanks(line, p->load_end, length);
    p->end = skip_word(line, p->name, length);
    if (p->name == p->load_end || p->end == p->name)
        return "the load of an operand in memory is followed by the register that it names: [address]:ld.global.f32 "
               "%f1";
    uint32_t next = hd_after_blanks(line, p->end, length);
    if (next >= length || (line[next] != ',' && line[next] != ';'))
        return "a comma or semicolon follows the register of an operand in memory";
    return NULL;
}

/* The next "]:" of the same instruction; `length`: none. */
static uint32_t find_next(const char *line, uint32_t from, uint32_t length)
{
    for (uint32_t at = from; at + 1 < length && line[at] != ';'; at++)
        if (line[at] == ']' && line[at + 1] == ':')
            return at;
    return length;
}

static const char *find_all(const char *line, uint32_t length, uint32_t opcode, uint32_t at,
                            parts all[HD_MEMORY_OPERANDS], uint32_t *count)
{
    *count = 0;
    if (!begins_line(line, opcode, at))
        return "an instruction with an operand in memory begins its line, and nothing but its guard precedes it";
    for (uint32_t from = opcode; at < length; at = find_next(line, from, length)) {
        if (*count == HD_MEMORY_OPERANDS)
            return "an instruction takes at most 8 operands from memory";
        const char *fault = find_parts(line, length, from, at, &all[*count]);
        if (fault)
            return fault;
        from = all[(*count)++].end;
    }
    return NULL;
}

const char *hd_expand_memory_operand(hd_writer *out, const char *line, uint32_t length, uint32_t at,
                                     const char *line_end, uint32_t joined[HD_MEMORY_OPERANDS], uint32_t *count)
{
    parts all[HD_MEMORY_OPERANDS];
    uint32_t opcode = hd_line_after_guard(line, length), copied = 0;
    const char *fault = find_all(line, length, opcode, at, all, count);
    if (fault)
        return fault;
    for (uint32_t i = 0; i < *count; i++) {
        const parts *p = &all[i];
        hd_write(out, line, opcode);
        hd_write(out, line + p->load, p->load_end - p->load);
        hd_write_memory_operand_modifier(out);
        hd_write(out, line + p->load_end, p->end - p->load_end);
        hd_write_string(out, ", ");
        hd_write(out, line + p->open, p->close - p->open);
        hd_write_char(out, ';');
        hd_write_string(out, *line_end ? line_end : "\n");
        joined[i] = out->buffer.count;
    }
    for (uint32_t i = 0; i < *count; i++) {
        hd_write(out, line + copied, all[i].open - copied);
        copied = all[i].name;
    }
    hd_write(out, line + copied, length - copied);
    hd_write_string(out, line_end);
    return NULL;
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

typedef struct expander {
    const char *text;
    uint32_t length, copied;  /* everything before `copied` is in the output */
    hd_span line;             /* the last line examined */
    uint32_t first, question; /* offsets in it: its first token, and its first '?' */
    hd_writer out;
    hd_u32_array joined;
    hd_source *source;
    hd_diagnostics *diagnostics;
    bool ok;
} expander;

/* The end delimiter of the comment or string that begins here; NULL: none begins. */
static const char *closing(const char *text)
{
    if (text[0] == '/')
        return text[1] == '*' ? "*/" : text[1] == '/' ? "\n" : NULL;
    return text[0] == '"' ? "\"" : NULL;
}

/* The first "]:" of [at, end) outside comments and strings; `end` if there is none, or if a comment or string that
 * starts before extends beyond it. */
static uint32_t find_colon(const char *text, uint32_t at, uint32_t end)
{
    while (at < end) {
        const char *close = closing(text + at);
        if (close) {
            size_t n = strlen(close);
            for (at += n; at < end && memcmp(text + at, close, n) != 0; at++)
                ;
            at += (uint32_t)n;
        } else if (text[at] == ']' && text[at + 1] == ':') {
            return at;
        } else {
            at++;
        }
    }
    return end;
}

/* Examines the line of an offset, once for all offsets in it. */
static void find_line(expander *e, uint32_t at)
{
    hd_span line = {at, at};
    if (at < e->line.end)
        return;
    while (line.begin > e->line.end && e->text[line.begin - 1] != '\n')
        line.begin--;
    while (line.end < e->length && e->text[line.end] != '\n')
        line.end++;
    const char *question = memchr(e->text + line.begin, '?', line.end - line.begin);
    e->line = line;
    e->first = hd_after_blanks(e->text, line.begin, line.end);
    e->question = question ? (uint32_t)(question - e->text) : line.end;
}

/* Whether it is a memory operand. */
static bool is_meant(const expander *e, uint32_t at)
{
    if (memcmp(e->text + at + 2, "ld.", 3) == 0)
        return true;
    return e->first < at && (e->text[e->first] == '@' || is_letter(e->text[e->first])) && e->question > at;
}

static void expand_line(expander *e, uint32_t at)
{
    hd_span line = e->line;
    uint32_t end = line.end, joined[HD_MEMORY_OPERANDS], count = 0, before = line.begin - e->copied;
    if (end > line.begin && e->text[end - 1] == '\r')
        end--;
    uint32_t next = line.end < e->length ? line.end + 1 : line.end;
    const char *line_end = next == line.end ? "" : end < line.end ? "\r\n" : "\n";
    hd_write(&e->out, e->text + e->copied, before);
    const char *fault = hd_expand_memory_operand(&e->out, e->text + line.begin, end - line.begin, at - line.begin,
                                                 line_end, joined, &count);
    if (fault) {
        hd_report(e->diagnostics, HD_DIAG_BAD_ANNOTATION, e->source, (hd_span){at + 1, at + 2}, "%s", fault);
        e->ok = false;
    }
    for (uint32_t i = 0; i < count && !fault; i++)
        hd_array_push(&e->joined, joined[i]);
    e->copied = next;
}

static void expand(expander *e)
{
    for (uint32_t at = 0; (at = find_colon(e->text, at, e->length)) < e->length; at += 2) {
        find_line(e, at);
        if (at >= e->copied && is_meant(e, at))
            expand_line(e, at);
    }
    hd_write(&e->out, e->text + e->copied, e->length - e->copied);
}

static void replace(expander *e)
{
    hd_source *source = e->source, fresh;
    hd_source_from_memory(&fresh, source->name, e->out.buffer.items, e->out.buffer.count);
    fresh.joined = e->joined;
    hd_source_free(source);
    *source = fresh;
}

bool hd_expand_memory_operands(hd_source *source, hd_diagnostics *diagnostics)
{
    expander e = {
        .text = source->text, .length = source->length, .source = source, .diagnostics = diagnostics, .ok = true};
    if (!memmem(e.text, e.length, "]:", 2))
        return true;
    hd_writer_to_memory(&e.out);
    expand(&e);
    if (e.ok && e.joined.count)
        replace(&e);
    else
        hd_array_free(&e.joined);
    hd_writer_free(&e.out);
    return e.ok;
}
