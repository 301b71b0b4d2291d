/* The rules of the scanner of machine-code listings: one set for the start of a line, one for operands. The text ends
 * in at least 16 NUL bytes, so that neither tests for its end. A line of data is skipped at the speed of memchr(). */
#include "base/scan.h"
#include "lexer/sass_scan.h"

#include <string.h>

/*!re2c
    re2c:yyfill:enable = 0;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYMARKER = marker;
    re2c:define:YYCTXMARKER = context;
    re2c:flags:computed-gotos = 1;
    re2c:indent:string = "    ";

    blank = [ \t] | "\\ ";
    eol = "\r"? "\n" | "\\l";
    hex = [0-9a-fA-F];
    word = [A-Za-z0-9_];
    bar = "\\"? "|";
    sign = [-+~!];
    suffix = ("." word+)+;
    code = "/*" " "? "0x" hex{16} " "? "*/";
    register = ("R" | "UR" | "P" | "UP" | "B" | "p") [0-9]{1,3} | "RZ" | "URZ" | "PT" | "UPT" | "pt";
    float = [0-9]+ "." [0-9]* ([eE] [-+]? [0-9]+)? | [0-9]+ [eE] [-+]? [0-9]+;
    number = "0x" hex+ | [0-9]+ | float;
    opcode = [A-Z] [A-Z0-9_]+ ("." word+ ("::" word+)?)*;
    name = [A-Za-z_$.] [^ \t\r\n:;,"\\\x00]*;
*/

/* The end of the line that `at` is in; a graph's lines also end in \l. */
static const unsigned char *line_end(const hd_sass_lexer *lexer, const unsigned char *at, const unsigned char *limit)
{
    const unsigned char *end = at < limit ? memchr(at, '\n', (size_t)(limit - at)) : NULL;
    end = end ? end : limit;
    if (lexer->dot)
        for (const unsigned char *c = at; c + 1 < end; c++)
            if (*c == '\\' && c[1] == 'l')
                return c;
    while (end > at && end[-1] == '\r')
        end--;
    return end;
}

/* After a comment that starts at `at`; the end of the line where it is not closed. */
static const unsigned char *after_comment(const hd_sass_lexer *lexer, const unsigned char *at,
                                          const unsigned char *limit)
{
    const unsigned char *stop = line_end(lexer, at, limit);
    for (at += 2; at + 1 < stop; at++)
        if (*at == '*' && at[1] == '/')
            return at + 2;
    return stop;
}

/* After the parenthesis that closes the one before `at`. */
static const unsigned char *after_parentheses(const hd_sass_lexer *lexer, const unsigned char *at,
                                              const unsigned char *limit)
{
    const unsigned char *stop = line_end(lexer, at, limit);
    uint32_t depth = 1;
    for (; at < stop && depth; at++) {
        depth += *at == '(';
        depth -= *at == ')';
    }
    return at;
}

static uint32_t number_of(const unsigned char *at, const unsigned char *end, uint32_t base)
{
    uint64_t value = 0;
    for (; at < end; at++) {
        uint32_t digit = hd_digit_of((char)*at);
        if (digit >= base)
            break;
        value = value * base + digit;
        if (value > UINT32_MAX)
            return UINT32_MAX;
    }
    return (uint32_t)value;
}

/* The number after the first `mark` of a line; UINT32_MAX: there is none. */
static uint32_t number_after(const unsigned char *at, const unsigned char *end, const char *mark)
{
    size_t length = strlen(mark);
    const unsigned char *found = memmem(at, (size_t)(end - at), mark, length);
    return found && found[length] >= '0' && found[length] <= '9' ? number_of(found + length, end, 10) : UINT32_MAX;
}

/* Whether the text is of a program that prints much else: only addresses begin instructions. */
static bool needs_address(const hd_sass_lexer *lexer) { return lexer->nvbit || lexer->debugger || lexer->csv; }

/* Whether what looks like an instruction is one. */
static bool may_be_instruction(const hd_sass_lexer *lexer)
{
    return lexer->after_address || (lexer->in_function && !needs_address(lexer));
}

static bool ends_opcode(const hd_sass_lexer *lexer, const unsigned char *cursor, const unsigned char *limit)
{
    return may_be_instruction(lexer) && (cursor >= limit || strchr(" \t;\r\n\\}(&?/\"", *cursor)); /* also a NUL */
}

/* Whether only an annotation may follow on the line. */
static bool ends_line(const unsigned char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return !*at || *at == '\n' || *at == '\r' || (*at == '/' && (at[1] == '/' || at[1] == '*') && at[2] == '@');
}

/* The colon of a label with a name of C++, `void f<int>(float*, int):`, which is the line but for annotations; NULL:
 * the line that begins at `at` is none. */
static const unsigned char *label_colon(const hd_sass_lexer *lexer, const unsigned char *at, const unsigned char *limit)
{
    bool may_begin = (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z') || (*at && strchr("_$.~(", *at));
    if (!may_begin || lexer->after_address || lexer->usage || lexer->dot || needs_address(lexer))
        return NULL;
    const unsigned char *end = line_end(lexer, at, limit), *colon = end;
    const unsigned char *open = memchr(at, '(', (size_t)(end - at));
    while (open && colon > at && (*--colon != ':' || !ends_line(colon + 1)))
        ;
    bool is_label = open && open < colon && strncmp((const char *)at, "Function ", strlen("Function ")) != 0;
    for (const unsigned char *c = at; is_label && c < colon; c++)
        is_label = !strchr(";\"`/\\", *c);
    return is_label ? colon : NULL;
}

/* The name in `Dump of assembler code for function NAME:`, before the colon: annotations may follow. */
static void name_dump(hd_sass_scan *s, const unsigned char *begin, const unsigned char *end)
{
    const unsigned char *annotation = memmem(begin, (size_t)(end - begin), "/*@", 3);
    annotation = annotation ? annotation : memmem(begin, (size_t)(end - begin), "//@", 3);
    s->name = begin;
    s->name_end = annotation ? annotation : end;
    while (s->name_end > begin && s->name_end[-1] != ':')
        s->name_end--;
    s->name_end -= s->name_end > begin;
}

/* ---- the start of a line ----------------------------------------------------------------------------------------- */

hd_sass_token_kind hd_sass_scan_line(hd_sass_lexer *lexer, const unsigned char *limit, hd_sass_scan *s)
{
    const unsigned char *cursor = s->cursor, *marker = cursor, *start, *context = cursor;
    hd_sass_token_kind kind = HD_SASS_TOKEN_OTHER;
    (void)context;

again:
    start = cursor;
    if (cursor >= limit) {
        start = cursor = limit;
        kind = lexer->at_line_end ? HD_SASS_TOKEN_END : HD_SASS_TOKEN_LINE_END;
        goto done;
    }
    const unsigned char *colon = label_colon(lexer, start, limit);
    if (colon) {
        s->name = start;
        s->name_end = colon;
        cursor = colon + 1;
        kind = HD_SASS_TOKEN_LABEL;
        goto done;
    }
    /*!re2c
    blank+ { goto again; }
    eol { kind = HD_SASS_TOKEN_LINE_END; goto done; }
    "/*" hex{4,} "*" "/" {
        const unsigned char *next = cursor;
        while (*next == ' ' || *next == '\t')
            next++;
        if (*next == '.')
            goto line; /* data */
        s->index = number_of(start + 2, cursor, 16);
        lexer->after_address = true;
        kind = HD_SASS_TOKEN_ADDRESS;
        goto done;
    }
    hex{4,} ":" blank {
        if (!lexer->dot)
            goto line;
        cursor--;
        s->index = number_of(start, cursor, 16);
        lexer->after_address = true;
        kind = HD_SASS_TOKEN_ADDRESS;
        goto done;
    }
    code { kind = HD_SASS_TOKEN_CODE; goto done; }
    "/*" { cursor = after_comment(lexer, start, limit); goto again; }
    "//## File" { kind = HD_SASS_TOKEN_LOCATION; goto line_done; }
    "//" { cursor = line_end(lexer, start, limit); goto again; }
    "Function" " : " | "Function:" {
        cursor = line_end(lexer, start, limit);
        lexer->usage = false;
        s->name = start + (start[8] == ':' ? 9 : 11);
        s->name_end = cursor;
        while (s->name_end > s->name && (s->name_end[-1] == ' ' || s->name_end[-1] == '\t'))
            s->name_end--;
        kind = HD_SASS_TOKEN_FUNCTION;
        goto done;
    }
    "Resource usage:" { lexer->usage = true; goto line; }
    "Function" blank [^ :\t\r\n\x00] [^\r\n\x00]* ":" {
        if (!lexer->usage || !ends_line(cursor))
            goto line;
        s->name = start + strlen("Function ");
        s->name_end = cursor - 1;
        kind = HD_SASS_TOKEN_USAGE;
        goto line_done;
    }
    "REG:" [0-9]+ {
        if (!lexer->usage)
            goto line;
        s->index = number_of(start + strlen("REG:"), cursor, 10);
        kind = HD_SASS_TOKEN_REGISTERS;
        goto line_done;
    }
    "Dump of assembler code for function " [^\r\n\x00]+ {
        if (!lexer->debugger)
            goto line;
        name_dump(s, start + strlen("Dump of assembler code for function "), cursor);
        kind = s->name_end > s->name ? HD_SASS_TOKEN_FUNCTION : HD_SASS_TOKEN_OTHER;
        goto done;
    }
    "End of assembler dump." {
        kind = lexer->debugger ? HD_SASS_TOKEN_FUNCTION_END : HD_SASS_TOKEN_OTHER;
        goto line_done;
    }
    ("=> " | "*> " | "*=> ")? blank* "0x" hex+ (":" | [ ]* "<") {
        uint64_t base;
        if (!lexer->debugger || !hd_sass_debugger_address(start, limit, s, &base))
            goto line;
        lexer->base = base;
        lexer->after_address = true;
        cursor = s->cursor;
        kind = HD_SASS_TOKEN_ADDRESS;
        goto done;
    }
    "inspecting " {
        static const char mark[] = " - num instrs ";
        cursor = line_end(lexer, start, limit);
        s->name = start + strlen("inspecting ");
        s->name_end = memmem(s->name, (size_t)(cursor - s->name), mark, strlen(mark));
        if (!s->name_end)
            goto line;
        lexer->nvbit = true;
        kind = HD_SASS_TOKEN_FUNCTION;
        goto done;
    }
    "Instr " [0-9]+ " @ 0x" hex+ blank+ "(" [0-9]+ ")" blank+ "-" blank {
        s->index = number_of((const unsigned char *)strchr((const char *)start, 'x') + 1, cursor, 16);
        lexer->after_address = true;
        kind = HD_SASS_TOKEN_ADDRESS;
        goto done;
    }
    "subgraph" [ ]+ ["] "cluster_" [^"\r\n\x00]* ["] {
        s->name = (const unsigned char *)strchr((const char *)start, '"') + 9;
        s->name_end = cursor - 1;
        kind = HD_SASS_TOKEN_FUNCTION;
        goto line_done;
    }
    "digraph" blank { lexer->dot = true; goto line; }
    "code for sm_" | "arch = sm_" | ".target" blank+ "sm_" | ".headerflags" | ".__elf_flags" {
        cursor = line_end(lexer, start, limit);
        lexer->usage = false;
        s->index = number_after(start, cursor, *start != '.' || start[1] == 't' ? "sm_"
                                               : start[1] == 'h'                ? "EF_CUDA_SM"
                                                                                : "SM_");
        kind = s->index == UINT32_MAX ? HD_SASS_TOKEN_OTHER : HD_SASS_TOKEN_ARCHITECTURE;
        goto done;
    }
    ".sectioninfo" {
        cursor = line_end(lexer, start, limit);
        s->index = number_after(start, cursor, "SHI_REGISTERS=");
        kind = s->index == UINT32_MAX ? HD_SASS_TOKEN_OTHER : HD_SASS_TOKEN_REGISTERS;
        goto done;
    }
    ".section" blank+ ".text." {
        s->name = s->name_end = cursor;
        cursor = line_end(lexer, start, limit);
        while (s->name_end < cursor && !(*s->name_end == ',' && s->name_end[1] != ' ')) /* f(int, int),"ax",@progbits */
            s->name_end++;
        kind = HD_SASS_TOKEN_CODE_SECTION;
        goto done;
    }
    ".section" blank { kind = HD_SASS_TOKEN_OTHER_SECTION; goto line_done; }
    ".heddle" [ \t]+ [\x20-\x3a\x3c-\x7e\t]* ";" { kind = HD_SASS_TOKEN_HEDDLE; goto done; }
    "." "."+ { kind = HD_SASS_TOKEN_FUNCTION_END; goto line_done; }
    name ":" {
        if (needs_address(lexer) || lexer->usage)
            goto line;
        s->name = start;
        s->name_end = cursor - 1;
        kind = HD_SASS_TOKEN_LABEL;
        goto done;
    }
    "[" ([-R]{4} ":")? "B" [-0-9]{6} ":R" [-0-9] ":W" [-0-9] ":" [-Y] ":S" [0-9]{2} "]" |
    ([0-9a-f]{2} | "--") ":" [-0-9] ":" [-0-9] ":" [-Y] ":" hex{1,2} / blank {
        lexer->after_address = true;
        kind = HD_SASS_TOKEN_CONTROL;
        goto done;
    }
    "\\"? "{" / (blank+ ("@" | [A-Z])) { goto again; }
    "@" "!"? register {
        s->flags = start[1] == '!' ? HD_SASS_TOKEN_NOT : 0;
        s->name = start + 1 + (start[1] == '!');
        s->name_end = cursor;
        kind = HD_SASS_TOKEN_GUARD;
        if (!may_be_instruction(lexer))
            goto line;
        goto done;
    }
    opcode {
        if (!ends_opcode(lexer, cursor, limit))
            goto line;
        lexer->in_line = true;
        kind = HD_SASS_TOKEN_OPCODE;
        goto done;
    }
    "[label=" ["] "{" { lexer->in_function = true; goto again; }
    "|"? "<" [a-z0-9]+ ">" { goto again; }
    "}" ["] "]" { goto again; }
    ["] [^"\r\n\x00]* ["] {
        s->name = start + 1;
        s->name_end = cursor - 1;
        kind = HD_SASS_TOKEN_NODE;
        goto done;
    }
    ["] [^"\r\n\x00]* ["] ":" { kind = HD_SASS_TOKEN_EDGE; goto line_done; }
    * { goto line; }
    */

line:
    kind = HD_SASS_TOKEN_OTHER;
line_done:
    cursor = line_end(lexer, start, limit);
    cursor += cursor == start; /* a CR that ends no line */
done:
    s->start = start;
    s->cursor = cursor;
    return kind;
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

/* The register's name within a token with signs, bars and suffixes. */
static void find_register(hd_sass_scan *s, const unsigned char *start, const unsigned char *cursor)
{
    const unsigned char *at = start;
    while (*at == '-' || *at == '+' || *at == '~' || *at == '!' || *at == '|' || *at == '\\') {
        s->flags |= *at == '!' ? HD_SASS_TOKEN_NOT : 0;
        at++;
    }
    s->name = at;
    while (at < cursor && *at != '.' && *at != '|' && *at != '\\')
        at++;
    s->name_end = at;
    s->flags |= at < cursor ? HD_SASS_TOKEN_SUFFIX : 0;
}

hd_sass_token_kind hd_sass_scan_operand(hd_sass_lexer *lexer, const unsigned char *limit, hd_sass_scan *s)
{
    const unsigned char *cursor = s->cursor, *marker = cursor, *start, *context = cursor;
    hd_sass_token_kind kind;

again:
    start = cursor;
    if (cursor >= limit) {
        start = cursor = limit;
        kind = HD_SASS_TOKEN_LINE_END;
        goto done;
    }
    /*!re2c
    blank+ { goto again; }
    eol { kind = HD_SASS_TOKEN_LINE_END; goto done; }
    "," { kind = HD_SASS_TOKEN_COMMA; goto done; }
    ";" { kind = HD_SASS_TOKEN_SEMICOLON; goto done; }
    sign? bar? register suffix? (bar suffix?)? {
        find_register(s, start, cursor);
        kind = HD_SASS_TOKEN_REGISTER;
        goto done;
    }
    [-+]? number | [-+] ("INF" | "QNAN" | "SNAN") {
        s->flags = *start == '-' ? HD_SASS_TOKEN_NEGATIVE : 0;
        const unsigned char *digits = start + (*start == '-' || *start == '+');
        bool hexadecimal = digits[0] == '0' && digits[1] == 'x';
        s->index = number_of(digits + (hexadecimal ? 2 : 0), cursor, hexadecimal ? 16 : 10);
        kind = HD_SASS_TOKEN_NUMBER;
        goto done;
    }
    sign? bar? "c" blank? "\\"? "[" "0x" hex+ "\\"? "]"
        blank? "\\"? "[" "-"? "0x" hex+ "\\"? "]" suffix? (bar suffix?)? {
        kind = HD_SASS_TOKEN_CONSTANT;
        goto done;
    }
    sign? bar? ("c" | "cx" | "desc" | "gdesc" | "tmem" | "idesc" | "a" | "ttu") / (blank* "\\"? "[") {
        s->name = start;
        s->name_end = cursor;
        while (*s->name < 'a')
            s->name++;
        kind = HD_SASS_TOKEN_SPACE;
        goto done;
    }
    "\\"? "[" { kind = HD_SASS_TOKEN_LBRACKET; goto done; }
    "\\"? "]" suffix? bar? { kind = HD_SASS_TOKEN_RBRACKET; goto done; }
    "+" { kind = HD_SASS_TOKEN_PLUS; goto done; }
    sign? [A-Za-z_] word* suffix? | [0-9] "D" word* suffix? { kind = HD_SASS_TOKEN_WORD; goto done; }
    "." [A-Za-z_] [A-Za-z0-9_$.]* | [A-Za-z0-9_.]* "$" [A-Za-z0-9_$.]* { /* a name without quotes, in JSON */
        kind = HD_SASS_TOKEN_WORD;
        goto done;
    }
    [`]? "(" {
        cursor = after_parentheses(lexer, cursor, limit);
        s->name = start + (*start == '`' ? 2 : 1);
        s->name_end = cursor - (cursor[-1] == ')');
        kind = HD_SASS_TOKEN_TARGET;
        goto done;
    }
    [a-z0-9]+ "@" word+ "(" {
        cursor = after_parentheses(lexer, cursor, limit);
        kind = HD_SASS_TOKEN_SYMBOL;
        goto done;
    }
    "(*" {
        const unsigned char *stop = line_end(lexer, start, limit);
        while (cursor < stop && !(cursor[-1] == ')' && cursor[-2] == '*'))
            cursor++;
        s->name = start;
        s->name_end = cursor;
        kind = HD_SASS_TOKEN_NOTE;
        goto done;
    }
    "\\"? "{" [0-9, ]* "\\"? "}" { kind = HD_SASS_TOKEN_LIST; goto done; }
    "\\"? "}" { goto again; }
    "}" ["] "]" { goto again; }
    "&" word+ "=" (number | "\\"? "{" [0-9, ]* "\\"? "}") | "?" word+ { goto again; }
    code { kind = HD_SASS_TOKEN_CODE; goto done; }
    "/*" { cursor = after_comment(lexer, start, limit); goto again; }
    "//" { cursor = line_end(lexer, start, limit); goto again; }
    * { kind = HD_SASS_TOKEN_UNKNOWN; goto done; }
    */

done:
    s->start = start;
    s->cursor = cursor;
    return kind;
}

hd_sass_token_kind hd_sass_scan_store(hd_sass_lexer *lexer, hd_sass_token *token, hd_sass_token_kind kind,
                                      const hd_sass_scan *s, uint32_t limit)
{
    const unsigned char *text = (const unsigned char *)lexer->source->text;
    const unsigned char *cursor = s->cursor > text + limit ? text + limit : s->cursor;
    *token = (hd_sass_token){(uint32_t)(s->start - text),
                             (uint32_t)(cursor - text),
                             kind,
                             s->index,
                             (uint32_t)(s->name - text),
                             (uint32_t)(s->name_end - text),
                             s->flags};
    lexer->cursor = token->end;
    return kind;
}
