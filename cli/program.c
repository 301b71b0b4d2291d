/* Runs a program of the user as a shell runs a job: in a process group of its own, which gets the terminal where heddle
 * has it, and the signals that end or stop heddle. It does not survive heddle.
 *
 * What a handler writes is the process's own, as signals are. Linux: prctl. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNALLED = 128, NOT_RUN = 127 };
static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

static volatile sig_atomic_t group, must_end, stopped;

/* Where heddle has stopped with the program, await_end() makes it go on, once it has the terminal. Otherwise one of the
 * program's processes may have stopped alone: a shell does not stop while it waits for what it started by vfork. */
static void forward(int number)
{
    int error = errno;
    if (group && !(number == SIGCONT && stopped))
        kill(-group, number);
    if (number == SIGTERM || number == SIGHUP)
        must_end = 1;
    errno = error;
}

/* What is ignored (nohup) stays so. */
static void forward_signals(struct sigaction before[FORWARDED])
{
    struct sigaction action = {.sa_handler = forward};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FORWARDED; i++)
        if (sigaction(forwarded[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(forwarded[i], &action, NULL);
}

static void restore_signals(const struct sigaction before[FORWARDED])
{
    for (int i = 0; i < FORWARDED; i++)
        sigaction(forwarded[i], &before[i], NULL);
}

/* A process of the background that takes the terminal gets SIGTTOU. */
static void give_terminal(bool has_terminal, pid_t to)
{
    if (!has_terminal)
        return;
    void (*before)(int) = signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(STDIN_FILENO, to);
    signal(SIGTTOU, before);
}

/* In the child: nothing of heddle's signals is left, and it dies with heddle. */
_Noreturn static void become(const hd_cli_program *p, pid_t heddle, bool has_terminal, const sigset_t *mask)
{
    setpgid(0, 0);
    give_terminal(has_terminal, getpgrp());
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != heddle)
        _exit(NOT_RUN);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    for (const char *const *v = p->environment; v[0]; v += 2)
        setenv(v[0], v[1], 1);
    execv(p->path, p->arguments);
    fprintf(stderr, "heddle: cannot run '%s': %s\n", p->path, strerror(errno));
    _exit(NOT_RUN);
}

/* heddle stops with the program, and both go on together. */
static int await_end(pid_t child, bool has_terminal)
{
    for (int status = 0;;) {
        if (waitpid(child, &status, WUNTRACED) < 0) {
            if (errno != EINTR)
                return SIGNALLED;
        } else if (!WIFSTOPPED(status)) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
        } else {
            give_terminal(has_terminal, getpgrp());
            stopped = true;
            raise(SIGSTOP);
            stopped = false;
            give_terminal(has_terminal, child);
            kill(-child, SIGCONT);
        }
    }
}

int hd_cli_run_program(const hd_cli_program *p, bool *asked_to_end)
{
    sigset_t all, mask;
    struct sigaction before[FORWARDED];
    bool has_terminal = tcgetpgrp(STDIN_FILENO) == getpgrp();
    pid_t heddle = getpid();
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* until the signals have a receiver */
    pid_t child = fork();
    if (child == 0)
        become(p, heddle, has_terminal, &mask);
    int error = errno, status = -1;
    if (child > 0) {
        setpgid(child, child);
        give_terminal(has_terminal, child);
        group = child;
        must_end = 0;
        forward_signals(before);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (child > 0) {
        status = await_end(child, has_terminal);
        group = 0;
        restore_signals(before);
        give_terminal(has_terminal, getpgrp());
    }
    *asked_to_end = must_end;
    errno = error;
    return status;
}
