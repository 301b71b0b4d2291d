/* The source files that a compiler's output names (.loc of PTX), read on demand.
 *
 * A text can name any file, and files other than its source must not be shown: only regular files of at most 8 MiB with
 * the name ending of a program text are read, under that name, or in the folder of the text's own file. */
#ifndef HD_BASE_SOURCE_FILES_H
#define HD_BASE_SOURCE_FILES_H

#include "base/given_files.h"

typedef struct hd_source_files hd_source_files;

/* given: searched first, and of any length; NULL: none; borrowed. */
hd_source_files *hd_source_files_new(const hd_given_files *given);
void hd_source_files_free(hd_source_files *files); /* NULL is allowed */
/* `name`: as in the text; `beside`: the file that contains the text. Valid until the files are freed; equal arguments
 * give equal results. NULL: there is no file that may be shown. */
hd_source *hd_source_files_find(hd_source_files *files, const char *name, const char *beside);

#endif
