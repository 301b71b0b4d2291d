/* The reuse cache of NVIDIA's GPUs since Maxwell, to compare with: what the assembler of a real GPU lets bypass the
 * register file. Operand slots keep the registers that `.reuse` marks: ir/machine_slots.h has the rules and their
 * sources.
 *
 * A warp's values stay while other warps issue: NVIDIA's schedulers go on with a warp as long as they can, and code
 * that gives the yield hint has no flags. So the figure is an upper bound where warps alternate.
 *
 * A register in several slots is read from the file once unless the cache serves all of them. A written register leaves
 * the cache. The flags are those of machine code; PTX, and a trace without its listing, have none.
 *
 * Storage: for each of four sub-cores, a register of 32 lanes for each slot and bank (Huerta et al., MICRO 2025,
 * section 5.3), and one for each slot before Volta.
 *
 * Cost: O(1) an instruction and an operand.
 */
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/technique.h"
#include "ir/machine.h"
#include "ir/machine_slots.h"

enum { HD_REUSE_BANKS = 2, HD_REUSE_SUB_CORES = 4, HD_REUSE_ENTRY_BITS = 1024 + 8 };

typedef struct hd_reuse_entry {
    uint32_t index; /* of the register in the warp */
    hd_claim claim;
} hd_reuse_entry;

typedef struct hd_reuse_warp {
    hd_reuse_cache cache;
    hd_reuse_entry entries[HD_MACHINE_SLOTS][HD_REUSE_BANKS]; /* of what it keeps */
} hd_reuse_warp;

typedef struct hd_reuse {
    hd_rf_model model;
    hd_rf_file file;
    HD_ARRAY(hd_reuse_warp) warps; /* by slot */
    hd_arena arena;
    uint16_t **numbers; /* by function, by word: 1 + number of the general register; NULL: no flags */
} hd_reuse;

static uint16_t *number_words(hd_arena *arena, const hd_rf_code *code)
{
    const hd_function *f = code->function;
    uint16_t *numbers = HD_ARENA_ARRAY(arena, uint16_t, code->storage.words + 1);
    for (uint32_t r = 0; r < f->registers.count; r++)
        if (f->registers.items[r].type == HD_TYPE_B32)
            HD_STORAGE_WORDS (&code->storage, r, word)
                numbers[word] = (uint16_t)(f->registers.items[r].index + 1);
    return numbers;
}

static hd_rf_model *reuse_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)options, (void)refusal;
    hd_reuse *reuse = hd_calloc(1, sizeof *reuse);
    uint32_t count = code->module->functions.count;
    reuse->numbers = HD_ARENA_ARRAY(&reuse->arena, uint16_t *, count);
    for (uint32_t f = 0; f < count; f++)
        if (code->functions[f] && code->functions[f]->function->machine)
            reuse->numbers[f] = number_words(&reuse->arena, code->functions[f]);
    return &reuse->model;
}

static void reuse_destroy(hd_rf_model *model)
{
    hd_reuse *reuse = (hd_reuse *)model;
    hd_array_free(&reuse->warps);
    hd_rf_file_free(&reuse->file);
    hd_arena_free(&reuse->arena);
    free(reuse);
}

static void reuse_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    (void)launch;
    model->storage_bits = (uint64_t)HD_REUSE_SUB_CORES * HD_MACHINE_SLOTS * HD_REUSE_BANKS * HD_REUSE_ENTRY_BITS;
}

static hd_reuse_warp *warp_of(hd_rf_model *model, const hd_rf_warp *warp)
{
    return &((hd_reuse *)model)->warps.items[warp->slot];
}

static void reuse_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_reuse *reuse = (hd_reuse *)model;
    while (reuse->warps.count <= warp->slot)
        hd_array_push(&reuse->warps, (hd_reuse_warp){.cache = {{{0}}}});
    *warp_of(model, warp) = (hd_reuse_warp){.cache = {{{0}}}};
}

static void reuse_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((hd_reuse *)model)->file, warp);
    *warp_of(model, warp) = (hd_reuse_warp){.cache = {{{0}}}};
}

static void reuse_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    *warp_of(model, warp) = (hd_reuse_warp){.cache = {{{0}}}};
}

/* ---- operands and results ---------------------------------------------------------------------------------------- */

/* The slot that serves the register; HD_NONE: it must be read from the file. */
static uint32_t serving_slot(const hd_machine_slots *slots, uint32_t served, uint32_t number)
{
    uint32_t found = HD_NONE;
    for (uint32_t s = 0; s < HD_MACHINE_SLOTS; s++) {
        const hd_machine_slot *slot = &slots->at[s];
        if (!slot->words || number < slot->number || number >= slot->number + slot->words)
            continue;
        if (!(served >> s & 1))
            return HD_NONE;
        found = s;
    }
    return found;
}

