/* Operands in memory as the extended spelling writes them: the load is in its consumer, in place of its register.
 *
 *   mul.ftz.f32 %f3, [%rd1+4]:ld.const.f32 %f2, [%rd2]:ld.global.f32 %f1;
 *
 * This is short for a line for each load and one for the consumer, and read as these: the text of the source becomes
 *
 *   ld.const.f32.demo::next %f2, [%rd1+4];
 *   ld.global.f32.demo::next %f1, [%rd2];
 *   mul.ftz.f32 %f3, %f2, %f1;
 *
 * (`demo` is the name of the annotation kind HD_OPERAND_LOAD) before the scanner sees it, so that what follows knows no
 * third kind of instruction. Lines keep their numbers (hd_source.joined). The writer (emitters/memory_operand.c) makes
 * the short form only where this gives back the lines to the byte.
 */
#ifndef HD_PARSER_MEMORY_OPERAND_H
#define HD_PARSER_MEMORY_OPERAND_H

#include "base/diagnostics.h"
#include "base/writer.h"

enum { HD_MEMORY_OPERANDS = 8 }; /* of a line, at most */

/* Writes all short forms of a text out. false: one was malformed; it is reported, and the text stays as it was. */
bool hd_expand_memory_operands(hd_source *source, hd_diagnostics *diagnostics);

/* Writes one line out, which has the short form's first ']:' at `at`; the line and its end (may be empty) apart. NULL,
 * or what is wrong. joined: gets where in the output each line but the first begins; how many there are. */
const char *hd_expand_memory_operand(hd_writer *out, const char *line, uint32_t length, uint32_t at,
                                     const char *line_end, uint32_t joined[HD_MEMORY_OPERANDS], uint32_t *count);

/* The modifier of a load that was written out, ".demo::next". */
void hd_write_memory_operand_modifier(hd_writer *out);
bool hd_is_memory_operand_modifier(const char *text, size_t length);

/* After the guard of a line's instruction and the blanks on both sides of it. */
uint32_t hd_line_after_guard(const char *line, uint32_t length);
uint32_t hd_line_after_opcode(const char *line, uint32_t at, uint32_t length);

#endif
