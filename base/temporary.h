/* The files of this process that are not finished, for who ends the process early: without memory, or by a signal.
 *
 * The list is the process's own, as its files and signals are; all functions may be called by several threads. */
#ifndef HD_BASE_TEMPORARY_H
#define HD_BASE_TEMPORARY_H

#include <stdbool.h>

/* As mkostemp with O_CLOEXEC: replaces the XXXXXX at the end of the pattern, which is listed until it is forgotten, and
 * must live as long. */
int hd_temporary_make(char *pattern);
void hd_temporary_add(const char *path); /* the same for a file, or a folder of such files, that is there */
void hd_temporary_forget(const char *path);
/* As mkdtemp, for one folder of the process, which goes with all files in it, whoever wrote them. */
bool hd_temporary_make_folder(char *pattern);
void hd_temporary_remove_folder(const char *path);
/* Removes what is listed. Makes only calls of the system, as a signal handler may. */
void hd_temporary_remove_all(void);

#endif
