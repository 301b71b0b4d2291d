/* Matches the words of a form (modifiers and types) with the alternatives of its opcode's row, and reports why none
 * matches. The head of ir/ptx.def describes the language of the rows. Runs once per distinct form of a module. */
#include "base/search.h"
#include "ir/signature.h"
#include <assert.h>
#include <ctype.h>

static const char *const group_names[HD_MODIFIER_GROUP_COUNT] = {
#define HD_MODIFIER_GROUP(id, summary) [HD_GROUP_##id] = #id,
#define HD_MODIFIER(group, id, spelling)
#include "ir/modifiers.def"
#undef HD_MODIFIER_GROUP
#undef HD_MODIFIER
};

/* The modifiers of a group are consecutive in ir/modifiers.def: from GROUP_START to the next group's. The second
 * enumerator of each group steps back, so that a group consumes no number. */
enum {
    BEFORE_GROUPS = HD_MOD_NONE,
#define HD_MODIFIER_GROUP(id, summary) GROUP_START_##id, GROUP_STEP_##id = GROUP_START_##id - 1,
#define HD_MODIFIER(group, id, spelling) POSITION_##group##_##id,
#include "ir/modifiers.def"
#undef HD_MODIFIER_GROUP
#undef HD_MODIFIER
    GROUP_END
};
#define HD_MODIFIER_GROUP(id, summary)
#define HD_MODIFIER(group, id, spelling) \
    _Static_assert((int)POSITION_##group##_##id == (int)HD_MOD_##group##_##id, "one numbering");
#include "ir/modifiers.def"
#undef HD_MODIFIER_GROUP
#undef HD_MODIFIER

static const uint16_t group_starts[HD_MODIFIER_GROUP_COUNT + 1] = {
#define HD_MODIFIER_GROUP(id, summary) [HD_GROUP_##id] = GROUP_START_##id,
#define HD_MODIFIER(group, id, spelling)
#include "ir/modifiers.def"
#undef HD_MODIFIER_GROUP
#undef HD_MODIFIER
    [HD_MODIFIER_GROUP_COUNT] = GROUP_END,
};

/* One alternative matched against a form: the words it consumed, and what did not match. */
typedef struct attempt {
    hd_form form;        /* types and modifiers as read by this alternative */
    uint64_t used;       /* words consumed, one bit each */
    const char *missing; /* the first required ".GROUP" word that is missing */
    uint32_t leading;    /* consumed words that must directly follow the opcode */
    uint32_t missing_count, extra_count;
    bool types_fit;
} attempt;

/* A word of a row's syntax. */
typedef struct syntax_word {
    const char *begin, *end;
} syntax_word;

static syntax_word next_word(const char **at)
{
    while (**at == ' ')
        (*at)++;
    syntax_word word = {*at, *at};
    while (*word.end && *word.end != ' ' && *word.end != '>' && *word.end != ';')
        word.end++;
    *at = word.end;
    return word;
}

static hd_modifier_group group_from_name(const char *name, size_t length)
{
    uint32_t group = hd_find_row(group_names, sizeof *group_names, HD_MODIFIER_GROUP_COUNT, name, length);
    assert(group < HD_MODIFIER_GROUP_COUNT);
    return (hd_modifier_group)group;
}

/* A word ".GROUP:a|b?14" of a row, parsed. */
typedef struct modifier_word {
    hd_modifier_group group;
    const char *list, *list_end; /* NULL: any modifier of the group */
    bool optional;
} modifier_word;

/* "?", "?14" (before PTX 1.4), "?s20" (before sm_20). */
static bool may_be_missing(const hd_module *module, const char *at, const char *end)
{
    if (at == end)
        return false;
    at++;
    if (at == end)
        return true;
    bool by_target = *at == 's';
    uint32_t limit = (uint32_t)strtoul(at + by_target, NULL, 10);
    return by_target ? module->target_number && module->target_number < limit
                     : module->version_major && module->version_major * 10 + module->version_minor < limit;
}

static modifier_word read_modifier_word(const hd_module *module, syntax_word word)
{
    modifier_word m = {0};
    const char *at = word.begin + 1;
    while (at < word.end && (isupper((unsigned char)*at) || isdigit((unsigned char)*at)))
        at++;
    m.group = group_from_name(word.begin + 1, (size_t)(at - word.begin - 1));
    if (at < word.end && *at == ':') {
        m.list = ++at;
        while (at < word.end && *at != '?')
            at++;
        m.list_end = at;
    }
    m.optional = may_be_missing(module, at, word.end);
    return m;
}

/* Whether `text` is one of the names between begin and end, separated by bars. */
static bool in_list(const char *begin, const char *end, const char *text, size_t length)
{
    while (begin < end) {
        const char *bar = memchr(begin, '|', (size_t)(end - begin));
        const char *stop = bar ? bar : end;
        if ((size_t)(stop - begin) == length && memcmp(begin, text, length) == 0)
            return true;
        begin = stop + 1;
    }
    return false;
}

static hd_modifier modifier_in_group(hd_modifier_group group, const char *text, size_t length)
{
    for (int i = group_starts[group]; i < group_starts[group + 1]; i++) {
        const char *spelling = hd_modifier_spelling((hd_modifier)i);
        if (spelling[0] == text[0] && hd_is_name(text, length, spelling))
            return (hd_modifier)i;
    }
    return HD_MOD_NONE;
}

static void take_modifier(attempt *a, const hd_module *module, const hd_form_words *words, syntax_word word)
{
    bool leads = *word.begin == '^';
    word.begin += leads;
    modifier_word m = read_modifier_word(module, word);
    for (uint32_t i = leads ? a->leading : 0; i < (leads ? a->leading + 1 : words->count) && i < words->count; i++) {
        if (a->used >> i & 1 || words->type[i] != HD_TYPE_NONE)
            continue;
        hd_modifier modifier = modifier_in_group(m.group, words->text[i], words->length[i]);
        if (modifier == HD_MOD_NONE)
            continue;
        if (m.list && !in_list(m.list, m.list_end, words->text[i], words->length[i]))
            break; /* of two layouts or spaces, the first occurrence is the first operand's */
        a->used |= 1ull << i;
        a->form.modifiers[m.group] = (uint16_t)modifier;
        a->leading += leads;
        return;
    }
    if (!m.optional) {
        a->missing_count++;
        if (!a->missing)
            a->missing = word.begin;
    }
}

static bool type_in_set(syntax_word set, hd_type type)
{
    static const char integers[] = "u16|s16|u32|s32|u64|s64";
    const char *spelling = hd_types[type].spelling;
    size_t length = strlen(spelling);
    return in_list(set.begin, set.end, spelling, length) ||
           (in_list(set.begin, set.end, "int", 3) &&
            in_list(integers, integers + sizeof integers - 1, spelling, length));
}

/* Types that ptxas accepts on any instruction and ignores. */
static bool is_ignored_type(uint8_t type)
{
    return type == HD_TYPE_B8X16 || type == HD_TYPE_B6X16_P32 || type == HD_TYPE_B4X16_P64 ||
           hd_types[type].class == HD_CLASS_OPAQUE;
}

static void take_type(attempt *a, const hd_form_words *words, syntax_word word)
{
    bool optional = word.end[-1] == '?';
    syntax_word set = {word.begin, word.end - optional};
    if (*set.begin == '=') {
        const char *same = hd_types[a->form.types[set.begin[1] - '0']].spelling;
        set = (syntax_word){same, same + strlen(same)};
    }
    for (uint32_t i = 0; i < words->count; i++) {
        if (a->used >> i & 1 || words->type[i] == HD_TYPE_NONE)
            continue;
        if (!type_in_set(set, (hd_type)words->type[i]) || a->form.type_count == HD_FORM_TYPES) {
            if (is_ignored_type(words->type[i]))
                continue;
            break;
        }
        a->used |= 1ull << i;
        a->form.types[a->form.type_count++] = words->type[i];
        return;
    }
    if (!optional)
        a->types_fit = false;
}

static hd_space space_of(uint16_t modifier)
{
    static const struct {
        uint16_t modifier, space;
    } spaces[] = {
        {HD_MOD_SPACE_GLOBAL, HD_SPACE_GLOBAL},
        {HD_MOD_SPACE_SHARED, HD_SPACE_SHARED},
        {HD_MOD_SPACE_SHARED_CTA, HD_SPACE_SHARED_CTA},
        {HD_MOD_SPACE_SHARED_CLUSTER, HD_SPACE_SHARED_CLUSTER},
        {HD_MOD_SPACE_LOCAL, HD_SPACE_LOCAL},
        {HD_MOD_SPACE_CONST, HD_SPACE_CONST},
        {HD_MOD_SPACE_PARAM, HD_SPACE_PARAM},
        {HD_MOD_SPACE_PARAM_ENTRY, HD_SPACE_PARAM_ENTRY},
        {HD_MOD_SPACE_PARAM_FUNC, HD_SPACE_PARAM_FUNC},
        {HD_MOD_SPACE2_GLOBAL, HD_SPACE_GLOBAL},
        {HD_MOD_SPACE2_SHARED, HD_SPACE_SHARED},
        {HD_MOD_SPACE2_SHARED_CTA, HD_SPACE_SHARED_CTA},
        {HD_MOD_SPACE2_SHARED_CLUSTER, HD_SPACE_SHARED_CLUSTER},
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (spaces[i].modifier == modifier)
            return (hd_space)spaces[i].space;
    return HD_SPACE_NONE;
}

static uint8_t vector_of(uint16_t modifier)
{
    return modifier == HD_MOD_VECTOR_V2 ? 2 : modifier == HD_MOD_VECTOR_V4 ? 4 : modifier == HD_MOD_VECTOR_V8 ? 8 : 1;
}

/* What ptxas accepts on any instruction and ignores: misplaced tensor-map fields, tests and accumulator types, and a
 * second .sync, .sat, .approx, .relu, .NaN, .cc or .uni. */
static bool is_ignored(const attempt *a, const hd_form_words *words, uint32_t word)
{
    static const uint8_t anywhere[] = {HD_GROUP_FIELD, HD_GROUP_TEST, HD_GROUP_ACC};
    static const uint8_t twice[] = {HD_GROUP_SYNC, HD_GROUP_SAT, HD_GROUP_APPROX, HD_GROUP_RELU,
                                    HD_GROUP_NAN,  HD_GROUP_CC,  HD_GROUP_UNI};
    const char *text = words->text[word];
    size_t length = words->length[word];
    if (words->type[word] != HD_TYPE_NONE)
        return is_ignored_type(words->type[word]);
    for (size_t i = 0; i < sizeof anywhere; i++)
        if (modifier_in_group((hd_modifier_group)anywhere[i], text, length) != HD_MOD_NONE)
            return true;
    for (size_t i = 0; i < sizeof twice; i++) {
        uint16_t first = a->form.modifiers[twice[i]];
        if (first && modifier_in_group((hd_modifier_group)twice[i], text, length) == first)
            return true;
    }
    return false;
}

/* Matches one alternative from *at to its '>', where *at is left. */
static attempt try_alternative(const hd_module *module, const hd_form *form, const hd_form_words *words,
                               const char **at)
{
    attempt a = {.form = *form, .types_fit = true};
    for (;;) {
        syntax_word word = next_word(at);
        if (word.begin == word.end)
            break;
        if (*word.begin == '.' || *word.begin == '^')
            take_modifier(&a, module, words, word);
        else
            take_type(&a, words, word);
    }
    assert(**at == '>');
    (*at)++;
    for (uint32_t i = 0; i < words->count; i++)
        if (!(a.used >> i & 1) && !is_ignored(&a, words, i)) {
            a.extra_count++;
            a.types_fit &= words->type[i] == HD_TYPE_NONE;
        }
    a.form.vector = vector_of(a.form.modifiers[HD_GROUP_VECTOR]);
    a.form.space = (uint8_t)space_of(a.form.modifiers[HD_GROUP_SPACE]);
    a.form.space2 = (uint8_t)space_of(a.form.modifiers[HD_GROUP_SPACE2]);
    return a;
}

static bool is_match(const attempt *a) { return a->types_fit && !a->missing_count && !a->extra_count; }

/* Fewer mismatches are nearer; a wrong type outweighs any number of modifiers. */
static bool nearer(const attempt *a, const attempt *b)
{
    if (a->types_fit != b->types_fit)
        return a->types_fit;
    return a->missing_count + a->extra_count < b->missing_count + b->extra_count;
}

/* Lists the modifiers that would satisfy a row's word: "'.rn', '.rz' or '.rm'". */
static const char *list_options(hd_module *module, const char *missing)
{
    const char *at = missing;
    syntax_word word = next_word(&at);
    modifier_word m = read_modifier_word(module, word);
    const char *text = "";
    const char *last = NULL;
    uint32_t count = 0;
    for (int i = HD_MOD_NONE + 1; i < HD_MODIFIER_COUNT && count < 8; i++) {
        const char *spelling = hd_modifier_spelling((hd_modifier)i);
        if (hd_modifier_group_of((hd_modifier)i) != m.group)
            continue;
        if (m.list && !in_list(m.list, m.list_end, spelling, strlen(spelling)))
            continue;
        if (last)
            text = hd_arena_printf(&module->arena, "%s%s'.%s'", text, *text ? ", " : "", last);
        last = spelling;
        count++;
    }
    return count > 1 ? hd_arena_printf(&module->arena, "%s or '.%s'", text, last)
                     : hd_arena_printf(&module->arena, "'.%s'", last ? last : "");
}

/* Says why no alternative takes these words. A newer version of PTX may do so; only a modifier that occurs twice is
 * wrong in all versions. */
static void explain(hd_module *module, hd_form *form, const hd_form_words *words, const attempt *best)
{
    const char *spelling = hd_names_text(&module->names, form->spelling);
    form->flags |= HD_FORM_UNKNOWN_COMBINATION;
    form->error_kind = HD_DIAG_UNKNOWN_COMBINATION;
    if (!best->types_fit) {
        bool any = false;
        for (uint32_t i = 0; i < words->count; i++)
            any |= words->type[i] != HD_TYPE_NONE;
        form->error = hd_arena_printf(&module->arena, any ? "the types of '%s' do not fit '%s'" : "'%s' needs a type",
                                      spelling, hd_opcodes[form->opcode].name);
        return;
    }
    for (uint32_t i = 0; i < words->count && !best->missing; i++)
        if (!(best->used >> i & 1)) {
            bool twice = false;
            for (uint32_t j = 0; j < i; j++)
                twice |=
                    words->length[j] == words->length[i] && !memcmp(words->text[j], words->text[i], words->length[i]);
            form->error =
                hd_arena_printf(&module->arena, twice ? "'.%.*s' occurs twice in '%s'" : "'.%.*s' does not fit '%s'",
                                (int)words->length[i], words->text[i], spelling);
            if (twice) {
                form->flags = HD_FORM_INVALID;
                form->error_kind = HD_DIAG_BAD_MODIFIER;
            }
            return;
        }
    form->error = hd_arena_printf(&module->arena, "'%s' needs %s", spelling, list_options(module, best->missing));
}

/* The start of the next alternative; NULL after the last. */
static const char *next_alternative(const char *at)
{
    const char *semicolon = strchr(at, ';');
    if (!semicolon)
        return NULL;
    semicolon++;
    while (*semicolon == ' ')
        semicolon++;
    return *semicolon ? semicolon : NULL;
}

/* Opcodes that take a memory order and its scope together or not at all. */
static bool pairs_order_and_scope(uint16_t opcode)
{
    switch (opcode) {
    case HD_OP_LD:
    case HD_OP_ST:
    case HD_OP_MULTIMEM_LD_REDUCE:
    case HD_OP_MULTIMEM_ST:
    case HD_OP_MULTIMEM_RED:
    case HD_OP_MBARRIER_ARRIVE:
    case HD_OP_MBARRIER_ARRIVE_DROP:
    case HD_OP_MBARRIER_TEST_WAIT:
    case HD_OP_MBARRIER_TRY_WAIT:
    case HD_OP_MBARRIER_EXPECT_TX:
    case HD_OP_MBARRIER_COMPLETE_TX:
    case HD_OP_RED_ASYNC: return true;
    default: return false;
    }
}

/* What no single alternative can express: the reason why the form is unknown nevertheless; NULL: it is known. */
static const char *check_whole(hd_module *module, const hd_form *form)
{
    const char *spelling = hd_names_text(&module->names, form->spelling);
    uint32_t bits = form->type_count ? form->vector * hd_types[form->types[0]].bits : 0;
    bool wide = (form->opcode == HD_OP_LD || form->opcode == HD_OP_ST) && hd_types[form->types[0]].bits >= 32;
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    if (form->vector > 1 && bits > (wide ? 256u : 128u))
        return hd_arena_printf(&module->arena, "the vector of '%s' has %u bits; at most %u fit", spelling, bits,
                               wide ? 256u : 128u);
    if (form->opcode == HD_OP_TEX && (form->vector == 2) != (form->types[0] == HD_TYPE_F16X2))
        return hd_arena_printf(&module->arena, "'%s': a texture gives four values, or .v2 of .f16x2", spelling);
    if (form->modifiers[HD_GROUP_NC] && form->space != HD_SPACE_GLOBAL)
        return hd_arena_printf(&module->arena, "'.nc' needs '.global' in '%s'", spelling);
    if (pairs_order_and_scope(form->opcode) &&
        (order && order != HD_MOD_SEM_WEAK) != (form->modifiers[HD_GROUP_SCOPE] != 0))
        return hd_arena_printf(&module->arena, "a memory order and its scope come together, in '%s' one is missing",
                               spelling);
    return NULL;
}

void hd_form_match(hd_module *module, hd_form *form, const hd_form_words *words)
{
    hd_rule_array rules = {0};
    HD_ARRAY(hd_candidate) candidates = {0};
    attempt best = {.types_fit = false, .missing_count = 1000};
    const hd_form bare = *form;
    for (const char *at = hd_opcodes[form->opcode].syntax; at; at = next_alternative(at)) {
        attempt a = try_alternative(module, &bare, words, &at);
        if (is_match(&a)) {
            hd_candidate candidate = {(uint16_t)rules.count, 0};
            at = hd_rules_compile(module, &a.form, at, &rules);
            candidate.end = (uint16_t)rules.count;
            hd_array_push(&candidates, candidate);
            if (candidates.count == 1)
                *form = a.form;
        } else if (nearer(&a, &best)) {
            best = a;
        }
    }
    if (candidates.count) {
        hd_signature *signature = HD_ARENA_NEW(&module->arena, hd_signature);
        signature->candidates =
            hd_arena_copy(&module->arena, candidates.items, candidates.count * sizeof *candidates.items);
        signature->rules = hd_arena_copy(&module->arena, rules.items, rules.count * sizeof *rules.items);
        signature->candidate_count = candidates.count;
        form->signature = signature;
        const char *why = check_whole(module, form);
        if (why) {
            *form = bare;
            form->flags |= HD_FORM_UNKNOWN_COMBINATION;
            form->error_kind = HD_DIAG_UNKNOWN_COMBINATION;
            form->error = why;
        }
    } else {
        explain(module, form, words, &best);
    }
    hd_array_free(&rules);
    hd_array_free(&candidates);
}
