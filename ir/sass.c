/* Decodes instructions of machine-code listings by the rows of ir/sass.def: see sass.h.
 *
 * The rows are sorted by opcode. Of those whose form's modifiers the instruction has and whose pattern fits the
 * operands, one counts that is known for the architecture, or whose opcode is; of several, that with the longest form,
 * then that which is described for the architecture or for the newest one before it. */
#include "ir/sass.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const hd_sass_row rows[] = {
#define HD_SASS(...) {__VA_ARGS__},
#include "ir/sass.def"
#undef HD_SASS
};
enum { ROWS = sizeof rows / sizeof *rows, MOST_OPERANDS = 20 };

/* ---- texts ------------------------------------------------------------------------------------------------------- */

typedef struct slice {
    const char *at;
    size_t length;
} slice;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool begins(slice s, const char *with) { return s.length >= strlen(with) && !memcmp(s.at, with, strlen(with)); }
static bool is(slice s, const char *text) { return s.length == strlen(text) && !memcmp(s.at, text, s.length); }

static slice trim(slice s)
{
    while (s.length && isspace((unsigned char)*s.at))
        s.at++, s.length--;
    while (s.length && isspace((unsigned char)s.at[s.length - 1]))
        s.length--;
    return s;
}

bool hd_sass_has(const char *modifiers, size_t length, const char *modifier)
{
    size_t n = strlen(modifier);
    for (size_t i = 0; i + n <= length; i++)
        if (!memcmp(modifiers + i, modifier, n) && (i + n == length || modifiers[i + n] == '.'))
            return true;
    return false;
}

/* All modifiers of a form, in any places: ".E.64". */
static bool has_form(slice modifiers, const char *form)
{
    while (*form) {
        size_t n = 1 + strcspn(form + 1, ".");
        char one[32];
        if (n >= sizeof one)
            return false;
        memcpy(one, form, n);
        one[n] = 0;
        if (!hd_sass_has(modifiers.at, modifiers.length, one))
            return false;
        form += n;
    }
    return true;
}

