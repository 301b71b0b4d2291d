/* Prints loads and their consumer as one instruction, in the extended spelling: see parser/memory_operand.h.
 *
 * The printers write a line for each, and record the offsets of the loads. An abbreviation is created if the consumer's
 * line follows, and only if it expands to the same lines, byte for byte; otherwise (a comment, a .loc or a label in
 * between; another guard; an address with more parts; loads in another order than the operands) the lines stay as they
 * are. Linear in the text.
 */
#include "emitters/ir/print.h"

#include "ir/operand_loads.h"
#include "parser/memory_operand.h"

/* ---- selecting loads --------------------------------------------------------------------------------------------- */

/* Whether the register that a load names is exactly one source of the instruction, which is annotated. */
static bool is_only_source(const hd_function *f, uint32_t load, uint32_t consumer)
{
    const hd_operand *loaded = hd_insn_operands(f, &f->instructions.items[load]);
    uint32_t named = 0, annotated = 0;
    if (!f->instructions.items[load].operand_count || loaded->kind != HD_OPERAND_REGISTER)
        return false;
    for (uint32_t s = 0, o; (o = hd_insn_source_slot(f, &f->instructions.items[consumer], s)) != HD_NONE; s++) {
        bool is_named = f->operands.items[o].value == loaded->value;
        named += is_named;
        annotated += is_named && hd_annotation_at(f, HD_OPERAND_SOURCE, consumer, s) != NULL;
    }
    return named == 1 && annotated == 1;
}

/* Whether each load of the group feeds one annotated source, and vice versa. */
static bool is_whole_group(const hd_function *f, uint32_t load)
{
    uint32_t consumer = hd_operand_group_consumer(f, load), annotated = 0, first = hd_operand_group_first(f, load);
    if (consumer == HD_NONE)
        return false;
    for (uint32_t s = 0; s < hd_insn_source_count(f, &f->instructions.items[consumer]); s++)
        annotated += hd_annotation_at(f, HD_OPERAND_SOURCE, consumer, s) != NULL;
    for (uint32_t i = first; i < consumer; i++)
        if (!is_only_source(f, i, consumer))
            return false;
    return annotated == consumer - first;
}

void hd_print_mark_load(hd_printer *p, const hd_annotation_run *run)
{
    const hd_function *f = run->function;
    for (uint32_t i = run->first; i < run->end; i++)
        if (f->annotations.items[i].kind == HD_OPERAND_LOAD && is_whole_group(f, f->annotations.items[i].instruction))
            hd_array_push(&p->loads, (uint32_t)p->out->written_bytes);
}

/* ---- one group --------------------------------------------------------------------------------------------------- */

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
static piece trimmed(piece p)
{
    while (p.length && hd_is_blank(*p.text))
        p = part(p, 1, p.length);
    while (p.length && hd_is_blank(p.text[p.length - 1]))
        p.length--;
    return p;
}

typedef struct load_text {
    piece line;                /* without its end */
    piece head, before, after; /* blanks and guard; the opcode before and after its mark */
    piece gap, name, address;  /* blanks, register, [..] */
    uint32_t at;               /* in the consumer's line: offset of the register's name */
} load_text;

typedef struct group {
    load_text loads[HD_MEMORY_OPERANDS];
    uint32_t count;
    piece line, head, opcode; /* of the consumer; the opcode without its annotations */
    uint32_t operands;        /* offset of the operands in its line */
} group;

/* The modifier of an annotation kind in an opcode, or NULL; it ends before a dot, "::" or the end. */
static const char *find_mark(piece opcode, uint16_t kind, const char *end)
{
    const char *name = hd_annotation_find(kind)->name;
    size_t length = strlen(name), tail = strlen(end);
    for (uint32_t i = 0; i + 1 + length + tail <= opcode.length; i++) {
        const char *at = opcode.text + i;
        bool ends =
            tail ? !memcmp(at + 1 + length, end, tail) : i + 1 + length == opcode.length || at[1 + length] == '.';
        if (*at == '.' && !memcmp(at + 1, name, length) && ends)
            return at;
    }
    return NULL;
}

