/* The source files that a compiler's output names (.loc of PTX), read on demand.
 *
 * Such a text can name any file, and what is not its source must not be shown: only regular files of at most 8 MiB
 * whose name ends as that of a program text are read, under that name, else in the folder of the text's own file. */
#ifndef HD_BASE_SOURCE_FILES_H
#define HD_BASE_SOURCE_FILES_H

#include "base/source.h"

typedef struct hd_source_files hd_source_files;

hd_source_files *hd_source_files_new(void);
void hd_source_files_free(hd_source_files *files); /* NULL is fine */
/* `name`: as the text names it; `beside`: the file that the text is in. Stays until the files are freed, the same for
 * the same arguments. NULL: there is none that can be shown. */
hd_source *hd_source_files_find(hd_source_files *files, const char *name, const char *beside);

#endif
