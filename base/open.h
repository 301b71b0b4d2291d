/* Opening files that a user names, which may be anything: a named pipe at whose other end nobody is must not hang the
 * program. Both wait a while for somebody, then fail with ETIMEDOUT. */
#ifndef HD_BASE_OPEN_H
#define HD_BASE_OPEN_H

enum { HD_PIPE_SECONDS = 10 };
enum { HD_NOT_GIVEN = -1 }; /* an errno: it is not among the files that a program gives (base/given_files.h) */

int hd_open_input(const char *path);         /* to read; -1: see errno */
int hd_open_direct_output(const char *path); /* to write what is there already, and no regular file; -1: see errno */
const char *hd_open_why(int error);          /* describes the errno value */

#endif
