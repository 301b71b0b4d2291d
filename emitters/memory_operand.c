/* A load and its consumer as one instruction, in the extended spelling: parser/memory_operand.h says how.
 *
 * The printers write two lines, and remember where each load stands. Of these texts a short form is made where the consumer's line
 * follows, and only if reading it gives the same two lines to the byte; so nothing is lost, and what cannot be said shortly
 * (a comment, a .loc, a label between; another guard; an address with more parts) stays as it is. Linear in the text.
 */
#include "emitters/print.h"

#include "parser/memory_operand.h"

static const char LOAD[] = ".demo", SOURCE[] = ".demo_operand::";

/* ---- which loads ------------------------------------------------------------------------------------------------------ */

/* How many sources are the register, and how many of all are annotated; true if the annotated one is the only of both. */
static bool is_only_source(const hd_function *f, uint32_t consumer, uint32_t reg)
{
    const hd_instruction *insn = &f->instructions.items[consumer];
    uint32_t named = 0, annotated = 0, both = 0;
    for (uint32_t s = 0, o; (o = hd_insn_source_slot(f, insn, s)) != HD_NONE; s++) {
        bool is_named = f->operands.items[o].value == reg;
        bool is_annotated = hd_annotation_at(f, HD_ANNOTATION_DEMO_OPERAND, consumer, s) != NULL;
        named += is_named;
        annotated += is_annotated;
        both += is_named && is_annotated;
    }
    return named == 1 && annotated == 1 && both == 1;
}

void hd_print_mark_load(hd_printer *p, const hd_annotation_run *run)
{
    const hd_function *f = run->function;
    for (uint32_t i = run->first; i < run->end; i++) {
        const hd_annotation *a = &f->annotations.items[i];
        if (a->kind != HD_ANNOTATION_DEMO || a->instruction + 1 >= f->instructions.count)
            continue;
        const hd_instruction *load = &f->instructions.items[a->instruction];
        const hd_operand *o = hd_insn_operands(f, load);
        if (load->operand_count && o->kind == HD_OPERAND_REGISTER && is_only_source(f, a->instruction + 1, o->value))
            hd_array_push(&p->loads, (uint32_t)p->out->written_bytes);
    }
}

/* ---- one pair --------------------------------------------------------------------------------------------------------- */

typedef struct piece {
    const char *text;
    uint32_t length;
} piece;

static piece part(piece of, uint32_t begin, uint32_t end)
{
    return end > begin && end <= of.length ? (piece){of.text + begin, end - begin} : (piece){of.text, 0};
}

static bool same(piece a, piece b) { return a.length == b.length && !memcmp(a.text, b.text, a.length); }
static void put(hd_writer *out, piece p) { hd_write(out, p.text, p.length); }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static piece trimmed(piece p)
{
    while (p.length && is_blank(*p.text))
        p = part(p, 1, p.length);
    while (p.length && is_blank(p.text[p.length - 1]))
        p.length--;
    return p;
}

typedef struct pair {
    piece load_line, line; /* without line ends */
    piece head, load, gap, name, address; /* of the load: blanks and guard, opcode without .demo, blanks, register, [..] */
    piece opcode;                         /* of the consumer, without .demo_operand */
    uint32_t operands;                    /* where they begin in its line */
} pair;

/* head opcode.demo gap name, [address]; */
static bool read_load(pair *p)
{
    piece line = p->load_line;
    uint32_t opcode = hd_line_behind_guard(line.text, line.length), end = hd_line_behind_opcode(line.text, opcode, line.length);
    uint32_t flag = (uint32_t)strlen(LOAD), name = end;
    if (end - opcode <= flag || memcmp(line.text + end - flag, LOAD, flag) != 0)
        return false;
    while (name < line.length && is_blank(line.text[name]))
        name++;
    const char *comma = memchr(line.text + name, ',', line.length - name);
    uint32_t at = comma ? (uint32_t)(comma - line.text) : line.length;
    if (at + 4 > line.length || line.text[line.length - 1] != ';')
        return false;
    p->head = part(line, 0, opcode);
    p->load = part(line, opcode, end - flag);
    p->gap = part(line, end, name);
    p->name = part(line, name, at);
    p->address = part(line, at + 2, line.length - 1);
    return p->name.length && p->gap.length;
}

