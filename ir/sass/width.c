/* Widths of operands: the rules of ir/sass/sass.def, evaluated for the modifiers of one instruction, and the tiles of
 * matrix instructions: an M x K tile of elements of b bits takes M*K*b / 1024 registers of each lane of a warp. The
 * formula is that of the descriptions up to Turing; for later chips it rests on samples. Linear in the rule's text. */
#include "ir/sass/width.h"

#include "base/scan.h"

#include <string.h>

/* ---- modifiers --------------------------------------------------------------------------------------------------- */

static bool is_word(const hd_sass_words *words, uint32_t at, const char *name, size_t length)
{
    return words->length[at] == length && memcmp(words->text[at], name, length) == 0;
}

/* `name` is a sequence .A.B, in this order but perhaps with others between. */
bool hd_sass_words_have(const hd_sass_words *words, const char *name, size_t length)
{
    const char *end = name + length;
    uint32_t at = 0;
    while (name < end) {
        const char *word = ++name;
        while (name < end && *name != '.')
            name++;
        while (at < words->count && !is_word(words, at, word, (size_t)(name - word)))
            at++;
        if (at++ >= words->count)
            return false;
    }
    return true;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

typedef struct rule_scan {
    hd_scan in;
    const hd_sass_words *words;
} rule_scan;

static bool take(rule_scan *s, const char *text) { return hd_scan_take(&s->in, text); }

static uint32_t number(rule_scan *s)
{
    uint64_t n;
    hd_take_number(&s->in.at, s->in.end, 10, UINT32_MAX, &n);
    return (uint32_t)n;
}

/* .A|.B.C|n=2 */
static bool condition(rule_scan *s)
{
    bool holds = false;
    do {
        if (take(s, "n=")) {
            holds |= number(s) == s->words->components;
            continue;
        }
        bool absent = take(s, "no");
        const char *begin = s->in.at;
        while (s->in.at < s->in.end && !strchr("|:;] +", *s->in.at))
            s->in.at++;
        holds |= hd_sass_words_have(s->words, begin, (size_t)(s->in.at - begin)) != absent;
    } while (take(s, "|"));
    return holds;
}

static uint32_t simple_rule(rule_scan *s)
{
    int32_t value = (int32_t)number(s);
    for (;;) {
        int32_t sign = take(s, "; ") ? 0 : take(s, " +") ? 1 : take(s, " -") ? -1 : 2;
        if (sign == 2)
            return value > 0 ? (uint32_t)value : 0;
        int32_t n = (int32_t)number(s);
        if (take(s, " if ") && condition(s))
            value = sign ? value + sign * n : n;
    }
}

/* Skips to the ] that closes an alternative. */
static void skip_alternative(rule_scan *s)
{
    uint32_t depth = 1;
    while (s->in.at < s->in.end && depth) {
        depth += *s->in.at == '[';
        depth -= *s->in.at == ']';
        s->in.at++;
    }
}

/* Iterative: the chosen alternative's rule replaces the whole, so that nothing is left to return to. */
static uint32_t evaluate(rule_scan *s)
{
    while (take(s, "[")) {
        if (!take(s, "else") && !condition(s)) {
            skip_alternative(s);
            take(s, " / ");
        } else if (!take(s, ": ")) {
            return 1;
        }
    }
    return s->in.at < s->in.end && *s->in.at >= '0' && *s->in.at <= '9' ? simple_rule(s) : 1;
}

uint32_t hd_sass_width(const char *widths, const char *slot, size_t slot_length, const hd_sass_words *words)
{
    while (*widths) {
        const char *next = strstr(widths, " // ");
        const char *end = next ? next : widths + strlen(widths);
        if (strncmp(widths, slot, slot_length) == 0 && widths[slot_length] == '=') {
            rule_scan s = {{widths + slot_length + 1, end}, words};
            return evaluate(&s);
        }
        widths = next ? next + 4 : end;
    }
    return 1;
}

/* ---- whether a rule is one --------------------------------------------------------------------------------------- */

static bool is_number(rule_scan *s)
{
    const char *begin = s->in.at;
    number(s);
    return s->in.at > begin && s->in.at < begin + 3;
}

static bool is_condition(rule_scan *s)
{
    do {
        if (take(s, "n=")) {
            if (!is_number(s))
                return false;
            continue;
        }
        take(s, "no");
        const char *begin = s->in.at;
        while (s->in.at < s->in.end &&
               (*s->in.at == '.' || *s->in.at == '_' || (*s->in.at >= '0' && *s->in.at <= '9') ||
                (*s->in.at >= 'A' && *s->in.at <= 'Z') || *s->in.at == 'x'))
            s->in.at++;
        if (s->in.at < begin + 2 || *begin != '.')
            return false;
    } while (take(s, "|"));
    return true;
}

static bool is_simple_rule(rule_scan *s)
{
    bool good = is_number(s);
    while (good && (take(s, "; ") || take(s, " +") || take(s, " -")))
        good = is_number(s) && take(s, " if ") && is_condition(s);
    return good;
}

/* A number with its exceptions, or alternatives, of which the last has no condition. */
static bool is_rule(rule_scan *s, uint32_t depth)
{
    bool last = false;
    if (s->in.at < s->in.end && *s->in.at != '[')
        return is_simple_rule(s);
    do {
        if (last || depth > 8 || !take(s, "["))
            return false;
        last = take(s, "else");
        if ((!last && !is_condition(s)) || !take(s, ": ") || !is_rule(s, depth + 1) || !take(s, "]"))
            return false;
    } while (take(s, " / "));
    return last;
}

/* Whether a slot of the row has this name. */
static bool is_slot(const char *operands, const char *name, size_t length)
{
    for (const char *at = operands; (at = strstr(at, name)); at++) {
        bool begins = at == operands || strchr(" |(+", at[-1]);
        if (begins && (!at[length] || strchr("?,|)+_", at[length])))
            return true;
    }
    return false;
}

bool hd_sass_widths_are_rules(const char *operands, const char *widths)
{
    if (!*widths || strcmp(widths, "mma") == 0)
        return true;
    rule_scan s = {{widths, widths + strlen(widths)}, NULL};
    do {
        char name[8];
        size_t length = strcspn(s.in.at, "=");
        if (!length || length >= sizeof name || !s.in.at[length])
            return false;
        memcpy(name, s.in.at, length);
        name[length] = '\0';
        s.in.at += length + 1;
        if (!is_slot(operands, name, length) || !is_rule(&s, 0))
            return false;
    } while (take(&s, " // "));
    return s.in.at == s.in.end;
}

/* The bits of F32x4 and the like; 0: the word is no vector of elements. */
static uint32_t vector_bits(const char *word, uint32_t length)
{
    rule_scan s = {{word, word + length}, NULL};
    while (s.in.at < s.in.end && strchr("BFSU", *s.in.at))
        s.in.at++;
    bool typed = s.in.at > word;
    uint32_t bits = number(&s), lanes = take(&s, "x") ? number(&s) : 0;
    return typed && s.in.at == s.in.end ? bits * lanes : 0;
}

bool hd_sass_knows_widths(const hd_sass_row *row, const hd_sass_words *words)
{
    for (uint32_t i = 0; row->access != HD_SASS_ACCESS_NONE && i < words->count; i++)
        if (vector_bits(words->text[i], words->length[i]) > 32 &&
            !memmem(row->widths, strlen(row->widths), words->text[i], words->length[i]))
            return false;
    return hd_sass_widths_are_rules(row->operands, row->widths);
}

/* ---- matrix instructions ----------------------------------------------------------------------------------------- */

typedef struct tile {
    uint32_t m, n, k;
} tile;

/* 16816, 8x8x4, 64x128x16; M and N are 8, 16, or as between the x. */
static bool read_tile(const char *text, uint32_t length, tile *t)
{
    uint32_t part[3] = {0}, parts = 0;
    char digits[16];
    if (length >= sizeof digits || length < 3 || *text < '1' || *text > '9')
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (digits[strspn(digits, "0123456789x")])
        return false;
    if (strchr(digits, 'x')) {
        for (const char *c = digits; *c && parts < 3; c++)
            if (*c == 'x')
                parts++;
            else
                part[parts] = part[parts] * 10 + (uint32_t)(*c - '0');
        *t = (tile){part[0], part[1], part[2]};
        return parts == 2;
    }
    const char *rest = digits;
    t->m = strncmp(rest, "16", 2) == 0 ? 16 : (uint32_t)(*rest - '0');
    rest += t->m == 16 ? 2 : 1;
    t->n = (uint32_t)(*rest++ - '0');
    for (t->k = 0; *rest; rest++)
        t->k = t->k * 10 + (uint32_t)(*rest - '0');
    return t->n && t->k;
}

static bool has(const hd_sass_words *words, const char *name) { return hd_sass_words_have(words, name, strlen(name)); }

static uint32_t element_bits(const char *opcode, const hd_sass_words *words)
{
    switch (*opcode) {
    case 'D': return 64;
    case 'B': return 1;
    case 'I': return has(words, ".S4") || has(words, ".U4") ? 4 : 8;
    case 'Q': return 8;
    case 'O': return 4;
    case 'M': return 8;
    default: return has(words, ".TF32") || has(words, ".E8M10") ? 32 : 16;
    }
}

static uint32_t sum_bits(const char *opcode, const hd_sass_words *words)
{
    if (*opcode == 'D')
        return 64;
    return *opcode == 'I' || *opcode == 'B' || *opcode == 'O' || *opcode == 'M' || has(words, ".F32") ? 32 : 16;
}

/* LDTM, STTM: .x8 times the shape's factor. */
static uint32_t tensor_memory_width(const hd_sass_words *words)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < words->count; i++)
        if (words->length[i] > 1 && words->text[i][0] == 'x')
            for (uint32_t k = 1, n = 0; k < words->length[i] && k < 4; k++)
                count = n = n * 10 + (uint32_t)(words->text[i][k] - '0');
    return count * (has(words, ".16dp256bit") ? 4 : has(words, ".16dp128bit") ? 2 : 1);
}

