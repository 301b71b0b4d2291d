/* A kernel's code as columns of the HTML report (report_page.h): the PTX lines of its text, its instructions,
 * registers, ranges, accesses and source lines.
 *
 * An instruction's text is written only if it differs from its PTX line, and lines of .loc or comments alone are left
 * empty, so that the page contains the PTX about once. Linear in the kernel's text and data.
 */
#include "emitters/report/report_page.h"
#include <ctype.h>

/* ---- the PTX text ------------------------------------------------------------------------------------------------ */

static uint32_t find(const hd_source *source, hd_span span, const char *text)
{
    const char *found = memmem(source->text + span.begin, span.end - span.begin, text, strlen(text));
    return found ? (uint32_t)(found - source->text) : span.end;
}

enum { MOST_LINE_BYTES = 300 }; /* shown of a listing's line: one in JSON may hold all functions */

/* The part of a line of a listing that is the instruction, without its address, encoding and live ranges. */
static hd_span without_comments(const hd_source *source, hd_span span)
{
    if (span.end - span.begin > MOST_LINE_BYTES)
        span.end = span.begin + MOST_LINE_BYTES;
    while (span.begin < span.end && hd_is_blank(source->text[span.begin]))
        span.begin++;
    span.end = find(source, span, "/* 0x");
    span.end = find(source, span, "// |");
    if (span.end - span.begin > 2 && !strncmp(source->text + span.begin, "/*", 2)) {
        uint32_t end = find(source, span, "*/");
        span.begin = end < span.end ? end + 2 : span.end;
    }
    return span;
}

/* The line without surrounding blanks; empty for .loc and for comment lines. Line 0 is empty. */
static hd_span shown_line(hd_source *source, const hd_report_kernel *k, uint32_t line)
{
    hd_span span = line ? hd_source_line(source, line) : (hd_span){0};
    if (k->is_machine)
        span = without_comments(source, span);
    while (span.begin < span.end && hd_is_blank(source->text[span.begin]))
        span.begin++;
    while (span.end > span.begin && hd_is_blank(source->text[span.end - 1]))
        span.end--;
    const char *text = source->text + span.begin;
    if (!strncmp(text, "//", 2) || (!strncmp(text, ".loc", 4) && hd_is_blank(text[4])))
        span.end = span.begin;
    return span;
}

/* Whether the line contains only this instruction, blanks, a semicolon and a comment after it. */
static bool line_is(const hd_source *source, hd_span line, const char *text)
{
    const char *at = source->text + line.begin, *end = source->text + line.end;
    for (;;) {
        while (at < end && hd_is_blank(*at))
            at++;
        while (hd_is_blank(*text))
            text++;
        if (!*text || at == end || *text != *at)
            break;
        text++;
        at++;
    }
    if (at < end && *at == ';')
        at++;
    if (*text == ';')
        text++;
    while (at < end && hd_is_blank(*at))
        at++;
    return !*text && (at == end || (end - at > 1 && at[0] == '/' && at[1] == '/'));
}

static bool closes(const hd_source *source, hd_span line)
{
    return line.end - line.begin == 1 && source->text[line.begin] == '}';
}

/* The end of the kernel: the line after its last instruction, or one more if that is a brace. */
static uint32_t text_end(hd_source *ptx, const hd_report_kernel *k)
{
    uint32_t last = k->position.ptx_line;
    for (uint32_t i = 0; i < k->instruction_count; i++)
        last = hd_max(last, k->instructions[i].position.ptx_line);
    if (k->removed_line_count && k->removed_lines[k->removed_line_count - 1] > last)
        last = k->removed_lines[k->removed_line_count - 1];
    uint32_t lines = hd_source_position(ptx, ptx->length).line;
    for (uint32_t line = last + 1; line <= lines && line <= last + 8; line++)
        if (closes(ptx, shown_line(ptx, k, line)))
            return line + 1;
    return last + 1;
}

static void write_ptx(hd_writer *w, hd_source *ptx, const hd_report_kernel *k)
{
    hd_write_format(w, "\"first\":%u,\"ptx\":[", k->position.ptx_line);
    uint32_t end = k->position.ptx_line ? text_end(ptx, k) : 0;
    for (uint32_t line = k->position.ptx_line; line < end; line++) {
        hd_span span = shown_line(ptx, k, line);
        if (line != k->position.ptx_line)
            hd_write_char(w, ',');
        hd_json_quote_in_page(w, ptx->text + span.begin, span.end - span.begin);
    }
    hd_write_string(w, "],");
}

