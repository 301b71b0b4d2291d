/* Progress, events and cancellation of a replay, for a program that uses the library; private to driver/api/. */
#ifndef HD_DRIVER_API_WATCH_H
#define HD_DRIVER_API_WATCH_H

#include "driver/api/context.h"
#include <pthread.h>

typedef struct hd_api_watch {
    const hd_replay_settings *settings;
    hd_meter *meters; /* by file */
    uint32_t count;
    pthread_mutex_t lock; /* the program's functions are called under it */
    pthread_cond_t wake;
    pthread_t thread;
    bool runs, over;
    atomic_bool cancel;
} hd_api_watch;

/* Sets what the options say about the settings' functions; the settings and the watch stay until it is closed. */
void hd_api_watch_open(hd_api_watch *watch, const hd_replay_settings *settings, hd_replay_options *options);
/* The replay of so many files begins: progress is reported from now on. */
void hd_api_watch_start(hd_api_watch *watch, uint32_t files, hd_replay_options *options);
/* The replay has ended. Returns whether the program has cancelled it. */
bool hd_api_watch_close(hd_api_watch *watch);

#endif
