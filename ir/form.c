/* Forms: splits a spelling into words, finds its row of the instruction table (the longest name that matches), and
 * matches the words with the row's syntax (ir/syntax.c). Runs once per distinct spelling of a module, linear in the
 * table; afterwards a form is one array lookup. */
#include "ir/form.h"
#include "base/search.h"
#include "ir/machine.h"
#include "ir/signature.h"

/* Whether the spelling starts with `name`, followed by its end or a dot. */
static bool starts_with_name(const char *spelling, size_t length, const char *name, size_t name_length)
{
    return name_length <= length && memcmp(spelling, name, name_length) == 0 &&
           (name_length == length || spelling[name_length] == '.');
}

static hd_opcode find_row(const char *spelling, size_t length)
{
    hd_opcode best = HD_OP_UNKNOWN;
    size_t best_length = 0;
    for (int i = HD_OP_UNKNOWN + 1; i < HD_OP_MACHINE; i++) {
        if (hd_opcodes[i].name[0] != spelling[0])
            continue;
        size_t name_length = strlen(hd_opcodes[i].name);
        if (name_length > best_length && starts_with_name(spelling, length, hd_opcodes[i].name, name_length)) {
            best = (hd_opcode)i;
            best_length = name_length;
        }
    }
    return best;
}

/* Splits ".a.b::c" at its dots; false if there are more words than any instruction has. */
static bool split(const char *text, size_t length, hd_form_words *words)
{
    const char *end = text + length;
    while (text < end && words->count < sizeof words->length) {
        const char *word = ++text;
        while (text < end && *text != '.')
            text++;
        words->text[words->count] = word;
        words->length[words->count] = (uint8_t)hd_min(text - word, 255);
        words->type[words->count] = hd_type_from_spelling(word, (size_t)(text - word));
        words->count++;
    }
    return text == end;
}

static bool is_modifier(const char *word, size_t length)
{
    for (int i = HD_MOD_NONE + 1; i < HD_MODIFIER_COUNT; i++)
        if (hd_is_name(word, length, hd_modifier_spelling((hd_modifier)i)))
            return true;
    return false;
}

/* What the modifiers of a form add to its row's behaviour. */
static uint32_t refine_behaviour(const hd_form *form)
{
    uint32_t behaviour = hd_opcodes[form->opcode].behaviour;
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    if (form->modifiers[HD_GROUP_VOLATILE] || form->modifiers[HD_GROUP_MMIO])
        behaviour |= HD_BEHAVE_VOLATILE;
    if (order == HD_MOD_SEM_ACQUIRE || order == HD_MOD_SEM_RELEASE || order == HD_MOD_SEM_ACQ_REL ||
        order == HD_MOD_SEM_SC)
        behaviour |= HD_BEHAVE_FENCE;
    if (form->modifiers[HD_GROUP_TENSORMAP])
        behaviour |= HD_BEHAVE_VOLATILE;
    if (!form->modifiers[HD_GROUP_SYNC])
        behaviour &= ~(uint32_t)HD_BEHAVE_MEET;
    return behaviour;
}

/* Checks that all words are types or modifiers of some opcode. An invalid vector length is an error, anything else
 * unknown. */
static bool check_words(hd_module *module, hd_form *form, const hd_form_words *words)
{
    for (uint32_t i = 0; i < words->count; i++) {
        const char *text = words->text[i];
        if (words->type[i] != HD_TYPE_NONE || is_modifier(text, words->length[i]))
            continue;
        bool vector = words->length[i] == 2 && text[0] == 'v' && text[1] >= '0' && text[1] <= '9';
        form->flags = vector ? HD_FORM_INVALID : HD_FORM_UNKNOWN_MODIFIER;
        form->error_kind = HD_DIAG_BAD_VECTOR;
        form->error = vector ? hd_arena_printf(&module->arena, "'.%.2s': vectors have 2, 4 or 8 elements", text)
                             : hd_arena_string(&module->arena, text, words->length[i]);
        return false;
    }
    return true;
}

/* Words of an mma's name (mma.sp, mma.sp::ordered_metadata) may appear among its modifiers, as some libraries spell
 * it. */
