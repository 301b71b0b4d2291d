/* Static facts about instructions: see ops.h. Linear in the operands. */
#include "hwmodel/sm/ops.h"

#include "hwmodel/record/record.h"
#include "ir/form.h"

typedef enum family { MOVE, ADD, MIN, MUL, MAD, DIV, SPECIAL, EXCHANGE } family;

static const uint8_t families[HD_OPCODE_COUNT] = {
#define HD_SM_FAMILY(opcode, family) [HD_OP_##opcode] = family,
#include "hwmodel/sm/families.def"
#undef HD_SM_FAMILY
};

#define CLASSES(what)                                                                       \
    {                                                                                       \
        HD_MACHINE_CLASS_INT_##what, HD_MACHINE_CLASS_FP_##what, HD_MACHINE_CLASS_DP_##what \
    }
#define SAME(what)                                                                \
    {                                                                             \
        HD_MACHINE_CLASS_##what, HD_MACHINE_CLASS_##what, HD_MACHINE_CLASS_##what \
    }
/* Classes by family: of integers, floats and doubles. */
static const uint8_t classes[][3] = {
    [MOVE] = SAME(MOVE),
    [ADD] = CLASSES(ADD),
    [MIN] = CLASSES(MIN),
    [MUL] = CLASSES(MUL),
    [MAD] = CLASSES(MAD),
    [DIV] = CLASSES(DIV),
    [SPECIAL] = {HD_MACHINE_CLASS_SFU, HD_MACHINE_CLASS_SFU, HD_MACHINE_CLASS_DP_DIV},
    [EXCHANGE] = SAME(SHUFFLE),
};

static uint8_t class_of(const hd_form *form)
{
    const uint8_t *of = classes[families[form->opcode]];
    if (form->machine)
        return hd_sm_machine_class(form->machine);
    switch (hd_form_unit(form)) {
    case HD_UNIT_NONE:
    case HD_UNIT_CTRL: return HD_MACHINE_CLASS_MOVE;
    case HD_UNIT_INT:
    case HD_UNIT_SFU: /* division by rows of the table, too: the type decides */
    case HD_UNIT_SP: {
        bool is_float = form->type_count && hd_types[form->types[0]].class == HD_CLASS_FLOAT;
        return of[is_float];
    }
    case HD_UNIT_DP: return of[2];
    case HD_UNIT_LDST:
    case HD_UNIT_TEX: return HD_MACHINE_CLASS_MEMORY;
    case HD_UNIT_TENSOR: return HD_MACHINE_CLASS_TENSOR;
    }
    return HD_MACHINE_CLASS_MOVE;
}

static bool bypasses_l1(const hd_form *form)
{
    uint16_t cache = form->modifiers[HD_GROUP_CACHE];
    return cache == HD_MOD_CACHE_CG || cache == HD_MOD_CACHE_CV || form->modifiers[HD_GROUP_VOLATILE] ||
           form->behaviour & HD_BEHAVE_ATOMIC;
}

static uint16_t traits_of(const hd_form *form, bool writes)
{
    bool copies = form->opcode == HD_OP_CP_ASYNC || (form->machine && form->behaviour & HD_BEHAVE_ASYNC);
    const struct {
        bool has;
        uint16_t trait;
    } all[] = {
        {form->behaviour & HD_BEHAVE_LOAD && writes, HD_SM_LOAD},
        {form->behaviour & HD_BEHAVE_STORE && !copies, HD_SM_STORE},
        {form->behaviour & HD_BEHAVE_ATOMIC, HD_SM_ATOMIC},
        {hd_record_arrives(form), HD_SM_BARRIER},
        {form->behaviour & (HD_BEHAVE_BRANCH | HD_BEHAVE_CALL | HD_BEHAVE_RETURN), HD_SM_CONTROL},
        {bypasses_l1(form), HD_SM_BYPASS_L1},
        {form->modifiers[HD_GROUP_NC], HD_SM_READ_ONLY},
        {form->behaviour & HD_BEHAVE_TEXTURE, HD_SM_TEXTURE},
        {form->opcode == HD_OP_MEMBAR || form->opcode == HD_OP_FENCE, HD_SM_FENCE},
        {form->opcode == HD_OP_CP_ASYNC, HD_SM_COPY},
        {form->opcode == HD_OP_CP_ASYNC_MBARRIER_ARRIVE, HD_SM_ARRIVE_COPIES},
        {form->opcode == HD_OP_CP_ASYNC_COMMIT_GROUP, HD_SM_COMMIT},
        {form->opcode == HD_OP_CP_ASYNC_WAIT_GROUP || form->opcode == HD_OP_CP_ASYNC_WAIT_ALL, HD_SM_WAIT_COPIES},
    };
    uint16_t traits = form->machine ? hd_sm_machine_traits(form->machine) : 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        traits = (uint16_t)(traits | (all[i].has ? all[i].trait : 0));
    return traits;
}

/* Objects of mbarriers are in shared memory, and traces have their offsets in it. */
static uint8_t space_of(const hd_form *form)
{
    const char *name = hd_opcodes[form->opcode].name;
    return strncmp(name, "mbarrier.", 9) == 0 || form->opcode == HD_OP_CP_ASYNC_MBARRIER_ARRIVE ? HD_SPACE_SHARED
                                                                                                : form->space;
}

static uint64_t literal_of(const hd_function *f, const hd_instruction *insn, uint32_t operand)
{
    const hd_operand *o = hd_insn_operands(f, insn);
    while (operand--)
        o += hd_operand_extent(o);
    return f->module->literals.items[o->value].bits;
}

