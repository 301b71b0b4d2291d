/* See scan.h. */
#include "base/scan.h"

bool hd_take_number(const char **at, const char *end, uint32_t base, uint64_t most, uint64_t *number)
{
    const char *begin = *at;
    bool large = false;
    *number = 0;
    for (uint32_t digit; *at != end && (digit = hd_digit_of(**at)) < base; ++*at) {
        large = large || __builtin_mul_overflow(*number, base, number) ||
                __builtin_add_overflow(*number, digit, number) || *number > most;
        *number = large ? most : *number;
    }
    return !large && *at > begin;
}

uint32_t hd_after_blanks(const char *text, uint32_t at, uint32_t end)
{
    while (at < end && hd_is_blank(text[at]))
        at++;
    return at;
}

uint32_t hd_after_spaces(const char *text, uint32_t at, uint32_t end)
{
    while (at < end && hd_is_space(text[at]))
        at++;
    return at;
}

uint32_t hd_after_comment(const char *text, uint32_t at, uint32_t end)
{
    if (at + 1 >= end || text[at] != '/' || (text[at + 1] != '/' && text[at + 1] != '*'))
        return at;
    bool is_line = text[at + 1] == '/';
    for (at += 2; at < end && (is_line ? text[at] != '\n' : text[at] != '*' || text[at + 1] != '/'); at++)
        ;
    at += is_line || at >= end ? 0 : 2;
    return at < end ? at : end;
}

uint32_t hd_after_trivia(const char *text, uint32_t at, uint32_t end)
{
    for (uint32_t before = end; at != before && at < end;) {
        before = at;
        at = hd_after_comment(text, hd_after_spaces(text, at, end), end);
    }
    return at;
}
