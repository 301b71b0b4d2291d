/* Files of traces: header, blocks and warps (see accel_sim.h). Malformed lines are reported, each with what is
 * expected, and reading goes on. */
#include "hwmodel/trace/accel_sim.h"
#include "base/hash.h"
#include "base/scan.h"
#include "ir/architected.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct reader {
    hd_traced *t;
    uint32_t at; /* of the next line */
    hd_index ctas, code;
    hd_traced_cta *cta; /* of the lines that follow; NULL: none, or a malformed one */
    uint32_t warp;      /* HD_NONE: none */
    bool in_block;
} reader;

static hd_span line_at(const hd_traced *t, uint32_t begin)
{
    const char *text = t->source->text;
    uint32_t end = begin;
    while (end < t->source->length && !hd_is_line_end(text[end]))
        end++;
    return (hd_span){begin, end};
}

static uint32_t after_line(const hd_traced *t, uint32_t begin)
{
    const char *end = memchr(t->source->text + begin, '\n', t->source->length - begin);
    return end ? (uint32_t)(end - t->source->text) + 1 : t->source->length;
}

#define REPORT(r, span, ...) hd_report((r)->t->diagnostics, HD_DIAG_BAD_TRACE, (r)->t->source, (span), __VA_ARGS__)

static bool is_empty(const hd_traced *t, hd_span line)
{
    while (line.begin < line.end && hd_is_blank(t->source->text[line.begin]))
        line.begin++;
    return line.begin == line.end;
}

static const char *after_word(const hd_traced *t, hd_span line, const char *word)
{
    size_t length = strlen(word);
    const char *text = t->source->text + line.begin;
    return line.end - line.begin >= length && memcmp(text, word, length) == 0 ? text + length : NULL;
}

/* `count` decimal numbers with commas between; false: something else. */
static bool read_numbers(const char *at, uint32_t count, uint32_t *numbers)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value;
        if (!hd_take_number(&at, NULL, 10, UINT32_MAX, &value))
            return false;
        numbers[i] = (uint32_t)value;
        if (i + 1 < count && *at++ != ',')
            return false;
    }
    while (hd_is_blank(*at) || *at == ')')
        at++;
    return hd_is_line_end(*at) || !*at;
}

/* ---- header ------------------------------------------------------------------------------------------------------ */

/* Sizes up to those that CUDA allows. */
static void read_size(reader *r, hd_span line, const char *value, uint32_t x, uint32_t y, uint32_t z, uint32_t size[3])
{
    bool good = *value == '(' && read_numbers(value + 1, 3, size);
    if (!good || !size[0] || !size[1] || !size[2])
        REPORT(r, line, "three numbers from 1 on are expected, (x,y,z)");
    else if (size[0] > x || size[1] > y || size[2] > z)
        REPORT(r, line, "sizes of at most (%u,%u,%u) are expected", x, y, z);
}

static void read_one(reader *r, hd_span line, const char *value, uint32_t *number)
{
    if (!read_numbers(value, 1, number))
        REPORT(r, line, "a number is expected");
}

static void read_at_most(reader *r, hd_span line, const char *value, uint32_t most, uint32_t *number)
{
    if (!read_numbers(value, 1, number) || *number > most)
        REPORT(r, line, "a number of at most %u is expected", most);
}

static void read_chip(reader *r, hd_span line, const char *value)
{
    char known[256];
    hd_traced *t = r->t;
    if (!read_numbers(value, 1, &t->sm) || !hd_sass_has_chip(t->sm)) {
        hd_sass_print_chips(known, sizeof known);
        REPORT(r, line, "a compute capability is expected, which is one of %s", known);
    }
}

static void read_window(reader *r, hd_span line, const char *value, uint64_t *address)
{
    char *end;
    *address = strtoull(value, &end, 16);
    if (strncmp(value, "0x", 2) != 0 || !(hd_is_space(*end) || !*end))
        REPORT(r, line, "an address is expected, 0x and hexadecimal digits");
}

