/* Asynchronous register accesses: which instructions start one, commit a group, and wait for completion
 * (ir/asynchronous.def). The spans are computed by analyses (passes/analysis/async_spans.h, passes/check/flights.h).
 */
#ifndef HD_IR_ASYNCHRONOUS_H
#define HD_IR_ASYNCHRONOUS_H

#include "ir/form.h"

typedef enum hd_async_queue { HD_ASYNC_GROUP, HD_ASYNC_LOAD, HD_ASYNC_STORE } hd_async_queue;
typedef enum hd_async_part { HD_ASYNC_NONE, HD_ASYNC_BEGIN, HD_ASYNC_COMMIT, HD_ASYNC_WAIT } hd_async_part;

typedef struct hd_async {
    uint8_t part, queue; /* hd_async_part, hd_async_queue */
    uint32_t pending;    /* WAIT: number of groups that may still be in flight afterwards */
} hd_async;

/* A guarded commit or wait, which some lanes may skip, is NONE. */
hd_async hd_insn_async(const hd_function *function, const hd_instruction *insn);
/* Whether the function has an instruction that starts an asynchronous access. */
bool hd_function_has_async(const hd_function *function);

/* for (const hd_operand *o in the data registers of an instruction that starts an asynchronous access) */
const hd_operand *hd_async_data(const hd_function *function, const hd_instruction *insn, const hd_operand *from);
#define HD_ASYNC_DATA(function, insn, o)                                                                   \
    for (const hd_operand *o = hd_async_data((function), (insn), hd_insn_operands((function), (insn))); o; \
         o = hd_async_data((function), (insn), o + 1))

#endif
