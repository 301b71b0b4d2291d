/* The PTX scanner: one DFA, no look-ahead, no copy. The text ends in at least 16 NUL bytes, so that neither the DFA nor
 * the interner tests for its end; a NUL at the limit is the end of the text, any other NUL an error.
 *
 * Rules of PTX: 7-bit ASCII only, also in comments; white space is blank, tab, CR and LF; strings have no escapes and
 * may contain line ends; `%` is an operator only where no name can start. Malformed numbers (10u, 0f3f8, 08) match a
 * longer rule as a whole, so that each gives one message.
 */
#include "lexer/lexer.h"

void hd_lexer_init(hd_lexer *lexer, hd_source *source, hd_span span, hd_names *names, hd_diagnostics *diagnostics)
{
    *lexer = (hd_lexer){
        .source = source, .names = names, .diagnostics = diagnostics, .cursor = span.begin, .limit = span.end};
}

hd_name hd_token_spelling(const hd_lexer *lexer, const hd_token *token)
{
    return hd_names_add_padded(lexer->names, lexer->source->text + token->begin, token->end - token->begin);
}

const char *hd_token_text(hd_token_kind kind)
{
    static const char *const texts[HD_TOKEN_COUNT] = {
        "the end of the file", "a mistake", "a mistake",
#define HD_TOKEN(id, text) text,
#include "lexer/tokens.def"
#undef HD_TOKEN
    };
    return texts[kind];
}

static hd_diagnostic *complain(hd_lexer *lexer, hd_diagnostic_kind kind, uint32_t begin, uint32_t end, const char *what)
{
    if (!lexer->diagnostics)
        return NULL;
    return hd_report(lexer->diagnostics, kind, lexer->source, (hd_span){begin, end}, "%s", what);
}

static bool too_many_errors(const hd_lexer *lexer)
{
    return lexer->diagnostics && hd_diagnostics_full(lexer->diagnostics);
}

/* Reports the non-ASCII and NUL bytes from `at` on; returns the position after them. */
static uint32_t skip_foreign(hd_lexer *lexer, uint32_t at)
{
    const unsigned char *text = (const unsigned char *)lexer->source->text;
    uint32_t begin = at;
    if (text[at] == 0) {
        while (at < lexer->limit && text[at] == 0)
            at++;
        complain(lexer, HD_DIAG_BAD_CHARACTER, begin, begin + 1, "a NUL byte in the text");
    } else {
        while (at < lexer->limit && text[at] >= 0x80)
            at++;
        complain(lexer, HD_DIAG_NON_ASCII, begin, at, "a character outside ASCII; PTX has none, not even in comments");
    }
    return at;
}

/* Skips valid bytes of a comment or string up to the first stop byte; returns its position, or the limit. */
static uint32_t skip_until(hd_lexer *lexer, uint32_t at, char stop, char other_stop)
{
    const char *text = lexer->source->text;
    while (at < lexer->limit && text[at] != stop && text[at] != other_stop) {
        if ((signed char)text[at] > 0)
            at++;
        else
            at = too_many_errors(lexer) ? lexer->limit : skip_foreign(lexer, at);
    }
    return at;
}

static uint32_t block_comment(hd_lexer *lexer, uint32_t begin)
{
    const char *text = lexer->source->text;
    uint32_t at = begin + 2;
    while ((at = skip_until(lexer, at, '*', '*')) < lexer->limit) {
        at++;
        if (at < lexer->limit && text[at] == '/')
            return at + 1;
    }
    complain(lexer, HD_DIAG_UNTERMINATED_COMMENT, begin, begin + 2, "this comment has no closing */");
    return lexer->limit;
}

static uint32_t string(hd_lexer *lexer, uint32_t begin)
{
    uint32_t at = skip_until(lexer, begin + 1, '"', '"');
    if (at < lexer->limit)
        return at + 1;
    complain(lexer, HD_DIAG_UNTERMINATED_STRING, begin, begin + 1, "this string has no closing quote");
    return lexer->limit;
}

