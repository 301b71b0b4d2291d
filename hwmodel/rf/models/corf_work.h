/* The state of CORF's model: registers, and the entries that hold them. Private to corf*.c. */
#ifndef HD_HWMODEL_RF_CORF_WORK_H
#define HD_HWMODEL_RF_CORF_WORK_H

#include "hwmodel/rf/models/corf_hints.h"
#include "hwmodel/rf/technique.h"

typedef struct hd_corf_register {
    hd_pack_slices slices;
    /* mask of slices that it has: those of `place`, and with "kept" those of a wider value before */
    uint8_t held;
    bool left;        /* a partner at the left end */
    bool met, joined; /* of the first of a pair: both had slices at one time; in one entry */
} hd_corf_register;

typedef struct hd_corf_warp {
    hd_pack_pool pool;                    /* "shared": slot 0 has the only one */
    HD_ARRAY(hd_corf_register) registers; /* by index in the warp */
    uint32_t mapped;                      /* registers that have slices */
} hd_corf_warp;

typedef struct hd_corf_operand {
    hd_pack_slices slices;
    uint16_t with; /* 1 + the earlier source whose access it shares; 0: none */
    bool taken;    /* is one of two that share an access */
} hd_corf_operand;

typedef struct hd_corf {
    hd_rf_model model;
    HD_ARRAY(hd_corf_warp *) warps; /* by slot */
    hd_corf_policy policy;
    bool shared, kept, uncopied, stale, slipped;
    hd_corf_hints hints;
    HD_ARRAY(hd_corf_operand) operands; /* by source of the instruction that is executed */
    /* of all warps: registers that have slices, registers; used entries are what the model holds */
    uint32_t mapped, declared;
    const hd_rf_module *code;
    /* of a thread, of the launch, with all that the kernel calls; UINT32_MAX: not known */
    uint32_t kernel_registers;
} hd_corf;

typedef struct hd_corf_target { /* the register that is written */
    hd_corf *c;
    hd_corf_warp *warp;
    hd_pack_pool *pool;
    const hd_corf_function *function;
    hd_corf_register *reg, *partner; /* partner: NULL where there is none */
    uint32_t word;
    uint16_t operand; /* of the instruction: hd_access_result */
    hd_access_sink *sink;
} hd_corf_target;

static inline hd_corf_warp *hd_corf_warp_of(const hd_corf *c, const hd_rf_warp *warp)
{
    return c->warps.items[warp->slot];
}

static inline hd_pack_pool *hd_corf_pool_of(const hd_corf *c, hd_corf_warp *w)
{
    return c->shared ? &c->warps.items[0]->pool : &w->pool;
}

/* How many of so many entries or registers of a warp's frames are not on the stack. */
static inline uint32_t hd_corf_in_file(const hd_corf *c, uint32_t count)
{
    return c->shared || count < c->kernel_registers ? count : c->kernel_registers;
}

static inline void hd_corf_access_table(hd_access_sink *sink, hd_access_kind kind, uint16_t operand)
{
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_TABLE, .kind = (uint8_t)kind, .operand = operand});
}

/* Allocates free slices of a warp; counts registers that get their first slices or free their last ones. */
void hd_corf_take(hd_corf *c, hd_pack_pool *pool, hd_pack_slices slices);
void hd_corf_count_mapped(hd_corf *c, hd_corf_warp *w, bool more);
/* Gives the register of the target the slices that a value of so many bytes needs: those that it has if they suffice,
 * else others by the policy. */
void hd_corf_fit(const hd_corf_target *target, uint32_t width);
/* Frees the register's slices. */
void hd_corf_unmap(hd_corf *c, hd_corf_warp *w, hd_corf_register *r);

#endif
