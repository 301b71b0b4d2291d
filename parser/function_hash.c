/* The hash that detects changes of a function since it was annotated: XXH3-64 of its canonical tokens, each followed by
 * one blank (heddle-annotations(7), "Stale annotations"). Tokens come from the IR, so that a text and its canonical
 * form have the same hash. Linear in tokens; the tokens are hashed in pieces, never held as a whole.
 */
#include "base/hash.h"
#include "ir/spell.h"
#include "parser/parse.h"

enum { PIECE_BYTES = 1 << 16 };

static void add_piece(hd_hasher *hasher, hd_writer *out, uint32_t at_least)
{
    if (out->buffer.count < at_least)
        return;
    hd_hasher_add(hasher, out->buffer.items, out->buffer.count);
    out->buffer.count = 0;
}

uint64_t hd_function_hash(const hd_function *function)
{
    hd_writer out;
    hd_hasher *hasher = hd_hasher_new();
    hd_writer_to_memory(&out);
    hd_array_reserve(&out.buffer, PIECE_BYTES + 4096);
    hd_speller speller = {&out, function->module, function, true};
    hd_spell_tokens(&speller, function->header);
    hd_write(&out, "{ ", 2);
    for (uint32_t i = 0; i < function->statements.count; i++) {
        if (!hd_statement_is_extra(function, &function->statements.items[i]))
            hd_spell_statement(&speller, &function->statements.items[i]);
        add_piece(hasher, &out, PIECE_BYTES);
    }
    hd_write(&out, "} ", 2);
    add_piece(hasher, &out, 0);
    uint64_t hash = hd_hasher_value(hasher);
    hd_hasher_free(hasher);
    hd_writer_free(&out);
    return hash;
}
