/* See watch.h. Progress is reported at the begin and at the end of the replay in the caller's thread, and in between by
 * a thread that reads the meters. */
#include "driver/api/watch.h"

#include <time.h>

enum { STEP_MILLISECONDS = 100 };

/* Under the lock. A program that has cancelled is not called again. */
static void report(hd_api_watch *w)
{
    double sum = 0;
    for (uint32_t i = 0; i < w->count; i++)
        sum += hd_meter_fraction(&w->meters[i]);
    if (!atomic_load(&w->cancel) && w->settings->progress(w->settings->user, w->count ? sum / w->count : 1))
        atomic_store(&w->cancel, true);
}

static void *watch(void *opaque)
{
    hd_api_watch *w = opaque;
    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += STEP_MILLISECONDS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->wake, &w->lock, &until);
        if (!w->over)
            report(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void hd_api_watch_open(hd_api_watch *w, const hd_replay_settings *settings, hd_replay_options *options)
{
    *w = (hd_api_watch){.settings = settings};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    options->cancel = &w->cancel;
    options->event = settings->event;
    options->events = settings->events;
    options->event_model = settings->event_model;
    options->event_user = settings->user;
    options->event_lock = &w->lock;
}

void hd_api_watch_start(hd_api_watch *w, uint32_t files, hd_replay_options *options)
{
    if (!w->settings->progress)
        return;
    options->meters = w->meters = hd_calloc(files, sizeof *w->meters);
    w->count = files;
    report(w);
    w->runs = pthread_create(&w->thread, NULL, watch, w) == 0;
}

bool hd_api_watch_close(hd_api_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->over = true;
    if (w->meters)
        report(w);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->runs)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w->meters);
    return atomic_load(&w->cancel);
}
