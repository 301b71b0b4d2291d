/* Forms of machine instructions: the rows of ir/sass/sass.def that fit a spelling, best first, with their slots
 * compiled; and the match of an instruction's operands with them. A form is compiled once per spelling and generation,
 * in the rows of its opcode (binary search); a match takes a few comparisons per operand. Slots that may be left out
 * are tried from left to right, by backtracking over at most HD_SASS_OPERANDS slots.
 *
 * Rows that are known for the generation come first; among them, and among the others, those with more required
 * modifiers, then those described or seen for the generation or a near one, with stronger evidence, and in the table's
 * order. */
#include "ir/sass/sass.h"
#include "base/scan.h"
#include "base/search.h"
#include "ir/sass/width.h"

#include <stdio.h>
#include <string.h>

/* ---- the table --------------------------------------------------------------------------------------------------- */

const hd_sass_row hd_sass_rows[] = {
#define HD_SASS(opcode, modifiers, generations, unit, operands, widths, space, access, control, evidence) \
    {opcode,                                                                                              \
     modifiers,                                                                                           \
     generations,                                                                                         \
     operands,                                                                                            \
     widths,                                                                                              \
     HD_SASS_UNIT_##unit,                                                                                 \
     HD_SASS_SPACE_##space,                                                                               \
     HD_SASS_ACCESS_##access,                                                                             \
     HD_SASS_CONTROL_##control,                                                                           \
     HD_SASS_EVIDENCE_##evidence},
#include "ir/sass/sass.def"
#undef HD_SASS
};
const uint32_t hd_sass_row_count = sizeof hd_sass_rows / sizeof *hd_sass_rows;

const char *const hd_sass_class_stem[HD_SASS_CLASS_COUNT] = {"R", "UR", "P", "UP", "B"};

static const uint8_t generations[] = {20, 30, 35, 50, 52, 60, 61, 70, 72, 75, 80, 86, 89, 90, 100, 120};
enum { GENERATIONS = sizeof generations };

static uint32_t generation_index(uint32_t sm)
{
    uint32_t i = 0;
    while (i + 1 < GENERATIONS && generations[i + 1] <= sm)
        i++;
    return i;
}

uint32_t hd_sass_generation(uint32_t sm) { return sm < generations[0] ? 0 : generations[generation_index(sm)]; }

static const uint8_t chips[] = {20, 21, 30, 32, 35, 37, 50, 52,  53,  60,  61,  62,  70, 72,
                                75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

bool hd_sass_has_chip(uint32_t sm)
{
    for (size_t i = 0; i < sizeof chips; i++)
        if (chips[i] == sm)
            return true;
    return false;
}

void hd_sass_print_chips(char *text, size_t bytes)
{
    size_t length = 0;
    for (size_t i = 0; i < sizeof chips && length < bytes; i++)
        length += (size_t)snprintf(text + length, bytes - length, "%s%u", i ? ", " : "", chips[i]);
}

bool hd_sass_register_of(const char *text, size_t length, uint8_t *class, uint8_t *number)
{
    static const uint8_t limit[HD_SASS_CLASS_COUNT] = {254, 254, 6, 6, 15};
    bool uniform = length && *text == 'U';
    char letter = length > uniform ? text[uniform] : '\0';
    const char *rest = text + uniform + 1, *end = text + length;
    if (letter == 'R')
        *class = uniform ? HD_SASS_UNIFORM : HD_SASS_GENERAL;
    else if (letter == 'P' || letter == 'p')
        *class = uniform ? HD_SASS_UNIFORM_PREDICATE : HD_SASS_PREDICATE;
    else if (letter == 'B' && !uniform)
        *class = HD_SASS_BARRIER;
    else
        return false;
    *number = HD_SASS_NO_NUMBER;
    if (end - rest == 1 && *rest == (letter == 'R' ? 'Z' : letter == 'P' ? 'T' : letter == 'p' ? 't' : '\n'))
        return true;
    uint64_t value;
    bool padded = *rest == '0' && end - rest > 1;
    if (padded || !hd_take_number(&rest, end, 10, 999, &value) || rest != end)
        return false;
    *number = (uint8_t)value;
    return value <= limit[*class];
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

enum { SLOTS = 24, ROWS = 24 };
#define KIND_BIT(kind) (1u << (HD_SASS_CLASS_COUNT + (kind)))

typedef struct slot {
    uint32_t takes; /* 1 << hd_sass_class, KIND_BIT(hd_sass_kind) */
    bool optional;
    uint8_t role;
    uint8_t general, uniform; /* widths of its registers, also of those in brackets */
    const char *names;        /* its text in the row, where widths depend on operands */
    uint8_t names_length;
} slot;

typedef struct candidate {
    const hd_sass_row *row;
    int32_t score;
    uint32_t slot_count;
    const slot *slots;
    bool varies; /* widths depend on word operands or on a texture's mask */
} candidate;

struct hd_sass_form {
    const char *spelling;
    hd_sass_words words;
    uint32_t generation;
    uint32_t candidate_count;
    candidate candidates[ROWS];
};

typedef struct slot_word {
    const char *text;
    uint32_t takes;
} slot_word;

static const slot_word slot_words[] = {
    {"imm", KIND_BIT(HD_SASS_IMMEDIATE)},
    {"label", KIND_BIT(HD_SASS_LABEL) | KIND_BIT(HD_SASS_IMMEDIATE)},
    {"word", KIND_BIT(HD_SASS_WORD) | KIND_BIT(HD_SASS_LIST) | 1u << HD_SASS_BARRIER},
    {"CC", KIND_BIT(HD_SASS_CARRY)},
    {"PR", KIND_BIT(HD_SASS_PREDICATES) | KIND_BIT(HD_SASS_CARRY)},
    {"PRd", KIND_BIT(HD_SASS_PREDICATES) | KIND_BIT(HD_SASS_CARRY)},
    {"UPR", KIND_BIT(HD_SASS_UNIFORM_PREDICATES)},
    {"UPRd", KIND_BIT(HD_SASS_UNIFORM_PREDICATES)},
    {"c", KIND_BIT(HD_SASS_CONSTANT)},
    {"cx", KIND_BIT(HD_SASS_CONSTANT) | KIND_BIT(HD_SASS_BINDLESS)},
    {"mem", KIND_BIT(HD_SASS_ADDRESS)},
    {"gdesc", KIND_BIT(HD_SASS_GDESC)},
    {"idesc", KIND_BIT(HD_SASS_IDESC)},
    {"tmem", KIND_BIT(HD_SASS_TMEM)},
    {"attr", KIND_BIT(HD_SASS_ATTRIBUTE)},
};

static const char *const written[] = {"Rd",  "Rd2", "Rdb", "Pd", "nPd", "Pu",  "Pv",
                                      "URd", "UPu", "UPv", "Bd", "PRd", "UPRd"};

static uint32_t takes_of(const char *name, size_t length)
{
    for (uint32_t i = 0; i < sizeof slot_words / sizeof *slot_words; i++)
        if (hd_is_name(name, length, slot_words[i].text))
            return slot_words[i].takes;
    if (*name == 'n') /* nPd */
        return 1u << HD_SASS_PREDICATE;
    if (*name == 'B')
        return 1u << HD_SASS_BARRIER;
    if (*name == 'U')
        return 1u << (name[1] == 'P' ? HD_SASS_UNIFORM_PREDICATE : HD_SASS_UNIFORM);
    return *name == 'P' ? 1u << HD_SASS_PREDICATE | 1u << HD_SASS_UNIFORM_PREDICATE : 1u << HD_SASS_GENERAL;
}

static uint8_t role_of(const char *name, size_t length)
{
    for (uint32_t i = 0; i < sizeof written / sizeof *written; i++)
        if (hd_is_name(name, length, written[i]))
            return HD_SASS_WRITTEN;
    return hd_is_name(name, length, "Bx") ? HD_SASS_READ | HD_SASS_WRITTEN : HD_SASS_READ;
}

static uint32_t width_of(const hd_sass_row *row, const char *name, size_t length, const hd_sass_words *words)
{
    return strcmp(row->widths, "mma") == 0 ? hd_sass_matrix_width(row->opcode, name, length, words)
                                           : hd_sass_width(row->widths, name, length, words);
}

/* Widths of the registers that an alternative names: itself, or those in its parentheses. */
static void set_widths(slot *s, const hd_sass_row *row, const char *name, size_t length, const hd_sass_words *words)
{
    const char *open = memchr(name, '(', length), *end = name + length;
    if (!open && s->takes >> HD_SASS_CLASS_COUNT && takes_of(name, length) >> HD_SASS_CLASS_COUNT)
        return;
    for (const char *at = open ? open + 1 : name; at < end;) {
        size_t part = strcspn(at, "+)|?,");
        part = hd_min(part, (size_t)(end - at));
        uint8_t width = (uint8_t)width_of(row, at, part, words);
        if (*at == 'R')
            s->general = width;
        else if (*at == 'U' && at[1] == 'R')
            s->uniform = width;
        at += part + 1;
    }
}

/* Whether slots have widths that word operands or a texture's mask decide. */
static bool varies(const hd_sass_row *row) { return row->unit == HD_SASS_UNIT_TEX || strstr(row->widths, "n="); }

/* Reads one alternative of a slot; true: an offset may follow in the text. */
static bool add_alternative(slot *s, const hd_sass_row *row, const char *name, size_t length,
                            const hd_sass_words *words)
{
    static const char offset[] = "_imm";
    bool has_offset = length > sizeof offset && memcmp(name + length - strlen(offset), offset, strlen(offset)) == 0;
    if (has_offset)
        length -= strlen(offset);
    const char *open = memchr(name, '(', length);
    size_t head = open ? (size_t)(open - name) : length;
    s->takes |= takes_of(name, head);
    s->role = role_of(name, head);
    set_widths(s, row, name, length, words);
    return has_offset;
}

static void compile_slots(candidate *c, const hd_sass_words *words, hd_arena *arena)
{
    slot slots[SLOTS];
    const char *at = c->row->operands;
    while (*at && c->slot_count + 2 < SLOTS) {
        size_t length = strcspn(at, ",");
        const char *end = at + length;
        slot *s = &slots[c->slot_count++];
        *s = (slot){.general = 1,
                    .uniform = 1,
                    .optional = length && end[-1] == '?',
                    .names = at,
                    .names_length = (uint8_t)hd_min(length, 255)};
        bool has_offset = false;
        for (const char *name = at; name < end - s->optional;) {
            size_t part = 0;
            while (name + part < end - s->optional && name[part] != '|')
                part++;
            has_offset |= add_alternative(s, c->row, name, part, words);
            name += part + 1;
        }
        if (has_offset)
            slots[c->slot_count++] = (slot){.takes = KIND_BIT(HD_SASS_IMMEDIATE) | KIND_BIT(HD_SASS_LABEL),
                                            .optional = true,
                                            .role = HD_SASS_READ,
                                            .general = 1,
                                            .uniform = 1,
                                            .names = "",
                                            .names_length = 0};
        at = end + (*end ? strspn(end, ", ") : 0);
    }
    c->slots = hd_arena_copy(arena, slots, c->slot_count * sizeof *slots);
}

/* ---- rows of a form ---------------------------------------------------------------------------------------------- */

/* 2: described or seen for the generation; 1: known to exist there; 0: neither. "50-61,75~80-120" */
static int32_t fits_generation(const char *list, uint32_t generation)
{
    int32_t fit = 2;
    while (*list) {
        if (*list == '~') {
            fit = 1;
            list++;
            continue;
        }
        uint32_t bound[2] = {0, 0}, bounds = 0;
        while (*list && *list != ',' && *list != '~') {
            if (*list == '-')
                bounds = 1;
            else
                bound[bounds] = bound[bounds] * 10 + (uint32_t)(*list - '0');
            list++;
        }
        if (generation >= bound[0] && generation <= bound[bounds])
            return fit;
        list += *list == ',';
    }
    return 0;
}

/* How near, in steps, the generations come for which the row is described or seen. */
static int32_t distance(const char *list, uint32_t generation)
{
    int32_t best = GENERATIONS, at = (int32_t)generation_index(generation);
    for (int32_t i = 0; i < GENERATIONS; i++)
        if (fits_generation(list, generations[i]) == 2) {
            int32_t apart = i > at ? i - at : at - i;
            best = hd_min(best, apart);
        }
    return best;
}

/* One requirement: a choice of sequences. */
static bool requirement_holds(const char *text, size_t length, const hd_sass_words *words)
{
    const char *end = text + length;
    while (text < end) {
        size_t part = 0;
        while (text + part < end && text[part] != '|')
            part++;
        if (hd_sass_words_have(words, text, part))
            return true;
        text += part + 1;
    }
    return false;
}

/* The number of words that the row requires, or -1 where one is missing. */
static int32_t required(const hd_sass_row *row, const hd_sass_words *words)
{
    int32_t count = 0;
    for (const char *at = row->modifiers; *at;) {
        size_t length = strcspn(at, " ");
        if (!requirement_holds(at, length, words))
            return -1;
        for (size_t i = 0; i < length && at[i] != '|'; i++)
            count += at[i] == '.';
        at += length + (at[length] == ' ');
    }
    return count;
}

/* Whether the spelling is the opcode, or continues with a dot; the number of its dots in *dots. */
static bool starts_with_opcode(const char *spelling, size_t length, const char *opcode, int32_t *dots)
{
    size_t n = strlen(opcode);
    *dots = 0;
    for (const char *c = opcode; *c; c++)
        *dots += *c == '.';
    return n <= length && memcmp(spelling, opcode, n) == 0 && (n == length || spelling[n] == '.');
}

static void insert(hd_sass_form *form, candidate c)
{
    uint32_t at = form->candidate_count;
    if (at == ROWS) {
        if (form->candidates[ROWS - 1].score >= c.score)
            return;
        at = ROWS - 1;
    } else {
        form->candidate_count++;
    }
    for (; at && form->candidates[at - 1].score < c.score; at--)
        form->candidates[at] = form->candidates[at - 1];
    form->candidates[at] = c;
}

static int compare_head(const char *spelling, size_t length, const char *opcode)
{
    size_t n = strcspn(opcode, ".");
    int order = memcmp(spelling, opcode, hd_min(length, n));
    return order ? order : (length > n) - (length < n);
}

static void find_rows(hd_sass_form *form, size_t length)
{
    static const int32_t strength[] = {[HD_SASS_EVIDENCE_SPEC] = 2,
                                       [HD_SASS_EVIDENCE_SPEC_OLD] = 0,
                                       [HD_SASS_EVIDENCE_NOTES] = 1,
                                       [HD_SASS_EVIDENCE_LISTING] = 3};
    const char *spelling = form->spelling;
    size_t head = strcspn(spelling, ".");
    uint32_t low = 0, high = hd_sass_row_count;
    HD_SEARCH(low, high, at, compare_head(spelling, head, hd_sass_rows[at].opcode) > 0);
    for (; low < hd_sass_row_count && compare_head(spelling, head, hd_sass_rows[low].opcode) == 0; low++) {
        const hd_sass_row *row = &hd_sass_rows[low];
        int32_t dots, count;
        if (!starts_with_opcode(spelling, length, row->opcode, &dots) || (count = required(row, &form->words)) < 0)
            continue;
        if (!hd_sass_knows_widths(row, &form->words))
            continue;
        int32_t fit = fits_generation(row->generations, form->generation);
        int32_t score =
            (fit ? 1000 + 200 * (count + dots) + 100 * fit : 100) - 8 * distance(row->generations, form->generation);
        insert(form, (candidate){.row = row, .score = score + strength[row->evidence], .varies = varies(row)});
    }
}

static void split(hd_sass_words *words, const char *text, const char *end)
{
    while (text < end && words->count < sizeof words->length) {
        const char *word = ++text;
        while (text < end && *text != '.')
            text++;
        words->text[words->count] = word;
        words->length[words->count++] = (uint8_t)hd_min(text - word, 255);
    }
}

const hd_sass_form *hd_sass_form_of(const char *spelling, size_t length, uint32_t generation, hd_arena *arena)
{
    hd_sass_form *form = HD_ARENA_NEW(arena, hd_sass_form);
    form->spelling = hd_arena_string(arena, spelling, length);
    form->generation = generation ? generation : generations[GENERATIONS - 1];
    form->words.components = 4;
    split(&form->words, form->spelling + strcspn(form->spelling, "."), form->spelling + length);
    find_rows(form, length);
    for (uint32_t i = 0; i < form->candidate_count; i++)
        compile_slots(&form->candidates[i], &form->words, arena);
    return form;
}

const hd_sass_row *hd_sass_form_row(const hd_sass_form *form)
{
    return form->candidate_count ? form->candidates[0].row : NULL;
}

bool hd_sass_form_has(const hd_sass_form *form, const char *modifier)
{
    return hd_sass_words_have(&form->words, modifier, strlen(modifier));
}

bool hd_sass_form_reads_carry(const hd_sass_form *form)
{
    return form->generation < 70 && hd_sass_form_has(form, ".X");
}

/* ---- matching ---------------------------------------------------------------------------------------------------- */

static uint32_t bit_of(const hd_sass_operand *o)
{
    return o->kind == HD_SASS_REGISTER ? 1u << o->class : KIND_BIT(o->kind);
}

/* Fills slot_of[operand]; false: the operands do not fit. */
static bool match(const candidate *c, const hd_sass_operands *operands, uint8_t *slot_of)
{
    uint32_t skips = 0, s = 0, o = 0;
    for (;;) {
        while (s < c->slot_count && o < operands->count && c->slots[s].takes & bit_of(&operands->items[o])) {
            slot_of[o++] = (uint8_t)s++;
        }
        if (s == c->slot_count && o == operands->count)
            return true;
        if (s < c->slot_count && c->slots[s].optional) {
            s++;
            continue;
        }
        /* Back to the last operand whose slot may be left out. */
        while (o > 0 && !c->slots[slot_of[o - 1]].optional)
            o--;
        if (o == 0 || skips++ >= SLOTS)
            return false;
        s = slot_of[--o] + 1u;
    }
}

/* The components of a texture: the bits of the mask, the last operand; all where there is none. */
static uint32_t components_of(const hd_sass_operands *operands)
{
    const hd_sass_operand *last = operands->count ? &operands->items[operands->count - 1] : NULL;
    if (!last || last->kind != HD_SASS_IMMEDIATE || last->end - last->begin < 3 || operands->count < 2 ||
        operands->items[operands->count - 2].kind != HD_SASS_WORD)
        return 4;
    char digit = operands->text[last->begin + 2];
    uint32_t mask = digit <= '9' ? (uint32_t)(digit - '0') : (uint32_t)(digit - 'a') + 10;
    return (uint32_t)__builtin_popcount(mask & 15);
}

static void add_words(hd_sass_words *words, const hd_sass_operands *operands)
{
    words->components = components_of(operands);
    for (uint32_t i = 0; i < operands->count; i++) {
        const hd_sass_operand *o = &operands->items[i];
        if (o->kind != HD_SASS_WORD || words->count >= sizeof words->length)
            continue;
        words->text[words->count] = operands->text + o->begin;
        words->length[words->count++] = (uint8_t)(o->end - o->begin);
    }
}

static uint8_t inner_width(const hd_sass_operand *o, const hd_sass_register *r, const slot *s)
{
    bool constant = o->kind == HD_SASS_BINDLESS || r->flags & HD_SASS_DESCRIPTOR;
    if (constant)
        return 2;
    if (r->flags & HD_SASS_WIDE)
        return 2;
    if (r->flags & HD_SASS_NARROW)
        return 1;
    return r->class == HD_SASS_UNIFORM ? s->uniform : s->general;
}

static void apply(hd_sass_operand *o, hd_sass_register *inner, const slot *s)
{
    o->role = o->kind == HD_SASS_REGISTER || o->kind >= HD_SASS_CARRY ? s->role : 0;
    o->words = o->class == HD_SASS_GENERAL ? s->general : o->class == HD_SASS_UNIFORM ? s->uniform : 1;
    for (uint32_t i = 0; i < o->inner_count; i++)
        inner[o->inner_first + i].words = inner_width(o, &inner[o->inner_first + i], s);
}

const hd_sass_row *hd_sass_resolve(const hd_sass_form *form, hd_sass_operands *operands)
{
    uint8_t slot_of[HD_SASS_OPERANDS];
    for (uint32_t i = 0; i < form->candidate_count; i++) {
        const candidate *c = &form->candidates[i];
        if (!match(c, operands, slot_of))
            continue;
        hd_sass_words words;
        if (c->varies) {
            words = form->words;
            add_words(&words, operands);
        }
        for (uint32_t o = 0; o < operands->count; o++) {
            slot s = c->slots[slot_of[o]];
            if (c->varies)
                for (const char *name = s.names, *end = name + s.names_length - s.optional; name < end;) {
                    size_t part = 0;
                    while (name + part < end && name[part] != '|')
                        part++;
                    set_widths(&s, c->row, name, part, &words);
                    name += part + 1;
                }
            apply(&operands->items[o], operands->inner, &s);
        }
        return c->row;
    }
    return NULL;
}

/* ---- lists of registers ------------------------------------------------------------------------------------------ */

typedef struct list_match {
    const candidate *row;
    hd_sass_listed *list;
    uint8_t slot_of[HD_SASS_LISTED];
    bool bases, found;
} list_match;

/* Whether general registers within brackets belong to the slot: mem(URb+Ra). */
static bool has_inner(const slot *s)
{
    const char *open = memchr(s->names, '(', s->names_length), *end = s->names + s->names_length;
    for (const char *at = open; at && at + 1 < end; at++)
        if ((*at == '(' || *at == '+') && at[1] == 'R')
            return true;
    return false;
}

/* Whether operands that a list lacks decide widths: the shape and the mask of a texture. */
static bool varies_in_list(const hd_sass_row *row)
{
    return row->space == HD_SASS_SPACE_TEXTURE || strstr(row->widths, "n=");
}

static bool takes_general(const slot *s) { return s->takes & 1u << HD_SASS_GENERAL || has_inner(s); }

/* With `bases`, each address has a base register. */
static bool needs_general(const slot *s, bool bases)
{
    return !s->optional && (s->takes == 1u << HD_SASS_GENERAL || (bases && s->takes == KIND_BIT(HD_SASS_ADDRESS)));
}

/* Whether the i-th register may be in that slot: what is listed as written is a register that is the first operand. */
static bool fits_slot(const list_match *m, uint32_t i, uint32_t s)
{
    const slot *to = &m->row->slots[s];
    bool alone = !has_inner(to), may_be_first = true;
    for (uint32_t before = 0; before < s; before++)
        may_be_first = may_be_first && m->row->slots[before].optional;
    return takes_general(to) && (i < m->list->destinations ? alone && may_be_first : !(alone && s == 0));
}

static void note_match(list_match *m)
{
    for (uint32_t i = 0; i < m->list->count; i++) {
        const slot *s = &m->row->slots[m->slot_of[i]];
        uint8_t role = has_inner(s) ? HD_SASS_READ : s->role, words = varies_in_list(m->row->row) ? 1 : s->general;
        if (m->found && role != m->list->role[i])
            role = i < m->list->destinations ? HD_SASS_WRITTEN : HD_SASS_READ;
        if (m->found && words != m->list->words[i])
            words = 1;
        m->list->role[i] = role;
        m->list->words[i] = words;
    }
    m->found = true;
}

/* All order-preserving matches: each step gives slot `s` a register or skips it. At most SLOTS deep. */
static void match_list(list_match *m, uint32_t i, uint32_t s)
{
    if (s == m->row->slot_count) {
        if (i == m->list->count)
            note_match(m);
        return;
    }
    if (i < m->list->count && fits_slot(m, i, s)) {
        m->slot_of[i] = (uint8_t)s;
        match_list(m, i + 1, s + 1);
    }
    if (!needs_general(&m->row->slots[s], m->bases))
        match_list(m, i, s + 1);
}

void hd_sass_resolve_list(const hd_sass_form *form, hd_sass_listed *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        list->role[i] = i < list->destinations ? HD_SASS_WRITTEN : HD_SASS_READ;
        list->words[i] = 1;
    }
    for (uint32_t c = 0; c < 2 * form->candidate_count; c++) { /* first, all rows with bases */
        list_match m = {
            .row = &form->candidates[c % form->candidate_count], .list = list, .bases = c < form->candidate_count};
        match_list(&m, 0, 0);
        if (m.found)
            return;
    }
}
