/* Progress of work on inputs: one line on standard error, which a thread of its own writes anew, and takes away at the
 * end.
 *
 *   heddle: 12 of 57 done, 0:34 left              several inputs
 *   heddle: 21 % done, 0:34 left                  one
 *   heddle: launch 3 of 8, 21 % done, 0:34 left   one that has items
 *
 * The time that is left is what was needed, times what is left: it is right where all inputs are alike.
 */
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

/* The share of all inputs that is done, 0 to 1. */
static double fraction_of(hd_progress *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->total; i++)
        sum += hd_meter_fraction(&p->meters[i]);
    return p->total ? sum / p->total : 0;
}

static void write_done(hd_progress *p, double fraction, char *line, size_t size)
{
    uint32_t items = p->total == 1 ? atomic_load(&p->meters->items) : 0,
             item = items ? atomic_load(&p->meters->item) : 0;
    if (p->total > 1)
        snprintf(line, size, "%u of %u done", p->done, p->total);
    else if (items > 1 && item)
        snprintf(line, size, "launch %u of %u, %.0f %% done", hd_min(item, items), items, 100 * fraction);
    else
        snprintf(line, size, "%.0f %% done", 100 * fraction);
}

static void show(hd_progress *p)
{
    char line[80], done[48];
    uint64_t elapsed = now_milliseconds() - p->start;
    if (elapsed < p->delay)
        return;
    double fraction = fraction_of(p);
    write_done(p, fraction, done, sizeof done);
    int n = snprintf(line, sizeof line, "\rheddle: %s", done);
    if (fraction > 0) {
        unsigned long long left = (unsigned long long)((double)elapsed * (1 - fraction) / fraction / 1000);
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
    bool wanted = cli->progress == ALWAYS ||
                  (cli->progress == AUTO && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0);
    *p = (hd_progress){.total = total, .start = now_milliseconds()};
    p->meters = hd_calloc(total, sizeof *p->meters);
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

void hd_progress_print(hd_progress *p, const char *text, size_t size)
{
    hd_progress_hold(p);
    fwrite(text, 1, size, stderr);
    pthread_mutex_lock(&p->lock);
    p->held = size && text[size - 1] != '\n';
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
    free(p->meters);
}
