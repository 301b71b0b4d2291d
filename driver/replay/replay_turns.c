/* Operations that parallel parts perform in their order: printing, and reading inputs that can be read only once.
 *
 * Kernels of the oldest running part print at once. Output of others is kept until their turn; a part with more than
 * MOST_KEPT_BYTES of it waits, and so does one that reads an input that can be read only once.
 */
#include "driver/replay/replay_work.h"

#include <sys/stat.h>

enum { MOST_KEPT_BYTES = 16 << 20 };

/* All earlier parts are joined. Only the part itself can change that again. */
static bool has_turn(const replay_part *p)
{
    pthread_mutex_lock(&p->turns->lock);
    bool turn = p->turns->joined == p->index;
    pthread_mutex_unlock(&p->turns->lock);
    return turn;
}

/* No deadlock: the oldest part never waits, and parts are started in order. */
static void await_turn(const replay_part *p)
{
    pthread_mutex_lock(&p->turns->lock);
    while (p->turns->joined != p->index)
        pthread_cond_wait(&p->turns->moved, &p->turns->lock);
    pthread_mutex_unlock(&p->turns->lock);
}

void replay_print_kept(replay_part *p)
{
    const hd_replay_options *options = p->plan->options;
    if (p->out.printed.count)
        options->print(options->print_context, p->out.printed.items, p->out.printed.count);
    hd_array_free(&p->out.printed);
}

void replay_print(void *part, const char *text, size_t size)
{
    replay_part *p = part;
    const hd_replay_options *options = p->plan->options;
    if (!has_turn(p) && p->out.printed.count + size <= MOST_KEPT_BYTES) {
        memcpy(hd_array_extend(&p->out.printed, size), text, size);
        return;
    }
    await_turn(p);
    replay_print_kept(p);
    options->print(options->print_context, text, size);
}

void replay_await_turn(replay_part *p, const char *path)
{
    struct stat facts;
    if (!strcmp(path, "-") || (!stat(path, &facts) && !S_ISREG(facts.st_mode)))
        await_turn(p);
}
