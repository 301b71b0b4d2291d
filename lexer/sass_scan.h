/* The scanner's rules as functions, for the ways through a text: by lines (sass.re), by JSON (sass_json.c) and by rows
 * of a table (sass_table.c). Private to lexer/. */
#ifndef HD_LEXER_SASS_SCAN_H
#define HD_LEXER_SASS_SCAN_H

#include "lexer/sass.h"

typedef struct hd_sass_scan { /* a token being read; the names are those of hd_sass_token */
    const unsigned char *start, *cursor, *name, *name_end;
    uint32_t index;
    uint8_t flags;
} hd_sass_scan;

/* The token at s->cursor, before `limit`: of the start of a line, of operands. */
hd_sass_token_kind hd_sass_scan_line(hd_sass_lexer *lexer, const unsigned char *limit, hd_sass_scan *s);
hd_sass_token_kind hd_sass_scan_operand(hd_sass_lexer *lexer, const unsigned char *limit, hd_sass_scan *s);
/* Stores what was scanned, cut at `limit`; the lexer goes on after it. */
hd_sass_token_kind hd_sass_scan_store(hd_sass_lexer *lexer, hd_sass_token *token, hd_sass_token_kind kind,
                                      const hd_sass_scan *s, uint32_t limit);

/* hd_sass_lexer_next() of a listing in JSON. */
hd_sass_token_kind hd_sass_json_next(hd_sass_lexer *lexer, hd_sass_token *token);
/* ... and of one in CSV. */
hd_sass_token_kind hd_sass_csv_next(hd_sass_lexer *lexer, hd_sass_token *token);

/* Reads `0x7fffd9f0a100 <symbol+16>:`, the address before an instruction of cuda-gdb, with an arrow before it. false:
 * there is none at `at`. *base: the function's own address, 0 where no symbol says it. */
bool hd_sass_debugger_address(const unsigned char *at, const unsigned char *limit, hd_sass_scan *s, uint64_t *base);

#endif
