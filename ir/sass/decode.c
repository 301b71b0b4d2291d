/* See sass_decode.h. A row of the table fits a word if its opcode, operand form and generation are the word's, its
 * required fields have their values, and its fields cover every bit that is set: nothing is guessed. Rows are tried in
 * the order of the table. One pass over the row's text; the rows of an opcode are found by a scan of the table.
 */
#include "ir/sass/decode_work.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct encoding {
    const char *generations;
    uint16_t opcode; /* bits 0 to 8 */
    const char *forms, *text;
} encoding;

static const encoding ENCODINGS[] = {
#define HD_SASS_ENCODING(generations, opcode, forms, text) {generations, opcode, forms, text},
#include "ir/sass/encoding.def"
#undef HD_SASS_ENCODING
};
enum { ENCODING_COUNT = sizeof ENCODINGS / sizeof *ENCODINGS };

static const struct special_register {
    uint16_t number;
    const char *name;
} SPECIAL_REGISTERS[] = {
#define HD_SASS_SPECIAL_REGISTER(number, name) {number, name},
#include "ir/sass/encoding.def"
#undef HD_SASS_SPECIAL_REGISTER
};

/* ---- fields that one opcode has ---------------------------------------------------------------------------------- */

/* The names that nvdisasm gives to products and sums that only move, add or shift. */
static void put_imad(hd_sass_decoder *d)
{
    uint64_t a = hd_sass_peek(d, 24, 8), at_32 = hd_sass_peek(d, 32, 32), at_64 = hd_sass_peek(d, 64, 8);
    bool b_is_zero = d->form == 1 ? (at_32 & 255) == 255 : (d->form == 2 || d->form == 3) && at_64 == 255;
    bool is_immediate = d->form == 4, is_negative = hd_sass_peek(d, 75, 1);
    if (hd_sass_peek(d, 74, 1)) /* .X */
        return;
    if ((is_immediate && (at_32 == 0 || (at_32 == 1 && at_64 == 255))) || (a == 255 && b_is_zero))
        hd_sass_put(d, ".MOV");
    else if (is_immediate && at_32 == 1)
        hd_sass_put(d, ".IADD");
    else if (is_immediate && at_64 == 255 && at_32 > 1 && at_32 < 0x10000 && !(at_32 & (at_32 - 1)) && !is_negative)
        hd_sass_put(d, ".SHL");
}

static void put_barrier_list(hd_sass_decoder *d)
{
    uint64_t mask = hd_sass_take(d, 32, 6);
    const char *before = ", {";
    for (int i = 5; i >= 0; i--) {
        if (mask >> i & 1) {
            hd_sass_putf(d, "%s%d", before, i);
            before = ",";
        }
    }
    hd_sass_put(d, mask ? "}" : "");
}

/* c[0x3][R2+0x4]; with RZ and no offset, [RZ]. */
static void put_indexed_constant(hd_sass_decoder *d)
{
    int64_t offset = hd_sass_take_signed(d, 38, 16);
    hd_sass_putf(d, "c[0x%x][", (unsigned)hd_sass_take(d, 54, 5));
    hd_sass_take(d, 78, 2);
    if (hd_sass_take(d, 24, 8) != 255) {
        hd_sass_put_register(d, 24);
        hd_sass_put_offset(d, offset, false);
    } else if (offset) {
        hd_sass_putf(d, "0x%x", (unsigned)(offset & 0xffff));
    } else {
        hd_sass_put(d, "RZ");
    }
    hd_sass_put(d, "]");
}

static void put_uniform_constant(hd_sass_decoder *d, unsigned offset_at, unsigned offset_bits)
{
    hd_sass_putf(d, "c[0x%x][", (unsigned)hd_sass_take(d, 54, 5));
    hd_sass_put_uniform(d, 24, 0);
    hd_sass_put_offset(d, hd_sass_take_signed(d, offset_at, offset_bits), false);
    hd_sass_put(d, "]");
}

/* [UR4+0x8] */
static void put_uniform_address(hd_sass_decoder *d)
{
    hd_sass_put(d, "[");
    hd_sass_put_uniform(d, 24, 0);
    hd_sass_put_offset(d, hd_sass_take_signed(d, 40, 24), false);
    hd_sass_put(d, "]");
}

