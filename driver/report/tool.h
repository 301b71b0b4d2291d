/* Programs of the CUDA toolkit, and machine code as text by them. */
#ifndef HD_DRIVER_REPORT_TOOL_H
#define HD_DRIVER_REPORT_TOOL_H

#include "parser/binary.h"

/* The program in PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin; NULL if there is none. Freed by the caller. */
char *hd_tool_find(const char *name);

/* The input and the output of such a program, in memory files. Writes all, at the position of the descriptor; returns
 * the whole contents, with a NUL after them, freed by the caller. */
bool hd_tool_write(int descriptor, const char *text, size_t length);
char *hd_tool_read(int descriptor, size_t *length);

/* Replaces a file of machine code (hd_binary_of) by its listing, under the same name: heddle's own (parser/binary.h),
 * or where it does not decode all of the code, that of nvdisasm or cuobjdump, if there is one. Leaves other sources as
 * they are. `words` is about heddle's own. false with a diagnostic (bad-cubin, missing-code, missing-tool, unreadable);
 * the source is then as it was. */
bool hd_disassemble(hd_source *source, hd_listing_words words, hd_diagnostics *diagnostics);

#endif
