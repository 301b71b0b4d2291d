/* Prints the IR as PTX tokens: used for canonical text and for the hash that detects stale annotations. */
#ifndef HD_IR_SPELL_H
#define HD_IR_SPELL_H

#include "base/writer.h"
#include "ir/ir.h"

typedef struct hd_speller {
    hd_writer *out;
    const hd_module *module;
    const hd_function *function; /* NULL for module-level statements */
    bool tokens_only;            /* each token is followed by one blank; else formatted for readers */
} hd_speller;

void hd_spell_tokens(hd_speller *s, hd_tokens tokens);
void hd_spell_register(hd_speller *s, uint32_t reg); /* its name, without surrounding blanks */
/* An operand with its children; returns the operand after them. */
const hd_operand *hd_spell_operand(hd_speller *s, const hd_operand *operand);
/* "@%p1 add.s32 %r1, %r2, 4;" with `modifiers` after the opcode (length 0: none). */
void hd_spell_instruction(hd_speller *s, const hd_instruction *insn, const char *modifiers, size_t length);
/* Prints any statement except functions, including instructions, without a line end. */
void hd_spell_statement(hd_speller *s, const hd_statement *statement);
/* True for a .heddle statement: its content is in the annotations, and is written from there. */
static inline bool hd_statement_is_heddle(const hd_module *module, const hd_statement *statement)
{
    return statement->kind == HD_STATEMENT_VERBATIM &&
           module->verbatims.items[statement->index].kind == HD_VERBATIM_OTHER;
}
/* True for statements that are not code: .loc, and annotations in the extended spelling. Hashes exclude them. */
bool hd_statement_is_extra(const hd_function *function, const hd_statement *statement);

#endif
