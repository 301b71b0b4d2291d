/* DeMO: operands in memory. "DeMO: direct memory operands", section III.B.
 *
 * A load that the compiler annotated has a virtual destination: the load unit delivers the value to the operand
 * collector of the warp's next instruction that is no such load. The value is neither written to nor read from the
 * register file. Everything else is as in the baseline. The collector keeps the values of all such operands of the
 * instruction until it is complete.
 *
 * Counted as well, for the paper's figure 1: values that a load wrote and that are read exactly once before the
 * register is written again, whether the compiler found them or not; one write and one read each. Of them, those that
 * arithmetic reads and those that are stored (section I: more than half of the loads, and 26 %), by the instruction
 * that reads them.
 *
 * Storage overhead: none, so storage_bits stays 0. The paper (section III.B) adds opcodes to the decoder and a direct
 * line from the load units to the collectors, whose buffers exist already. Allocation is not recorded either: no
 * register is renamed or freed, and each warp has those of the baseline.
 *
 * Cost: O(1) an operand.
 */
#include "base/bitset.h"
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/technique.h"
#include "ir/form.h"

enum { HD_DEMO_WORDS = 16 }; /* of the operands of an instruction: four of 128 bits */
typedef enum hd_demo_life {  /* from READ_BY_ARITHMETIC on: read once, by which kind of instruction */
                            HD_DEMO_NOT_LOADED,
                            HD_DEMO_LOADED,
                            HD_DEMO_READ_OFTEN,
                            HD_DEMO_READ_BY_ARITHMETIC,
                            HD_DEMO_READ_BY_STORE,
                            HD_DEMO_READ_OTHERWISE
} hd_demo_life;

typedef struct hd_demo_span { /* words of an operand in memory; the next one is of the same instruction */
    uint32_t first, end;
    bool last;
} hd_demo_span;

typedef struct hd_demo_warp {
    uint32_t count; /* words that the load unit delivered to the collector */
    hd_owner owners[HD_DEMO_WORDS];
    hd_claim claims[HD_DEMO_WORDS];
    HD_ARRAY(uint8_t) lives; /* by register index in the warp */
} hd_demo_warp;

typedef struct hd_demo {
    hd_rf_model model;
    hd_rf_file file;
    HD_ARRAY(hd_demo_warp *) warps; /* by slot */
    hd_arena arena;
    hd_bitset *loads; /* by function, by instruction: annotated loads */
    /* by function, by instruction: 1 + index of its first operand in memory in `spans`; 0: none */
    uint32_t **operands;
    HD_ARRAY(hd_demo_span) spans;
} hd_demo;

static void read_function(hd_demo *demo, uint32_t f, const hd_rf_code *code)
{
    const hd_function *function = code->function;
    demo->loads[f] = hd_bitset_new(&demo->arena, code->instruction_count + 1);
    demo->operands[f] = HD_ARENA_ARRAY(&demo->arena, uint32_t, code->instruction_count + 1);
    for (uint32_t a = 0; a < function->annotations.count; a++) {
        const hd_annotation *note = &function->annotations.items[a];
        if (note->kind == HD_ANNOTATION_DEMO)
            hd_bitset_add(&demo->loads[f], note->instruction);
        if (note->kind != HD_ANNOTATION_DEMO_OPERAND)
            continue;
        uint32_t operand = hd_insn_source_slot(function, &function->instructions.items[note->instruction], note->slot);
        if (operand == HD_NONE)
            continue;
        uint32_t reg = function->operands.items[operand].value, first = code->storage.first[reg];
        if (demo->operands[f][note->instruction]) /* annotations come in the order of instructions */
            hd_array_last(&demo->spans).last = false;
        else
            demo->operands[f][note->instruction] = demo->spans.count + 1;
        hd_array_push(&demo->spans, ((hd_demo_span){first, first + hd_register_words(function, reg), true}));
    }
}

