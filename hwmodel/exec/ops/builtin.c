/* The device runtime called by nvcc's code: vprintf, __assertfail, malloc, free. Such a call is a single instruction:
 * it has no call frame, and processes its lanes in ascending order. Printed output goes to hd_exec_options.print, lane
 * by lane, or is dropped without it. */
#include "hwmodel/exec/ops/builtin.h"
#include "base/search.h"
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/state/fault.h"
#include "hwmodel/memory/heap.h"
#include <stdio.h>

static const hd_builtin builtins[] = {
#define HD_BUILTIN(name, run, result, parameters, heap) {name, hd_run_builtin_##run, result, parameters, heap},
#include "hwmodel/exec/ops/builtin.def"
#undef HD_BUILTIN
};

const hd_builtin *hd_builtin_find(const char *name)
{
    uint32_t found = HD_FIND_ROW(builtins, HD_BUILTINS, name, name, strlen(name));
    return found < HD_BUILTINS ? &builtins[found] : NULL;
}

uint32_t hd_builtin_number(const hd_builtin *builtin) { return (uint32_t)(builtin - builtins); }
const hd_builtin *hd_builtin_numbered(uint32_t number) { return &builtins[number]; }

/* ---- arguments and results --------------------------------------------------------------------------------------- */

static unsigned char *copied_byte(hd_warp *w, const hd_call_copy *c, uint32_t lane, uint32_t k)
{
    const hd_frame *f = hd_top_frame(w);
    if (c->row != HD_NO_REF)
        return (unsigned char *)(uintptr_t)hd_row(w, c->row) + (size_t)lane * c->row_bytes + k;
    uint32_t at = f->local_base + c->local + k;
    return w->local + (size_t)(at / 4) * 4 * LANES + lane * 4 + at % 4;
}

static uint64_t argument(const hd_op *op, hd_warp *w, uint32_t i, uint32_t lane)
{
    const hd_call_copy *c = &hd_top_frame(w)->code->copies.items[op->first + i];
    unsigned char bytes[8] = {0};
    uint64_t value;
    for (uint32_t k = 0; k < c->bytes; k++)
        bytes[k] = *copied_byte(w, c, lane, k);
    memcpy(&value, bytes, 8);
    return value;
}

/* The result follows the arguments, if the call has one. */
static void set_result(const hd_op *op, hd_warp *w, uint32_t lane, uint64_t value)
{
    const hd_call *call = op->use.detail;
    unsigned char bytes[8];
    memcpy(bytes, &value, 8);
    if (!call->results)
        return;
    const hd_call_copy *c = &hd_top_frame(w)->code->copies.items[op->first + call->arguments];
    for (uint32_t k = 0; k < c->bytes; k++)
        *copied_byte(w, c, lane, k) = bytes[k];
}

static void print(hd_warp *w, const hd_text_buffer *text, bool assertion)
{
    const hd_exec_options *o = w->cta->options;
    if (assertion && o->print_assertion && text->count)
        o->print_assertion(o->print_context, text->items, text->count);
    else if (o->print && text->count)
        o->print(o->print_context, text->items, text->count);
}

static hd_heap_call call_in(hd_warp *w, uint32_t lane)
{
    const hd_instruction *call = &hd_top_frame(w)->code->function->instructions.items[hd_top(w)->pc];
    hd_heap_call caller = {.span = call->span};
    memcpy(caller.block, w->cta->id, sizeof caller.block);
    hd_thread_of(w, lane, caller.thread);
    return caller;
}

/* ---- printf and assert ------------------------------------------------------------------------------------------- */

hd_step hd_run_builtin_print(const hd_op *op, hd_warp *w, uint32_t mask)
{
    HD_EACH_BIT (lane, mask) {
        uint32_t used = 0;
        uint64_t bad = 0, format = argument(op, w, 0, lane);
        hd_format_source source = {op, w, lane, format, argument(op, w, 1, lane)};
        hd_text_buffer text = {0};
        bool good = !format || hd_format_print(&source, &text, &used, &bad);
        if (good)
            print(w, &text, false);
        hd_array_free(&text);
        if (!good)
            return hd_fault(op, w, 1u << lane, "printf reads at address 0x%llx, where nothing is",
                            (unsigned long long)bad);
        set_result(op, w, lane, format ? used : UINT64_MAX);
    }
    return HD_STEP_NEXT;
}

