/* IR to PTX text: lossless from the source spans, canonical from the IR, both spellings of annotations. */
#ifndef HD_EMITTERS_PTX_H
#define HD_EMITTERS_PTX_H

#include "base/writer.h"
#include "ir/annotations.h"

typedef enum hd_spelling { HD_SPELLING_PORTABLE, HD_SPELLING_EXTENDED } hd_spelling;

typedef struct hd_emit_options {
    hd_spelling spelling;
    bool canonical;  /* everything from the IR: the input's tokens in order */
    bool no_section; /* portable: comments only */
    /* strip: no comments, no section, no extended modifiers; for unchanged code, the bytes before annotation */
    bool no_annotations;
} hd_emit_options;

/* Writes the module. Without passes and annotations the output equals the input, byte for byte. false if writing
 * failed. */
bool hd_emit_ptx(hd_writer *writer, const hd_module *module, const hd_emit_options *options);
/* One function, canonical (for --print-after and dumps). */
void hd_emit_function(hd_writer *writer, const hd_function *function);
/* One instruction, canonical: "@%p1 add.s32 %r1, %r2, 4;" */
void hd_emit_instruction(hd_writer *writer, const hd_function *function, const hd_instruction *insn);

#endif