/* The slots that keep the register from now on get what the file has. */
static void keep(hd_reuse *reuse, const hd_rf_step *step, const hd_machine_slots *slots, uint32_t served,
                 uint32_t generation, hd_access_sink *sink)
{
    hd_reuse_warp *w = warp_of(&reuse->model, step->warp);
    for (uint32_t s = 0; s < step->source_count; s++) {
        uint32_t word = step->sources[s], number = (uint32_t)(reuse->numbers[step->function][word] - 1);
        for (uint32_t k = 0; k < HD_MACHINE_SLOTS; k++) {
            const hd_machine_slot *slot = &slots->at[k];
            bool reads = slot->words && number >= slot->number && number < slot->number + slot->words;
            if (!reads || !slot->flagged || served >> k & 1 || !hd_reuse_cache_has(&w->cache, k, generation, number))
                continue;
            hd_emit(sink,
                    (hd_rf_access){.structure = HD_STRUCTURE_REUSE, .kind = HD_RF_FILL, .lanes = step->effective});
            if (hd_rf_loses(&reuse->model))
                continue;
            uint32_t index = hd_rf_index(step, word);
            w->entries[k][hd_reuse_bank(generation, number)] =
                (hd_reuse_entry){index, *hd_rf_file_at(&reuse->file, step->warp, index)};
        }
    }
}

static void read_operands(hd_reuse *reuse, const hd_rf_step *step, hd_access_sink *sink)
{
    const uint16_t *numbers = reuse->numbers[step->function];
    const hd_function *f = step->code->function;
    hd_machine_slots slots = {0};
    hd_reuse_warp *w = warp_of(&reuse->model, step->warp);
    uint32_t served = 0;
    if (numbers) {
        slots = hd_machine_slots_of(f, step->instruction);
        served = hd_reuse_cache_read(&w->cache, f->machine->generation, &slots);
    }
    for (uint32_t s = 0; s < step->source_count; s++) {
        uint32_t word = step->sources[s], number = numbers ? (uint32_t)(numbers[word] - 1) : 0;
        uint32_t slot = numbers && numbers[word] ? serving_slot(&slots, served, number) : (uint32_t)HD_NONE;
        if (slot == HD_NONE)
            hd_rf_file_read(&reuse->file, step, s, sink);
        else
            hd_rf_read(sink, step, s, HD_STRUCTURE_REUSE, step->effective, hd_rf_owner(step, word),
                       w->entries[slot][hd_reuse_bank(f->machine->generation, number)].claim);
    }
    if (numbers)
        keep(reuse, step, &slots, served, f->machine->generation, sink);
}

static void reuse_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_reuse *reuse = (hd_reuse *)model;
    const uint16_t *numbers = reuse->numbers[step->function];
    if (!step->effective)
        return;
    read_operands(reuse, step, sink);
    for (uint32_t d = 0; d < step->destination_count; d++) {
        uint32_t word = step->destinations[d].word;
        hd_rf_file_write(model, &reuse->file, step, d, sink);
        if (numbers && numbers[word])
            hd_reuse_cache_forget(&warp_of(model, step->warp)->cache, step->code->function->machine->generation,
                                  (uint32_t)(numbers[word] - 1));
    }
}

static void reuse_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_reuse_warp *w = warp_of(model, warp);
    hd_rf_file_snapshot(&((hd_reuse *)model)->file, warp, c);
    for (uint32_t s = 0; s < HD_MACHINE_SLOTS; s++)
        for (uint32_t b = 0; b < HD_REUSE_BANKS; b++) {
            hd_reuse_entry *e = &w->entries[s][b];
            w->cache.kept[s][b] = (uint16_t)hd_snapshot_word(c, w->cache.kept[s][b]);
            if (!w->cache.kept[s][b])
                continue;
            e->index = hd_snapshot_word(c, e->index);
            e->claim = hd_snapshot_claim(c, e->index, e->claim);
        }
}

const hd_rf_ops hd_rf_reuse_ops = {
    .create = reuse_create,
    .destroy = reuse_destroy,
    .launch = reuse_launch,
    .warp_begin = reuse_warp_begin,
    .frame_begin = reuse_frame_begin,
    .frame_end = reuse_frame_end,
    .execute = reuse_execute,
    .storage = HD_ENERGY_BYPASS_COLLECTOR,
    .needs_flags = true,
    .memo = &(const hd_memo_ops){.snapshot = reuse_snapshot},
};