static bool add_string(const hd_format_source *source, uint64_t address, hd_text_buffer *out)
{
    uint64_t bad;
    bool good = hd_format_string(source, address, UINT64_MAX, out, &bad);
    hd_array_push(out, '\0');
    return good;
}

/* (message, file, line, function, size of a character) */
hd_step hd_run_builtin_assert(const hd_op *op, hd_warp *w, uint32_t mask)
{
    char first[256] = "";
    HD_EACH_BIT (lane, mask) {
        uint32_t thread[3], *block = w->cta->id;
        hd_format_source source = {op, w, lane, 0, 0};
        hd_text_buffer message = {0}, file = {0}, function = {0}, text = {0};
        bool good = add_string(&source, argument(op, w, 0, lane), &message) &&
                    add_string(&source, argument(op, w, 1, lane), &file) &&
                    add_string(&source, argument(op, w, 3, lane), &function);
        hd_thread_of(w, lane, thread);
        if (good) {
            uint32_t room = message.count + file.count + function.count + 200;
            text.count = (uint32_t)snprintf(hd_array_extend(&text, room), room,
                                            "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                                            file.items, (uint32_t)argument(op, w, 2, lane), function.items, block[0],
                                            block[1], block[2], thread[0], thread[1], thread[2], message.items);
            print(w, &text, true);
        }
        if (!first[0])
            snprintf(first, sizeof first, "%s", good ? message.items : "?");
        hd_array_free(&message);
        hd_array_free(&file);
        hd_array_free(&function);
        hd_array_free(&text);
    }
    return hd_fault_is(w, HD_FAULT_ASSERTION, hd_fault(op, w, mask, "assertion '%s' failed", first));
}

/* ---- malloc and free --------------------------------------------------------------------------------------------- */

/* For other CTAs, allocating or freeing a block changes all its bytes, because it changes whether they are
 * accessible. */
static void touch_block(hd_cta *cta, uint64_t address, uint64_t bytes)
{
    if (cta->footprint && address)
        hd_footprint_range(cta->footprint, hd_memory_find(cta->memory, address, bytes), address, bytes, true);
}

hd_step hd_run_builtin_malloc(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_heap *heap = w->cta->memory->heap;
    if (w->cta->workers)
        hd_workers_keep_heap(w->cta->workers);
    HD_EACH_BIT (lane, mask) {
        hd_heap_call caller = call_in(w, lane);
        uint64_t bytes = argument(op, w, 0, lane), address = hd_heap_allocate(heap, bytes, &caller);
        touch_block(w->cta, address, bytes);
        set_result(op, w, lane, address);
    }
    w->cta->writes++;
    return HD_STEP_NEXT;
}

hd_step hd_run_builtin_free(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_heap *heap = w->cta->memory->heap;
    if (w->cta->workers)
        hd_workers_keep_heap(w->cta->workers);
    HD_EACH_BIT (lane, mask) {
        uint64_t address = argument(op, w, 0, lane);
        hd_heap_call caller = call_in(w, lane);
        hd_heap_block block;
        hd_heap_result result = address ? hd_heap_release(heap, address, &caller, &block) : HD_HEAP_DONE;
        if (result == HD_HEAP_DONE) {
            touch_block(w->cta, address, block.size);
            continue;
        }
        bool again = result == HD_HEAP_FREED_BEFORE;
        hd_step step = hd_fault(op, w, 1u << lane, "free of 0x%llx, %s", (unsigned long long)address,
                                again ? "which was freed before" : "which malloc did not give");
        hd_fault_note_block(w, address, block.size ? &block : NULL);
        return step;
    }
    w->cta->writes++;
    return HD_STEP_NEXT;
}