/* head opcode.MARK gap name, [address]; */
static bool read_load(load_text *l)
{
    piece line = l->line;
    uint32_t opcode = hd_line_after_guard(line.text, line.length),
             end = hd_line_after_opcode(line.text, opcode, line.length), name = end;
    const char *mark = find_mark(part(line, opcode, end), HD_OPERAND_LOAD, "");
    if (!mark)
        return false;
    uint32_t flag = (uint32_t)(mark - line.text),
             behind = flag + 1 + (uint32_t)strlen(hd_annotation_find(HD_OPERAND_LOAD)->name);
    while (name < line.length && hd_is_blank(line.text[name]))
        name++;
    const char *comma = memchr(line.text + name, ',', line.length - name);
    uint32_t at = comma ? (uint32_t)(comma - line.text) : line.length;
    if (at + 4 > line.length || line.text[line.length - 1] != ';')
        return false;
    l->head = part(line, 0, opcode);
    l->before = part(line, opcode, flag);
    l->after = part(line, behind, end);
    l->gap = part(line, end, name);
    l->name = part(line, name, at);
    l->address = part(line, at + 2, line.length - 1);
    return l->name.length && l->gap.length;
}

/* The number of slots set in a modifier like ::none_set_set. */
static uint32_t count_set(const char *at, const char *end)
{
    uint32_t count = 0;
    for (; at + 3 <= end; at++)
        count += !memcmp(at, "set", 3);
    return count;
}

/* head opcode.MARK::none_set operands; for exactly these loads */
static bool read_consumer(group *g)
{
    piece line = g->line;
    uint32_t opcode = hd_line_after_guard(line.text, line.length),
             end = hd_line_after_opcode(line.text, opcode, line.length);
    const char *flag = find_mark(part(line, opcode, end), HD_OPERAND_SOURCE, "::");
    if (!flag || memchr(flag + 1, '.', (size_t)(line.text + end - flag - 1)) ||
        count_set(flag, line.text + end) != g->count)
        return false;
    g->head = part(line, 0, opcode);
    g->opcode = part(line, opcode, (uint32_t)(flag - line.text));
    g->operands = end;
    return true;
}

/* The offset in the line of the source that is the register; 0: none, or several. */
static uint32_t find_name(const group *g, piece name)
{
    uint32_t found = 0;
    bool is_source = false, done = false;
    for (uint32_t begin = g->operands, at = begin; at < g->line.length && !done; at++) {
        done = g->line.text[at] == ';';
        if (!done && g->line.text[at] != ',')
            continue;
        piece operand = trimmed(part(g->line, begin, at));
        if (is_source && same(operand, name)) {
            if (found)
                return 0;
            found = (uint32_t)(operand.text - g->line.text);
        }
        is_source = true;
        begin = at + 1;
    }
    return found;
}

/* The lines, without their modifiers. */
static void put_lines(hd_writer *out, const group *g, const char *line_end)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const load_text *l = &g->loads[i];
        put(out, l->head);
        put(out, l->before);
        put(out, l->after);
        hd_write_memory_operand_modifier(out);
        put(out, (piece){l->gap.text, (uint32_t)(l->line.text + l->line.length - l->gap.text)});
        hd_write_string(out, line_end);
    }
    put(out, g->head);
    put(out, g->opcode);
    put(out, part(g->line, g->operands, g->line.length));
    hd_write_string(out, line_end);
}

static bool reads_back(const group *g, piece form, const char *line_end)
{
    hd_writer got, want;
    uint32_t joined[HD_MEMORY_OPERANDS], count, at = 0;
    hd_writer_to_memory(&got);
    hd_writer_to_memory(&want);
    while (at + 1 < form.length && memcmp(form.text + at, "]:", 2) != 0)
        at++;
    const char *fault = hd_expand_memory_operand(&got, form.text, form.length, at, line_end, joined, &count);
    put_lines(&want, g, line_end);
    bool good = !fault && want.buffer.count == got.buffer.count &&
                !memcmp(want.buffer.items, got.buffer.items, got.buffer.count);
    hd_writer_free(&got);
    hd_writer_free(&want);
    return good;
}