static void read_key(reader *r, hd_span line)
{
    hd_traced *t = r->t;
    uint32_t flag = 0;
    const char *value;
    if ((value = after_word(t, line, "-kernel name = ")))
        t->kernel = hd_arena_string(&t->arena, value, (size_t)(t->source->text + line.end - value));
    else if ((value = after_word(t, line, "-grid dim = ")))
        read_size(r, line, value, INT32_MAX, UINT16_MAX, UINT16_MAX, t->grid);
    else if ((value = after_word(t, line, "-block dim = ")))
        read_size(r, line, value, HD_TRACED_THREADS, HD_TRACED_THREADS, 64, t->block);
    else if ((value = after_word(t, line, "-shmem = ")))
        read_at_most(r, line, value, HD_TRACED_SHARED_BYTES, &t->shared_bytes);
    else if ((value = after_word(t, line, "-nregs = ")))
        read_at_most(r, line, value, HD_GENERAL_REGISTERS, &t->registers);
    else if ((value = after_word(t, line, "-binary version = ")))
        read_chip(r, line, value);
    else if ((value = after_word(t, line, "-accelsim tracer version = ")))
        read_one(r, line, value, &t->version);
    else if ((value = after_word(t, line, "-shmem base_addr = ")))
        read_window(r, line, value, &t->shared_window);
    else if ((value = after_word(t, line, "-local mem base_addr = ")))
        read_window(r, line, value, &t->local_window);
    else if ((value = after_word(t, line, "-enable lineinfo = ")))
        read_one(r, line, value, &flag);
    t->has_lines = t->has_lines || flag;
}

/* The columns before the address are those of the version: what the line says of them is not reliable. */
static void read_format(hd_traced *t, hd_span line)
{
    size_t length = line.end - line.begin;
    const char *text = t->source->text + line.begin;
    t->prefix = memmem(text, length, "sm_id", 5) ? 6 : 4;
    t->more_columns = t->version >= 6 || memmem(text, length, "pred_num", 8) != NULL;
}

static bool read_header(reader *r)
{
    hd_traced *t = r->t;
    bool done = false;
    while (r->at < t->source->length && !done) {
        hd_span line = line_at(t, r->at);
        if (t->source->text[line.begin] == '-')
            read_key(r, line);
        else if ((done = after_word(t, line, HD_TRACED_HEADER_END) != NULL))
            read_format(t, line);
        else if (!is_empty(t, line))
            break;
        r->at = after_line(t, r->at);
    }
    if (done)
        return true;
    REPORT(r, line_at(t, r->at), "a trace has a header, '-key = value' lines before one '#traces format = ...'");
    return false;
}

