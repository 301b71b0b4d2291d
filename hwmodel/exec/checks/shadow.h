/* Shadow bits of registers, which mark undefined bits (used by uninitialized.c). Private to hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_CHECKS_SHADOW_H
#define HD_HWMODEL_EXEC_CHECKS_SHADOW_H

#include "hwmodel/exec/checks/checks.h"
#include "ir/form.h"

static inline const hd_code *hd_shadow_code(const hd_warp *w) { return hd_top_frame(w)->code; }
static inline const hd_instruction *hd_shadow_insn(const hd_op *op, const hd_code *code)
{
    return &code->function->instructions.items[op - code->ops];
}
static inline uint32_t *hd_shadow_origins(const hd_frame *f)
{
    return (uint32_t *)(void *)(f->shadow + f->code->register_bytes);
}
static inline bool hd_shadow_has(hd_ref ref) { return ref != HD_NO_REF && ref >> HD_REF_SHIFT == HD_REF_FRAME; }
static inline unsigned char *hd_shadow_row(const hd_warp *w, hd_ref ref) { return hd_top_frame(w)->shadow + ref; }

/* Lanes in which any bit of a row, or of a register of the call frame on top, is undefined. */
uint32_t hd_shadow_undefined(const hd_warp *w, hd_ref ref, uint32_t bytes);
uint32_t hd_shadow_register(const hd_warp *w, uint32_t reg);
/* Marks the lanes of `mask` of a row undefined where `undefined` is set, else defined. */
void hd_shadow_set(unsigned char *row, uint32_t bytes, uint32_t mask, uint32_t undefined);
void hd_shadow_written(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t undefined);
/* Sets the origin of written values: that of the first undefined source, or this op if it loads. */
void hd_shadow_origin(const hd_op *op, hd_warp *w, uint32_t mask, bool loads);
/* Computes the shadows of an op's results before it executes, if they depend on registers only. */
void hd_shadow_spread(const hd_op *op, hd_warp *w, uint32_t mask, const hd_form *form);

/* uninitialized.c: faults, each of the first register that is undefined in a lane; NEXT: there is none */
hd_step hd_uninitialized_report(const hd_op *op, hd_warp *w, uint32_t lanes, uint32_t reg, const char *use);
hd_step hd_uninitialized_addresses(const hd_op *op, hd_warp *w, uint32_t mask); /* registers in ADDRESS operands */
hd_step hd_uninitialized_all(const hd_op *op, hd_warp *w, uint32_t mask, const char *use); /* all that are read */
/* After a load or a store: the shadows of what was read or written. */
void hd_shadow_load(const hd_op *op, hd_warp *w, uint32_t mask);
hd_step hd_shadow_store(const hd_op *op, hd_warp *w, uint32_t mask);
void hd_shadow_define_bytes(const hd_op *op, hd_warp *w, uint32_t mask); /* what was accessed is defined */
/* Whether bytes with these undefined bits, stored to global memory, are a fault. */
bool hd_shadow_has_no_value(const hd_warp *w, const unsigned char *bits, uint32_t bytes);

/* uninitialized_machine.c */
hd_step hd_uninitialized_machine_before(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask);
hd_step hd_uninitialized_machine_after(const hd_op *op, hd_warp *w, uint32_t mask);

/* shadow_matrix.c: before the op executes. Returns STOP, reported, for an access that the op itself will not
 * perform. */
hd_step hd_shadow_matrix_load(const hd_op *op, hd_warp *w, uint32_t mask);
/* *bad: a row stored to global memory with a completely undefined lane, or HD_NO_REF. */
hd_step hd_shadow_matrix_store(const hd_op *op, hd_warp *w, uint32_t mask, hd_ref *bad);
void hd_shadow_matrix_product(const hd_op *op, hd_warp *w); /* executed by all lanes */

#endif
