/* See suggest.h. Optimal string alignment (Damerau-Levenshtein distance without edits inside a transposition), with
 * three rows of the matrix. */
#include "base/suggest.h"

#include "base/minmax.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST_EDITS = 3, LEAST_PART = 3 };

static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* Both lengths are at most HD_SUGGEST_LENGTH - 1. */
static uint32_t distance_of(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
    uint32_t rows[3][HD_SUGGEST_LENGTH];
    for (uint32_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            row[j] = hd_min(hd_min(above[j], row[j - 1]) + 1, above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = hd_min(row[j], second[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

hd_suggestion hd_suggest(const char *wanted) { return (hd_suggestion){wanted, NULL, UINT32_MAX}; }

void hd_suggest_from(hd_suggestion *suggestion, const char *known)
{
    size_t wanted = strlen(suggestion->wanted), length = strlen(known);
    if (!wanted || wanted >= HD_SUGGEST_LENGTH || length >= HD_SUGGEST_LENGTH)
        return;
    uint32_t most = hd_min((uint32_t)hd_max(wanted, length) / 3, MOST_EDITS);
    uint32_t distance = distance_of(suggestion->wanted, (uint32_t)wanted, known, (uint32_t)length);
    if (distance > most && wanted >= LEAST_PART && strcasestr(known, suggestion->wanted))
        distance = most = MOST_EDITS + 1;
    if (distance > most || distance >= suggestion->distance)
        return;
    suggestion->best = known;
    suggestion->distance = distance;
}

const char *hd_suggest_phrase(const hd_suggestion *suggestion, char phrase[HD_SUGGEST_PHRASE])
{
    *phrase = '\0';
    if (suggestion->best)
        snprintf(phrase, HD_SUGGEST_PHRASE, "; did you mean '%s'?", suggestion->best);
    return phrase;
}
