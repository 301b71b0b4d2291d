/* PTX text to tokens (lexer/ptx.re, made by re2c).
 *
 * A contiguous `opcode.mod.mod` is one token (DOTTED), because it is looked up as a whole. A name that ends in digits
 * is split into stem and number while it is hot: a member of a register range (%r17 of %r<100>) then needs no entry of
 * its own in the name table. Comments, white space and line markers (# 12 "a.cu") are no tokens.
 *
 * Lexical mistakes go to the diagnostics and are skipped; the scanner never stops before the end of the text, except
 * when the diagnostics are full. Linear in the text.
 */
#ifndef HD_LEXER_LEXER_H
#define HD_LEXER_LEXER_H

#include "base/diagnostics.h"
#include "base/intern.h"

typedef enum hd_token_kind {
    HD_TOKEN_END,
    HD_TOKEN_ERROR,     /* the parser's own */
    HD_TOKEN_UNDEFINED, /* the parser's own */
#define HD_TOKEN(id, text) HD_TOKEN_##id,
#include "lexer/tokens.def"
#undef HD_TOKEN
    HD_TOKEN_COUNT
} hd_token_kind;

enum { HD_NO_INDEX = 0xffffffffu };

typedef struct hd_token {
    uint32_t begin, end; /* bytes of the text */
    uint32_t kind;       /* hd_token_kind */
    hd_name name;        /* NAME with a number: the stem; punctuation, keywords and strings: 0; else the spelling */
    uint32_t index;      /* NAME with a number below 10^9 and no leading zero: the number; else HD_NO_INDEX */
} hd_token;

typedef struct hd_lexer {
    hd_source *source;
    hd_names *names;
    hd_diagnostics *diagnostics; /* NULL: say nothing */
    uint32_t cursor, limit;      /* next byte to read, end of the text to read */
    bool fine;                   /* split opcode.mods into its words: NAME WORD WORD ... */
} hd_lexer;

/* Reads the bytes `span` of the source. */
void hd_lexer_init(hd_lexer *lexer, hd_source *source, hd_span span, hd_names *names, hd_diagnostics *diagnostics);
/* The next token, HD_TOKEN_END (again and again) at the end. */
hd_token_kind hd_lexer_next(hd_lexer *lexer, hd_token *token);
/* The whole spelling of a token, interned. */
hd_name hd_token_spelling(const hd_lexer *lexer, const hd_token *token);
const char *hd_token_text(hd_token_kind kind); /* "';'", "a name" */

#endif
