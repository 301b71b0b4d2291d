/* See process.h. Linux: prctl. */
#include "driver/build/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNAL_STATUS = 128 };

/* In the child, which has one thread. */
static void become(const hd_process *process, int report)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGXFSZ, SIG_DFL);
    for (uint32_t i = 0; process->environment && process->environment[i]; i++)
        putenv((char *)(uintptr_t)process->environment[i]);
    if (process->output && (dup2(process->output, STDOUT_FILENO) < 0 || dup2(process->output, STDERR_FILENO) < 0))
        _exit(SIGNAL_STATUS - 2);
    if (!process->folder || chdir(process->folder) == 0)
        execvp(process->arguments[0], (char *const *)(uintptr_t)process->arguments);
    int error = errno;
    if (write(report, &error, sizeof error) < 0)
        _exit(SIGNAL_STATUS - 2);
    _exit(SIGNAL_STATUS - 1);
}

static int status_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_STATUS + WTERMSIG(status);
}

int hd_process_run(const hd_process *process)
{
    int report[2], error = 0;
    if (pipe2(report, O_CLOEXEC) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0)
        become(process, report[1]);
    close(report[1]);
    ssize_t said = child < 0 ? 0 : read(report[0], &error, sizeof error);
    close(report[0]);
    if (child < 0)
        return -1;
    int status = status_of(child);
    if (said <= 0)
        return status;
    errno = error;
    return -1;
}
