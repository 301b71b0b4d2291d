/* Call frames: registers, local memory after the caller's, and an entry of the SIMT stack. The memory of a call frame
 * is reused by the next call frame of its depth. */
#include "hwmodel/exec/control/frame.h"
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/control/columns.h"

void hd_rebase(hd_warp *w)
{
    hd_frame *f = hd_top_frame(w);
    w->bases[HD_REF_FRAME] = f->registers;
    w->bases[HD_REF_CONSTANT] = f->code->constant_rows;
    w->bases[HD_REF_SPECIAL] = w->special;
    w->bases[3] = f->code->constant_rows;
}

/* Words are interleaved by lane, so offsets do not change when the block grows. */
void hd_grow_local(hd_warp *w, uint32_t needed)
{
    if (needed <= w->local_capacity)
        return;
    uint32_t capacity = hd_max(needed, 2 * w->local_capacity);
    capacity = (capacity + 15) / 16 * 16;
    if (w->cta->checks)
        hd_checks_grow(w, capacity);
    w->local = hd_realloc(w->local, (size_t)capacity * LANES);
    memset(w->local + (size_t)w->local_capacity * LANES, 0, (size_t)(capacity - w->local_capacity) * LANES);
    w->local_capacity = capacity;
}

static void reserve_registers(hd_frame *f, uint32_t bytes)
{
    if (f->register_capacity >= bytes)
        return;
    free(f->registers);
    f->registers = aligned_alloc(64, ((size_t)bytes + 63) / 64 * 64);
    if (!f->registers)
        hd_out_of_memory(bytes);
    f->register_capacity = bytes;
}

void hd_push_frame(hd_warp *w, const hd_code *code, uint32_t mask, uint32_t local_base)
{
    if (w->frame_count == w->frames.count)
        hd_array_push(&w->frames, (hd_frame){0});
    hd_frame *f = &w->frames.items[w->frame_count++];
    reserve_registers(f, code->register_bytes);
    if (code->register_bytes)
        memset(f->registers, 0, code->register_bytes);
    f->code = code;
    f->serial = w->next_serial++;
    f->local_base = local_base;
    f->local_end = local_base + code->local_bytes;
    f->bottom = w->stack.count;
    f->call = NULL;
    f->callee = NULL;
    f->lanes = mask;
    f->rest = 0;
    f->has_tops = false;
    if (w->cta->columns & HD_COLUMN_WIDTHS)
        hd_widths_start(f);
    hd_grow_local(w, f->local_end);
    if (w->cta->checks)
        hd_checks_frame(w, f);
    hd_array_push(&w->stack, (hd_entry){0, HD_NONE, mask});
    hd_rebase(w);
}
