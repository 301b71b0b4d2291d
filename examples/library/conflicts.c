/* Counts the bank conflicts of shared memory, by instruction, of launch files on a GPU whose cycles are simulated.
 *
 *   conflicts GPU LAUNCH.yaml...
 *
 * A line for each instruction that accesses shared memory in more passes than it needs, most first:
 *
 *   1024 passes more than 1024 needed: reduce, line 60: st.shared.f32 [%rd4], %f1; */
#include <heddle/heddle.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct place { /* an instruction with its passes over the banks */
    char *function, *text;
    unsigned line;
    uint64_t passes, least;
} place;

typedef struct places {
    place *items;
    size_t count;
} places;

static char *copy(const char *text)
{
    char *to = malloc(strlen(text) + 1);
    if (!to)
        abort();
    return strcpy(to, text);
}

static place *find(places *all, const hd_replay_event *event)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].line == event->line && !strcmp(all->items[i].text, event->text) &&
            !strcmp(all->items[i].function, event->function))
            return &all->items[i];
    place *items = realloc(all->items, (all->count + 1) * sizeof *items);
    if (!items)
        abort();
    all->items = items;
    items[all->count] = (place){copy(event->function), copy(event->text), event->line, 0, 0};
    return &items[all->count++];
}

/* Called for each access; 0: the replay goes on. */
static int see(void *user, const hd_replay_event *event)
{
    if (event->level == HD_REPLAY_LEVEL_SHARED) {
        place *at = find(user, event);
        at->passes += event->passes;
        at->least += event->least_passes;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    uint64_t more_x = x->passes - x->least, more_y = y->passes - y->least;
    return more_x != more_y ? (more_x < more_y ? 1 : -1) : (x->line > y->line) - (x->line < y->line);
}

int main(int count, char **arguments)
{
    places all = {NULL, 0};
    if (count < 3)
        return HD_STATUS_USAGE;
    const hd_replay_settings settings = {.size = sizeof settings,
                                         .gpu = arguments[1],
                                         .techniques = "baseline",
                                         .time = true,
                                         .event = see,
                                         .events = 1u << HD_REPLAY_ACCESS,
                                         .user = &all};
    hd_context *context = hd_context_new();
    const hd_replay_report *report;
    hd_status status =
        hd_context_replay_results(context, (const char *const *)arguments + 2, (size_t)count - 2, &settings, &report);
    for (size_t i = 0; i < hd_context_message_count(context); i++)
        fprintf(stderr, "%s\n", hd_context_message(context, i).text);
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, compare);
    for (size_t i = 0; i < all.count; i++) {
        const place *p = &all.items[i];
        if (p->passes > p->least)
            printf("%" PRIu64 " passes more than %" PRIu64 " needed: %s, line %u: %s\n", p->passes - p->least, p->least,
                   p->function, p->line, p->text);
        free(p->function);
        free(p->text);
    }
    free(all.items);
    hd_context_free(context);
    return (int)status;
}
