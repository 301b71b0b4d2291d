/* Shared declarations of the PTX printers. Private to emitters/.
 *
 *   ptx.c             the entry points
 *   lossless.c        copies the source and changes only what passes changed
 *   canonical.c       everything from the IR
 *   memory_operand.c  extended: a load and its consumer as one instruction
 */
#ifndef HD_EMITTERS_PRINT_H
#define HD_EMITTERS_PRINT_H

#include "emitters/ir/annotations.h"
#include "emitters/ir/ptx.h"
#include "ir/words/section.h"
#include "ir/spell.h"

typedef enum hd_print_mode { HD_PRINT_PLAIN /* no annotations */, HD_PRINT_PORTABLE, HD_PRINT_EXTENDED } hd_print_mode;

typedef struct hd_printer {
    hd_writer *out;
    const hd_module *module;
    hd_print_mode mode;
    bool no_section;
    hd_writer modifiers; /* scratch: the modifiers of one instruction */
    /* extended: offsets in the output, each in the line of a load that may be printed as an operand */
    HD_ARRAY(uint32_t) loads;
    /* lossless */
    const char *text;
    uint32_t at;                    /* everything before is written or omitted */
    const hd_span *drop, *drop_end; /* annotation texts to omit, from `at` on */
    const char *line_end;           /* the input's line end */
} hd_printer;

void hd_print_instruction(hd_printer *p, const hd_instruction *insn, const hd_annotation_run *run);
void hd_print_canonical_function(hd_printer *p, const hd_function *f);
bool hd_print_canonical(hd_printer *p);
bool hd_print_lossless(hd_printer *p);
/* Records the output offset of the run's instruction if it is a load that its consumer may absorb. */
void hd_print_mark_load(hd_printer *p, const hd_annotation_run *run);
/* Writes a text in which the loads at these offsets are absorbed by their consumers. */
void hd_print_memory_operands(hd_writer *out, const char *text, uint32_t length, const uint32_t *loads, uint32_t count);

#endif
