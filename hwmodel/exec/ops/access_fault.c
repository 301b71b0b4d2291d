/* Messages for invalid accesses. */
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/state/fault.h"
#include "hwmodel/memory/heap.h"
#include <stdio.h>

static const char *space_word(hd_space space)
{
    switch (space) {
    case HD_SPACE_GLOBAL: return "global";
    case HD_SPACE_CONST: return "constant";
    case HD_SPACE_LOCAL: return "local";
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER: return "shared";
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_ENTRY:
    case HD_SPACE_PARAM_FUNC: return "parameter";
    case HD_SPACE_NONE:
    case HD_SPACE_REG:
    case HD_SPACE_SREG:
    case HD_SPACE_TEX:
    case HD_SPACE_COUNT: break;
    }
    return "generic";
}

/* Shared, local and parameter memory: its size, and the nearest variable. */
static void describe_block(const hd_warp *w, hd_space space, uint64_t at, unsigned long long bytes, char *note,
                           size_t size)
{
    const hd_program *p = w->cta->program;
    const hd_frame *f = hd_top_frame(w);
    char nearest[160] = "";
    bool local = space == HD_SPACE_LOCAL, known = false;
    if (local)
        known = hd_describe_variable(p, &f->code->variables, f->local_base, at, nearest, sizeof nearest);
    else if (space == HD_SPACE_SHARED)
        known = hd_describe_variable(p, &p->shared_variables, 0, at, nearest, sizeof nearest);
    snprintf(note, size, "the %s memory here has %llu bytes; this is byte %llu%s%s", space_word(space), bytes,
             (unsigned long long)at, known ? ", " : "", nearest);
}

static void describe(const hd_op *op, hd_warp *w, uint64_t address, char *note, size_t size)
{
    const hd_memory *m = w->cta->memory;
    hd_space space = op->space == HD_SPACE_NONE ? hd_memory_space_of(m, address) : (hd_space)op->space;
    hd_region r;
    if (space == HD_SPACE_GLOBAL)
        hd_memory_describe(m, space, address, note, size);
    else if (space == HD_SPACE_CONST)
        hd_memory_describe(m, space, op->space == HD_SPACE_NONE ? address : address + m->const_window, note, size);
    else if (hd_region_find(op, w, (hd_space)op->space, address, &r))
        describe_block(w, space, address - r.first, (unsigned long long)r.size, note, size);
    else
        snprintf(note, size, "nothing is there");
}

hd_step hd_bad_access(const hd_op *op, hd_warp *w, uint32_t lanes, uint32_t bytes, hd_fault_class class,
                      const char *what)
{
    char note[256];
    uint64_t address = w->cta->addresses[__builtin_ctz(lanes)];
    describe(op, w, address, note, sizeof note);
    hd_heap_block block;
    const hd_allocation *a = hd_memory_find(w->cta->memory, address, 1);
    bool in_heap = a && a->is_heap && hd_heap_find(w->cta->memory->heap, address, &block);
    if (in_heap && block.freed && address - block.base < block.size)
        what = "use after free:";
    hd_step step = hd_fault_note(op, w, lanes, in_heap ? NULL : note, "%s access of %u bytes at %s address 0x%llx",
                                 what, bytes, space_word((hd_space)op->space), (unsigned long long)address);
    hd_fault_is(w, class, step);
    if (in_heap)
        hd_fault_note_block(w, address, &block);
    return step;
}
