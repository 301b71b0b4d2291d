/* Occupancy of a function: see resident.h. Linear. */
#include "passes/analysis/resident.h"

#include "base/bitset.h"
#include "ir/architected.h"
#include "ir/machine.h"

static uint32_t shared_bytes_of(const hd_function *f)
{
    hd_arena scratch = {0};
    hd_bitset seen = hd_bitset_new(&scratch, f->module->symbols.count + 1);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->operands.count; i++) {
        const hd_operand *o = &f->operands.items[i];
        if (o->kind != HD_OPERAND_SYMBOL || hd_bitset_has(&seen, o->value))
            continue;
        const hd_symbol *symbol = &f->module->symbols.items[o->value];
        hd_bitset_add(&seen, o->value);
        if (symbol->space != HD_SPACE_SHARED || symbol->is_unsized)
            continue;
        uint32_t align = symbol->align ? symbol->align : 1;
        bytes = (bytes + align - 1) / align * align + symbol->size_bytes;
    }
    hd_arena_free(&scratch);
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

hd_occupancy_use hd_pass_use(const hd_pass_context *context)
{
    hd_architected numbers = {0};
    hd_architected_of(context->function, &numbers);
    if (context->function->machine) {
        hd_machine_count count = hd_machine_count_of(context->function, 0);
        numbers.registers = hd_max(numbers.registers, count.number);
    }
    return (hd_occupancy_use){.threads = hd_pass_block(context),
                              .registers = numbers.registers,
                              .shared_bytes = shared_bytes_of(context->function)};
}

bool hd_pass_occupancy(hd_pass_context *context, const hd_occupancy_use *use, hd_occupancy *occupancy)
{
    const hd_gpu *gpu = hd_pass_gpu(context);
    if (!gpu || !gpu->valid)
        return false;
    *occupancy = hd_occupancy_of(&gpu->limits, use);
    return occupancy->ctas != 0;
}
