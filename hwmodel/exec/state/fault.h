/* Reports kernel faults with location, block and thread. Private to hwmodel/exec. */
#ifndef HD_HWMODEL_EXEC_STATE_FAULT_H
#define HD_HWMODEL_EXEC_STATE_FAULT_H

#include "hwmodel/exec/state/state.h"

/* Reports a kernel fault at the op for the lowest lane of `lanes`; returns HD_STEP_STOP. */
hd_step hd_fault(const hd_op *op, hd_warp *w, uint32_t lanes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with a note (nearest allocation ...). */
hd_step hd_fault_note(const hd_op *op, hd_warp *w, uint32_t lanes, const char *note, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The class of the last fault, OTHER unless it is set. Returns the step. */
hd_step hd_fault_is(hd_warp *w, hd_fault_class class, hd_step step);
/* Notes for the last fault: the block of the device heap near the address, and who allocated and freed it; NULL:
 * nothing was ever allocated below the address. */
struct hd_heap_block;
void hd_fault_note_block(hd_warp *w, uint64_t address, const struct hd_heap_block *block);
/* "4 bytes after the end of 's' (16 bytes)": describes the variable nearest to an address, where variables start at
 * `base`; false if there is none. */
bool hd_describe_variable(const hd_program *program, const hd_placed_array *variables, uint64_t base, uint64_t at,
                          char *text, size_t size);
void hd_fault_note_location(hd_warp *w, const hd_code *code, uint32_t ordinal, const char *text);
/* Notes for the last fault: where other lanes of the warp are in this function. */
void hd_fault_note_elsewhere(hd_warp *w, uint32_t lanes);
/* The last fault is not an error of the kernel: UNSUPPORTED. */
void hd_fault_not_modelled(hd_cta *cta, const char *why);
/* A race (races.c): reported like a fault, but the run continues. thread: that of the earlier access. */
typedef struct hd_race {
    const char *what, *now, *before; /* "write after read", "writes", "reads" */
    uint32_t byte, thread, code, ordinal;
} hd_race;
void hd_report_race(const hd_op *op, hd_warp *w, uint32_t lane, const hd_race *race);
/* Every warp waits: reports the deadlock with the waiting locations. */
void hd_fault_deadlock(hd_cta *cta);
/* Reports a livelock of the CTA, with the locations where lanes run and wait. */
void hd_fault_livelock(hd_cta *cta);
void hd_stop_at_limit(hd_cta *cta, const hd_warp *w); /* w: current warp; NULL: the CTA has ended */

#endif
