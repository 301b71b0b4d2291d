/* A faulty lane: see faulty_lane.h. O(lanes) an instruction. */
#include "hwmodel/exec/ops/faulty_lane.h"

static const hd_instruction *instruction_of(const hd_op *op, const hd_code *code)
{
    return &code->function->instructions.items[op - code->ops];
}

void hd_faulty_begin(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_cta *cta = w->cta;
    const hd_code *code = hd_top_frame(w)->code;
    hd_lane_unit unit = hd_lane_unit_of(hd_insn_form(code->function, instruction_of(op, code)));
    cta->effect = (hd_lane_effect){.lane = (uint8_t)cta->faulty->fault.lane};
    cta->in_faulty_unit = unit == cta->faulty->fault.unit;
    cta->addresses_to_change = cta->in_faulty_unit && unit == HD_LANE_LDST && mask;
}

/* The lanes of the mask whose bit is set in `ones`, as the faulty lane makes them: its own bit may be changed. */
static uint32_t change_bits(hd_cta *cta, uint32_t ones, uint32_t mask)
{
    const hd_lane_fault *fault = &cta->faulty->fault;
    uint32_t own = mask & 1u << cta->faulty->thread, stuck = fault->value ? ~ones : ones;
    bool flips = !fault->stuck && cta->faulty->operations + 1 == fault->operation;
    if (fault->stuck)
        cta->effect.sensitive = stuck & mask;
    cta->effect.wrong = fault->stuck ? stuck & own : flips ? own : 0;
    return ones ^ cta->effect.wrong;
}

/* `rows`: by lane, of so many bytes. */
static void change_row(hd_cta *cta, unsigned char *row, uint32_t bytes, uint32_t mask)
{
    uint32_t bit = cta->faulty->fault.bit, thread = cta->faulty->thread, ones = 0;
    if (bit >= 8 * bytes)
        return;
    for (uint32_t i = 0; i < LANES; i++)
        ones |= (uint32_t)(row[i * bytes + bit / 8] >> bit % 8 & 1) << i;
    if ((change_bits(cta, ones, mask) ^ ones) >> thread & 1)
        row[thread * bytes + bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static void change_result(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t reg = HD_NONE;
    HD_INSN_REGISTERS (code->function, instruction_of(op, code), o)
        if (o->flags & HD_OPERAND_DEF && reg == HD_NONE)
            reg = o->value;
    if (reg == HD_NONE)
        return;
    uint32_t bytes = hd_register_lane_bytes(code->function, reg), row = code->register_rows[reg];
    if (bytes)
        change_row(w->cta, hd_row_of_frame(w, row), hd_min(bytes, 8), mask);
    else if (!w->cta->faulty->fault.bit)
        hd_set_warp_word(w, row, change_bits(w->cta, hd_warp_word(w, row), mask), mask);
}

void hd_faulty_end(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_cta *cta = w->cta;
    if (!cta->in_faulty_unit || !mask)
        return;
    cta->addresses_to_change = false;
    if (cta->faulty->fault.unit != HD_LANE_LDST)
        change_result(op, w, mask);
    cta->faulty->operations += mask >> cta->faulty->thread & 1;
    cta->faulty->wrong += cta->effect.wrong != 0;
}

void hd_faulty_addresses(hd_cta *cta, uint32_t bits, uint32_t mask)
{
    uint32_t bit = cta->faulty->fault.bit, thread = cta->faulty->thread, ones = 0;
    cta->addresses_to_change = false;
    if (bit >= bits)
        return;
    for (uint32_t i = 0; i < LANES; i++)
        ones |= (uint32_t)(cta->addresses[i] >> bit & 1) << i;
    if ((change_bits(cta, ones, mask) ^ ones) >> thread & 1)
        cta->addresses[thread] ^= (uint64_t)1 << bit;
}
