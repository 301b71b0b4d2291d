/* See open.h. */
#include "base/open.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MILLISECONDS = 1000, STEP_MILLISECONDS = 10 };

static bool is_pipe(int file)
{
    struct stat facts;
    return fstat(file, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

static int refuse(int file, int error)
{
    close(file);
    errno = error;
    return -1;
}

/* Reads and writes wait again, as everywhere. */
static int made_blocking(int file)
{
    int flags = fcntl(file, F_GETFL);
    return flags >= 0 && fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0 ? file : refuse(file, errno);
}

/* Whether somebody has the other end of a pipe open to write, or had. Without a writer tee has nothing to wait for, and
 * returns 0 also where no writer came yet; only after one has left, poll reports a hang-up. */
static bool has_writer(int pipe, int spare)
{
    struct pollfd end = {.fd = pipe, .events = POLLIN};
    return tee(pipe, spare, 1, SPLICE_F_NONBLOCK) != 0 || poll(&end, 1, STEP_MILLISECONDS) != 0;
}

static bool await_writer(int pipe)
{
    int spare[2] = {-1, -1};
    bool found = pipe2(spare, O_CLOEXEC) != 0;
    for (int waited = 0; !found && waited < HD_PIPE_SECONDS * MILLISECONDS; waited += STEP_MILLISECONDS)
        found = has_writer(pipe, spare[1]);
    close(spare[0]);
    close(spare[1]);
    return found;
}

int hd_open_input(const char *path)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return -1;
    return is_pipe(file) && !await_writer(file) ? refuse(file, ETIMEDOUT) : made_blocking(file);
}

int hd_open_direct_output(const char *path)
{
    int file;
    for (int waited = 0; (file = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0;) {
        if (errno != ENXIO || waited >= HD_PIPE_SECONDS * MILLISECONDS) {
            errno = errno == ENXIO ? ETIMEDOUT : errno;
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = STEP_MILLISECONDS * 1000000}, NULL);
        waited += STEP_MILLISECONDS;
    }
    return made_blocking(file);
}

const char *hd_open_why(int error)
{
    if (error == HD_NOT_GIVEN)
        return "it is not among the files in memory, and no other file is read";
    return error == ETIMEDOUT ? "it is a named pipe, and nobody has its other end open" : strerror(error);
}
