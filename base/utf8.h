/* UTF-8 (RFC 3629). */
#ifndef HD_BASE_UTF8_H
#define HD_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define HD_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for what is no UTF-8 */

/* The bytes of the character at the beginning of a text that is not empty; 0: it is no UTF-8, and `character` (NULL:
 * not wanted) is left alone. */
size_t hd_utf8_bytes(const char *text, size_t length, uint32_t *character);

#endif