static void write_texts(hd_writer *w, hd_source *ptx, const hd_report_kernel *k)
{
    uint32_t shown = 0; /* the previous PTX line */
    hd_write_string(w, "\"texts\":[");
    for (uint32_t i = 0, some = 0; i < k->instruction_count; i++) {
        const hd_report_instruction *insn = &k->instructions[i];
        uint32_t line = insn->position.ptx_line;
        if (line < k->position.ptx_line || line <= shown || !line_is(ptx, shown_line(ptx, k, line), insn->text)) {
            hd_write_format(w, "%s%u,", some++ ? "," : "", i);
            hd_json_quote_in_page(w, insn->text, strlen(insn->text));
        }
        shown = hd_max(shown, line);
    }
    hd_write_string(w, "],");
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static void write_lines(hd_writer *w, const hd_report_kernel *k)
{
    uint32_t before = k->position.ptx_line;
    page_column(w, "line");
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        page_signed(w, (int64_t)k->instructions[i].position.ptx_line - before);
        before = k->instructions[i].position.ptx_line;
    }
    page_column_end(w);
}

static bool same_source(const hd_report_position *a, const hd_report_position *b)
{
    return a->line == b->line && a->column == b->column && a->inlined_line == b->inlined_line && a->file == b->file &&
           a->inlined_file == b->inlined_file;
}

/* Runs of instructions of one source position: length, then the differences of file, line, inlining file and line.
 * Files count from 1; 0 is none. */
static void write_positions(hd_writer *w, const hd_report_kernel *k, page_files *files)
{
    int64_t before[4] = {0};
    page_column(w, "positions");
    for (uint32_t i = 0, end; i < k->instruction_count; i = end) {
        const hd_report_position *position = &k->instructions[i].position;
        for (end = i + 1; end < k->instruction_count && same_source(position, &k->instructions[end].position);)
            end++;
        int64_t now[4] = {(uint32_t)(page_file(files, position->file) + 1), position->line,
                          (uint32_t)(page_file(files, position->inlined_file) + 1), position->inlined_line};
        page_unsigned(w, end - i);
        for (uint32_t c = 0; c < 4; c++) {
            page_signed(w, now[c] - before[c]);
            before[c] = now[c];
        }
    }
    page_column_end(w);
}

/* Runs of one block: length, the block's difference, and loop depth and reachability as one number. */
static void write_blocks(hd_writer *w, const hd_report_kernel *k)
{
    uint32_t before = 0;
    page_column(w, "blocks");
    for (uint32_t i = 0, end; i < k->instruction_count; i = end) {
        const hd_report_instruction *insn = &k->instructions[i];
        for (end = i + 1; end < k->instruction_count && k->instructions[end].block == insn->block;)
            end++;
        page_unsigned(w, end - i);
        page_signed(w, (int64_t)insn->block - before);
        page_unsigned(w, insn->loop_depth * 2u + insn->reachable);
        before = insn->block;
    }
    page_column_end(w);
    page_column(w, "block_pressure");
    for (uint32_t b = 0; b < k->block_count; b++)
        page_unsigned(w, k->block_pressure[b]);
    page_column_end(w);
}

