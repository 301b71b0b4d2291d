/* Rows of special registers: filled when a warp starts; those that vary with time, at each read.
 *
 * Values that hardware leaves open are the model's: %warpid is the index in the CTA, %smid 0 (one SM is modelled),
 * %gridid 0, %envreg1 and 2 as in exec.h, clocks count the warp's issued instructions. */
#include "hwmodel/exec/ops/special.h"
#include "hwmodel/exec/ops/rows.h"

static uint64_t lane_value(const hd_warp *w, hd_sreg sreg, uint32_t component, uint32_t lane)
{
    const hd_cta *cta = w->cta;
    const uint32_t *block = cta->grid->block, linear = w->index * LANES + lane;
    const uint32_t tid[4] = {linear % block[0], linear / block[0] % block[1], linear / block[0] / block[1], 0};
    const uint32_t bit = 1u << lane;
    switch ((uint32_t)sreg) {
    case HD_SREG_TID: return tid[component];
    case HD_SREG_NTID: return component < 3 ? block[component] : 0;
    case HD_SREG_CTAID: return component < 3 ? cta->id[component] : 0;
    case HD_SREG_NCTAID: return component < 3 ? cta->grid->grid[component] : 0;
    case HD_SREG_LANEID: return lane;
    case HD_SREG_WARPID: return w->index;
    case HD_SREG_NWARPID: return 64;
    case HD_SREG_NSMID: return 1;
    case HD_SREG_LANEMASK_EQ: return bit;
    case HD_SREG_LANEMASK_LE: return bit | (bit - 1);
    case HD_SREG_LANEMASK_LT: return bit - 1;
    case HD_SREG_LANEMASK_GE: return ~(bit - 1);
    case HD_SREG_LANEMASK_GT: return ~(bit - 1) & ~bit;
    case HD_SREG_CLOCK: return (uint32_t)w->issued;
    case HD_SREG_CLOCK_HI: return (uint32_t)(w->issued >> 32);
    case HD_SREG_CLOCK64:
    case HD_SREG_GLOBALTIMER: return w->issued;
    case HD_SREG_GLOBALTIMER_LO: return (uint32_t)w->issued;
    case HD_SREG_GLOBALTIMER_HI: return (uint32_t)(w->issued >> 32);
    case HD_SREG_TOTAL_SMEM_SIZE:
    case HD_SREG_AGGR_SMEM_SIZE: return cta->reserved_at; /* without the reserved part */
    case HD_SREG_DYNAMIC_SMEM_SIZE: return cta->grid->dynamic_shared_bytes;
    case HD_SREG_RESERVED_SMEM_BEGIN:
    case HD_SREG_RESERVED_SMEM_0: return cta->reserved_at;
    case HD_SREG_RESERVED_SMEM_1: return cta->reserved_at + HD_RESERVED_SHARED_BYTES / 2;
    case HD_SREG_RESERVED_SMEM_END: return cta->shared_bytes;
    case HD_SREG_RESERVED_SMEM_CAP: return HD_RESERVED_SHARED_BYTES;
    case HD_SREG_CLUSTERID: return component < 3 ? cta->id[component] : 0; /* clusters of one CTA */
    case HD_SREG_NCLUSTERID: return component < 3 ? cta->grid->grid[component] : 0;
    case HD_SREG_CLUSTER_NCTAID: return component < 3;
    case HD_SREG_CLUSTER_NCTARANK: return 1;
    case HD_SREG_ENVREG1: return cta->grid->cooperative ? cta->grid->workspace >> 32 : 0;
    case HD_SREG_ENVREG2: return cta->grid->cooperative ? (uint32_t)cta->grid->workspace : 0;
    default: return 0; /* SMID, GRIDID, CLUSTER_CTAID, CLUSTER_CTARANK, IS_EXPLICIT_CLUSTER */
    }
}

