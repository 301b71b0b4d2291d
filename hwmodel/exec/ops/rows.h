/* Operations on rows of 32 lanes: see rows.c. */
#ifndef HD_HWMODEL_EXEC_OPS_ROWS_H
#define HD_HWMODEL_EXEC_OPS_ROWS_H

#include "ir/ir.h"
#include <stdbool.h>
#include <stdint.h>

/* Copies the lanes of `mask` of a row with 1, 2, 4, 8 or 16 bytes per lane. */
void hd_merge(void *d, const void *from, uint32_t mask, uint32_t bytes);
void hd_spread(void *d, const void *value, uint32_t bytes);             /* to all lanes */
void hd_keep(void *d, const void *from, uint32_t mask, uint32_t bytes); /* 4 or 8 bytes; 0 in all other lanes */
/* Widens or narrows a row of integers; equal widths copy. */
void hd_resize(void *d, uint32_t d_bytes, const void *a, uint32_t a_bytes, bool is_signed);
/* `type` is F16, BF16, F32 or F64. */
void hd_flush_row(void *d, const void *a, hd_type type);  /* subnormals to zero */
bool hd_has_smallest(const void *row, hd_type type);      /* a normal number of the least magnitude; F16 or F32 */
void hd_double_row(void *d, const void *a, hd_type type); /* normal numbers twice; F16 or F32 */
/* The smallest normal numbers of d to zero where `twice`, the result for twice as much, is less than twice as much. */
void hd_flush_rounded_row(void *d, const void *twice, hd_type type);
void hd_saturate_row(void *d, const void *a, hd_type type); /* to [0, 1] */
void hd_widen_row(void *d, const void *a, hd_type type);    /* F16 or BF16 to F32 */
/* `one` for lanes with their bit set in low; plus the same 16 bits up for lanes in high. */
void hd_spread_row(uint32_t *d, uint32_t low, uint32_t high, uint32_t one);
/* lop3: bit 4 a + 2 b + c of the table, for each bit. */
void hd_logic_row(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t table);
/* a + b + in, or a - b - in, with 4 or 8 bytes per lane; `in` and the result: one bit per lane, the carry or borrow. */
uint32_t hd_carry_row(void *d, const void *a, const void *b, uint32_t in, bool subtract, uint32_t bytes);
/* dp4a (parts of 1 byte) and dp2a (2): parts of a times the bytes of b from bit `from` on, plus c. */
void hd_dot_row(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t part_bytes,
                uint32_t from, bool a_signed, bool b_signed);
/* bfi of 4 or 8 bytes a lane */
void hd_insert_row(void *d, const void *from, const void *into, const uint32_t *position, const uint32_t *length,
                   uint32_t bytes);

#endif