static void take_name_word(hd_form *form, hd_form_words *words)
{
    static const uint16_t sparse[] = {HD_OP_MMA_SP, HD_OP_MMA_SP_ORDERED};
    if (form->opcode != HD_OP_MMA)
        return;
    size_t first = strlen(hd_opcodes[HD_OP_MMA].name) + 1;
    for (uint32_t i = 0; i < words->count; i++)
        for (uint32_t k = 0; k < sizeof sparse / sizeof *sparse; k++) {
            const char *word = hd_opcodes[sparse[k]].name + first;
            if (words->length[i] != strlen(word) || memcmp(words->text[i], word, words->length[i]) != 0)
                continue;
            form->opcode = sparse[k];
            words->count--;
            for (uint32_t w = i; w < words->count; w++) {
                words->text[w] = words->text[w + 1];
                words->length[w] = words->length[w + 1];
                words->type[w] = words->type[w + 1];
            }
            return;
        }
}

/* ".const[2]", a constant bank, denotes the constant space before PTX 2.2; later it is an error. */
static bool take_banks(hd_module *module, hd_form *form, hd_form_words *words)
{
    static const char bank[] = "const[";
    for (uint32_t i = 0; i < words->count; i++) {
        if (words->length[i] <= strlen(bank) || memcmp(words->text[i], bank, strlen(bank)) != 0)
            continue;
        words->length[i] = (uint8_t)strlen("const");
        if (module->version_major * 10 + module->version_minor >= 22) {
            form->flags = HD_FORM_INVALID;
            form->error_kind = HD_DIAG_BAD_MODIFIER;
            form->error = "constant banks were removed in PTX 2.2";
            return false;
        }
    }
    return true;
}

static void decode(hd_module *module, hd_form *form)
{
    const char *text = hd_names_text(&module->names, form->spelling);
    size_t length = hd_names_length(&module->names, form->spelling);
    hd_form_words words = {.count = 0};
    form->vector = 1;
    form->opcode = (uint16_t)find_row(text, length);
    if (form->opcode == HD_OP_UNKNOWN) {
        form->flags = HD_FORM_UNKNOWN_OPCODE;
        form->behaviour = hd_opcodes[HD_OP_UNKNOWN].behaviour;
        return;
    }
    size_t name_length = strlen(hd_opcodes[form->opcode].name);
    if (!split(text + name_length, length - name_length, &words)) {
        form->flags = HD_FORM_INVALID;
        form->error_kind = HD_DIAG_BAD_MODIFIER;
        form->error = "more modifiers than any instruction takes";
        return;
    }
    take_name_word(form, &words);
    form->behaviour = refine_behaviour(form);
    if (!take_banks(module, form, &words) || !check_words(module, form, &words))
        return;
    hd_form_match(module, form, &words);
    form->behaviour = refine_behaviour(form);
    if (form->modifiers[HD_GROUP_CC])
        form->flags |= HD_FORM_WRITES_CARRY;
    if (form->opcode == HD_OP_ADDC || form->opcode == HD_OP_SUBC || form->opcode == HD_OP_MADC)
        form->flags |= HD_FORM_READS_CARRY;
}

uint32_t hd_form_of(hd_module *module, hd_name spelling)
{
    if (spelling < module->form_of_name.count && module->form_of_name.items[spelling])
        return module->form_of_name.items[spelling] - 1;
    hd_form form = {.spelling = spelling};
    decode(module, &form);
    hd_array_push(&module->forms, form);
    while (module->form_of_name.count <= spelling)
        hd_array_push(&module->form_of_name, 0);
    module->form_of_name.items[spelling] = module->forms.count;
    return module->forms.count - 1;
}

hd_unit hd_form_unit(const hd_form *form)
{
    if (form->machine)
        return hd_machine_form_unit(form->machine);
    hd_unit unit = (hd_unit)hd_opcodes[form->opcode].unit;
    bool moves = form->opcode == HD_OP_MOV || form->opcode == HD_OP_CVT || form->opcode == HD_OP_CVT_PACK ||
                 form->opcode == HD_OP_REDUX;
    if (unit != HD_UNIT_INT && unit != HD_UNIT_SP && unit != HD_UNIT_SFU)
        return unit;
    bool is_float = false, is_double = false;
    for (uint32_t i = 0; i < form->type_count; i++) {
        is_float |= hd_types[form->types[i]].class == HD_CLASS_FLOAT;
        is_double |= form->types[i] == HD_TYPE_F64;
    }
    if (moves)
        return is_double && form->opcode == HD_OP_CVT ? HD_UNIT_DP : unit;
    if (is_double)
        return HD_UNIT_DP;
    if (unit == HD_UNIT_SFU)
        return is_float ? HD_UNIT_SFU : HD_UNIT_INT;
    return is_float ? HD_UNIT_SP : unit;
}