static uint32_t groups_of(const hd_function *f, const hd_instruction *insn)
{
    switch (hd_insn_form(f, insn)->opcode) {
    case HD_OP_CP_ASYNC_WAIT_GROUP: return (uint32_t)literal_of(f, insn, 0);
    case HD_OP_CP_ASYNC_WAIT_ALL: return HD_SM_ALL_COPIES;
    default: return 0;
    }
}

/* By word of the frame: 1 + the number of the general register; 0: it is none. */
static uint16_t *number_words(const hd_rf_code *code, hd_arena *arena)
{
    const hd_function *f = code->function;
    uint16_t *numbers = HD_ARENA_ARRAY(arena, uint16_t, code->storage.frame + 1);
    for (uint32_t r = 0; r < f->registers.count; r++)
        if (f->registers.items[r].type == HD_TYPE_B32)
            HD_STORAGE_WORDS (&code->storage, r, word)
                numbers[word] = (uint16_t)(f->registers.items[r].index + 1);
    return numbers;
}

/* The bytes of one lane's access, of all elements of a vector. */
static uint16_t bytes_of(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    if (form->machine)
        return hd_sm_machine_bytes(form->machine);
    if (form->opcode == HD_OP_CP_ASYNC)
        return (uint16_t)literal_of(f, insn, 2);
    uint32_t bits = form->type_count ? hd_types[form->types[0]].bits : 32;
    return (uint16_t)((bits < 8 ? 8 : bits) / 8 * (form->vector ? form->vector : 1));
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

typedef struct decoding {
    const hd_rf_code *code;
    uint32_t *predicate; /* by register: its name; HD_NONE: it is none, or has none yet */
    uint32_t register_count;
    hd_u32_array registers;
} decoding;

static void add_predicate(decoding *d, uint32_t reg)
{
    if (d->predicate[reg] == HD_NONE)
        d->predicate[reg] = d->register_count++;
    hd_array_push(&d->registers, d->predicate[reg]);
}

static void add_predicates(decoding *d, const hd_instruction *insn, uint32_t flag)
{
    const hd_function *f = d->code->function;
    HD_INSN_REGISTERS (f, insn, o)
        if (o->flags & flag && !hd_register_words(f, o->value))
            add_predicate(d, o->value);
}

static void decode_registers(decoding *d, uint32_t i, hd_sm_op *op)
{
    const hd_rf_code *code = d->code;
    const hd_instruction *insn = &code->function->instructions.items[i];
    op->register_first = d->registers.count;
    for (uint32_t s = code->source_first[i]; s < code->source_first[i + 1]; s++)
        hd_array_push(&d->registers, code->sources[s]);
    if (insn->guard != HD_NONE)
        add_predicate(d, insn->guard);
    add_predicates(d, insn, HD_OPERAND_USE);
    op->reads = (uint16_t)(d->registers.count - op->register_first);
    for (uint32_t k = code->destination_first[i]; k < code->destination_first[i + 1]; k++)
        hd_array_push(&d->registers, code->destinations[k].word);
    add_predicates(d, insn, HD_OPERAND_DEF);
    op->writes = (uint16_t)(d->registers.count - op->register_first - op->reads);
}

static void decode(const hd_rf_code *code, hd_arena *arena, hd_sm_function *to, bool *has_codes)
{
    const hd_function *f = code->function;
    decoding d = {.code = code, .register_count = code->storage.frame};
    d.predicate = hd_malloc((f->registers.count + 1) * sizeof *d.predicate);
    for (uint32_t r = 0; r < f->registers.count; r++)
        d.predicate[r] = HD_NONE;
    to->ops = HD_ARENA_ARRAY(arena, hd_sm_op, f->instructions.count + 1);
    if (f->machine) {
        to->slots = HD_ARENA_ARRAY(arena, hd_machine_slots, f->instructions.count + 1);
        to->numbers = number_words(code, arena);
        to->frame = code->storage.frame;
    }
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_form *form = hd_insn_form(f, &f->instructions.items[i]);
        hd_sm_op *op = &to->ops[i];
        decode_registers(&d, i, op);
        *op = (hd_sm_op){.class = class_of(form),
                         .space = space_of(form),
                         .unit = (uint8_t)hd_form_unit(form),
                         .traits = traits_of(form, op->writes),
                         .bytes = bytes_of(f, &f->instructions.items[i]),
                         .groups = groups_of(f, &f->instructions.items[i]),
                         .register_first = op->register_first,
                         .reads = op->reads,
                         .writes = op->writes};
        *has_codes = *has_codes && f->machine && hd_sm_machine_control(f, i, &op->control);
        if (*has_codes)
            to->slots[i] = hd_sm_machine_slots(f, i);
    }
    to->register_count = d.register_count;
    to->issued = code->storage.issued;
    to->length = code->storage.issued[f->instructions.count];
    to->registers = hd_arena_copy(arena, d.registers.items, d.registers.count * sizeof *d.registers.items);
    hd_array_free(&d.registers);
    free(d.predicate);
}

hd_sm_code *hd_sm_code_new(const hd_rf_module *code)
{
    hd_sm_code *c = hd_calloc(1, sizeof *c);
    uint32_t count = code->module->functions.count;
    c->code = code;
    c->has_codes = true;
    c->functions = HD_ARENA_ARRAY(&c->arena, hd_sm_function, count);
    for (uint32_t f = 0; f < count; f++) {
        if (code->functions[f])
            decode(code->functions[f], &c->arena, &c->functions[f], &c->has_codes);
        c->register_count =
            c->functions[f].register_count > c->register_count ? c->functions[f].register_count : c->register_count;
    }
    return c;
}

void hd_sm_code_free(hd_sm_code *c)
{
    if (!c)
        return;
    hd_arena_free(&c->arena);
    free(c);
}
