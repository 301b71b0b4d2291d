/* Layout of variables: kernel parameters in their block, a function's own variables in its call frame, shared
 * variables in the CTA's shared memory. */
#include "hwmodel/exec/decode/decoder.h"

static uint32_t round_up(uint64_t value, uint32_t multiple)
{
    return (uint32_t)((value + multiple - 1) / multiple * multiple);
}

uint32_t hd_parameter_offset(const hd_module *module, const hd_function *kernel, uint32_t parameter)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i <= parameter; i++) {
        const hd_symbol *s = &module->symbols.items[kernel->parameter_first + i];
        at = round_up(at, s->align);
        if (i == parameter)
            break;
        at += s->size_bytes;
    }
    return (uint32_t)at;
}

uint32_t hd_parameter_block_bytes(const hd_module *module, const hd_function *kernel)
{
    if (!kernel->parameter_count)
        return 0;
    uint32_t last = kernel->parameter_count - 1;
    return hd_parameter_offset(module, kernel, last) +
           (uint32_t)module->symbols.items[kernel->parameter_first + last].size_bytes;
}

enum { OPEN_BYTES = 1024 }; /* for a last parameter without a size, which accepts what a call passes */

static bool in_frame(const hd_symbol *s, const hd_function *f)
{
    if (s->kind == HD_SYMBOL_PARAMETER)
        return !f->is_entry;
    return s->kind == HD_SYMBOL_RESULT ||
           (s->kind == HD_SYMBOL_VARIABLE && (s->space == HD_SPACE_LOCAL || s->space == HD_SPACE_PARAM));
}

void hd_layout_code(hd_decoder *d, hd_code *code)
{
    const hd_function *f = code->function;
    uint64_t at = 0;
    for (uint32_t i = 0; i < d->module->symbols.count; i++) {
        const hd_symbol *s = &d->module->symbols.items[i];
        if (s->function != code->index || s->kind == HD_SYMBOL_FUNCTION || !in_frame(s, f))
            continue;
        at = round_up(at, hd_max(s->align, 4));
        d->symbol_offset[i] = (uint32_t)at;
        hd_array_push(&code->variables, (hd_placed){i, (uint32_t)at});
        at += s->is_unsized && s->kind == HD_SYMBOL_PARAMETER ? OPEN_BYTES : s->size_bytes;
    }
    code->local_bytes = round_up(at, 16);
    for (uint32_t i = 0; f->is_entry && i < f->parameter_count; i++)
        d->symbol_offset[f->parameter_first + i] = hd_parameter_offset(d->module, f, i);
}

static void place_shared(hd_decoder *d, uint32_t symbol, bool unsized)
{
    const hd_symbol *s = &d->module->symbols.items[symbol];
    hd_program *p = d->program;
    if (s->kind != HD_SYMBOL_VARIABLE || s->space != HD_SPACE_SHARED || d->symbol_offset[symbol] != HD_NONE)
        return;
    if ((s->is_unsized || !s->size_bytes) != unsized)
        return;
    if (unsized) { /* all of them denote the one dynamic block */
        d->symbol_offset[symbol] = p->dynamic_shared_at;
        return;
    }
    /* The limit is checked later, including the launch's dynamic memory. No program beyond it runs, so that an offset
     * of more than 32 bits is never used. */
    uint64_t at = (p->static_shared_bytes + s->align - 1) / s->align * s->align;
    d->symbol_offset[symbol] = (uint32_t)at;
    hd_array_push(&p->shared_variables, (hd_placed){symbol, d->symbol_offset[symbol]});
    p->static_shared_bytes = at + s->size_bytes;
}

void hd_layout_shared(hd_decoder *d)
{
    hd_program *p = d->program;
    for (uint32_t unsized = 0; unsized < 2; unsized++) {
        if (unsized)
            p->dynamic_shared_at = round_up(p->static_shared_bytes, 128);
        for (uint32_t c = 0; c < p->codes.count; c++) {
            const hd_function *f = p->codes.items[c]->function;
            for (uint32_t i = 0; i < f->operands.count; i++)
                if (f->operands.items[i].kind == HD_OPERAND_SYMBOL)
                    place_shared(d, f->operands.items[i].value, unsized);
        }
    }
}