static void put_special_register(hd_sass_decoder *d)
{
    uint64_t number = hd_sass_take(d, 72, 8);
    for (size_t i = 0; i < sizeof SPECIAL_REGISTERS / sizeof *SPECIAL_REGISTERS; i++) {
        if (SPECIAL_REGISTERS[i].number == number) {
            hd_sass_put(d, SPECIAL_REGISTERS[i].name);
            return;
        }
    }
    d->fits = false;
}

/* Branches: bits 34 to 81 count four bytes; since sm_90 they count 1,024, and bits 16 to 23 four. */
static int64_t branch_offset(hd_sass_decoder *d)
{
    int64_t offset = hd_sass_take_signed(d, 34, 48);
    return (d->generation >= 90 ? offset * 256 + (int64_t)hd_sass_take(d, 16, 8) : offset) * 4;
}

static void set_target(hd_sass_decoder *d, uint64_t target)
{
    d->to->has_target = true;
    d->to->target = target;
}

static uint64_t next_address(const hd_sass_decoder *d) { return d->address + HD_SASS_WORD_BYTES; }

/* A hexadecimal value, after a comma, unless it is the usual one. */
static void put_unless(hd_sass_decoder *d, unsigned at, unsigned count, uint64_t usual)
{
    uint64_t value = hd_sass_take(d, at, count);
    if (value != usual)
        hd_sass_putf(d, ", 0x%llx", (unsigned long long)value);
}

/* A predicate after a comma, unless it is PT; `flip` is what an encoding adds to it. */
static void put_last_predicate(hd_sass_decoder *d, unsigned at, uint64_t flip)
{
    uint64_t number = hd_sass_take(d, at, 3) ^ flip;
    bool is_inverted = hd_sass_take(d, at + 3, 1);
    if (number == 7 && !is_inverted)
        return;
    hd_sass_put(d, is_inverted ? ", !" : ", ");
    hd_sass_put_predicate(d, "P", number);
}

static void put_named(hd_sass_decoder *d, const char *name, size_t length)
{
#define IS(text) (length == sizeof(text) - 1 && memcmp(name, text, length) == 0)
    if (IS("imad"))
        put_imad(d);
    else if (IS("list"))
        put_barrier_list(d);
    else if (IS("lut"))
        hd_sass_putf(d, "0x%x", (unsigned)(hd_sass_take(d, 72, 5) << 3 | hd_sass_take(d, 64, 3)));
    else if (IS("special"))
        put_special_register(d);
    else if (IS("const"))
        hd_sass_put_constant(d, 38, 16, "");
    else if (IS("const2"))
        hd_sass_put_constant(d, 37, 17, "");
    else if (IS("indexed"))
        put_indexed_constant(d);
    else if (IS("uindexed"))
        put_uniform_constant(d, 38, 16);
    else if (IS("uindexed2"))
        put_uniform_constant(d, 37, 17);
    else if (IS("uniform"))
        put_uniform_address(d);
    else if (IS("copy"))
        hd_sass_put_copy_addresses(d);
    else if (IS("threads"))
        put_unless(d, 42, 12, 0);
    else if (IS("predicates"))
        put_unless(d, 32, 32, 255);
    else if (IS("components"))
        put_unless(d, 72, 4, 15);
    else if (IS("sampler"))
        put_unless(d, 48, 8, d->generation >= 100 ? 255 : UINT64_MAX);
    else if (IS("target"))
        set_target(d, next_address(d) + (uint64_t)branch_offset(d));
    else if (IS("join"))
        set_target(d, next_address(d) + (uint64_t)hd_sass_take_signed(d, 34, 30) * 4);
    else if (IS("after")) /* a few bytes: what follows the call after the instruction */
        set_target(d, next_address(d) + hd_sass_take(d, 24, 8));
    else if (IS("absolute"))
        set_target(d, hd_sass_take(d, 32, 50));
    else if (IS("offset"))
        hd_sass_put_signed(d, branch_offset(d));
    else
        d->fits = !(d->is_malformed = true);
#undef IS
}

/* ---- the language of the table ----------------------------------------------------------------------------------- */

static unsigned number(const char **at) { return (unsigned)strtoul(*at, (char **)(uintptr_t)at, 10); }

/* bit or bit.count */
static unsigned place(const char **at, unsigned *count)
{
    unsigned bit = number(at);
    *count = 1;
    if (**at == '.') {
        ++*at;
        *count = number(at);
    }
    return bit;
}

