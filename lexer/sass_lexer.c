/* The tokens of a machine-code listing, whichever way its text is laid out: by lines, in JSON or as rows of a table. */
#include "lexer/sass_scan.h"

void hd_sass_lexer_init(hd_sass_lexer *lexer, hd_source *source, hd_span span)
{
    *lexer = (hd_sass_lexer){.source = source, .cursor = span.begin, .limit = span.end, .at_line_end = true};
    lexer->json = hd_sass_begins_json(source->text + span.begin);
    lexer->csv = !lexer->json && hd_sass_begins_csv(source->text + span.begin);
    lexer->debugger = hd_sass_begins_debugger(source->text + span.begin);
}

static const char *const texts[HD_SASS_TOKEN_COUNT] = {
    "the end of the text",
    "a mistake",
    "a mistake",
#define HD_SASS_TOKEN(id, text) text,
#include "lexer/sass_tokens.def"
#undef HD_SASS_TOKEN
};

const char *hd_sass_token_text(hd_sass_token_kind kind) { return texts[kind]; }

hd_sass_token_kind hd_sass_lexer_next(hd_sass_lexer *lexer, hd_sass_token *token)
{
    if (lexer->json)
        return hd_sass_json_next(lexer, token);
    if (lexer->csv)
        return hd_sass_csv_next(lexer, token);
    const unsigned char *text = (const unsigned char *)lexer->source->text, *limit = text + lexer->limit;
    hd_sass_scan s = {.cursor = text + lexer->cursor, .name = text, .name_end = text};
    hd_sass_token_kind kind =
        lexer->in_line ? hd_sass_scan_operand(lexer, limit, &s) : hd_sass_scan_line(lexer, limit, &s);
    if (kind == HD_SASS_TOKEN_LINE_END)
        lexer->in_line = lexer->after_address = false;
    lexer->at_line_end = kind == HD_SASS_TOKEN_LINE_END;
    return hd_sass_scan_store(lexer, token, kind, &s, lexer->limit);
}