/* The abbreviation of the lines; false: there is none. */
static bool fuse(hd_writer *form, group *g, const char *line_end)
{
    uint32_t from;
    if (!read_consumer(g))
        return false;
    for (uint32_t i = 0; i < g->count; i++) {
        load_text *l = &g->loads[i];
        if (!read_load(l) || !(l->at = find_name(g, l->name)) || (i && l->at < g->loads[i - 1].at))
            return false;
    }
    put(form, g->head);
    put(form, g->opcode);
    from = g->operands;
    for (uint32_t i = 0; i < g->count; i++) {
        const load_text *l = &g->loads[i];
        put(form, part(g->line, from, l->at));
        put(form, l->address);
        hd_write_char(form, ':');
        put(form, l->before);
        put(form, l->after);
        put(form, l->gap);
        from = l->at;
    }
    put(form, part(g->line, from, g->line.length));
    return reads_back(g, (piece){form->buffer.items, form->buffer.count}, line_end);
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

/* The line that begins at `at`, without its end; *next is the start of the next line. */
static piece line_from(const char *text, uint32_t at, uint32_t length, uint32_t *next)
{
    const char *end = memchr(text + at, '\n', length - at);
    piece line = {text + at, end ? (uint32_t)(end - text) - at : length - at};
    *next = at + line.length + (end != NULL);
    if (end && line.length && line.text[line.length - 1] == '\r')
        line.length--;
    return line;
}

typedef struct text_walk {
    const char *text;
    uint32_t length, written;
    const uint32_t *loads; /* offsets in it, ascending */
    uint32_t count, next;  /* next: the first one not yet examined */
} text_walk;

/* A line and what ends it: "\n", "\r\n", or "" for the last one without an end. */
static const char *end_of(const text_walk *w, piece line, uint32_t next)
{
    uint32_t bytes = next - (uint32_t)(line.text - w->text) - line.length;
    return bytes == 2 ? "\r\n" : bytes == 1 ? "\n" : "";
}

/* Loads on consecutive lines from the next one on, and the line after them. false: there is no abbreviation; then
 * w->next is after lines that cannot start one. *begin, *end: of its lines. */
static bool read_group(text_walk *w, group *g, const char **line_end, uint32_t *begin, uint32_t *end)
{
    uint32_t at = w->loads[w->next];
    while (at > w->written && w->text[at - 1] != '\n')
        at--;
    *begin = at;
    *line_end = NULL;
    for (g->count = 0; w->next < w->count && g->count < HD_MEMORY_OPERANDS; at = *end) {
        piece line = line_from(w->text, at, w->length, end);
        if (w->loads[w->next] < at || w->loads[w->next] >= *end)
            break;
        const char *its_end = end_of(w, line, *end);
        w->next++;
        if (!*its_end || (*line_end && strcmp(*line_end, its_end) != 0))
            return false;
        *line_end = its_end;
        g->loads[g->count++].line = line;
    }
    g->line = line_from(w->text, at, w->length, end);
    return g->count && *end<w->length && * end> at && !strcmp(*line_end, end_of(w, g->line, *end));
}

void hd_print_memory_operands(hd_writer *out, const char *text, uint32_t length, const uint32_t *loads, uint32_t count)
{
    text_walk w = {text, length, 0, loads, count, 0};
    hd_writer form;
    hd_writer_to_memory(&form);
    while (w.next < count) {
        group g = {0};
        const char *line_end;
        uint32_t begin, end, first = w.next;
        if (loads[w.next] < w.written) {
            w.next++;
            continue;
        }
        form.buffer.count = 0;
        bool good = read_group(&w, &g, &line_end, &begin, &end) && fuse(&form, &g, line_end);
        w.next = w.next == first ? first + 1 : w.next;
        if (!good)
            continue;
        hd_write(out, text + w.written, begin - w.written);
        hd_write(out, form.buffer.items, form.buffer.count);
        w.written = end - (uint32_t)strlen(line_end);
    }
    hd_write(out, text + w.written, length - w.written);
    hd_writer_free(&form);
}