uint32_t hd_sass_matrix_width(const char *opcode, const char *slot, size_t slot_length, const hd_sass_words *words)
{
    tile t = {0};
    bool found = false;
    for (uint32_t i = 0; i < words->count && !found; i++)
        found = read_tile(words->text[i], words->length[i], &t);
    char letter = slot_length == 2 ? slot[1] : '\0';
    if (strncmp(opcode + 1, "DTM", 3) == 0 || strncmp(opcode + 1, "TTM", 3) == 0)
        return slot[0] == 'R' ? tensor_memory_width(words) : 1;
    if (!found || slot[0] != 'R')
        return 1;
    uint32_t bits = element_bits(opcode, words), sum = t.m * t.n * sum_bits(opcode, words), words_of = 1;
    bool group = t.m == 64; /* a tile of four warps */
    switch (letter) {
    case 'd':
    case 'c': words_of = sum / 1024 / (group ? 4 : 1); break;
    case 'a': words_of = group ? 4 : t.m * t.k * bits / 1024 / (has(words, ".SP") ? 2 : 1); break;
    case 'b': words_of = t.k * t.n * bits / 1024; break;
    case 'e': words_of = has(words, ".SF") && has(words, ".SP") ? 2 : 1; break; /* metadata, then a scale */
    default: break;
    }
    return words_of ? words_of : 1;
}
