/* The process that the program runs in: what is said on its standard error, and what its memory and its files are. */
#include "cudart/runtime.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void hd_runtime_say(const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "heddle: %s\n", text);
}

const char *hd_object_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : program_invocation_name;
}

/* The range ends with the readable mappings that follow each other there. */
size_t hd_readable_bytes(const void *pointer)
{
    uintptr_t at = (uintptr_t)pointer, end = at;
    FILE *maps = pointer ? fopen("/proc/self/maps", "re") : NULL;
    char line[4096];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long first, last;
        char can_read;
        if (sscanf(line, "%lx-%lx %c", &first, &last, &can_read) == 3 && first <= end && last > end && can_read == 'r')
            end = last;
    }
    if (maps)
        fclose(maps);
    return end - at;
}
