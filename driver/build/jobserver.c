/* See jobserver.h. */
#include "driver/build/jobserver.h"

#include "base/minmax.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The text after the last "--jobserver-auth=" (before 4.2: "--jobserver-fds="), or NULL. */
static const char *find(const char *flags)
{
    static const char *const names[] = {"--jobserver-auth=", "--jobserver-fds="};
    const char *found = NULL;
    for (size_t i = 0; flags && i < sizeof names / sizeof *names; i++)
        for (const char *at = flags; (at = strstr(at, names[i])); found = at)
            at += strlen(names[i]);
    return found;
}

static bool is_pipe(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* Opened anew: what is set on these descriptors, not to wait, is not set on make's. */
static int open_again(int file, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return is_pipe(file) ? open(path, flags | O_NONBLOCK | O_CLOEXEC) : -1;
}

static bool open_jobserver(const char *where, int *input, int *output)
{
    char path[4096];
    int in, out;
    *input = *output = -1;
    if (sscanf(where, "fifo:%4095[^ ]", path) == 1) {
        *input = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        *output = *input >= 0 ? dup(*input) : -1;
    } else if (sscanf(where, "%d,%d", &in, &out) == 2 && in >= 0 && out >= 0) {
        *input = open_again(in, O_RDONLY);
        *output = *input >= 0 ? open_again(out, O_WRONLY) : -1;
    }
    if (*output >= 0)
        return true;
    if (*input >= 0)
        close(*input);
    return false;
}

uint32_t hd_jobserver_take(hd_jobserver *jobserver, const char *flags, uint32_t most)
{
    const char *where = find(flags);
    int input;
    jobserver->count = 0;
    if (!where || !open_jobserver(where, &input, &jobserver->output))
        return most;
    uint32_t wanted = hd_min(most - 1, HD_MOST_TOKENS);
    ssize_t got = wanted ? read(input, jobserver->tokens, wanted) : 0;
    jobserver->count = got > 0 ? (uint32_t)got : 0;
    close(input);
    if (!jobserver->count)
        close(jobserver->output);
    return 1 + jobserver->count;
}

void hd_jobserver_give_back(hd_jobserver *jobserver)
{
    uint32_t done = 0;
    for (ssize_t n; done < jobserver->count; done += (uint32_t)n)
        if ((n = write(jobserver->output, jobserver->tokens + done, jobserver->count - done)) <= 0)
            break;
    if (jobserver->count)
        close(jobserver->output);
    jobserver->count = 0;
}
