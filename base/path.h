/* Paths of files. */
#ifndef HD_BASE_PATH_H
#define HD_BASE_PATH_H

#include <string.h>

/* What follows the last slash, or all of it. */
static inline const char *hd_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