static void write_pressure(hd_writer *w, const hd_report_kernel *k)
{
    uint32_t before = 0;
    page_column(w, "live");
    for (uint32_t i = 0; i < k->instruction_count; before = k->instructions[i++].live)
        page_signed(w, (int64_t)k->instructions[i].live - before);
    page_column_end(w);
    before = 0;
    page_column(w, "predicates");
    for (uint32_t i = 0; i < k->instruction_count; before = k->instructions[i++].predicates)
        page_signed(w, (int64_t)k->instructions[i].predicates - before);
    page_column_end(w);
    before = 0;
    page_column(w, "single_use");
    for (uint32_t i = 0; i < k->instruction_count; i++)
        if (k->instructions[i].single_use_load) {
            page_unsigned(w, i - before);
            before = i;
        }
    page_column_end(w);
    before = 0;
    page_column(w, "removed");
    for (uint32_t i = 0; i < k->removed_line_count; before = k->removed_lines[i++])
        page_unsigned(w, k->removed_lines[i] - before);
    page_column_end(w);
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

/* Bytes of the name before its number; all of them if no number reproduces the rest. */
static size_t stem_bytes(const char *name, uint32_t *number)
{
    size_t length = strlen(name), at = length;
    while (at && isdigit((unsigned char)name[at - 1]))
        at--;
    if (at == length || length - at > 9 || (name[at] == '0' && length - at > 1))
        return length;
    *number = (uint32_t)strtoul(name + at, NULL, 10);
    return at;
}

/* The register's stem among the 64 previous ones; stems.count: not found. */
static uint32_t find_stem(const hd_u32_array *stems, const hd_report_kernel *k, const char *name, size_t bytes)
{
    for (uint32_t s = stems->count, end = s > 64 ? s - 64 : 0; s-- > end;) {
        uint32_t number;
        const char *known = k->registers[stems->items[s]].name;
        if (stem_bytes(known, &number) == bytes && !memcmp(known, name, bytes) && !name[bytes] == !known[bytes])
            return s;
    }
    return stems->count;
}

/* Names consist of few stems with numbers. For each register: its stem (its index so far; a new one is the next), the
 * difference of its number to the last one of that stem if there is one, words * 2 + whether it is a predicate. */
static void write_registers(hd_writer *w, const hd_report_kernel *k)
{
    hd_u32_array stems = {0}; /* the first register that has it */
    HD_ARRAY(int64_t) numbers = {0};
    page_column(w, "registers");
    for (uint32_t r = 0; r < k->register_count; r++) {
        uint32_t number = 0;
        const char *name = k->registers[r].name;
        size_t bytes = stem_bytes(name, &number);
        uint32_t stem = find_stem(&stems, k, name, bytes);
        if (stem == stems.count) {
            hd_array_push(&stems, r);
            hd_array_push(&numbers, 0);
        }
        page_unsigned(w, stem);
        if (name[bytes])
            page_signed(w, number - numbers.items[stem]);
        numbers.items[stem] = number;
        page_unsigned(w, k->registers[r].words * 2u + k->registers[r].predicate);
    }
    page_column_end(w);
    hd_write_string(w, "\"stems\":[");
    for (uint32_t s = 0; s < stems.count; s++) {
        uint32_t number;
        const char *name = k->registers[stems.items[s]].name;
        size_t bytes = stem_bytes(name, &number);
        hd_write_string(w, s ? ",[" : "[");
        hd_json_quote_in_page(w, name, bytes);
        hd_write_string(w, name[bytes] ? ",1]" : ",0]");
    }
    hd_write_string(w, "],");
    hd_array_free(&stems);
    hd_array_free(&numbers);
}

/* Accesses of an instruction: their number, then registers (difference) with the access in the lowest two bits. */
static void write_touches(hd_writer *w, const hd_report_kernel *k)
{
    uint32_t at = 0;
    int64_t before = 0;
    page_column(w, "touches");
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        uint32_t end = at;
        while (end < k->touch_count && k->touches[end].instruction == i)
            end++;
        page_unsigned(w, end - at);
        for (; at < end; at++) {
            int64_t step = k->touches[at].reg - before;
            page_unsigned(w, (step < 0 ? (uint64_t)-step << 1 | 1 : (uint64_t)step << 1) << 2 |
                                 (k->touches[at].access & 3u));
            before = k->touches[at].reg;
        }
    }
    page_column_end(w);
}

static void write_ranges(hd_writer *w, const hd_report_kernel *k)
{
    uint32_t first = 0;
    int64_t reg = 0;
    page_column(w, "ranges");
    for (uint32_t r = 0; r < k->range_count; r++) {
        page_unsigned(w, k->ranges[r].first - first);
        page_unsigned(w, k->ranges[r].last - k->ranges[r].first);
        page_signed(w, k->ranges[r].reg - reg);
        first = k->ranges[r].first;
        reg = k->ranges[r].reg;
    }
    page_column_end(w);
}

static void write_source_lines(hd_writer *w, const hd_report_kernel *k, page_files *files)
{
    int64_t file = 0, line = 0;
    page_column(w, "source");
    for (uint32_t i = 0; i < k->line_count; i++) {
        const hd_report_line *l = &k->lines[i];
        int64_t of = (uint32_t)(page_file(files, l->file) + 1);
        page_signed(w, of - file);
        page_signed(w, l->line - line);
        page_unsigned(w, l->instructions);
        page_unsigned(w, l->max_pressure * 2ull + l->inlined);
        file = of;
        line = l->line;
    }
    page_column_end(w);
}

void page_code(hd_writer *writer, hd_source *ptx, const hd_report_kernel *kernel, page_files *files)
{
    write_ptx(writer, ptx, kernel);
    write_texts(writer, ptx, kernel);
    write_lines(writer, kernel);
    write_positions(writer, kernel, files);
    write_blocks(writer, kernel);
    write_pressure(writer, kernel);
    write_registers(writer, kernel);
    write_touches(writer, kernel);
    write_ranges(writer, kernel);
    write_source_lines(writer, kernel, files);
}