/* bit.count+bit.count:text|text|...: the text of the value; one text alone is that of 1; ? has no text. */
static void put_choice(hd_sass_decoder *d, const char *at, const char *end)
{
    uint64_t value = 0;
    unsigned width = 0, count;
    for (;; at++) {
        unsigned bit = place(&at, &count);
        value |= hd_sass_take(d, bit, count) << width;
        width += count;
        if (*at != '+')
            break;
    }
    if (*at++ != ':') {
        d->fits = !(d->is_malformed = true);
        return;
    }
    const char *bar = memchr(at, '|', (size_t)(end - at));
    if (width == 1 && !bar) {
        if (!value)
            return;
        value = 0;
    }
    for (; value && bar; value--) {
        at = bar + 1;
        bar = memchr(at, '|', (size_t)(end - at));
    }
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)((bar ? bar : end) - at), at);
    if (value || strcmp(text, "?") == 0)
        d->fits = false;
    else
        hd_sass_put(d, text);
}

/* R24-72|73@122: a register with the bits of its sign (~: of its complement), absolute value and reuse flag. */
static void put_plain_register(hd_sass_decoder *d, const char *at, bool is_uniform)
{
    unsigned bit = number(&at);
    char sign = *at;
    if (sign == '?' && hd_sass_take(d, bit, 8) == 255)
        return;
    bool is_negative = false, is_absolute = false;
    if (*at == '-' || *at == '~') {
        at++;
        is_negative = hd_sass_take(d, number(&at), 1);
    }
    if (*at == '|') {
        at++;
        is_absolute = hd_sass_take(d, number(&at), 1);
    }
    if (is_negative)
        hd_sass_put(d, sign == '~' ? "~" : "-");
    if (is_absolute)
        hd_sass_put(d, "|");
    if (is_uniform)
        hd_sass_put_uniform(d, bit, 0);
    else
        hd_sass_put_register(d, bit);
    if (is_absolute)
        hd_sass_put(d, "|");
    if (*at == '@') {
        at++;
        if (hd_sass_take(d, number(&at), 1))
            hd_sass_put(d, ".reuse");
    }
    if (sign == '?')
        hd_sass_put(d, ", ");
}

/* P81, !P87 (bit 90 inverts), P81? (left out, with its comma, where it is PT). */
static void put_plain_predicate(hd_sass_decoder *d, const char *at, const char *kind, bool can_invert)
{
    unsigned bit = number(&at);
    uint64_t value = hd_sass_take(d, bit, 3);
    if (*at == '?' && value == 7)
        return;
    if (can_invert && hd_sass_take(d, bit + 3, 1))
        hd_sass_put(d, "!");
    hd_sass_put_predicate(d, kind, value);
    if (*at == '?')
        hd_sass_put(d, ", ");
}

static void put_field(hd_sass_decoder *d, const char *at, const char *end)
{
    unsigned bit, count;
    char kind;
    bool can_invert = *at == '!';
    if (can_invert)
        at++;
    switch (*at) {
    case 'R': put_plain_register(d, at + 1, false); return;
    case 'U':
        if (at[1] == 'P')
            put_plain_predicate(d, at + 2, "UP", can_invert);
        else
            put_plain_register(d, at + 1, true);
        return;
    case 'P': put_plain_predicate(d, at + 1, "P", can_invert); return;
    case 'B':
    case 'C':
    case 'X':
    case 'Y': hd_sass_put_slot(d, *at, at[1] == '}' ? 'n' : at[1]); return;
    case '=':
        at++;
        bit = place(&at, &count);
        d->fits = d->fits && hd_sass_take(d, bit, count) == strtoull(at + 1, NULL, 10);
        return;
    case '_':
        at++;
        bit = place(&at, &count);
        hd_sass_take(d, bit, count);
        return;
    case '#':
        at++;
        bit = place(&at, &count);
        hd_sass_putf(d, "0x%llx", (unsigned long long)hd_sass_take(d, bit, count));
        return;
    case '%':
        at++;
        bit = place(&at, &count);
        hd_sass_putf(d, "%llu", (unsigned long long)hd_sass_take(d, bit, count));
        return;
    case ',':
        at += 2;
        bit = number(&at);
        put_last_predicate(d, bit, *at == '^' ? 7 : 0);
        return;
    case '[':
        kind = at[1];
        at += 2;
        bit = number(&at);
        if (kind == 's' || kind == 'l')
            hd_sass_put_local(d, kind, bit);
        else
            hd_sass_put_global(d, kind, bit);
        return;
    default:
        if (isdigit((unsigned char)*at))
            put_choice(d, at, end);
        else
            put_named(d, at, (size_t)(end - at));
    }
}

