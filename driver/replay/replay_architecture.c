/* The code of one architecture in a file that has it for several: cubins of an architecture run on GPUs of the same
 * major number from their own on, and the newest of those is taken, as by the driver. Where none fits the GPU, the
 * first architecture of the file is. The listing (parser/cubin.h) has a line `.target sm_N` before each cubin. */
#include "driver/replay/replay_work.h"

static const char target[] = "\t.target\tsm_";

/* The beginning of the next cubin; NULL: there is none. */
static const char *next_cubin(const char *at)
{
    while (at && strncmp(at, target, strlen(target)) != 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at;
}

static uint32_t number_of(const char *cubin) { return (uint32_t)strtoul(cubin + strlen(target), NULL, 10); }

/* 0: the listing has no cubin. *several: it has more than one architecture. */
static uint32_t choose(const char *text, uint32_t gpu, bool *several)
{
    uint32_t first = 0, best = 0;
    for (const char *at = next_cubin(text); at; at = next_cubin(at + 1)) {
        uint32_t sm = number_of(at);
        first = first ? first : sm;
        *several = *several || sm != first;
        if (sm / 10 == gpu / 10 && sm <= gpu && sm > best)
            best = sm;
    }
    return best ? best : first;
}

void replay_keep_architecture(const hd_gpu *gpu, hd_source *listing)
{
    bool several = false;
    uint32_t sm = choose(listing->text, gpu->compute_major * 10 + gpu->compute_minor, &several);
    if (!several)
        return;
    hd_source all = *listing;
    char *kept = hd_malloc(all.length + 1);
    size_t length = 0;
    for (const char *at = next_cubin(all.text), *next; at; at = next) {
        next = next_cubin(at + 1);
        size_t bytes = (size_t)((next ? next : all.text + all.length) - at);
        if (number_of(at) != sm)
            continue;
        memcpy(kept + length, at, bytes);
        length += bytes;
    }
    hd_source_from_memory(listing, all.name, kept, length);
    free(kept);
    hd_source_free(&all);
}