/* head opcode.demo_operand::none_set operands; */
static bool read_consumer(pair *p)
{
    piece line = p->line;
    uint32_t opcode = hd_line_behind_guard(line.text, line.length), end = hd_line_behind_opcode(line.text, opcode, line.length);
    const char *flag = memmem(line.text + opcode, end - opcode, SOURCE, strlen(SOURCE));
    if (!flag || !same(part(line, 0, opcode), p->head) || memchr(flag + 1, '.', (size_t)(line.text + end - flag - 1)))
        return false;
    p->opcode = part(line, opcode, (uint32_t)(flag - line.text));
    p->operands = end;
    return true;
}

/* The source that is the register: where it begins in the line; 0: none, or not the only one. */
static uint32_t find_name(const pair *p)
{
    uint32_t found = 0;
    bool is_source = false, done = false;
    for (uint32_t begin = p->operands, at = begin; at < p->line.length && !done; at++) {
        done = p->line.text[at] == ';';
        if (!done && p->line.text[at] != ',')
            continue;
        piece operand = trimmed(part(p->line, begin, at));
        if (is_source && same(operand, p->name)) {
            if (found)
                return 0;
            found = (uint32_t)(operand.text - p->line.text);
        }
        is_source = true;
        begin = at + 1;
    }
    return found;
}

/* Does the short form read as the two lines, less their marks? */
static bool reads_back(const pair *p, piece form, const char *line_end)
{
    hd_writer got, want;
    uint32_t second, at = 0;
    hd_writer_to_memory(&got);
    hd_writer_to_memory(&want);
    while (at + 1 < form.length && memcmp(form.text + at, "]:", 2) != 0)
        at++;
    const char *fault = hd_expand_memory_operand(&got, form.text, form.length, at, line_end, &second);
    put(&want, part(p->load_line, 0, (uint32_t)(p->gap.text - p->load_line.text)));
    hd_write_string(&want, &HD_MEMORY_OPERAND_MODIFIER[strlen(LOAD)]);
    put(&want, (piece){p->gap.text, (uint32_t)(p->load_line.text + p->load_line.length - p->gap.text)});
    hd_write_string(&want, line_end);
    put(&want, p->head);
    put(&want, p->opcode);
    put(&want, part(p->line, p->operands, p->line.length));
    hd_write_string(&want, line_end);
    bool good = !fault && want.buffer.count == got.buffer.count && !memcmp(want.buffer.items, got.buffer.items, got.buffer.count);
    hd_writer_free(&got);
    hd_writer_free(&want);
    return good;
}

/* The short form of two lines; false: there is none. */
static bool fuse(hd_writer *form, pair *p, const char *line_end)
{
    if (!read_load(p) || !read_consumer(p))
        return false;
    uint32_t at = find_name(p);
    if (!at)
        return false;
    put(form, p->head);
    put(form, p->opcode);
    put(form, part(p->line, p->operands, at));
    put(form, p->address);
    hd_write_char(form, ':');
    put(form, p->load);
    put(form, p->gap);
    put(form, part(p->line, at, p->line.length));
    return reads_back(p, (piece){form->buffer.items, form->buffer.count}, line_end);
}

/* ---- the text --------------------------------------------------------------------------------------------------------- */

/* The line that begins at `at`, without its end; *next is behind that. */
static piece line_from(const char *text, uint32_t at, uint32_t length, uint32_t *next)
{
    const char *end = memchr(text + at, '\n', length - at);
    piece line = {text + at, end ? (uint32_t)(end - text) - at : length - at};
    *next = at + line.length + (end != NULL);
    if (end && line.length && line.text[line.length - 1] == '\r')
        line.length--;
    return line;
}

void hd_print_memory_operands(hd_writer *out, const char *text, uint32_t length, const uint32_t *loads, uint32_t count)
{
    uint32_t written = 0;
    hd_writer form;
    hd_writer_to_memory(&form);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t begin = loads[i], middle, end;
        while (begin > written && text[begin - 1] != '\n')
            begin--;
        if (loads[i] < written)
            continue;
        pair p = {.load_line = line_from(text, begin, length, &middle)};
        p.line = line_from(text, middle, length, &end);
        const char *line_end = middle - begin - p.load_line.length == 2 ? "\r\n" : "\n";
        form.buffer.count = 0;
        if (end == length || end - middle - p.line.length != strlen(line_end) || !fuse(&form, &p, line_end))
            continue;
        hd_write(out, text + written, begin - written);
        hd_write(out, form.buffer.items, form.buffer.count);
        written = end - (uint32_t)strlen(line_end);
    }
    hd_write(out, text + written, length - written);
    hd_writer_free(&form);
}