static void put_guard(hd_sass_decoder *d)
{
    uint64_t value = hd_sass_take(d, 12, 4);
    hd_sass_text *to = d->to;
    to->guard[0] = '\0';
    if (value == 7)
        return;
    char name[4] = "T";
    if ((value & 7) != 7)
        snprintf(name, sizeof name, "%u", (unsigned)value & 7);
    snprintf(to->guard, sizeof to->guard, "@%s%sP%s ", value & 8 ? "!" : "", d->is_uniform ? "U" : "", name);
}

static bool is_of_generation(const char *list, uint32_t generation)
{
    while (*list) {
        unsigned first = number(&list), last = first;
        if (*list == '-') {
            list++;
            last = number(&list);
        }
        if (generation >= first && generation <= last)
            return true;
        list += *list == ',';
    }
    return false;
}

/* Its guard is a uniform predicate. */
static bool is_of_uniform_datapath(const char *text)
{
    static const char exchange[] = "SYNCS.EXCH";
    return text[0] == 'U' || strncmp(text, exchange, sizeof exchange - 1) == 0;
}

/* Whether the row fits; the text is complete then. */
static bool try_encoding(const encoding *e, hd_sass_decoder *d)
{
    d->seen[0] = d->seen[1] = 0;
    d->length = 0;
    d->fits = true;
    d->is_uniform = is_of_uniform_datapath(e->text);
    d->to->has_target = false;
    d->to->text[0] = '\0';
    hd_sass_take(d, 0, 12);
    if (d->is_uniform)
        hd_sass_take(d, HD_SASS_UNIFORM_BIT, 1);
    put_guard(d);
    for (const char *at = e->text; *at && (d->fits || d->reads_all); at++) {
        if (*at == '{') {
            const char *end = strchr(at, '}');
            if (!end)
                return !(d->is_malformed = true);
            put_field(d, at + 1, end);
            at = end;
        } else {
            char text[2] = {*at, '\0'};
            hd_sass_put(d, text);
        }
    }
    uint64_t high_mask = (UINT64_C(1) << (HD_SASS_CONTROL_BIT - 64)) - 1;
    return d->fits && !(d->word[0] & ~d->seen[0]) && !(d->word[1] & ~d->seen[1] & high_mask);
}

bool hd_sass_decode(hd_sass_word word, uint32_t generation, uint64_t address, hd_sass_text *text)
{
    hd_sass_decoder d = {.word = {word.low, word.high}, .generation = generation, .address = address, .to = text};
    uint16_t opcode = word.low & 0x1ff;
    d.form = word.low >> 9 & 7;
    text->is_padding = !(word.high >> (HD_SASS_CONTROL_BIT - 64) & 31);
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        const encoding *e = &ENCODINGS[i];
        if (e->opcode == opcode && strchr(e->forms, (char)('0' + d.form)) &&
            is_of_generation(e->generations, generation) && try_encoding(e, &d))
            return true;
    }
    return false;
}

bool hd_sass_decodes(uint32_t generation)
{
    for (size_t i = 0; i < ENCODING_COUNT; i++)
        if (is_of_generation(ENCODINGS[i].generations, generation))
            return true;
    return false;
}

const char *hd_sass_encoding_mistake(void)
{
    for (size_t i = 0; i < ENCODING_COUNT; i++) {
        const encoding *e = &ENCODINGS[i];
        for (const char *form = e->forms; *form; form++) {
            hd_sass_text text;
            const char *generations = e->generations;
            hd_sass_decoder d = {
                .to = &text, .form = (uint32_t)(*form - '0'), .reads_all = true, .generation = number(&generations)};
            try_encoding(e, &d);
            if (d.is_malformed || d.form < 1 || d.form > 7 || d.generation < HD_SASS_FIRST_GENERATION ||
                e->opcode > 0x1ff)
                return e->text;
        }
    }
    return NULL;
}
