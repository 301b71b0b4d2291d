/* The text of one annotation: `name value,value` in comments and .heddle statements, `.name::value_value` in modifiers.
 * The syntax is defined in heddle-annotations(7). Linear in the text; looking up a register is linear in the function's
 * declarations. */
#include "parser/annotations.h"

#include "base/scan.h"
#include "ir/opcode_text.h"

#include <stdio.h>

typedef struct scan {
    hd_function *function;
    const char *text;
    uint32_t at, end;
    char separator; /* between the values of slots: ',' or '_' */
    const hd_annotation_info *info;
    hd_annotation_set *into;
    bool wrong;
} scan;

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '%' || c == '.';
}

static void skip_spaces(scan *s) { s->at = hd_after_spaces(s->text, s->at, s->end); }

static hd_span next_word(scan *s)
{
    skip_spaces(s);
    hd_span word = {s->at, s->at};
    while (s->at < s->end && is_word(s->text[s->at]) && s->text[s->at] != s->separator)
        s->at++;
    word.end = s->at;
    return word;
}

static bool next_is(scan *s, char c)
{
    skip_spaces(s);
    if (s->at >= s->end || s->text[s->at] != c)
        return false;
    s->at++;
    return true;
}

static bool is_text(const scan *s, hd_span word, const char *text)
{
    return word.end - word.begin == strlen(text) && memcmp(s->text + word.begin, text, word.end - word.begin) == 0;
}

static void complain(scan *s, hd_span span, const char *what)
{
    hd_module *module = s->function->module;
    if (span.end == span.begin)
        span.end = span.begin < s->end ? span.begin + 1 : span.begin;
    if (!s->wrong)
        hd_report(module->diagnostics, HD_DIAG_BAD_ANNOTATION, module->source, span, "annotation '%s': %s",
                  s->info->name, what);
    s->wrong = true;
}

/* Decimal or 0x hexadecimal, below 2^32. */
static bool to_number(const char *text, hd_span word, uint32_t *number)
{
    bool hexadecimal = word.end - word.begin > 2 && text[word.begin] == '0' && text[word.begin + 1] == 'x';
    const char *digits = text + word.begin + (hexadecimal ? 2 : 0), *end = text + word.end;
    uint64_t value;
    bool good = hd_take_number(&digits, end, hexadecimal ? 16 : 10, UINT32_MAX, &value) && digits == end;
    *number = good ? (uint32_t)value : *number;
    return good;
}