bool hd_special_known(hd_sreg sreg)
{
    switch ((uint32_t)sreg) {
    case HD_SREG_TID:
    case HD_SREG_NTID:
    case HD_SREG_CTAID:
    case HD_SREG_NCTAID:
    case HD_SREG_LANEID:
    case HD_SREG_WARPID:
    case HD_SREG_NWARPID:
    case HD_SREG_SMID:
    case HD_SREG_NSMID:
    case HD_SREG_GRIDID:
    case HD_SREG_LANEMASK_EQ:
    case HD_SREG_LANEMASK_LE:
    case HD_SREG_LANEMASK_LT:
    case HD_SREG_LANEMASK_GE:
    case HD_SREG_LANEMASK_GT:
    case HD_SREG_CLOCK:
    case HD_SREG_CLOCK_HI:
    case HD_SREG_CLOCK64:
    case HD_SREG_GLOBALTIMER:
    case HD_SREG_GLOBALTIMER_LO:
    case HD_SREG_GLOBALTIMER_HI:
    case HD_SREG_TOTAL_SMEM_SIZE:
    case HD_SREG_AGGR_SMEM_SIZE:
    case HD_SREG_DYNAMIC_SMEM_SIZE:
    case HD_SREG_RESERVED_SMEM_BEGIN:
    case HD_SREG_RESERVED_SMEM_END:
    case HD_SREG_RESERVED_SMEM_CAP:
    case HD_SREG_RESERVED_SMEM_0:
    case HD_SREG_RESERVED_SMEM_1:
    case HD_SREG_CLUSTERID:
    case HD_SREG_NCLUSTERID:
    case HD_SREG_CLUSTER_CTAID:
    case HD_SREG_CLUSTER_NCTAID:
    case HD_SREG_CLUSTER_CTARANK:
    case HD_SREG_CLUSTER_NCTARANK:
    case HD_SREG_IS_EXPLICIT_CLUSTER:
    case HD_SREG_ENVREG1:
    case HD_SREG_ENVREG2: return true;
    default: return false;
    }
}

bool hd_special_used(const hd_program *program, hd_sreg sreg)
{
    for (uint32_t i = 0; i < program->specials.count; i++)
        if (program->specials.items[i].sreg == sreg)
            return true;
    return false;
}

static void fill(const hd_special *s, hd_warp *w)
{
    bool same = s->varies != HD_VARIES_LANE; /* in all lanes */
    uint64_t value = 0;
    uint32_t word = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (!lane || !same)
            value = lane_value(w, (hd_sreg)s->sreg, s->component, lane);
        unsigned char *at = w->special + s->offset + (size_t)lane * s->bytes;
        if (s->bytes == 4)
            memcpy(at, &value, 4);
        else
            memcpy(at, &value, s->bytes);
        word |= (uint32_t)(value & 1) << lane;
    }
    if (!s->bytes)
        memcpy(w->special + s->offset, &word, sizeof word);
}

static void fill_bank_rows(const hd_program *program, hd_warp *w)
{
    for (uint32_t i = 0; i < program->bank_rows.count; i++) {
        const hd_bank_row *b = &program->bank_rows.items[i];
        unsigned char value[8];
        program->read_bank(w->cta, b->bank, b->offset, value, b->bytes);
        hd_spread(w->special + b->row, value, b->bytes);
    }
}

/* Values that are the same in every CTA are filled once, for the first CTA in which the warp slot is used. */
void hd_special_fill(const hd_program *program, hd_warp *w)
{
    for (uint32_t i = 0; i < program->specials.count; i++)
        if (!w->special_filled || program->specials.items[i].varies == HD_VARIES_CTA)
            fill(&program->specials.items[i], w);
    if (!w->special_filled)
        fill_bank_rows(program, w);
    w->special_filled = true;
}

void hd_special_refresh(const hd_program *program, hd_warp *w)
{
    for (uint32_t i = 0; i < program->specials.count; i++)
        if (program->specials.items[i].varies == HD_VARIES_TIME)
            fill(&program->specials.items[i], w);
}
