/* What readers of texts share: digits and numbers, blanks, comments, and a cursor. No locale. */
#ifndef HD_BASE_SCAN_H
#define HD_BASE_SCAN_H

#include "base/source.h"
#include <string.h>

/* What a digit counts, up to 15 for the letters of hexadecimal numbers; 99, which no base has, for anything else. */
static inline uint32_t hd_digit_of(char c)
{
    char letter = (char)(c | 0x20);
    return c >= '0' && c <= '9'             ? (uint32_t)(c - '0')
           : letter >= 'a' && letter <= 'f' ? (uint32_t)(letter - 'a') + 10
                                            : 99;
}

/* Reads the digits of a base that begin at *at, and moves it past all of them, at most to `end` (NULL: the text ends
 * in a NUL). false: there is none, *number is 0; or the number is above `most`, *number is `most`. */
bool hd_take_number(const char **at, const char *end, uint32_t base, uint64_t most, uint64_t *number);

/* Positions in a text, at or after `at`, at most `end`: after blanks and tabulators; after line ends, too; after a
 * comment that begins at `at`, of either form (a line's ends before its line end); after spaces and comments. */
uint32_t hd_after_blanks(const char *text, uint32_t at, uint32_t end);
uint32_t hd_after_spaces(const char *text, uint32_t at, uint32_t end);
uint32_t hd_after_comment(const char *text, uint32_t at, uint32_t end);
uint32_t hd_after_trivia(const char *text, uint32_t at, uint32_t end);

/* What is left of a text: [at, end). */
typedef struct hd_scan {
    const char *at, *end;
} hd_scan;

static inline bool hd_scan_is(const hd_scan *s, char c) { return s->at < s->end && *s->at == c; }
static inline void hd_scan_blanks(hd_scan *s)
{
    while (s->at < s->end && hd_is_blank(*s->at))
        s->at++;
}
static inline void hd_scan_spaces(hd_scan *s)
{
    while (s->at < s->end && hd_is_space(*s->at))
        s->at++;
}
/* Whether the text comes next; it is skipped. */
static inline bool hd_scan_take(hd_scan *s, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, text, length) != 0)
        return false;
    s->at += length;
    return true;
}

#endif
