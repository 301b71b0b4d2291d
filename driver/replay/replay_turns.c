/* What parts do in their order though they run side by side: printing, and reading what can be read only once.
 *
 * Kernels print at once while theirs is the oldest part that runs. What others print is kept until then; whoever has
 * more than MOST_KEPT_BYTES of it waits, and so does who reads what can be read only once.
 */
#include "driver/replay/replay_work.h"

#include <sys/stat.h>

enum { MOST_KEPT_BYTES = 16 << 20 };

/* All parts before it are joined. Nobody but the part itself can change that again. */
static bool has_turn(const replay_part *p)
{
    hd_replay *r = p->replay;
    pthread_mutex_lock(&r->lock);
    bool turn = r->joined == p->index;
    pthread_mutex_unlock(&r->lock);
    return turn;
}

/* No circle: the oldest part waits for nobody, and parts are begun in their order. */
static void await_turn(const replay_part *p)
{
    hd_replay *r = p->replay;
    pthread_mutex_lock(&r->lock);
    while (r->joined != p->index)
        pthread_cond_wait(&r->moved, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

void replay_print_kept(replay_part *p)
{
    const hd_replay_options *options = p->plan->options;
    if (p->printed.count)
        options->print(options->print_context, p->printed.items, p->printed.count);
    hd_array_free(&p->printed);
}

void replay_print(void *part, const char *text, size_t size)
{
    replay_part *p = part;
    const hd_replay_options *options = p->plan->options;
    if (!has_turn(p) && p->printed.count + size <= MOST_KEPT_BYTES) {
        memcpy(hd_array_extend(&p->printed, size), text, size);
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
