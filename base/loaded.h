/* Which plug-ins this process has loaded, for results and for keys of what depends on them. They are loaded before a
 * job begins, by one thread. */
#ifndef HD_BASE_LOADED_H
#define HD_BASE_LOADED_H

#include <stdint.h>

/* hash: of the content of its file. */
void hd_loaded_add(const char *name, const char *version, uint64_t hash);
/* "recent-1-0123456789abcdef", for each plug-in one, in the order of loading, with blanks in between; NULL: none. Valid
 * until the next one is added. */
const char *hd_loaded_plugins(void);

#endif
