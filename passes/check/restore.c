/* Moves loads back to their possible original positions: see restore.h. Walks back over the block for each load. */
#include "passes/check/restore.h"

#include "ir/build.h"
#include "ir/operand_loads.h"
#include "ir/storage.h"
#include "passes/check/clashes.h"

typedef struct restorer {
    hd_function *function;
    hd_storage storage;
    hd_clashes clashes;
} restorer;

static bool overlap(const restorer *r, uint32_t a, uint32_t b)
{
    return a == b || (r->storage.first[a] < r->storage.end[b] && r->storage.first[b] < r->storage.end[a]);
}

/* Whether register dependences keep the load after an instruction. */
static bool is_bound(const restorer *r, const hd_instruction *load, const hd_instruction *before)
{
    const hd_function *f = r->function;
    HD_INSN_REGISTERS (f, before, o) {
        bool written = o->flags & HD_OPERAND_DEF;
        if (written && load->guard == o->value)
            return true;
        HD_INSN_REGISTERS (f, load, mine)
            if ((written || mine->flags & HD_OPERAND_DEF) && overlap(r, mine->value, o->value))
                return true;
    }
    return before->flags & HD_INSN_OPAQUE;
}

/* The instruction before which the load is put; the load itself if it stays. */
static uint32_t first_position(restorer *r, uint32_t load, uint32_t first, uint32_t clashes)
{
    const hd_function *f = r->function;
    const hd_instruction *insn = &f->instructions.items[load];
    const hd_annotation *after = hd_annotation_at(f, HD_OPERAND_AFTER, load, 0);
    uint32_t at = load;
    for (; at > first && !is_bound(r, insn, &f->instructions.items[at - 1]); at--) {
        bool clash = hd_clashes_at(&r->clashes, insn, at - 1);
        if (clash && clashes <= (after ? after->value : 0))
            break;
        clashes -= clash;
    }
    return at;
}

static bool restore_block(restorer *r, hd_edit *edit, const hd_block *block)
{
    hd_function *f = r->function;
    bool any = false;
    hd_clashes_begin_block(&r->clashes);
    for (uint32_t i = block->first; i < block->end; i++) {
        uint32_t last, to = i;
        if (hd_insn_is_operand_load(f, i) && hd_insn_form(f, &f->instructions.items[i])->opcode == HD_OP_LD)
            to = first_position(r, i, block->first, hd_clashes_with(&r->clashes, &f->instructions.items[i], &last));
        hd_clashes_step(&r->clashes, i);
        if (to == i)
            continue;
        hd_edit_remove(edit, i);
        hd_edit_before(edit, to, f->instructions.items[i]);
        any = true;
    }
    return any;
}

bool hd_restore_operand_loads(hd_function *function)
{
    hd_arena arena = {0};
    const hd_cfg *cfg = hd_function_cfg(function);
    restorer r = {.function = function, .storage = hd_storage_of(function, &arena)};
    hd_edit edit;
    bool any = false;
    hd_clashes_init(&r.clashes, function);
    hd_edit_begin(&edit, function);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        any = restore_block(&r, &edit, &cfg->blocks[b]) || any;
    hd_edit_end(&edit);
    hd_clashes_free(&r.clashes);
    hd_arena_free(&arena);
    return any;
}
