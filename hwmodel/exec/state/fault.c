/* Reports kernel faults with their location in PTX and source, block, thread and address. */
#include "hwmodel/exec/state/fault.h"
#include "hwmodel/memory/heap.h"
#include "ir/cfg.h"
#include <stdio.h>

static const char *kernel_name(const hd_program *p) { return hd_names_text(&p->module->names, p->kernel->name); }

/* The instruction's place in the text; for one that a pass inserted, that of the next one of the text. */
static hd_span span_of(const hd_code *code, uint32_t ordinal)
{
    const hd_function *f = code->function;
    for (uint32_t i = ordinal; i < f->instructions.count; i++)
        if (f->instructions.items[i].span.end > f->instructions.items[i].span.begin)
            return f->instructions.items[i].span;
    return (hd_span){f->body.end, f->body.end};
}

static uint32_t ordinal_of(const hd_code *code, const hd_op *op) { return (uint32_t)(op - code->ops); }

/* A part of an op (the second address of a copy) has no location of its own: use that of the running instruction. */
static uint32_t ordinal_running(const hd_warp *w, const hd_code *code, const hd_op *op)
{
    uintptr_t at = (uintptr_t)op, first = (uintptr_t)code->ops;
    return at >= first && at <= (uintptr_t)(code->ops + code->op_count) ? ordinal_of(code, op) : hd_top(w)->pc;
}

enum { MOST_CALLERS = 8 };

/* Notes for the calls that led to the current call frame, innermost first. */
static void note_callers(hd_warp *w, hd_diagnostic *d)
{
    for (uint32_t i = w->frame_count, shown = 0; i-- > 1 && shown < MOST_CALLERS; shown++) {
        const hd_code *code = w->frames.items[i - 1].code;
        uint32_t ordinal = ordinal_of(code, w->frames.items[i].call);
        hd_note_add(w->cta->diagnostics, d, w->cta->program->module->source, span_of(code, ordinal),
                    "called from here");
    }
}

static void report(const hd_op *op, hd_warp *w, uint32_t lanes, const char *note, const char *message)
{
    /* earlier CTAs may still allocate the missing block */
    if (w->cta->workers && !w->cta->has_turn && w->cta->memory->heap)
        hd_overlaps_found(&w->cta->workers->overlaps);
    if (!hd_await_turn(w->cta))
        return;
    const hd_program *p = w->cta->program;
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t id[3], ordinal = ordinal_running(w, code, op), lane = lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
    const uint32_t *block = w->cta->id;
    hd_thread_of(w, lane, id);
    hd_diagnostic *d = hd_report(w->cta->diagnostics, HD_DIAG_KERNEL_FAULT, p->module->source, span_of(code, ordinal),
                                 "%s; kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", message, kernel_name(p),
                                 block[0], block[1], block[2], id[0], id[1], id[2]);
    if (note)
        hd_note_add(w->cta->diagnostics, d, NULL, (hd_span){0, 0}, "%s", note);
    if (lanes & (lanes - 1))
        hd_note_add(w->cta->diagnostics, d, NULL, (hd_span){0, 0}, "%d lanes of the warp do so (mask 0x%08x)",
                    __builtin_popcount(lanes), lanes);
    note_callers(w, d);
    w->cta->status = HD_EXEC_FAULT;
    w->cta->fault = d;
}

bool hd_describe_variable(const hd_program *program, const hd_placed_array *variables, uint64_t base, uint64_t at,
                          char *text, size_t size)
{
    const hd_module *m = program->module;
    const hd_placed *best = NULL;
    uint64_t least = 0;
    for (uint32_t i = 0; i < variables->count; i++) {
        const hd_placed *v = &variables->items[i];
        uint64_t begin = base + v->offset, end = begin + m->symbols.items[v->symbol].size_bytes;
        uint64_t away = at < begin ? begin - at : at < end ? 0 : at - end + 1;
        if (!best || away < least) {
            best = v;
            least = away;
        }
    }
    if (!best)
        return false;
    const hd_symbol *s = &m->symbols.items[best->symbol];
    const char *name = hd_names_text(&m->names, s->name);
    unsigned long long bytes = s->size_bytes;
    if (!least)
        snprintf(text, size, "byte %llu of '%s' (%llu bytes)", (unsigned long long)(at - base - best->offset), name,
                 bytes);
    else if (at < base + best->offset)
        snprintf(text, size, "%llu bytes before '%s' (%llu bytes)", (unsigned long long)least, name, bytes);
    else
        snprintf(text, size, "%llu bytes after the end of '%s' (%llu bytes)", (unsigned long long)(least - 1), name,
                 bytes);
    return true;
}

