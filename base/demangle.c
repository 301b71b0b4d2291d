/* Demangling by libiberty. Names of other schemes (Rust, D, ...) are not changed. */
#include "base/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

const char *hd_demangle(hd_arena *arena, const char *name)
{
    char *text = strncmp(name, "_Z", 2) == 0 ? cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_GNU_V3) : NULL;
    if (!text)
        return name;
    const char *copy = hd_arena_string(arena, text, strlen(text));
    free(text);
    return copy;
}