static hd_rf_model *demo_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)options, (void)refusal;
    hd_demo *demo = hd_calloc(1, sizeof *demo);
    uint32_t count = code->module->functions.count;
    demo->loads = HD_ARENA_ARRAY(&demo->arena, hd_bitset, count);
    demo->operands = HD_ARENA_ARRAY(&demo->arena, uint32_t *, count);
    for (uint32_t f = 0; f < count; f++)
        if (code->functions[f])
            read_function(demo, f, code->functions[f]);
    return &demo->model;
}

static void demo_destroy(hd_rf_model *model)
{
    hd_demo *demo = (hd_demo *)model;
    for (uint32_t i = 0; i < demo->warps.count; i++) {
        hd_array_free(&demo->warps.items[i]->lives);
        free(demo->warps.items[i]);
    }
    hd_array_free(&demo->warps);
    hd_array_free(&demo->spans);
    hd_rf_file_free(&demo->file);
    hd_arena_free(&demo->arena);
    free(demo);
}

static hd_demo_warp *warp_of(hd_rf_model *model, const hd_rf_warp *warp)
{
    return ((hd_demo *)model)->warps.items[warp->slot];
}

/* ---- lives of warps, frames and values --------------------------------------------------------------------------- */

static void end_life(hd_rf_model *model, hd_demo_warp *w, uint32_t index)
{
    uint8_t life = w->lives.items[index];
    if (life < HD_DEMO_READ_BY_ARITHMETIC)
        return;
    hd_rf_event(model, HD_COUNTER_SINGLE_USE, 2);
    if (life == HD_DEMO_READ_BY_ARITHMETIC)
        hd_rf_event(model, HD_COUNTER_SINGLE_ARITHMETIC, 2);
    else if (life == HD_DEMO_READ_BY_STORE)
        hd_rf_event(model, HD_COUNTER_SINGLE_STORED, 2);
}

static void demo_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_demo *demo = (hd_demo *)model;
    while (demo->warps.count <= warp->slot)
        hd_array_push(&demo->warps, hd_calloc(1, sizeof(hd_demo_warp)));
    hd_demo_warp *w = warp_of(model, warp);
    w->count = 0;
    hd_array_clear(&w->lives);
}

static void demo_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    uint32_t words = warp->identity.registers.count - warp->identity.base;
    uint8_t *fresh = hd_array_extend(&warp_of(model, warp)->lives, words);
    if (words)
        memset(fresh, HD_DEMO_NOT_LOADED, words);
    hd_rf_file_frame_begin(&((hd_demo *)model)->file, warp);
}

static void demo_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_demo_warp *w = warp_of(model, warp);
    for (uint32_t i = warp->identity.base; i < w->lives.count; i++)
        end_life(model, w, i);
    w->lives.count = warp->identity.base;
}

/* ---- operands and results ---------------------------------------------------------------------------------------- */

static bool comes_from_memory(const hd_demo *demo, const hd_rf_step *step, uint32_t word)
{
    uint32_t index = demo->operands[step->function][step->instruction];
    if (!index)
        return false;
    for (const hd_demo_span *s = &demo->spans.items[index - 1];; s++)
        if (word >= s->first && word < s->end)
            return true;
        else if (s->last)
            return false;
}

static bool is_arithmetic(const hd_form *form)
{
    hd_unit unit = hd_form_unit(form);
    return form->opcode != HD_OP_MOV && form->behaviour == 0 &&
           (unit == HD_UNIT_INT || unit == HD_UNIT_SP || unit == HD_UNIT_DP || unit == HD_UNIT_SFU);
}

/* Whether a store stores the word. The other words are the address, which is the first operand. */
static bool is_data(const hd_rf_step *step, uint32_t word)
{
    const hd_function *f = step->code->function;
    const hd_operand *operands = hd_insn_operands(f, step->insn);
    HD_INSN_REGISTERS (f, step->insn, o)
        if (o > operands + 1)
            HD_STORAGE_WORDS (&step->code->storage, o->value, data)
                if (data == word)
                    return true;
    return false;
}

