/* The addresses of cuda-gdb's output: see sass.h. `disassemble` prints a head with the function's name, and offsets;
 * x/i prints the symbol with each instruction. An arrow marks the next instruction, one that faulted, or both:
 *
 *   Dump of assembler code for function _Z3addPf:
 *   => 0x00007fffd9f0a110 <+16>:      S2R R0, SR_TID.X
 *   *> 0x7fffd9f0a110 <_Z3addPf+16>:  S2R R0, SR_TID.X
 *
 * Symbols may be demangled, with any character of C++ in them: they end at `>:` and a blank. Linear in the line. */
#include "lexer/sass_scan.h"

#include "base/scan.h"

#include <string.h>

/* After the arrow that may be at `at`, and blanks. */
static const unsigned char *after_arrow(const unsigned char *at)
{
    static const char *const arrows[] = {"=> ", "*=> ", "*> "};
    for (size_t i = 0; i < sizeof arrows / sizeof *arrows; i++)
        if (strncmp((const char *)at, arrows[i], strlen(arrows[i])) == 0) {
            at += strlen(arrows[i]);
            break;
        }
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* The number at *at, which is moved past it; all bits where it has too many digits. */
static uint64_t take_number(const unsigned char **at, const unsigned char *end, uint32_t base)
{
    uint64_t value = 0;
    for (; *at < end; (*at)++) {
        uint32_t digit = hd_digit_of((char)**at);
        if (digit >= base)
            break;
        value = value >> 56 ? UINT64_MAX : value * base + digit;
    }
    return value;
}

/* The `>:` before a blank that ends a symbol which begins at `at`; NULL: there is none on the line. */
static const unsigned char *symbol_end(const unsigned char *at, const unsigned char *limit)
{
    for (; at + 2 < limit && *at != '\n'; at++)
        if (at[0] == '>' && at[1] == ':' && (at[2] == '\t' || at[2] == ' '))
            return at;
    return NULL;
}

/* The symbol's name ends before the offset that may be its last part. */
static void read_symbol(const unsigned char *begin, const unsigned char *end, hd_sass_scan *s)
{
    const unsigned char *digits = end, *read;
    s->name = begin;
    s->name_end = end;
    s->index = 0;
    while (digits > begin && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (digits == end || digits == begin || digits[-1] != '+')
        return;
    s->name_end = digits - 1;
    read = digits;
    uint64_t offset = take_number(&read, end, 10);
    s->index = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
}

bool hd_sass_debugger_address(const unsigned char *at, const unsigned char *limit, hd_sass_scan *s, uint64_t *base)
{
    s->start = at;
    s->name = s->name_end = at;
    s->index = UINT32_MAX;
    *base = 0;
    at = after_arrow(at);
    if (at + 2 >= limit || at[0] != '0' || at[1] != 'x')
        return false;
    const unsigned char *digits = at += 2;
    uint64_t address = take_number(&at, limit, 16);
    if (at == digits)
        return false;
    if (*at == ':') { /* of code without symbols */
        s->cursor = at + 1;
        return at[1] == '\t' || at[1] == ' ';
    }
    while (*at == ' ')
        at++;
    const unsigned char *end = *at == '<' ? symbol_end(at + 1, limit) : NULL;
    if (!end)
        return false;
    read_symbol(at + 1, end, s);
    *base = s->index != UINT32_MAX && address >= s->index ? address - s->index : 0;
    s->cursor = end + 2;
    return true;
}

bool hd_sass_begins_debugger(const char *text)
{
    hd_sass_scan scan = {0};
    uint64_t base;
    text += strspn(text, " \t\r\n");
    if (strncmp(text, "Dump of assembler code", 22) == 0 || strncmp(text, "(cuda-gdb) ", 11) == 0)
        return true;
    size_t length = strcspn(text, "\r\n");
    const unsigned char *at = (const unsigned char *)text;
    /* An address alone may begin other texts: an opcode in capitals follows those of code, after annotations. */
    if (!hd_sass_debugger_address(at, at + length, &scan, &base))
        return false;
    for (at = scan.cursor; *at == ' ' || *at == '\t';)
        at++;
    return *at == '@' || strncmp((const char *)at, "/*@", 3) == 0 || (*at >= 'A' && *at <= 'Z');
}
