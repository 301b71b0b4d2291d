/* Dumps of a module, for people and for other tools: tokens, IR, control-flow graph, liveness. */
#ifndef HD_EMITTERS_DUMP_H
#define HD_EMITTERS_DUMP_H

#include "base/writer.h"
#include "ir/cfg.h"

/* One line per token: line:column, kind, text. Needs no module; lexical errors go to the diagnostics. */
void hd_emit_tokens(hd_writer *writer, hd_source *source, hd_diagnostics *diagnostics);
/* The same for a listing of machine code. */
void hd_emit_sass_tokens(hd_writer *writer, hd_source *source);

/* The control-flow graph in the DOT language: a node per block with its instructions (at most `instructions` of them; 0
 * = all), solid edges for taken branches, dashed for fall-through; X is the exit. */
void hd_emit_cfg_dot(hd_writer *writer, hd_function *function, uint32_t instructions);

/* A listing: blocks with predecessors and successors, then each instruction with ordinal, id and registers read and
 * written. */
void hd_emit_ir_text(hd_writer *writer, hd_function *function);
/* The same as one JSON object: name, registers, blocks, loops, instructions (id, origin, line, column, text, reads,
 * writes, annotations). */
void hd_emit_ir_json(hd_writer *writer, hd_function *function);
/* What is before the objects of all functions, which commas separate, and after them. */
void hd_emit_ir_json_begin(hd_writer *writer);
void hd_emit_ir_json_end(hd_writer *writer);

/* One line per instruction: the number of registers live before it, the words they occupy in the register file, the
 * instruction, and the registers' names. Thread-level liveness. */
void hd_emit_liveness(hd_writer *writer, hd_function *function);
/* The same for allocated code (ir/architected.h), in the style of nvdisasm's live ranges: a column for each general
 * register and predicate, and of machine code also for each uniform one: `^` assigned, `v` used, `x` both, `:` live,
 * preceded by the number of occupied ones. Nothing for a virtual function. */
void hd_emit_live_ranges(hd_writer *writer, hd_function *function);

/* The metadata words of the function's annotations, by technique, with the instruction that each precedes
 * (ir/words/words.h). */
void hd_emit_words(hd_writer *writer, const hd_function *function);

#endif