void hd_fault_note_location(hd_warp *w, const hd_code *code, uint32_t ordinal, const char *text)
{
    hd_note_add(w->cta->diagnostics, w->cta->fault, w->cta->program->module->source, span_of(code, ordinal), "%s",
                text);
}

/* Whether an earlier run of the kernel reported the same two locations. */
static bool was_reported(const hd_diagnostics *diagnostics, hd_span now, hd_span before)
{
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        if (d->kind == HD_DIAG_KERNEL_FAULT && d->notes && d->span.begin == now.begin &&
            d->notes->span.begin == before.begin && d->notes->source)
            return true;
    return false;
}

void hd_report_race(const hd_op *op, hd_warp *w, uint32_t lane, const hd_race *race)
{
    const hd_program *p = w->cta->program;
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t id[3], other[3], ordinal = ordinal_running(w, code, op);
    const uint32_t *block = w->cta->id;
    char note[128];
    hd_thread_of(w, lane, id);
    if (was_reported(w->cta->diagnostics, span_of(code, ordinal), span_of(p->codes.items[race->code], race->ordinal)))
        return;
    hd_thread_of(&w->cta->warps[race->thread / LANES], race->thread % LANES, other);
    w->cta->fault = hd_report(
        w->cta->diagnostics, HD_DIAG_KERNEL_FAULT, p->module->source, span_of(code, ordinal),
        "race, %s: thread (%u,%u,%u) %s byte %u of shared memory, which thread (%u,%u,%u) %s with no barrier in "
        "between; kernel %s, block (%u,%u,%u)",
        race->what, id[0], id[1], id[2], race->now, race->byte, other[0], other[1], other[2], race->before,
        kernel_name(p), block[0], block[1], block[2]);
    snprintf(note, sizeof note, "thread (%u,%u,%u) %s it here", other[0], other[1], other[2], race->before);
    hd_fault_note_location(w, p->codes.items[race->code], race->ordinal, note);
    note_callers(w, w->cta->fault);
}

static void note_heap_call(hd_warp *w, const hd_heap_call *p, const char *what)
{
    hd_note_add(w->cta->diagnostics, w->cta->fault, w->cta->program->module->source, p->span,
                "%s here by block (%u,%u,%u), thread (%u,%u,%u)", what, p->block[0], p->block[1], p->block[2],
                p->thread[0], p->thread[1], p->thread[2]);
}

void hd_fault_note_block(hd_warp *w, uint64_t address, const hd_heap_block *block)
{
    if (!block) {
        hd_note_add(w->cta->diagnostics, w->cta->fault, NULL, (hd_span){0, 0},
                    "malloc has given no block at or below this address");
        return;
    }
    uint64_t at = address - block->base;
    hd_note_add(w->cta->diagnostics, w->cta->fault, NULL, (hd_span){0, 0}, "%s%llu %s of %llu bytes at 0x%llx",
                at < block->size ? "byte " : "", (unsigned long long)(at < block->size ? at : at - block->size),
                at < block->size ? "of a block of malloc" : "bytes after the end of a block of malloc",
                (unsigned long long)block->size, (unsigned long long)block->base);
    note_heap_call(w, &block->allocated_at, "allocated");
    if (block->freed)
        note_heap_call(w, &block->freed_at, "freed");
}