static uint32_t read_number(scan *s)
{
    uint32_t number = 0;
    hd_span word = next_word(s);
    if (!to_number(s->text, word, &number))
        complain(s, word, "a number below 2^32 is expected");
    return number;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

/* Index of the register that `name` (without component) denotes under a declaration; HD_NONE: it is not declared
 * there. */
static uint32_t declared_index(const scan *s, const hd_declaration *declaration, hd_span name)
{
    const hd_names *names = &s->function->module->names;
    uint32_t length = hd_names_length(names, declaration->name), index = 0;
    if (name.end - name.begin < length ||
        memcmp(s->text + name.begin, hd_names_text(names, declaration->name), length) != 0)
        return HD_NONE;
    hd_span rest = {name.begin + length, name.end};
    if (declaration->count == HD_NONE)
        return rest.begin == rest.end ? 0 : HD_NONE;
    return to_number(s->text, rest, &index) && index < declaration->count ? index : HD_NONE;
}

/* Cuts `.x` .. `.w` off the name; returns the component, 0 if there is none. */
static uint32_t cut_component(const scan *s, hd_span *name)
{
    static const char letters[] = "xyzw";
    if (name->end - name->begin < 2 || s->text[name->end - 2] != '.')
        return 0;
    const char *letter = memchr(letters, s->text[name->end - 1], 4);
    if (!letter)
        return 0;
    name->end -= 2;
    return (uint32_t)(letter - letters);
}

static uint32_t find_declaration(scan *s, hd_span name, bool numbered, uint32_t number)
{
    uint32_t found = HD_NONE, count = s->function->declarations.count;
    for (uint32_t i = numbered ? number : 0; i < count && !(numbered && i > number); i++) {
        if (declared_index(s, &s->function->declarations.items[i], name) == HD_NONE)
            continue;
        if (found != HD_NONE)
            complain(s, name, "this register is declared more than once; write NAME:DECLARATION");
        found = i;
    }
    return found;
}

static uint32_t read_register(scan *s, hd_register_keys *keys)
{
    hd_span word = next_word(s), name = word;
    uint32_t component = cut_component(s, &name), number = 0;
    bool numbered = next_is(s, ':');
    if (numbered)
        number = read_number(s);
    uint32_t d = find_declaration(s, name, numbered, number), reg = HD_NONE;
    if (d != HD_NONE) {
        const hd_declaration *declaration = &s->function->declarations.items[d];
        uint32_t components = hd_max(declaration->vector, 1);
        uint32_t index = declared_index(s, declaration, name) * components + component;
        reg = component < components ? hd_register_keys_find(keys, (hd_register_key){d, index}) : HD_NONE;
    }
    if (reg == HD_NONE)
        complain(s, word, "a register of the function is expected");
    return reg;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void read_list(scan *s, hd_annotation *a)
{
    hd_register_keys keys = {0};
    a->value = s->into->words.count;
    if (!next_is(s, '(')) {
        complain(s, (hd_span){s->at, s->at}, "a list in parentheses is expected");
        return;
    }
    if (s->info->value == HD_VALUE_REGISTERS)
        hd_register_keys_init(&keys, s->function);
    if (!next_is(s, ')')) {
        do {
            uint32_t word = s->info->value == HD_VALUE_REGISTERS ? read_register(s, &keys) : read_number(s);
            hd_array_push(&s->into->words, word);
        } while (!s->wrong && next_is(s, ','));
        if (!s->wrong && !next_is(s, ')'))
            complain(s, (hd_span){s->at, s->at}, "',' or ')' is expected");
    }
    a->count = s->into->words.count - a->value;
    hd_register_keys_free(&keys);
}

static void read_word(scan *s, hd_annotation *a)
{
    hd_span word = next_word(s);
    if (s->info->value == HD_VALUE_FLAG) {
        if (!is_text(s, word, "set"))
            complain(s, word, "'set' or 'none' is expected");
        return;
    }
    a->value = hd_annotation_word_find(s->info, s->text + word.begin, word.end - word.begin);
    if (a->value == HD_NONE) {
        char what[160];
        snprintf(what, sizeof what, "one of %s is expected", s->info->words);
        complain(s, word, what);
    }
}

static void read_value(scan *s, hd_annotation *a)
{
    switch ((hd_annotation_value)s->info->value) {
    case HD_VALUE_FLAG:
    case HD_VALUE_CHOICE: read_word(s, a); break;
    case HD_VALUE_NUMBER:
    case HD_VALUE_BITS: a->value = read_number(s); break;
    case HD_VALUE_REGISTERS:
    case HD_VALUE_NUMBERS: read_list(s, a); break;
    }
}

static bool skip_none(scan *s)
{
    uint32_t begin = s->at;
    if (is_text(s, next_word(s), "none"))
        return true;
    s->at = begin;
    return false;
}

static void read_slots(scan *s, hd_annotation a)
{
    const hd_instruction *insn = &s->function->instructions.items[a.instruction];
    uint32_t count = s->info->anchor == HD_ANCHOR_SOURCE ? hd_insn_source_count(s->function, insn)
                                                         : hd_insn_destination_count(s->function, insn);
    uint32_t slot = 0;
    do {
        skip_spaces(s);
        hd_span here = {s->at, s->at};
        if (slot >= count) {
            complain(s, here,
                     s->info->anchor == HD_ANCHOR_SOURCE
                         ? "more values than the instruction has source registers"
                         : "more values than the instruction has destination registers");
            return;
        }
        a.slot = (uint16_t)slot++;
        if (skip_none(s))
            continue;
        read_value(s, &a);
        if (!s->wrong)
            hd_array_push(&s->into->items, a);
    } while (!s->wrong && next_is(s, s->separator));
}

/* Reads values up to the end of the text. */
static hd_text_outcome read_values(scan *s, uint32_t instruction)
{
    hd_annotation a = {.kind = s->info->number, .instruction = instruction};
    if ((instruction == HD_NONE) != (s->info->anchor == HD_ANCHOR_FUNCTION))
        complain(s, (hd_span){s->at, s->at},
                 instruction == HD_NONE ? "it belongs to an instruction" : "it belongs to the whole function");
    if (s->wrong)
        return HD_TEXT_WRONG;
    if (hd_annotation_has_slots(s->info)) {
        read_slots(s, a);
    } else {
        if (s->info->value != HD_VALUE_FLAG)
            read_value(s, &a);
        if (!s->wrong)
            hd_array_push(&s->into->items, a);
    }
    skip_spaces(s);
    if (s->at < s->end)
        complain(s, (hd_span){s->at, s->end}, "text after its value");
    return s->wrong ? HD_TEXT_WRONG : HD_TEXT_READ;
}

const hd_annotation_info *hd_annotation_text_kind(const char *text, hd_span span)
{
    scan s = {.text = text, .at = span.begin, .end = span.end};
    hd_span name = next_word(&s);
    return hd_annotation_find_name(text + name.begin, name.end - name.begin);
}

hd_text_outcome hd_annotation_read_text(hd_function *function, hd_span span, uint32_t instruction,
                                        hd_annotation_set *into)
{
    scan s = {.function = function,
              .text = function->module->source->text,
              .at = span.begin,
              .end = span.end,
              .separator = ',',
              .into = into};
    s.info = hd_annotation_text_kind(s.text, span);
    if (!s.info)
        return HD_TEXT_UNKNOWN;
    next_word(&s);
    return read_values(&s, instruction);
}

hd_text_outcome hd_annotation_read_modifier(hd_function *function, hd_span span, uint32_t instruction,
                                            hd_annotation_set *into)
{
    scan s = {
        .function = function, .text = function->module->source->text, .end = span.end, .separator = '_', .into = into};
    size_t value;
    s.info = hd_annotation_modifier(s.text + span.begin, span.end - span.begin, &value);
    if (!s.info)
        return HD_TEXT_UNKNOWN;
    s.at = span.begin + (uint32_t)value;
    if (hd_annotation_is_list(s.info)) {
        complain(&s, span, "a list is no modifier; write '.heddle NAME LIST;' before the instruction");
        return HD_TEXT_WRONG;
    }
    return read_values(&s, instruction);
}
