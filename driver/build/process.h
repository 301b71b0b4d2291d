/* Runs a program to its end. */
#ifndef HD_DRIVER_BUILD_PROCESS_H
#define HD_DRIVER_BUILD_PROCESS_H

#include <stdint.h>

typedef struct hd_process {
    const char *const *arguments; /* the program, a path or a name in PATH; NULL at the end */
    /* NAME=VALUE, added to the environment or replacing what is there; NULL at the end; NULL: none */
    const char *const *environment;
    const char *folder; /* that it runs in; NULL: the caller's */
    int output; /* descriptor for its standard output and error; 0: the caller's */
} hd_process;

/* Its exit status, 128 and the number of the signal that ended it, or -1 with errno set where it does not run. The
 * program gets SIGTERM if the caller ends before it. */
int hd_process_run(const hd_process *process);

#endif
