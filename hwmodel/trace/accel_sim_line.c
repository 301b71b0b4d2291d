/* Instruction lines of a trace, read by their columns: see accel_sim.h. No column shows its kind by itself. */
#include "hwmodel/trace/accel_sim.h"

#include "base/bits.h"
#include "base/scan.h"

#include <string.h>

typedef struct scan {
    const hd_traced *traced;
    const char *text;
    uint32_t at;
    hd_traced_line *line;
} scan;

static void fail(const scan *s, const char *what)
{
    if (s->line->wrong)
        return;
    s->line->wrong = what;
    s->line->at = s->at;
}

static void skip_blanks(scan *s) { s->at = hd_after_blanks(s->text, s->at, s->traced->source->length); }

static bool at_end(scan *s)
{
    skip_blanks(s);
    char c = s->text[s->at];
    return hd_is_line_end(c) || (!c && s->at >= s->traced->source->length);
}

/* A word of digits that has at most the value `most`. */
static uint64_t take_number(scan *s, uint32_t base, uint64_t most, const char *what)
{
    uint64_t value;
    skip_blanks(s);
    const char *end = s->text + s->at;
    if (!hd_take_number(&end, NULL, base, most, &value) || !(hd_is_space(*end) || !*end)) {
        fail(s, what);
        return 0;
    }
    s->at = (uint32_t)(end - s->text);
    return value;
}

static uint64_t take_address(scan *s)
{
    skip_blanks(s);
    if (s->text[s->at] != '0' || s->text[s->at + 1] != 'x') {
        fail(s, "an address, 0x and hexadecimal digits");
        return 0;
    }
    s->at += 2;
    return take_number(s, 16, UINT64_MAX, "an address, 0x and hexadecimal digits");
}

/* A decimal number that may be negative, modulo 2^64. */
static uint64_t take_signed(scan *s, const char *what)
{
    skip_blanks(s);
    bool minus = s->text[s->at] == '-';
    s->at += minus;
    uint64_t value = take_number(s, 10, (uint64_t)1 << 63, what);
    return minus ? 0 - value : value;
}

static void take_registers(scan *s, uint64_t count)
{
    hd_sass_listed *list = &s->line->list;
    for (uint64_t i = 0; i < count && !s->line->wrong; i++) {
        skip_blanks(s);
        if (s->text[s->at] != 'R') {
            fail(s, "a register, R and its number");
            return;
        }
        s->at++;
        uint64_t number = take_number(s, 10, 255, "a register, R and its number from 0 to 255");
        if (list->count == HD_SASS_LISTED)
            fail(s, "at most 16 registers in a line");
        else
            s->line->registers[list->count++] = (uint8_t)number;
    }
}

static void take_opcode(scan *s)
{
    skip_blanks(s);
    uint32_t begin = s->at;
    while (s->text[s->at] > ' ' && s->text[s->at] < 127)
        s->at++;
    s->line->opcode = (hd_span){begin, s->at};
    char first = s->text[begin];
    bool good = first >= 'A' && first <= 'Z' && s->at - begin < 200 && hd_is_space(s->text[s->at]);
    if (!good) {
        s->at = begin;
        fail(s, "an opcode in capitals");
    }
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static void take_list(scan *s)
{
    for (uint32_t rest = s->line->mask; rest && !s->line->wrong; rest &= rest - 1)
        s->line->addresses[__builtin_ctz(rest)] = take_address(s);
}

/* Lanes without a hole between them. */
static void take_strided(scan *s)
{
    uint32_t mask = s->line->mask, ordinal = 0;
    uint64_t base = take_address(s), stride = take_signed(s, "a stride, a decimal number");
    uint32_t run = mask ? mask >> __builtin_ctz(mask) : 0;
    if (run & (run + 1))
        fail(s, "a mask whose lanes follow each other, for addresses by base and stride");
    HD_EACH_BIT (lane, mask)
        s->line->addresses[lane] = base + stride * ordinal++;
}

/* The first address, and each further one less the one before it. */
static void take_differences(scan *s)
{
    uint64_t address = take_address(s);
    bool first = true;
    for (uint32_t rest = s->line->mask; rest && !s->line->wrong; rest &= rest - 1) {
        address += first ? 0 : take_signed(s, "a difference of addresses, a decimal number");
        s->line->addresses[__builtin_ctz(rest)] = address;
        first = false;
    }
}

static void take_memory(scan *s)
{
    uint64_t width = take_number(s, 10, 1 << 20, "the width of the access in bytes, or 0");
    if (!width || s->line->wrong)
        return;
    uint64_t mode = take_number(s, 10, 2, "the form of the addresses: 0, 1 or 2");
    s->line->access = true;
    if (s->line->wrong)
        return;
    if (mode == 0)
        take_list(s);
    else if (mode == 1)
        take_strided(s);
    else
        take_differences(s);
}

/* ---- the line ---------------------------------------------------------------------------------------------------- */

/* From version 5 on, an immediate; it is not needed. */
static void take_rest(scan *s)
{
    if (s->traced->version >= 5 && !at_end(s))
        (void)take_signed(s, "an immediate, a decimal number");
    if (!at_end(s) && !s->traced->more_columns)
        fail(s, "the end of the line");
}

static void take_columns(scan *s, bool prefix)
{
    hd_traced_line *l = s->line;
    for (uint32_t i = 0; prefix && i < s->traced->prefix && !l->wrong; i++)
        l->place[i] = (uint32_t)take_number(s, 10, UINT32_MAX, "the number of a block, a warp or an SM");
    skip_blanks(s);
    l->begin = s->at;
    if (s->traced->has_lines && !l->wrong)
        (void)take_number(s, 10, UINT32_MAX, "the number of a source line");
    if (!l->wrong)
        l->pc = take_number(s, 16, UINT32_MAX - 1, "an address of code, hexadecimal digits");
    if (!l->wrong)
        l->mask = (uint32_t)take_number(s, 16, UINT32_MAX, "a mask, hexadecimal digits");
    uint64_t destinations = l->wrong ? 0 : take_number(s, 10, HD_SASS_LISTED, "the number of written registers");
    take_registers(s, destinations);
    l->list.destinations = l->list.count;
    if (!l->wrong)
        take_opcode(s);
    uint64_t sources = l->wrong ? 0 : take_number(s, 10, HD_SASS_LISTED, "the number of read registers");
    take_registers(s, sources);
    if (!l->wrong)
        take_memory(s);
    if (!l->wrong)
        take_rest(s);
}

uint32_t hd_traced_read_line(const hd_traced *t, uint32_t begin, bool prefix, hd_traced_line *line)
{
    scan s = {.traced = t, .text = t->source->text, .at = begin, .line = line};
    line->wrong = NULL;
    line->mask = 0;
    line->list = (hd_sass_listed){0};
    line->access = false;
    take_columns(&s, prefix);
    const char *end = memchr(s.text + s.at, '\n', t->source->length - s.at);
    return end ? (uint32_t)(end - s.text) + 1 : t->source->length;
}