static bool lists(const char *numbers, uint32_t generation)
{
    /* generations without rows of their own have those of the chip before them */
    static const uint32_t same[][2] = {{21, 20}, {32, 30},   {37, 35},   {53, 52},   {62, 61},  {87, 86},
                                       {89, 86}, {101, 100}, {103, 100}, {110, 100}, {121, 120}};
    for (const char *at = numbers; *at;) {
        char *end;
        uint32_t number = (uint32_t)strtoul(at, &end, 10);
        if (number == generation)
            return true;
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            if (generation == same[i][0] && number == same[i][1])
                return true;
        at = *end ? end + 1 : end;
    }
    return false;
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

typedef enum class {
    IS_R,
    IS_P,
    IS_UR,
    IS_UP,
    IS_NUMBER,
    IS_CONSTANT,
    IS_BINDLESS,
    IS_MEMORY,
    IS_ATTRIBUTE,
    IS_DESCRIPTOR,
    IS_TENSOR,
    IS_LABEL,
    IS_PAIR,
    IS_UPAIR,
    IS_WORD
} class;

typedef struct operand {
    slice text;
    class class;
} operand;

/* R12, RZ, UR4, PT ... at the start of a text: its class, number (-1: the constant one) and length; length 0: none. */
static size_t read_register(slice s, class *kind, int *number)
{
    size_t at = 0, uniform = s.length > 1 && *s.at == 'U' && (s.at[1] == 'R' || s.at[1] == 'P');
    at += uniform;
    if (at >= s.length || (s.at[at] != 'R' && s.at[at] != 'P' && s.at[at] != 'p'))
        return 0;
    bool predicate = s.at[at++] != 'R';
    *kind = predicate ? uniform ? IS_UP : IS_P : uniform ? IS_UR : IS_R;
    if (at < s.length && (predicate ? s.at[at] == 'T' || s.at[at] == 't' : s.at[at] == 'Z')) {
        *number = -1;
        at++;
    } else {
        size_t digits = at;
        *number = 0;
        while (at < s.length && isdigit((unsigned char)s.at[at]) && at - digits < 3)
            *number = *number * 10 + (s.at[at++] - '0');
        if (at == digits || *number >= (predicate ? HD_SASS_MOST_P : HD_SASS_MOST_R))
            return 0;
    }
    return at < s.length && is_word(s.at[at]) ? 0 : at;
}

static slice without_signs(slice s)
{
    while (s.length && (strchr("-+~!|", *s.at) || *s.at == ' '))
        s.at++, s.length--;
    return s;
}

static class classify(slice s)
{
    class kind;
    int number;
    slice bare = without_signs(s);
    size_t length = read_register(bare, &kind, &number);
    if (length) {
        slice rest = trim((slice){bare.at + length, bare.length - length});
        bool offset = rest.length && (isdigit((unsigned char)*rest.at) || *rest.at == '-' || *rest.at == '`');
        return !offset ? kind : kind == IS_R ? IS_PAIR : kind == IS_UR ? IS_UPAIR : kind;
    }
    if (begins(bare, "c[") || begins(bare, "c ["))
        return memchr(bare.at, 'U', bare.length) && !memchr(bare.at, '`', bare.length) &&
                       begins((slice){bare.at + 2, bare.length - 2}, "UR")
                   ? IS_BINDLESS
                   : IS_CONSTANT;
    if (begins(bare, "cx["))
        return IS_BINDLESS;
    if (begins(bare, "[") || begins(bare, "desc["))
        return IS_MEMORY;
    if (begins(bare, "gdesc["))
        return IS_DESCRIPTOR;
    if (begins(bare, "tmem["))
        return IS_TENSOR;
    if (begins(bare, "a["))
        return IS_ATTRIBUTE;
    if (begins(bare, "`(") || begins(bare, "(.") || begins(bare, "fun@") || begins(bare, "32@"))
        return IS_LABEL;
    bool shape = bare.length == 2 && isdigit((unsigned char)*bare.at) && bare.at[1] == 'D'; /* 2D */
    if (!shape && bare.length &&
        (isdigit((unsigned char)*bare.at) || begins(bare, "INF") || begins(bare, "QNAN") || begins(bare, "SNAN")))
        return IS_NUMBER;
    return IS_WORD;
}

/* Commas outside brackets and strings. */
static uint32_t split(slice text, operand *operands)
{
    uint32_t count = 0;
    int depth = 0;
    size_t begin = 0;
    text = trim(text);
    for (size_t i = 0; i <= text.length && text.length; i++) {
        char c = i < text.length ? text.at[i] : ',';
        depth += (c == '[' || c == '(' || c == '{') - (c == ']' || c == ')' || c == '}');
        if (c != ',' || (depth > 0 && i < text.length) || count >= MOST_OPERANDS)
            continue;
        slice one = trim((slice){text.at + begin, i - begin});
        operands[count++] = (operand){one, classify(one)};
        begin = i + 1;
    }
    return count;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

typedef struct place {
    slice name; /* of its first alternative that names a register */
    slice text;
    bool optional;
} place;

static uint32_t read_pattern(const char *pattern, place *places)
{
    uint32_t count = 0;
    int depth = 0;
    const char *begin = pattern;
    for (const char *at = pattern; *pattern; at++) {
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (*at && (*at != ',' || depth))
            continue;
        slice one = trim((slice){begin, (size_t)(at - begin)});
        bool optional = one.length && one.at[one.length - 1] == '?';
        one.length -= optional;
        places[count++] = (place){.text = one, .optional = optional};
        if (!*at || count == MOST_OPERANDS)
            break;
        begin = at + 1;
    }
    return count;
}

static bool fits_alternative(slice a, const operand *o)
{
    switch (o->class) {
    case IS_R: return *a.at == 'R' && !memchr(a.at, '_', a.length);
    case IS_P: return *a.at == 'P' || begins(a, "nP");
    case IS_UR: return begins(a, "UR") && !memchr(a.at, '_', a.length);
    case IS_UP: return begins(a, "UP");
    case IS_NUMBER: return is(a, "imm") || is(a, "label");
    case IS_CONSTANT: return begins(a, "c[");
    case IS_BINDLESS: return begins(a, "cx[") || begins(a, "c[UR");
    case IS_MEMORY: return begins(a, "mem(") || is(a, "desc");
    case IS_ATTRIBUTE: return begins(a, "attr(");
    case IS_DESCRIPTOR: return begins(a, "gdesc");
    case IS_TENSOR: return begins(a, "tmem(");
    case IS_LABEL: return is(a, "label") || is(a, "imm");
    case IS_PAIR: return is(a, "Ra_imm");
    case IS_UPAIR: return is(a, "URa_imm");
    case IS_WORD: return begins(a, "x") || is(a, "CC") || is(a, "label") || is(a, "desc");
    }
    return false;
}

/* The alternative of a place that an operand fits; length 0: none. */
static slice alternative_of(const place *p, const operand *o)
{
    const char *begin = p->text.at, *end = p->text.at + p->text.length;
    int depth = 0;
    for (const char *at = begin;; at++) {
        depth += at < end ? (*at == '(' || *at == '[') - (*at == ')' || *at == ']') : 0;
        if (at < end && (*at != '|' || depth))
            continue;
        slice one = {begin, (size_t)(at - begin)};
        if (one.length && fits_alternative(one, o))
            return one;
        if (at >= end)
            return (slice){begin, 0};
        begin = at + 1;
    }
}

/* Assigns operands to places, in order; a place that may be left out may be passed over. */
static bool match(const place *places, uint32_t place_count, const operand *operands, uint32_t operand_count,
                  slice *names)
{
    if (!place_count)
        return !operand_count;
    if (operand_count) {
        *names = alternative_of(places, operands);
        if (names->length && match(places + 1, place_count - 1, operands + 1, operand_count - 1, names + 1))
            return true;
    }
    return places->optional && match(places + 1, place_count - 1, operands, operand_count, names);
}

/* ---- widths ------------------------------------------------------------------------------------------------------ */

typedef struct context {
    slice modifiers;
    slice opcode; /* without modifiers */
    const operand *operands;
    uint32_t operand_count;
} context;

/* A modifier of the opcode or an operand that is that word: .2D; n=K: K texture components. */
static bool holds_one(const context *c, slice condition)
{
    char text[48];
    if (condition.length >= sizeof text)
        return false;
    memcpy(text, condition.at, condition.length);
    text[condition.length] = 0;
    if (begins(condition, "n=")) {
        uint32_t mask = 0xf, last = c->operand_count - 1; /* the mask follows the shape, where it is not 0xf */
        if (c->operand_count > 1 && c->operands[last].class == IS_NUMBER && c->operands[last - 1].class == IS_WORD)
            mask = (uint32_t)strtoul(c->operands[last].text.at, NULL, 0);
        return (uint32_t)__builtin_popcount(mask & 15) == (uint32_t)atoi(text + 2);
    }
    if (hd_sass_has(c->modifiers.at, c->modifiers.length, text))
        return true;
    for (uint32_t i = 0; i < c->operand_count; i++)
        if (c->operands[i].class == IS_WORD && *text == '.' && is(c->operands[i].text, text + 1))
            return true;
    return false;
}

static bool holds(const context *c, slice conditions)
{
    const char *begin = conditions.at, *end = conditions.at + conditions.length;
    for (const char *at = begin; at <= end; at++)
        if (at == end || *at == '|') {
            slice one = {begin, (size_t)(at - begin)};
            if (is(one, "else") || holds_one(c, one))
                return true;
            begin = at + 1;
        }
    return false;
}

/* N;K?.A|.B+K?.A */
static int sum(const context *c, slice rule)
{
    int value = 0;
    for (const char *at = rule.at, *end = rule.at + rule.length; at < end;) {
        char sign = *at == '+' || *at == '-' ? *at : 0;
        at += *at == ';' || *at == '+' || *at == '-';
        int number = 0;
        while (at < end && isdigit((unsigned char)*at))
            number = number * 10 + (*at++ - '0');
        bool good = true;
        if (at < end && *at == '?') {
            const char *begin = ++at;
            while (at < end && *at != ';' && *at != '+' && (*at != '-' || !isdigit((unsigned char)at[1])))
                at++;
            good = holds(c, (slice){begin, (size_t)(at - begin)});
        } else if (at < end && *at != ';' && *at != '+' && *at != '-') {
            break;
        }
        if (good)
            value = sign == '+' ? value + number : sign == '-' ? value - number : number;
    }
    return value;
}

/* [.A:RULE]/[else:RULE], where a rule may have brackets itself, or a sum. */
static int evaluate(const context *c, slice rule)
{
    const char *end = rule.at + rule.length;
    if (!rule.length || *rule.at != '[')
        return sum(c, rule);
    for (const char *at = rule.at; at < end && *at == '[';) {
        const char *condition = at + 1, *colon = memchr(condition, ':', (size_t)(end - condition));
        int depth = 0;
        if (!colon)
            return 1;
        do
            depth += (*at == '[') - (*at == ']');
        while (++at < end && depth);
        if (holds(c, (slice){condition, (size_t)(colon - condition)}))
            return evaluate(c, (slice){colon + 1, (size_t)(at - 1 - (colon + 1))});
        at += at < end && *at == '/';
    }
    return 1;
}

/* Registers of a matrix product's place: M x N x K by digits in the modifiers (16816, 1688, 8816, 64x32x16). */
static int matrix_width(const context *c, char letter)
{
    static const struct {
        const char *text;
        uint16_t m, n, k;
    } shapes[] = {{".16832", 16, 8, 32}, {".16864", 16, 8, 64}, {".168128", 16, 8, 128}, {".168256", 16, 8, 256},
                  {".16816", 16, 8, 16}, {".1688", 16, 8, 8},   {".1684", 16, 8, 4},     {".8816", 8, 8, 16},
                  {".8832", 8, 8, 32},   {".884", 8, 8, 4}};
    uint32_t m = 16, n = 8, k = 16;
    slice mods = c->modifiers;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (hd_sass_has(mods.at, mods.length, shapes[i].text)) {
            m = shapes[i].m, n = shapes[i].n, k = shapes[i].k;
            break;
        }
    bool warpgroup = c->opcode.length == 5 && c->opcode.at[1] == 'G';
    if (warpgroup)
        for (size_t i = 0; i + 3 < mods.length; i++)
            if (!memcmp(mods.at + i, ".64x", 4)) {
                m = 64, n = (uint32_t)strtoul(mods.at + i + 4, NULL, 10);
                break;
            }
    char kind = *c->opcode.at;
    uint32_t bits = kind == 'H' ? 16 : kind == 'D' ? 64 : kind == 'B' ? 1 : kind == 'O' ? 4 : 8;
    if (kind == 'H' && (hd_sass_has(mods.at, mods.length, ".TF32")))
        bits = 32;
    if (kind == 'I' && (hd_sass_has(mods.at, mods.length, ".U4") || hd_sass_has(mods.at, mods.length, ".S4")))
        bits = 4;
    bool half = (kind == 'H' || kind == 'Q' || kind == 'O') && !hd_sass_has(mods.at, mods.length, ".F32");
    uint32_t result = kind == 'D' ? 64 : half ? 16 : 32, lanes = warpgroup ? 128 : 32, words = 0;
    bool sparse = hd_sass_has(mods.at, mods.length, ".SP");
    if (letter == 'd' || letter == 'c')
        words = m * n * result / 32 / lanes;
    else if (letter == 'a')
        words = warpgroup ? 4 : m * k * bits / 32 / lanes / (sparse ? 2 : 1);
    else
        words = k * n * bits / 32 / lanes;
    return words ? (int)words : 1;
}

/* Of a tensor-memory access: LDTM.16dp256bit.x4 */
static int tensor_width(const context *c)
{
    int times = 1, each = 1;
    slice m = c->modifiers;
    for (size_t i = 0; i + 2 < m.length; i++) {
        if (!memcmp(m.at + i, ".x", 2) && isdigit((unsigned char)m.at[i + 2]))
            times = (int)strtol(m.at + i + 2, NULL, 10);
        if (i + 9 < m.length && (!memcmp(m.at + i, "128bit", 6) || !memcmp(m.at + i, "256bit", 6)))
            each = m.at[i] == '1' ? 2 : 4;
    }
    return times * each;
}

/* Registers of a place; `otherwise` where the row has no rule. */
static int width_of(const hd_sass_row *row, const context *c, slice name, int otherwise)
{
    for (const char *at = row->widths; *at;) {
        size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length);
        if (equals && is(name, "") == false && (size_t)(equals - at) == name.length &&
            !memcmp(at, name.at, name.length)) {
            slice rule = {equals + 1, length - (size_t)(equals + 1 - at)};
            return is(rule, "m") ? matrix_width(c, name.at[1]) : is(rule, "x") ? tensor_width(c) : evaluate(c, rule);
        }
        at += length + (at[length] == ' ');
    }
    return otherwise;
}

/* ---- uses -------------------------------------------------------------------------------------------------------- */

static void add_use(hd_sass_insn *insn, const char *text, const char *at, class kind, int number, int count,
                    bool defined, bool used)
{
    static const uint8_t files[] = {[IS_R] = HD_SASS_R, [IS_P] = HD_SASS_P, [IS_UR] = HD_SASS_UR, [IS_UP] = HD_SASS_UP};
    if (number < 0 || count <= 0 || insn->use_count == HD_SASS_MOST_USES)
        return;
    int most = kind == IS_R || kind == IS_UR ? HD_SASS_MOST_R : HD_SASS_MOST_P;
    count = number + count > most ? most - number : count;
    insn->uses[insn->use_count++] = (hd_sass_use){.file = files[kind],
                                                  .first = (uint8_t)number,
                                                  .count = (uint8_t)count,
                                                  .defined = defined,
                                                  .used = used,
                                                  .at = (uint32_t)(at - text)};
}

static bool has_suffix(slice s, size_t at, const char *suffix)
{
    size_t end = at;
    while (end < s.length && (is_word(s.at[end]) || s.at[end] == '.'))
        end++;
    return hd_sass_has(s.at + at, end - at, suffix);
}

/* Registers in brackets: R2.64 is a pair, R2.U32 one; UR4 in desc[] and before .64 is a pair, as is a uniform base of
 * global memory. */
static void use_inside(hd_sass_insn *insn, const char *text, slice s, int wide, int uniform)
{
    for (size_t i = 0; i < s.length; i++) {
        class kind;
        int number, count;
        if ((i && (is_word(s.at[i - 1]) || s.at[i - 1] == '.')) ||
            !(s.at[i] == 'R' || s.at[i] == 'U' || s.at[i] == 'P'))
            continue;
        size_t length = read_register((slice){s.at + i, s.length - i}, &kind, &number);
        if (!length)
            continue;
        bool descriptor = i >= 5 && !memcmp(s.at + i - 5, "desc[", 5), single = has_suffix(s, i + length, ".U32");
        if (kind == IS_UR)
            count = descriptor || has_suffix(s, i + length, ".64") ? 2 : uniform;
        else
            count = has_suffix(s, i + length, ".64") ? 2 : single ? 1 : wide;
        add_use(insn, text, s.at + i, kind, number, count, false, true);
        if (insn->use_count)
            insn->uses[insn->use_count - 1].is_address = true;
        i += length - 1;
    }
}

static bool is_destination(slice name)
{
    return (*name.at == 'R' && name.length >= 2 && name.at[1] == 'd') || begins(name, "URd");
}

static bool is_listed(const char *words, slice name)
{
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, " ");
        if (length == name.length && !memcmp(at, name.at, length))
            return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

static slice name_only(slice alternative)
{
    size_t n = 0;
    while (n < alternative.length && is_word(alternative.at[n]))
        n++;
    return (slice){alternative.at, n};
}

/* Of P2R and R2P: which predicates. */
static uint32_t mask_of(const context *c)
{
    const operand *last = &c->operands[c->operand_count - 1];
    return last->class == IS_NUMBER ? (uint32_t)strtoul(last->text.at, NULL, 0) : 0x7f;
}

/* PR and UPR are all predicates; other words are no registers, but for descriptors. */
static void use_word(hd_sass_insn *insn, const char *text, const context *c, const operand *o, slice alternative)
{
    bool uniform = is(alternative, "x:UPRONLY"), defined = strstr(insn->row->defined, "PR") != NULL;
    if (!begins(alternative, "x:PR") && !uniform) {
        use_inside(insn, text, o->text, 1, 1);
        return;
    }
    for (int i = 0; i < HD_SASS_MOST_P; i++)
        if (mask_of(c) >> i & 1)
            add_use(insn, text, o->text.at, uniform ? IS_UP : IS_P, i, 1, defined, !defined);
}

static void use_operand(hd_sass_insn *insn, const char *text, const context *c, const operand *o, slice alternative)
{
    const hd_sass_row *row = insn->row;
    slice bare = without_signs(o->text), name = name_only(alternative);
    class kind = o->class;
    int number = -1;
    switch (o->class) {
    case IS_R:
    case IS_UR:
        read_register(bare, &kind, &number);
        add_use(insn, text, bare.at, kind, number, width_of(row, c, name, 1), is_destination(name),
                !is_destination(name));
        break;
    case IS_P:
    case IS_UP:
        read_register(bare, &kind, &number);
        add_use(insn, text, bare.at, kind, number, 1, is_listed(row->defined, name), !is_listed(row->defined, name));
        break;
    case IS_PAIR:
    case IS_UPAIR:
        read_register(bare, &kind, &number);
        add_use(insn, text, bare.at, kind, number, 2, false, true);
        break;
    case IS_MEMORY: {
        bool global = !strstr(row->memory, "shared") && !strstr(row->memory, "local");
        bool extended = global && hd_sass_has(c->modifiers.at, c->modifiers.length, ".E");
        bool surface = strstr(row->memory, "surface") != NULL;
        int wide = surface ? width_of(row, c, (slice){"Ra", 2}, 1) : extended ? 2 : 1;
        use_inside(insn, text, o->text, wide, extended ? 2 : 1);
        break;
    }
    case IS_BINDLESS: use_inside(insn, text, o->text, 1, 2); break;
    case IS_CONSTANT: use_inside(insn, text, o->text, 1, 1); break;
    case IS_DESCRIPTOR: use_inside(insn, text, o->text, 1, 2); break;
    case IS_ATTRIBUTE:
    case IS_TENSOR: use_inside(insn, text, o->text, 1, 1); break;
    case IS_WORD: use_word(insn, text, c, o, alternative); break;
    case IS_NUMBER:
    case IS_LABEL: break;
    }
    if (o->class == IS_R && insn->use_count && number >= 0)
        insn->uses[insn->use_count - 1].is_reused = has_suffix(bare, 0, ".reuse");
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

static const hd_sass_row *first_row(slice opcode)
{
    uint32_t low = 0, high = ROWS;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = strncmp(rows[middle].opcode, opcode.at, opcode.length);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < ROWS && !strncmp(rows[low].opcode, opcode.at, opcode.length)) {
        if (strlen(rows[low].opcode) == opcode.length)
            return &rows[low];
        low++;
    }
    return NULL;
}

bool hd_sass_is_opcode(const char *opcode, size_t length)
{
    size_t n = 0;
    while (n < length && is_word(opcode[n]))
        n++;
    return first_row((slice){opcode, n}) != NULL;
}

/* How well a row is known for an architecture: described or seen, else by the newest one that it is described for. */
static int rank_of(const hd_sass_row *row, uint32_t generation)
{
    int newest = 0;
    if (!generation)
        return 1;
    if (lists(row->gens, generation))
        return 1000;
    for (const char *at = row->gens; *at;) {
        char *end;
        int number = (int)strtoul(at, &end, 10);
        newest = number <= (int)generation && number > newest ? number : newest;
        at = *end ? end + 1 : end;
    }
    return lists(row->named, generation) ? 1 + newest : 0;
}

static const hd_sass_row *choose(const context *c, uint32_t generation, slice *names)
{
    const hd_sass_row *best = NULL;
    size_t best_form = 0;
    int best_rank = -1;
    for (const hd_sass_row *row = first_row(c->opcode); row && row < rows + ROWS && is(c->opcode, row->opcode); row++) {
        place places[MOST_OPERANDS];
        slice found[MOST_OPERANDS + 1] = {{0}};
        size_t form = strlen(row->form);
        int rank = rank_of(row, generation);
        bool known = rank > 0, best_known = best_rank > 0;
        bool better = !best || known > best_known ||
                      (known == best_known && (form > best_form || (form == best_form && rank > best_rank)));
        if (!better || !has_form(c->modifiers, row->form) ||
            !match(places, read_pattern(row->pattern, places), c->operands, c->operand_count, found))
            continue;
        best = row;
        best_form = form;
        best_rank = rank;
        memcpy(names, found, c->operand_count * sizeof *names);
    }
    return best;
}

/* @P0, @!UP1, @PT */
static slice read_guard(const char *text, slice s, hd_sass_insn *insn)
{
    class kind;
    int number = -1;
    if (!s.length || *s.at != '@')
        return s;
    s.at++, s.length--;
    insn->guarded = true;
    if (s.length && *s.at == '!') {
        insn->guard_not = true;
        s.at++, s.length--;
    }
    size_t length = read_register(s, &kind, &number);
    if (length && (kind == IS_P || kind == IS_UP)) {
        add_use(insn, text, s.at, kind, number, 1, false, true);
        if (number >= 0)
            insn->uses[insn->use_count - 1].is_guard = true;
    }
    return trim((slice){s.at + length, s.length - length});
}

static void find_target(const char *text, const operand *operands, uint32_t count, hd_sass_insn *insn)
{
    for (uint32_t i = count; i-- > 0;)
        if (operands[i].class == IS_LABEL || operands[i].class == IS_NUMBER) {
            insn->target_at = (uint32_t)(operands[i].text.at - text);
            insn->target_length = (uint32_t)operands[i].text.length;
            return;
        }
}

bool hd_sass_decode(const char *text, size_t length, uint32_t generation, hd_sass_insn *insn)
{
    operand operands[MOST_OPERANDS];
    slice names[MOST_OPERANDS + 1] = {{0}};
    *insn = (hd_sass_insn){0};
    slice s = read_guard(text, trim((slice){text, length}), insn);
    size_t word = 0, base = 0;
    while (word < s.length && (is_word(s.at[word]) || s.at[word] == '.'))
        word++;
    while (base < word && is_word(s.at[base]))
        base++;
    insn->opcode_at = (uint32_t)(s.at - text);
    insn->opcode_length = (uint32_t)word;
    uint32_t count = split((slice){s.at + word, s.length - word}, operands);
    context c = {{s.at + base, word - base}, {s.at, base}, operands, count};
    insn->row = choose(&c, generation, names);
    find_target(text, operands, count, insn);
    uint32_t guard = insn->use_count;
    if (insn->row) {
        for (uint32_t i = 0; i < count; i++)
            use_operand(insn, text, &c, &operands[i], names[i]);
        return true;
    }
    for (uint32_t i = 0; i < count; i++)
        use_inside(insn, text, operands[i].text, 1, 1);
    for (uint32_t i = guard; i < insn->use_count; i++)
        insn->uses[i].defined = insn->uses[i].used = true;
    return false;
}