hd_step hd_fault(const hd_op *op, hd_warp *w, uint32_t lanes, const char *format, ...)
{
    char message[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    report(op, w, lanes, NULL, message);
    return HD_STEP_STOP;
}

hd_step hd_fault_note(const hd_op *op, hd_warp *w, uint32_t lanes, const char *note, const char *format, ...)
{
    char message[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    report(op, w, lanes, note, message);
    return HD_STEP_STOP;
}

hd_step hd_fault_is(hd_warp *w, hd_fault_class class, hd_step step)
{
    if (w->cta->fault && w->cta->status == HD_EXEC_FAULT)
        w->cta->fault->detail = class;
    return step;
}

void hd_fault_not_modelled(hd_cta *cta, const char *why)
{
    if (!cta->fault || (cta->status != HD_EXEC_FAULT && cta->status != HD_EXEC_UNSUPPORTED))
        return;
    hd_note_add(cta->diagnostics, cta->fault, NULL, (hd_span){0, 0}, "a limit of the model, no fault of the kernel: %s",
                why);
    cta->fault->kind = HD_DIAG_UNSUPPORTED;
    cta->status = HD_EXEC_UNSUPPORTED;
}

void hd_fault_deadlock(hd_cta *cta)
{
    if (!hd_await_turn(cta))
        return;
    const hd_warp *first = NULL;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].state == HD_WARP_WAITING && !first)
            first = &cta->warps[i];
    const hd_code *code = hd_top_frame(first)->code;
    hd_diagnostic *d =
        hd_report(cta->diagnostics, HD_DIAG_KERNEL_FAULT, cta->program->module->source,
                  span_of(code, ordinal_of(code, first->waiting)),
                  "deadlock: every warp of block (%u,%u,%u) waits at a barrier that cannot open; kernel %s", cta->id[0],
                  cta->id[1], cta->id[2], kernel_name(cta->program));
    d->detail = HD_FAULT_HANG;
    for (uint32_t i = 0; i < cta->warp_count && i < 8; i++) {
        const hd_warp *w = &cta->warps[i];
        if (w->state != HD_WARP_WAITING)
            continue;
        code = hd_top_frame(w)->code;
        if (w->barrier == HD_CLUSTER_BARRIER) {
            hd_note_add(cta->diagnostics, d, cta->program->module->source, span_of(code, ordinal_of(code, w->waiting)),
                        "warp %u waits here at the barrier of the cluster", i);
            continue;
        }
        const hd_barrier *b = &cta->barriers[w->barrier];
        hd_note_add(cta->diagnostics, d, cta->program->module->source, span_of(code, ordinal_of(code, w->waiting)),
                    "warp %u waits here at barrier %u: %u threads arrived, %u are needed", i, w->barrier, b->arrived,
                    b->expected ? b->expected : hd_live_threads(cta));
    }
    cta->status = HD_EXEC_FAULT;
}

void hd_fault_note_elsewhere(hd_warp *w, uint32_t lanes)
{
    if (!w->cta->fault)
        return;
    const hd_code *code = hd_top_frame(w)->code;
    for (uint32_t i = w->stack.count - 1; i-- > hd_top_frame(w)->bottom;) {
        const hd_entry *e = &w->stack.items[i];
        char text[64];
        snprintf(text, sizeof text, "lanes 0x%08x are here", e->mask & lanes);
        if (e->mask & lanes)
            hd_fault_note_location(w, code, e->pc, text);
        lanes &= ~e->mask;
    }
}

/* Notes where the lanes of a warp are: those running (top of the stack), and those waiting for them. */
static void note_stack(hd_cta *cta, hd_diagnostic *d, const hd_warp *w)
{
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t shown = 0;
    for (uint32_t i = w->stack.count; i-- > hd_top_frame(w)->bottom;) {
        const hd_entry *e = &w->stack.items[i];
        bool runs = i + 1 == w->stack.count;
        if (e->mask & ~shown)
            hd_note_add(cta->diagnostics, d, cta->program->module->source, span_of(code, e->pc),
                        "lanes 0x%08x of warp %u %s", e->mask & ~shown, w->index,
                        runs ? "go in circles here" : "wait here");
        shown |= e->mask;
    }
}

/* Whether it reads memory that other lanes may write; `of_grid`: that other thread blocks may write. */
static bool reads_memory(const hd_code *code, uint32_t ordinal, bool of_grid)
{
    const hd_form *form = hd_insn_form(code->function, &code->function->instructions.items[ordinal]);
    bool own = form->space == HD_SPACE_PARAM || form->space == HD_SPACE_CONST || form->space == HD_SPACE_LOCAL ||
               (of_grid && form->space == HD_SPACE_SHARED);
    return form->behaviour & HD_BEHAVE_CALL || (form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_ATOMIC) && !own);
}

