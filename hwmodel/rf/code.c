/* Operands of the register file: see code.h. Linear in the operands. */
#include "hwmodel/rf/code.h"
#include "ir/form.h"

static bool is_listed(const uint32_t *words, uint32_t from, uint32_t end, uint32_t word)
{
    for (uint32_t i = from; i < end; i++)
        if (words[i] == word)
            return true;
    return false;
}

typedef struct hd_decoding {
    hd_u32_array sources;
    HD_ARRAY(hd_rf_destination) destinations;
} hd_decoding;

static void decode_operands(const hd_rf_code *code, const hd_instruction *insn, hd_decoding *d)
{
    uint32_t first = d->sources.count, slot = 0;
    HD_INSN_REGISTERS (code->function, insn, o) {
        uint32_t word = code->storage.first[o->value], words = hd_storage_count(&code->storage, o->value);
        if (!hd_register_words(code->function, o->value))
            continue;
        for (uint32_t w = 0; w < words && (o->flags & HD_OPERAND_USE); w++)
            if (!is_listed(d->sources.items, first, d->sources.count, word + w))
                hd_array_push(&d->sources, word + w);
        for (uint32_t w = 0; w < words && (o->flags & HD_OPERAND_DEF); w++)
            hd_array_push(&d->destinations, (hd_rf_destination){word + w, slot});
        slot += (o->flags & HD_OPERAND_DEF) != 0;
    }
}

/* A return reads the function's results in registers, as any later use would. */
static void add_results(const hd_rf_code *code, const hd_instruction *insn, hd_decoding *d)
{
    const hd_function *f = code->function;
    uint32_t first = d->sources.count;
    if (!f->register_results.count || !(hd_insn_form(f, insn)->behaviour & HD_BEHAVE_RETURN))
        return;
    for (uint32_t i = 0; i < f->register_results.count; i++) {
        HD_STORAGE_WORDS (&code->storage, f->register_results.items[i], word)
            if (!is_listed(d->sources.items, first, d->sources.count, word))
                hd_array_push(&d->sources, word);
    }
}

static bool is_near(uint8_t space)
{
    return space == HD_SPACE_SHARED || space == HD_SPACE_SHARED_CTA || space == HD_SPACE_SHARED_CLUSTER ||
           space == HD_SPACE_CONST || space == HD_SPACE_PARAM || space == HD_SPACE_PARAM_ENTRY ||
           space == HD_SPACE_PARAM_FUNC;
}

/* Generic accesses count as global ones. What brings no register a value (red, cp.async) makes nobody wait. */
static uint8_t traits_of(const hd_function *f, const hd_instruction *insn, bool writes)
{
    const hd_form *form = hd_insn_form(f, insn);
    bool reads = (form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_ATOMIC | HD_BEHAVE_TEXTURE)) != 0;
    return (uint8_t)((form->behaviour & HD_BEHAVE_BARRIER ? HD_RF_BARRIER : 0) |
                     (reads && writes && !is_near(form->space) ? HD_RF_LONG : 0));
}

static uint64_t touches_of(const hd_rf_code *code, const hd_decoding *d, uint32_t insn)
{
    uint64_t set = 0;
    for (uint32_t s = code->source_first[insn]; s < d->sources.count; s++)
        set |= hd_rf_touch(d->sources.items[s]);
    for (uint32_t k = code->destination_first[insn]; k < d->destinations.count; k++)
        set |= hd_rf_touch(d->destinations.items[k].word);
    return set;
}

static hd_rf_code *decode(const hd_function *f, hd_arena *arena)
{
    hd_rf_code *code = HD_ARENA_NEW(arena, hd_rf_code);
    code->function = f;
    code->instruction_count = f->instructions.count;
    code->storage = hd_storage_of(f, arena);
    code->source_first = HD_ARENA_ARRAY(arena, uint32_t, f->instructions.count + 1);
    code->destination_first = HD_ARENA_ARRAY(arena, uint32_t, f->instructions.count + 1);
    code->traits = HD_ARENA_ARRAY(arena, uint8_t, f->instructions.count + 1);
    code->touches = HD_ARENA_ARRAY(arena, uint64_t, f->instructions.count + 1);
    hd_decoding d = {0};
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        if (!hd_storage_skips(&code->storage, i)) {
            decode_operands(code, &f->instructions.items[i], &d);
            add_results(code, &f->instructions.items[i], &d);
        }
        code->source_first[i + 1] = d.sources.count;
        code->destination_first[i + 1] = d.destinations.count;
        code->touches[i] = touches_of(code, &d, i);
        code->traits[i] = traits_of(f, &f->instructions.items[i], code->destination_first[i] != d.destinations.count);
    }
    code->sources = hd_arena_copy(arena, d.sources.items, d.sources.count * sizeof *d.sources.items);
    code->destinations =
        hd_arena_copy(arena, d.destinations.items, d.destinations.count * sizeof *d.destinations.items);
    hd_array_free(&d.sources);
    hd_array_free(&d.destinations);
    return code;
}

hd_rf_module *hd_rf_module_new(const hd_module *module)
{
    hd_rf_module *code = hd_calloc(1, sizeof *code);
    code->module = module;
    code->functions = HD_ARENA_ARRAY(&code->arena, hd_rf_code *, module->functions.count);
    for (uint32_t f = 0; f < module->functions.count; f++)
        if (module->functions.items[f]->has_body)
            code->functions[f] = decode(module->functions.items[f], &code->arena);
    hd_rf_code_find_registers(code);
    return code;
}

void hd_rf_module_free(hd_rf_module *code)
{
    if (!code)
        return;
    hd_arena_free(&code->arena);
    free(code);
}
