/* The source files that .loc of PTX modules names, read when they are asked for.
 *
 * A module can name any file, and what is not its source is no business of who reads a report: only regular files of at
 * most 8 MiB whose name ends as that of a program text does are read, under that name, else beside the PTX file. */
#ifndef HD_DRIVER_SOURCE_FILES_H
#define HD_DRIVER_SOURCE_FILES_H

#include "base/source.h"

typedef struct hd_source_files hd_source_files;

hd_source_files *hd_source_files_new(void);
void hd_source_files_free(hd_source_files *files); /* NULL is fine */
/* Under the name that .loc has for it; stays until the files are freed, the same for the same name and PTX file. NULL:
 * there is none that can be shown. */
hd_source *hd_source_files_find(hd_source_files *files, const char *name, const char *ptx);

#endif