/* Whether the loop of the warp's running lanes reads such memory. */
static bool loop_reads_memory(const hd_warp *w, bool of_grid)
{
    const hd_code *code = hd_top_frame(w)->code;
    const hd_cfg *cfg = code->function->cfg;
    if (!cfg || w->frame_count > 1 || hd_top(w)->pc >= code->op_count)
        return true;
    uint32_t loop = cfg->blocks[cfg->block_of[hd_top(w)->pc]].loop;
    while (loop != HD_NONE && cfg->loops[loop].parent != HD_NONE)
        loop = cfg->loops[loop].parent;
    for (uint32_t i = 0; i < code->op_count && loop != HD_NONE; i++) {
        uint32_t at = cfg->blocks[cfg->block_of[i]].loop;
        while (at != HD_NONE && at != loop)
            at = cfg->loops[at].parent;
        if (at == loop && reads_memory(code, i, of_grid))
            return true;
    }
    return loop == HD_NONE;
}

/* Whether lanes that wait for looping ones could continue with independent thread scheduling, and so might let these
 * proceed. */
static bool lanes_may_help(const hd_cta *cta)
{
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        const hd_warp *w = &cta->warps[i];
        if (w->state == HD_WARP_READY && w->lanes & ~hd_top(w)->mask && loop_reads_memory(w, false))
            return true;
    }
    return false;
}

static bool waits_for_memory_of_grid(const hd_cta *cta)
{
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].state == HD_WARP_READY && loop_reads_memory(&cta->warps[i], true))
            return true;
    return false;
}

/* Whether blocks of the grid run only after this one. */
static bool has_later_blocks(const hd_cta *cta)
{
    return !cta->grid->cooperative && cta->place + 1 < hd_grid_ctas(cta->grid);
}

/* What on a GPU might end the loop, and does not run here meanwhile. */
static void note_what_may_help(hd_cta *cta)
{
    bool memory = waits_for_memory_of_grid(cta), lanes = lanes_may_help(cta);
    bool blocks = memory && has_later_blocks(cta);
    bool host = memory && !lanes && !blocks && cta->options->others_write;
    if (lanes)
        hd_fault_not_modelled(cta,
                              "lanes of the warp wait for those that go in circles; with independent thread scheduling "
                              "they go on");
    if (blocks)
        hd_fault_not_modelled(cta, "thread blocks run one after another, and the loop may wait for what a later block "
                                   "writes");
    if (host)
        hd_fault_not_modelled(cta,
                              "the loop may wait for what the host or another CUDA stream writes, which go on when "
                              "the kernel has ended");
}

void hd_fault_livelock(hd_cta *cta)
{
    if (!hd_await_turn(cta))
        return;
    const hd_warp *first = NULL;
    uint32_t ready = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].state == HD_WARP_READY && !ready++)
            first = &cta->warps[i];
    const hd_code *code = hd_top_frame(first)->code;
    hd_diagnostic *d = hd_report(
        cta->diagnostics, HD_DIAG_KERNEL_FAULT, cta->program->module->source, span_of(code, hd_top(first)->pc),
        "livelock: block (%u,%u,%u) runs for ever without changing anything (%u of %u warps); kernel %s", cta->id[0],
        cta->id[1], cta->id[2], ready, cta->live_warps, kernel_name(cta->program));
    d->detail = HD_FAULT_HANG;
    note_stack(cta, d, first);
    cta->status = HD_EXEC_FAULT;
    cta->fault = d;
    note_what_may_help(cta);
}

/* The warp's turn is over; if it ended, there is no location. */
void hd_stop_at_limit(hd_cta *cta, const hd_warp *w)
{
    bool runs = w && w->state != HD_WARP_DONE;
    hd_diagnostic *d = hd_report(
        cta->diagnostics, HD_DIAG_INSTRUCTION_LIMIT, runs ? cta->program->module->source : NULL,
        runs ? span_of(hd_top_frame(w)->code, hd_top(w)->pc) : (hd_span){0, 0},
        "kernel %s is not done after %llu warp instructions, block (%u,%u,%u) is running", kernel_name(cta->program),
        (unsigned long long)cta->options->instruction_limit, cta->id[0], cta->id[1], cta->id[2]);
    hd_note_add(cta->diagnostics, d, NULL, (hd_span){0, 0},
                "it may never end, or need a higher --instruction-limit (0: no limit)");
    if (runs && has_later_blocks(cta) && loop_reads_memory(w, true))
        hd_note_add(cta->diagnostics, d, NULL, (hd_span){0, 0},
                    "it never ends if it waits for what a later thread block writes: they run one after another");
    cta->status = HD_EXEC_LIMIT;
}
