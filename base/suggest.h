/* "Did you mean": finds the known name nearest to a misspelt one.
 *
 *     hd_suggestion s = hd_suggest(name);
 *     for (each known name)
 *         hd_suggest_from(&s, known);
 *     the message "no pass is named 'NAME'" ends with hd_suggest_phrase(&s, buffer)
 *
 * Distance: insertions, deletions, replacements and transpositions of neighbours, ignoring case. A name is near if the
 * distance is at most three and at most a third of the longer name's length; farther than all these is a name that the
 * misspelt one, of at least three characters, is part of. Of equally near names, the first wins.
 * Time: the product of the two lengths; names over 63 characters are near to none.
 */
#ifndef HD_BASE_SUGGEST_H
#define HD_BASE_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

enum { HD_SUGGEST_LENGTH = 64, HD_SUGGEST_PHRASE = HD_SUGGEST_LENGTH + 32 };

typedef struct hd_suggestion {
    const char *wanted; /* the misspelt name */
    const char *best;   /* NULL: none is near */
    uint32_t distance;  /* of `best` */
} hd_suggestion;

hd_suggestion hd_suggest(const char *wanted);
/* `known`: must live as long as the suggestion. */
void hd_suggest_from(hd_suggestion *suggestion, const char *known);
/* Writes "; did you mean 'NAME'?", or "" if no name is near, to `phrase` and returns it. */
const char *hd_suggest_phrase(const hd_suggestion *suggestion, char phrase[HD_SUGGEST_PHRASE]);

#endif
