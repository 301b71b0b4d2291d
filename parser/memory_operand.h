/* Memory operands in the extended spelling: the load is in its consumer, in place of its register.
 *
 *   mul.ftz.f32 %f3, [%rd1+4]:ld.const.f32 %f2, [%rd2]:ld.global.f32 %f1;
 *
 * This abbreviates a line for each load and one for the consumer. The text of the source becomes
 *
 *   ld.const.f32.demo::next %f2, [%rd1+4];
 *   ld.global.f32.demo::next %f1, [%rd2];
 *   mul.ftz.f32 %f3, %f2, %f1;
 *
 * (`demo` is the name of the annotation kind HD_OPERAND_LOAD) before it is scanned, so that later code has no special
 * case. Lines keep their numbers (hd_source.joined). The writer (emitters/ir/memory_operand.c) uses the abbreviation
 * only if it expands to the same lines, byte for byte.
 */
#ifndef HD_PARSER_MEMORY_OPERAND_H
#define HD_PARSER_MEMORY_OPERAND_H

#include "base/diagnostics.h"
#include "base/writer.h"

enum { HD_MEMORY_OPERANDS = 8 }; /* maximum per line */

/* Expands all abbreviations of a text. false: one was malformed; it is reported, and the text is unchanged. */
bool hd_expand_memory_operands(hd_source *source, hd_diagnostics *diagnostics);

/* Expands one line, whose first ']:' is at `at`; the line and its end (may be empty) are separate. Returns NULL, or the
 * error. joined: receives the offset in the output of each line but the first; returns their number. */
const char *hd_expand_memory_operand(hd_writer *out, const char *line, uint32_t length, uint32_t at,
                                     const char *line_end, uint32_t joined[HD_MEMORY_OPERANDS], uint32_t *count);

/* The modifier of an expanded load, ".demo::next". */
void hd_write_memory_operand_modifier(hd_writer *out);
bool hd_is_memory_operand_modifier(const char *text, size_t length);

/* Skips the guard of a line's instruction, with the blanks around it. */
uint32_t hd_line_after_guard(const char *line, uint32_t length);
uint32_t hd_line_after_opcode(const char *line, uint32_t at, uint32_t length);

#endif
