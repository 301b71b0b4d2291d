/* Output files that appear whole or not at all.
 *
 *   hd_output output;
 *   if (hd_output_open(&output, path)) {
 *       hd_write(&output.writer, ...);
 *       good = hd_output_finish(&output) && hd_output_publish(&output);      false: see errno
 *       hd_output_drop(&output);
 *   }
 *
 * A file is written beside its place (where a link leads), brought to the disk, and renamed; until then what is there
 * stays, whatever happens to the process or the disk. A new file has the permissions that the user's mask gives, a
 * replaced one keeps its own. What is no regular file (/dev/null, a pipe) is written directly; where the folder takes
 * no new file, one that is there is overwritten at the end, after room for all of it was found.
 *
 * The files of one job appear together: hd_outputs collects what is finished.
 */
#ifndef HD_BASE_OUTPUT_H
#define HD_BASE_OUTPUT_H

#include "base/diagnostics.h"
#include "base/writer.h"
#include <pthread.h>

typedef struct hd_output {
    char *path;      /* where links lead; NULL: a descriptor that stays open; owned */
    char *temporary; /* NULL: written directly or in place; owned */
    bool in_place;   /* written when it is published, from memory */
    bool unsynced;   /* the disk need not have it before it appears: of a cache, of a run that is going on */
    int descriptor;  /* -1: closed */
    hd_writer writer;
} hd_output;

bool hd_output_open(hd_output *output, const char *path);
void hd_output_to_descriptor(hd_output *output, int descriptor); /* the same for one that is open, and stays so */
bool hd_output_finish(hd_output *output);                        /* all is written, under another name */
bool hd_output_publish(hd_output *output);                       /* after hd_output_finish; allocates nothing */
void hd_output_drop(hd_output *output); /* at last; what was not published is gone, but what was written directly */

typedef struct hd_outputs {
    HD_ARRAY(hd_output) finished;
    pthread_mutex_t lock; /* of `finished`: threads add to it */
} hd_outputs;

void hd_outputs_init(hd_outputs *outputs);
/* Finishes the output, which then belongs to `outputs`; on failure it is dropped. */
bool hd_outputs_finish(hd_outputs *outputs, hd_output *output);
void hd_outputs_move(hd_outputs *from, hd_outputs *to);
/* Publishes and drops all of them, without a signal in between; false: some were reported, in the order of paths. */
bool hd_outputs_publish(hd_outputs *outputs, hd_diagnostics *diagnostics);
void hd_outputs_drop(hd_outputs *outputs); /* what is finished and not published */
void hd_outputs_free(hd_outputs *outputs);

#endif