/* The reports that concern the whole header are at its first line. */
static bool check_header(reader *r)
{
    hd_traced *t = r->t;
    hd_span first = line_at(t, 0);
    if (t->version > HD_TRACED_NEWEST)
        REPORT(r, first, "the tracer has version %u; versions up to %d are read", t->version, HD_TRACED_NEWEST);
    if (!t->kernel || !t->grid[0] || !t->block[0])
        REPORT(r, first, "the header lacks '%s'",
               !t->kernel   ? "-kernel name"
               : t->grid[0] ? "-block dim"
                            : "-grid dim");
    if (t->diagnostics->error_count)
        return false;
    uint64_t threads = (uint64_t)t->block[0] * t->block[1], ctas = (uint64_t)t->grid[0] * t->grid[1];
    threads = threads > HD_TRACED_THREADS ? threads : threads * t->block[2];
    ctas = ctas > UINT32_MAX ? ctas : ctas * t->grid[2];
    if (threads > HD_TRACED_THREADS)
        REPORT(r, first, "a block has more than %d threads", HD_TRACED_THREADS);
    else if (ctas > UINT32_MAX || ctas * ((threads + 31) / 32) > UINT32_MAX)
        REPORT(r, first, "the grid has too many blocks");
    t->threads = (uint32_t)threads;
    t->cta_warps = ((uint32_t)threads + 31) / 32;
    return !t->diagnostics->error_count;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* NULL: it is not in the grid. A new one is created. */
static hd_traced_cta *find_cta(reader *r, const uint32_t place[3], bool *fresh)
{
    hd_traced *t = r->t;
    *fresh = false;
    for (uint32_t d = 0; d < 3; d++)
        if (place[d] >= t->grid[d])
            return NULL;
    uint32_t index = (place[2] * t->grid[1] + place[1]) * t->grid[0] + place[0];
    uint64_t hash = hd_hash(&index, sizeof index);
    for (uint32_t at = hd_index_first(&r->ctas, hash); at != HD_INDEX_END; at = hd_index_next(&r->ctas, hash, at))
        if (t->ctas.items[r->ctas.slots[at].number].index == index)
            return &t->ctas.items[r->ctas.slots[at].number];
    hd_index_add(&r->ctas, hash, t->ctas.count);
    hd_array_push(&t->ctas, ((hd_traced_cta){index, hd_calloc(t->cta_warps, sizeof(hd_traced_warp))}));
    *fresh = true;
    return &hd_array_last(&t->ctas);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static bool is_same(const hd_traced *t, const hd_traced_code *c, const hd_traced_line *l)
{
    uint32_t length = c->opcode.end - c->opcode.begin;
    return c->pc == l->pc && c->list.count == l->list.count && c->list.destinations == l->list.destinations &&
           memcmp(c->registers, l->registers, c->list.count) == 0 && length == l->opcode.end - l->opcode.begin &&
           memcmp(t->source->text + c->opcode.begin, t->source->text + l->opcode.begin, length) == 0;
}

static uint32_t find_code(reader *r, const hd_traced_line *l)
{
    hd_traced *t = r->t;
    uint64_t hash = hd_hash(&l->pc, sizeof l->pc);
    for (uint32_t at = hd_index_first(&r->code, hash); at != HD_INDEX_END; at = hd_index_next(&r->code, hash, at)) {
        hd_traced_code *c = &t->code.items[r->code.slots[at].number];
        if (is_same(t, c, l)) {
            c->access |= l->access;
            return r->code.slots[at].number;
        }
    }
    hd_traced_code fresh = {.pc = l->pc, .opcode = l->opcode, .list = l->list, .access = l->access};
    fresh.line = line_at(t, l->begin);
    memcpy(fresh.registers, l->registers, sizeof fresh.registers);
    hd_index_add(&r->code, hash, t->code.count);
    hd_array_push(&t->code, fresh);
    return t->code.count - 1;
}

static uint32_t lanes_of(const hd_traced *t, uint32_t warp)
{
    uint32_t threads = t->threads - warp * 32;
    return threads >= 32 ? UINT32_MAX : (1u << threads) - 1;
}

static void add_line(reader *r, const hd_traced_line *l, hd_span span)
{
    hd_traced *t = r->t;
    if (!r->cta || r->warp >= t->cta_warps)
        return;
    if (l->mask & ~lanes_of(t, r->warp)) {
        REPORT(r, span, "the mask has lanes that this warp lacks: the last warp of a block has %u threads",
               t->threads - (t->cta_warps - 1) * 32);
        return;
    }
    hd_array_push(&r->cta->warps[r->warp], ((hd_traced_step){l->begin, find_code(r, l)}));
}

/* The place of a raw line. */
static void set_place(reader *r, const hd_traced_line *l, hd_span span)
{
    bool fresh;
    r->cta = find_cta(r, l->place, &fresh);
    r->warp = l->place[3];
    if (!r->cta)
        REPORT(r, span, "there is no block %u,%u,%u in the grid", l->place[0], l->place[1], l->place[2]);
    else if (r->warp >= r->t->cta_warps)
        REPORT(r, span, "there is no warp %u in a block of %u threads", r->warp, r->t->threads);
}

static void read_instruction(reader *r, bool prefix)
{
    hd_traced_line line;
    hd_span span = line_at(r->t, r->at);
    uint32_t next = hd_traced_read_line(r->t, r->at, prefix, &line);
    if (line.wrong) {
        REPORT(r, ((hd_span){line.at, hd_min(line.at + 1, span.end)}), "expected %s", line.wrong);
    } else {
        if (prefix && !r->t->grouped)
            set_place(r, &line, span);
        add_line(r, &line, span);
    }
    r->at = next;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void begin_block(reader *r, hd_span line, const char *value)
{
    uint32_t place[3];
    bool fresh = true;
    r->cta = NULL;
    r->warp = HD_NONE;
    if (!r->in_block)
        REPORT(r, line, "a block begins with '#BEGIN_TB'");
    if (!read_numbers(value, 3, place))
        REPORT(r, line, "three numbers are expected, x,y,z");
    else if (!(r->cta = find_cta(r, place, &fresh)))
        REPORT(r, line, "there is no block %u,%u,%u in the grid", place[0], place[1], place[2]);
    else if (!fresh)
        REPORT(r, line, "the trace has had block %u,%u,%u before", place[0], place[1], place[2]);
}

static void begin_warp(reader *r, hd_span line, const char *value)
{
    if (!read_numbers(value, 1, &r->warp))
        REPORT(r, line, "the number of a warp is expected");
    else if (r->warp >= r->t->cta_warps)
        REPORT(r, line, "there is no warp %u in a block of %u threads", r->warp, r->t->threads);
    else if (r->cta && r->cta->warps[r->warp].count)
        REPORT(r, line, "this block has had warp %u before", r->warp);
    else if (!r->cta)
        r->warp = HD_NONE;
}

/* So many instructions follow. */
static void read_instructions(reader *r, hd_span line, const char *value)
{
    uint32_t count = 0;
    hd_traced *t = r->t;
    if (!read_numbers(value, 1, &count))
        REPORT(r, line, "the number of instructions is expected");
    if (r->warp == HD_NONE && !t->diagnostics->error_count)
        REPORT(r, line, "'warp = ' comes before 'insts = '");
    for (uint32_t i = 0; i < count && !hd_diagnostics_full(t->diagnostics); i++) {
        hd_span next = line_at(t, r->at);
        if (r->at >= t->source->length || is_empty(t, next) || t->source->text[next.begin] == '#') {
            REPORT(r, line, "%u instructions are announced, and %u follow", count, i);
            return;
        }
        read_instruction(r, t->version < 3);
    }
}

static void read_group_line(reader *r)
{
    hd_traced *t = r->t;
    hd_span line = line_at(t, r->at);
    const char *value;
    r->at = after_line(t, r->at);
    if ((value = after_word(t, line, "thread block = ")))
        begin_block(r, line, value);
    else if ((value = after_word(t, line, "warp = ")))
        begin_warp(r, line, value);
    else if ((value = after_word(t, line, "insts = ")))
        read_instructions(r, line, value);
    else if (after_word(t, line, "#BEGIN_TB")) {
        if (r->in_block)
            REPORT(r, line, "the block before has no '#END_TB'");
        r->in_block = true;
        r->cta = NULL;
    } else if (after_word(t, line, "#END_TB")) {
        if (!r->in_block)
            REPORT(r, line, "no block is open");
        r->in_block = false;
        r->cta = NULL;
    } else if (!is_empty(t, line) && !after_word(t, line, "cluster id = "))
        REPORT(r, line, "expected a block, a warp or its number of instructions");
}

static void read_body(reader *r)
{
    hd_traced *t = r->t;
    while (r->at < t->source->length && is_empty(t, line_at(t, r->at)))
        r->at = after_line(t, r->at);
    t->grouped = after_word(t, line_at(t, r->at), "#BEGIN_TB") != NULL;
    while (r->at < t->source->length && !hd_diagnostics_full(t->diagnostics)) {
        if (t->grouped)
            read_group_line(r);
        else if (is_empty(t, line_at(t, r->at)))
            r->at = after_line(t, r->at);
        else
            read_instruction(r, true);
    }
    hd_span end = {t->source->length, t->source->length};
    if (r->in_block && !t->diagnostics->error_count)
        REPORT(r, end, "the trace ends in a block, without '#END_TB'");
    if (!t->code.count && !t->diagnostics->error_count)
        REPORT(r, end, "the trace has no instructions");
}

hd_traced *hd_traced_read(hd_source *source, const hd_traced_options *options, hd_diagnostics *diagnostics)
{
    hd_traced *t = hd_calloc(1, sizeof *t);
    reader r = {.t = t, .warp = HD_NONE};
    t->source = source;
    t->diagnostics = diagnostics;
    hd_arena_init(&t->arena);
    if (read_header(&r) && check_header(&r))
        read_body(&r);
    hd_index_free(&r.ctas);
    hd_index_free(&r.code);
    t->registers = options->registers ? options->registers : t->registers;
    if (!diagnostics->error_count)
        hd_traced_finish(t, options);
    if (!diagnostics->error_count)
        return t;
    hd_traced_free(t);
    return NULL;
}

void hd_traced_free(hd_traced *t)
{
    if (!t)
        return;
    for (uint32_t c = 0; c < t->ctas.count; c++) {
        for (uint32_t w = 0; w < t->cta_warps; w++)
            hd_array_free(&t->ctas.items[c].warps[w]);
        free(t->ctas.items[c].warps);
    }
    for (uint32_t i = 0; i < t->code.count; i++)
        hd_array_free(&t->code.items[i].successors);
    hd_array_free(&t->ctas);
    hd_array_free(&t->code);
    hd_arena_free(&t->arena);
    free(t);
}
