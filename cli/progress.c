/* Progress of work on many inputs: one line on standard error, which a thread of its own writes anew, and takes away at
 * the end. "heddle: 12 of 57 done, 0:34 left" */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { DELAY_MILLISECONDS = 2000, STEP_MILLISECONDS = 250 };

static uint64_t now_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void write_error(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* nothing depends on it */
}

static void show(hd_progress *p)
{
    char line[80];
    uint64_t elapsed = now_milliseconds() - p->start;
    if (elapsed < p->delay)
        return;
    int n = snprintf(line, sizeof line, "\rheddle: %u of %u done", p->done, p->total);
    if (p->done) {
        unsigned long long left = elapsed * (p->total - p->done) / p->done / 1000;
        n += snprintf(line + n, sizeof line - (size_t)n, left < 3600 ? ", %llu:%02llu left" : ", %lluh%02llu left",
                      left < 3600 ? left / 60 : left / 3600, left < 3600 ? left % 60 : left / 60 % 60);
    }
    snprintf(line + n, sizeof line - (size_t)n, "\33[K");
    write_error(line);
    p->shown = true;
}

static void hide(hd_progress *p)
{
    if (p->shown)
        write_error("\r\33[K");
    p->shown = false;
}

static void *watch(void *opaque)
{
    hd_progress *p = opaque;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += STEP_MILLISECONDS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->wake, &p->lock, &until);
        if (!p->over && !p->held)
            show(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void hd_progress_start(hd_progress *p, const hd_cli *cli, uint32_t total)
{
    enum { AUTO, ALWAYS, NEVER };
    const char *terminal = getenv("TERM");
    bool wanted = cli->progress == ALWAYS || (cli->progress == AUTO && total > 1 && isatty(STDERR_FILENO) && terminal &&
                                              strcmp(terminal, "dumb") != 0);
    *p = (hd_progress){.total = total, .start = now_milliseconds()};
    p->delay = cli->progress == ALWAYS ? 0 : DELAY_MILLISECONDS;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->runs = wanted && pthread_create(&p->thread, NULL, watch, p) == 0;
}

void hd_progress_hold(hd_progress *p)
{
    pthread_mutex_lock(&p->lock);
    p->held = true;
    hide(p);
    pthread_mutex_unlock(&p->lock);
}

void hd_progress_step(hd_progress *p, uint32_t done)
{
    pthread_mutex_lock(&p->lock);
    p->held = false;
    p->done = done;
    if (p->runs)
        show(p);
    pthread_mutex_unlock(&p->lock);
}

void hd_progress_stop(hd_progress *p)
{
    pthread_mutex_lock(&p->lock);
    p->over = true;
    hide(p);
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    if (p->runs)
        pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
}
