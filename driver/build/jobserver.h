/* GNU make's jobserver: how many threads a program that make calls may use.
 *
 * make -jN puts N - 1 tokens, a byte each, into a pipe (4.4: a named one) that its variable MAKEFLAGS leads to. Whoever
 * works on more than one thread takes a token for each further one, and puts the same bytes back. make gives its pipe
 * only to recipes that begin with + or contain $(MAKE); the named one is open to all. Linux: /proc.
 */
#ifndef HD_DRIVER_BUILD_JOBSERVER_H
#define HD_DRIVER_BUILD_JOBSERVER_H

#include <stdint.h>

enum { HD_MOST_TOKENS = 1024 };

typedef struct hd_jobserver {
    int output; /* where tokens go back; only with tokens */
    uint32_t count;
    char tokens[HD_MOST_TOKENS];
} hd_jobserver;

/* How many threads to use, 1 and a token for each further one that is there now, at most `most`. `flags`: the value of
 * MAKEFLAGS, or NULL. `most` where there is no jobserver that can be used. */
uint32_t hd_jobserver_take(hd_jobserver *jobserver, const char *flags, uint32_t most);
void hd_jobserver_give_back(hd_jobserver *jobserver);

#endif