/* ^Z ends the text if only white space follows. */
static bool only_blank_follows(const hd_lexer *lexer, uint32_t at)
{
    const char *text = lexer->source->text;
    while (at < lexer->limit && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r') || text[at] == 0x1a))
        at++;
    return at >= lexer->limit;
}

static uint32_t bad_character(hd_lexer *lexer, uint32_t at)
{
    unsigned char c = (unsigned char)lexer->source->text[at];
    if (c == 0x1a && only_blank_follows(lexer, at))
        return lexer->limit;
    if (c == 0 || c >= 0x80)
        return skip_foreign(lexer, at);
    if (lexer->diagnostics) {
        hd_span span = {at, at + 1};
        if (c < 0x20 || c == 0x7f)
            hd_report(lexer->diagnostics, HD_DIAG_BAD_CHARACTER, lexer->source, span,
                      "a control character (0x%02x) in the text", c);
        else
            hd_report(lexer->diagnostics, HD_DIAG_BAD_CHARACTER, lexer->source, span,
                      c == '.' ? "nothing is between a dot and its word" : "no token starts with '%c'", c);
    }
    return at + 1;
}

/* `#` that starts no line marker: the rest of the line is skipped. */
static uint32_t bad_hash(hd_lexer *lexer, uint32_t begin)
{
    complain(lexer, HD_DIAG_BAD_CHARACTER, begin, begin + 1,
             "a line with # can only be a line marker: # NUMBER \"FILE\"; other preprocessor lines must be expanded "
             "before");
    return skip_until(lexer, begin + 1, '\n', '\r');
}

/* Classifies a malformed number. */
static bool looks_like_float(const unsigned char *begin, const unsigned char *end)
{
    unsigned char second = end - begin > 1 ? begin[1] | 32 : 0;
    return memchr(begin, '.', (size_t)(end - begin)) != NULL || (begin[0] == '0' && (second == 'f' || second == 'd'));
}

/* Interns a name; splits it into stem and number if it ends in a number. */
static void name_token(const hd_lexer *lexer, hd_token *token)
{
    const char *begin = lexer->source->text + token->begin, *end = lexer->source->text + token->end;
    token->index = HD_NO_INDEX;
    if ((unsigned)(end[-1] - '0') <= 9) {
        const char *digits = end - 1;
        while ((unsigned)(digits[-1] - '0') <= 9 && digits - 1 > begin) /* keep the first character in the stem */
            digits--;
        if (end - digits <= 9 && (*digits != '0' || end - digits == 1)) {
            uint32_t index = 0;
            for (const char *d = digits; d < end; d++)
                index = index * 10 + (uint32_t)(*d - '0');
            token->index = index;
            end = digits;
        }
    }
    token->name = hd_names_add_padded(lexer->names, begin, (size_t)(end - begin));
}

hd_token_kind hd_lexer_next(hd_lexer *lexer, hd_token *token)
{
    const unsigned char *text = (const unsigned char *)lexer->source->text;
    const unsigned char *limit = text + lexer->limit, *cursor = text + lexer->cursor, *start, *marker = cursor;
    hd_token_kind kind;
    token->name = HD_NO_NAME;
    token->index = HD_NO_INDEX;

again:
    start = cursor;
    if (cursor >= limit) { /* the limit is inside the text: ignore what follows */
        kind = HD_TOKEN_END;
        start = cursor = limit;
        goto done;
    }
    /*!re2c
    re2c:yyfill:enable = 0;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYMARKER = marker;
    re2c:flags:computed-gotos = 1;
    re2c:indent:string = "    ";

    blank = [ \t\r\n];
    follow = [A-Za-z0-9_$];
    name = [A-Za-z] follow* | [_$%] follow+;
    part = follow+ ("::" follow+)* ("::" [0-9] ":" [0-9])?; /* .sp::2:4 */
    word = "." part;
    bank = ".const[" [0-9]+ "]";
    exponent = [eE] [+-]? [0-9]+;
    real = [0-9]+ "." [0-9]* exponent? | "." [0-9]+ exponent? | [0-9]+ exponent;
    exact = "0" [fF] [0-9a-fA-F]{8} | "0" [dD] [0-9a-fA-F]{16};
    integer = ("0" | [1-9] [0-9]* | "0" [0-7]+ | "0" [xX] [0-9a-fA-F]+ | "0" [bB] [01]+) "U"?;

    blank+ { goto again; }
    "//" [\x01-\x09\x0b-\x7f]* { /* a CR alone does not end it, as in ptxas */
        if (cursor < limit && *cursor != '\n')
            cursor = text + skip_until(lexer, (uint32_t)(cursor - text), '\n', '\n');
        goto again;
    }
    "/*" { cursor = text + block_comment(lexer, (uint32_t)(start - text)); goto again; }
    "#" [ \t]* [0-9]+ [ \t]+ ["] [\x20-\x21\x23-\x7e\t]* ["] ([ \t]+ [0-9]+)* [ \t]* {
        if (cursor < limit && *cursor != '\n' && *cursor != '\r')
            cursor = text + bad_hash(lexer, (uint32_t)(start - text));
        goto again;
    }
    "#" { cursor = text + bad_hash(lexer, (uint32_t)(start - text)); goto again; }

    "WARP_SZ" { kind = HD_TOKEN_WARP_SZ; goto spelled; }
    name { goto named; }
    name (word | bank)+ {
        if (lexer->fine) {
            for (cursor = start; *cursor != '.'; cursor++)
                ;
            goto named;
        }
        kind = HD_TOKEN_DOTTED;
        goto spelled;
    }
    "_" { kind = HD_TOKEN_SINK; goto done; }

    integer { kind = HD_TOKEN_INTEGER; goto spelled; }
    real | exact { kind = HD_TOKEN_FLOAT; goto spelled; }
    "'" [\x20-\x26\x28-\x7e]* "'" {
        complain(lexer, HD_DIAG_BAD_LITERAL, (uint32_t)(start - text), (uint32_t)(cursor - text),
                 "PTX has no character constants");
        kind = HD_TOKEN_INTEGER;
        goto done;
    }

    ";" { kind = HD_TOKEN_SEMICOLON; goto done; }
    "," { kind = HD_TOKEN_COMMA; goto done; }
    ":" { kind = HD_TOKEN_COLON; goto done; }
    "(" { kind = HD_TOKEN_LPAREN; goto done; }
    ")" { kind = HD_TOKEN_RPAREN; goto done; }
    "[" { kind = HD_TOKEN_LBRACKET; goto done; }
    "]" { kind = HD_TOKEN_RBRACKET; goto done; }
    "{" { kind = HD_TOKEN_LBRACE; goto done; }
    "}" { kind = HD_TOKEN_RBRACE; goto done; }
    "@" { kind = HD_TOKEN_AT; goto done; }
    "=" { kind = HD_TOKEN_ASSIGN; goto done; }
    "?" { kind = HD_TOKEN_QUESTION; goto done; }
    "||" { kind = HD_TOKEN_OROR; goto done; }
    "&&" { kind = HD_TOKEN_ANDAND; goto done; }
    "|" { kind = HD_TOKEN_OR; goto done; }
    "^" { kind = HD_TOKEN_XOR; goto done; }
    "&" { kind = HD_TOKEN_AND; goto done; }
    "==" { kind = HD_TOKEN_EQ; goto done; }
    "!=" { kind = HD_TOKEN_NE; goto done; }
    "<" { kind = HD_TOKEN_LT; goto done; }
    ">" { kind = HD_TOKEN_GT; goto done; }
    "<=" { kind = HD_TOKEN_LE; goto done; }
    ">=" { kind = HD_TOKEN_GE; goto done; }
    "<<" { kind = HD_TOKEN_SHL; goto done; }
    ">>" { kind = HD_TOKEN_SHR; goto done; }
    "+" { kind = HD_TOKEN_PLUS; goto done; }
    "-" { kind = HD_TOKEN_MINUS; goto done; }
    "*" { kind = HD_TOKEN_STAR; goto done; }
    "/" { kind = HD_TOKEN_SLASH; goto done; }
    "%" { kind = HD_TOKEN_PERCENT; goto done; }
    "!" { kind = HD_TOKEN_NOT; goto done; }
    "~" { kind = HD_TOKEN_TILDE; goto done; }

    ".version" { kind = HD_TOKEN_VERSION; goto done; }
    ".target" { kind = HD_TOKEN_TARGET; goto done; }
    ".address_size" { kind = HD_TOKEN_ADDRESS_SIZE; goto done; }
    ".file" { kind = HD_TOKEN_FILE; goto done; }
    ".loc" { kind = HD_TOKEN_LOC; goto done; }
    ".section" { kind = HD_TOKEN_SECTION; goto done; }
    ".pragma" { kind = HD_TOKEN_PRAGMA; goto done; }
    ".alias" { kind = HD_TOKEN_ALIAS; goto done; }
    ".entry" { kind = HD_TOKEN_ENTRY; goto done; }
    ".func" { kind = HD_TOKEN_FUNC; goto done; }
    ".extern" { kind = HD_TOKEN_EXTERN; goto done; }
    ".visible" { kind = HD_TOKEN_VISIBLE; goto done; }
    ".weak" { kind = HD_TOKEN_WEAK; goto done; }
    ".common" { kind = HD_TOKEN_COMMON; goto done; }
    ".reg" { kind = HD_TOKEN_REG; goto done; }
    ".const" { kind = HD_TOKEN_CONST; goto done; }
    ".global" { kind = HD_TOKEN_GLOBAL; goto done; }
    ".local" { kind = HD_TOKEN_LOCAL; goto done; }
    ".param" { kind = HD_TOKEN_PARAM; goto done; }
    ".shared" { kind = HD_TOKEN_SHARED; goto done; }
    ".tex" { kind = HD_TOKEN_TEX; goto done; }
    ".align" { kind = HD_TOKEN_ALIGN; goto done; }
    ".attribute" { kind = HD_TOKEN_ATTRIBUTE; goto done; }
    ".ptr" { kind = HD_TOKEN_PTR; goto done; }
    ".branchtargets" { kind = HD_TOKEN_BRANCHTARGETS; goto done; }
    ".calltargets" { kind = HD_TOKEN_CALLTARGETS; goto done; }
    ".callprototype" { kind = HD_TOKEN_CALLPROTOTYPE; goto done; }
    ".maxntid" { kind = HD_TOKEN_MAXNTID; goto done; }
    ".reqntid" { kind = HD_TOKEN_REQNTID; goto done; }
    ".minnctapersm" { kind = HD_TOKEN_MINNCTAPERSM; goto done; }
    ".maxnctapersm" { kind = HD_TOKEN_MAXNCTAPERSM; goto done; }
    ".maxnreg" { kind = HD_TOKEN_MAXNREG; goto done; }
    ".explicitcluster" { kind = HD_TOKEN_EXPLICITCLUSTER; goto done; }
    ".reqnctapercluster" { kind = HD_TOKEN_REQNCTAPERCLUSTER; goto done; }
    ".maxclusterrank" { kind = HD_TOKEN_MAXCLUSTERRANK; goto done; }
    ".minperctamemory" { kind = HD_TOKEN_MINPERCTAMEMORY; goto done; }
    ".blocksareclusters" { kind = HD_TOKEN_BLOCKSARECLUSTERS; goto done; }
    ".noreturn" { kind = HD_TOKEN_NORETURN; goto done; }
    ".abi_preserve" { kind = HD_TOKEN_ABI_PRESERVE; goto done; }
    ".abi_preserve_control" { kind = HD_TOKEN_ABI_PRESERVE_CONTROL; goto done; }
    ".heddle" [ \t]+ [\x20-\x3a\x3c-\x7e\t]* ";" { kind = HD_TOKEN_HEDDLE; goto done; }
    word { kind = HD_TOKEN_WORD; goto spelled; }
    [0-9] follow* | real follow+ {
        complain(lexer, HD_DIAG_BAD_LITERAL, (uint32_t)(start - text), (uint32_t)(cursor - text), "malformed number");
        kind = looks_like_float(start, cursor) ? HD_TOKEN_FLOAT : HD_TOKEN_INTEGER; /* read as 0 */
        goto done;
    }

    ["] {
        cursor = text + string(lexer, (uint32_t)(start - text));
        kind = HD_TOKEN_STRING;
        goto done;
    }
    * {
        if (too_many_errors(lexer)) {
            kind = HD_TOKEN_END;
            start = cursor = limit;
            goto done;
        }
        cursor = text + bad_character(lexer, (uint32_t)(start - text));
        goto again;
    }
    */

named:
    token->begin = (uint32_t)(start - text);
    token->end = (uint32_t)(cursor - text);
    name_token(lexer, token);
    kind = HD_TOKEN_NAME;
    goto done;
spelled:
    token->name = hd_names_add_padded(lexer->names, (const char *)start, (size_t)(cursor - start));
done:
    if (cursor > limit) /* the limit splits a token */
        cursor = text + lexer->limit;
    token->begin = (uint32_t)(start - text);
    token->end = (uint32_t)(cursor - text);
    token->kind = kind;
    lexer->cursor = token->end;
    return kind;
}