static hd_demo_life read_by(const hd_rf_step *step, uint32_t word)
{
    const hd_form *form = hd_insn_form(step->code->function, step->insn);
    if (is_arithmetic(form))
        return HD_DEMO_READ_BY_ARITHMETIC;
    return form->opcode == HD_OP_ST && is_data(step, word) ? HD_DEMO_READ_BY_STORE : HD_DEMO_READ_OTHERWISE;
}

static void note_read(hd_demo_warp *w, const hd_rf_step *step, uint32_t word)
{
    uint8_t *life = &w->lives.items[hd_rf_index(step, word)];
    if (*life != HD_DEMO_NOT_LOADED)
        *life = *life == HD_DEMO_LOADED ? (uint8_t)read_by(step, word) : HD_DEMO_READ_OFTEN;
}

static void read_operand(hd_demo *demo, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    hd_demo_warp *w = warp_of(&demo->model, step->warp);
    uint32_t word = step->sources[source], index = hd_rf_index(step, word);
    note_read(w, step, word);
    if (!comes_from_memory(demo, step, word)) {
        hd_rf_file_read(&demo->file, step, source, sink);
        return;
    }
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_MEMORY,
                                 .kind = HD_RF_READ,
                                 .operand = hd_access_source(source),
                                 .lanes = step->effective});
    for (uint32_t i = 0; i < w->count; i++)
        if (w->owners[i].index == index)
            hd_rf_deliver(sink, step, source, HD_STRUCTURE_MEMORY, step->effective, w->owners[i], w->claims[i]);
}

/* A MOV from the constant bank is no load. */
static bool loads(const hd_rf_step *step)
{
    const hd_function *f = step->code->function;
    return hd_insn_form(f, step->insn)->behaviour & HD_BEHAVE_LOAD && !hd_insn_reads_bank(f, step->insn);
}

/* The load unit delivers it to the collector of the next instruction. */
static void write_collector(hd_demo *demo, const hd_rf_step *step, uint32_t destination)
{
    hd_demo_warp *w = warp_of(&demo->model, step->warp);
    if (hd_rf_loses(&demo->model))
        return;
    w->owners[w->count] = hd_rf_owner(step, step->destinations[destination].word);
    w->claims[w->count++] = (hd_claim){step->serial + destination, step->effective};
}

static void write_result(hd_demo *demo, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    hd_demo_warp *w = warp_of(&demo->model, step->warp);
    uint32_t index = hd_rf_index(step, step->destinations[destination].word);
    end_life(&demo->model, w, index);
    w->lives.items[index] = loads(step) ? HD_DEMO_LOADED : HD_DEMO_NOT_LOADED;
    if (hd_bitset_has(&demo->loads[step->function], step->instruction) && w->count < HD_DEMO_WORDS)
        write_collector(demo, step, destination);
    else
        hd_rf_file_write(&demo->model, &demo->file, step, destination, sink);
}

/* The collector is freed with its instruction. */
static void demo_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_demo *demo = (hd_demo *)model;
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        read_operand(demo, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        write_result(demo, step, d, sink);
    if (!hd_bitset_has(&demo->loads[step->function], step->instruction))
        warp_of(model, step->warp)->count = 0;
}

static void demo_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_demo_warp *w = warp_of(model, warp);
    hd_rf_file_snapshot(&((hd_demo *)model)->file, warp, c);
    for (uint32_t i = 0; i < c->end; i++)
        w->lives.items[i] = (uint8_t)hd_snapshot_word(c, w->lives.items[i]);
    w->count = hd_snapshot_word(c, w->count);
    for (uint32_t i = 0; i < w->count; i++) {
        w->owners[i] = hd_snapshot_owner(c, w->owners[i]);
        w->claims[i] = hd_snapshot_claim(c, w->owners[i].index, w->claims[i]);
    }
}

const hd_rf_ops hd_rf_demo_ops = {
    .create = demo_create,
    .destroy = demo_destroy,
    .warp_begin = demo_warp_begin,
    .frame_begin = demo_frame_begin,
    .frame_end = demo_frame_end,
    .execute = demo_execute,
    .memo = &(const hd_memo_ops){.snapshot = demo_snapshot},
};
