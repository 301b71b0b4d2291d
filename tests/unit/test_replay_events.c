/* Events, progress and cancellation of replays in the public C API, used as an embedding program would. What events add
 * up to is compared with the results of the same replay. */
#include "unit.h"

#include "heddle/heddle.h"

enum { KINDS = HD_REPLAY_LAUNCH_END + 1 };

typedef struct listener {
    uint64_t counts[KINDS];
    uint64_t slot_cycles, wait_cycles, warp_cycles, passes, lanes, last_cycle;
    const char *model;
    uint64_t cancel_at; /* the event at which it cancels; 0: none */
    uint64_t all;
    bool in_launch, spelled, several;
    const char *wrong; /* what does not hold of an event; NULL: nothing */
} listener;

/* Not an assertion of cmocka, which is for its own thread. */
static void expect(listener *l, bool holds, const char *what)
{
    if (!holds)
        l->wrong = what;
}

static int listen(void *user, const hd_replay_event *e)
{
    listener *l = user;
    expect(l, e->size == sizeof *e, "size");
    expect(l, (unsigned)e->kind < KINDS, "kind");
    expect(l, e->end >= e->begin, "e->end >= e->begin");
    l->counts[e->kind]++;
    l->all++;
    l->several = l->several || (l->model && strcmp(l->model, e->model) != 0);
    l->model = e->model;
    if (e->kind == HD_REPLAY_LAUNCH_BEGIN)
        l->in_launch = true;
    expect(l, l->in_launch, "l->in_launch");
    if (e->kind == HD_REPLAY_LAUNCH_END)
        l->in_launch = false;
    if (e->kind == HD_REPLAY_ISSUE || e->kind == HD_REPLAY_RETIRE) {
        expect(l, e->text != NULL, "e->text");
        expect(l, e->function != NULL, "e->function");
        l->spelled = l->spelled || (strncmp(e->text, "add.", 4) == 0 && e->line > 0);
    }
    if (e->kind == HD_REPLAY_ISSUE || e->kind == HD_REPLAY_STALL)
        l->slot_cycles += (e->end - e->begin) * e->slots;
    if (e->kind == HD_REPLAY_ISSUE)
        l->lanes += (uint64_t)__builtin_popcount(e->active);
    if (e->kind == HD_REPLAY_STALL || e->kind == HD_REPLAY_WAIT)
        expect(l, e->reason != NULL, "e->reason");
    if (e->kind == HD_REPLAY_WAIT)
        l->wait_cycles += e->end - e->begin;
    if (e->kind == HD_REPLAY_WARP_END)
        l->warp_cycles += e->end - e->begin;
    if (e->kind == HD_REPLAY_ACCESS && e->level == HD_REPLAY_LEVEL_SHARED)
        l->passes += e->passes;
    return l->cancel_at == l->all;
}

static char *example(const char *name)
{
    const char *top = getenv("TOP");
    char *path = malloc(4096);
    snprintf(path, 4096, "%s/examples/%s/%s.yaml", top ? top : ".", name, name);
    return path;
}

static void add_up(void **state)
{
    (void)state;
    char *path = example("reduction");
    const char *const files[] = {path};
    listener l = {0};
    const hd_replay_report *report;
    hd_context *context = hd_context_new();
    hd_replay_settings settings = {.size = sizeof settings,
                                   .gpu = "fermi-gtx480",
                                   .techniques = "baseline",
                                   .time = true,
                                   .sms = 2,
                                   .event = listen,
                                   .user = &l};
    assert_int_equal(hd_context_replay_results(context, files, 1, &settings, &report), HD_STATUS_DONE);
    uint64_t issued = 0, slots = 0, passes = 0, runs = 0, lanes = 0;
    for (size_t k = 0; k < report->kernel_count; k++) {
        const hd_replay_kernel *kernel = &report->kernels[k];
        const hd_replay_timing *timing = kernel->results[0].timing;
        runs += kernel->runs;
        issued += kernel->warp_instructions;
        lanes += kernel->thread_instructions;
        passes += timing->shared_passes;
        for (size_t s = 0; s < report->slot_count; s++)
            slots += timing->slots[s];
    }
    assert_int_equal(l.counts[HD_REPLAY_LAUNCH_BEGIN], runs);
    assert_int_equal(l.counts[HD_REPLAY_LAUNCH_END], runs);
    assert_int_equal(l.counts[HD_REPLAY_ISSUE], issued);
    assert_int_equal(l.counts[HD_REPLAY_RETIRE], issued);
    assert_int_equal(l.lanes, lanes);
    assert_int_equal(l.slot_cycles, slots);
    assert_int_equal(l.wait_cycles + l.counts[HD_REPLAY_WARP_END], l.warp_cycles);
    assert_true(l.passes > 0);
    assert_int_equal(l.passes, passes);
    assert_true(l.spelled);
    assert_string_equal(l.model, "baseline");
    assert_false(l.several);
    assert_null(l.wrong);

    uint64_t accesses = l.counts[HD_REPLAY_ACCESS];
    l = (listener){.in_launch = true};
    settings.events = 1u << HD_REPLAY_ACCESS | 1u << HD_REPLAY_RETIRE;
    assert_int_equal(hd_context_replay_results(context, files, 1, &settings, &report), HD_STATUS_DONE);
    assert_int_equal(l.counts[HD_REPLAY_ACCESS], accesses);
    assert_int_equal(l.all, accesses + issued);
    hd_context_free(context);
    free(path);
}

static void of_the_interpreter(void **state)
{
    (void)state;
    char *path = example("reduction");
    const char *const files[] = {path};
    hd_context *context = hd_context_new();
    static const char *const techniques[] = {"baseline", "ltrf,bow"};
    for (uint32_t t = 0; t < 2; t++) {
        listener l = {0};
        const hd_replay_report *report;
        hd_replay_settings settings = {
            .size = sizeof settings, .techniques = techniques[t], .event = listen, .user = &l};
        assert_int_equal(hd_context_replay_results(context, files, 1, &settings, &report), HD_STATUS_DONE);
        uint64_t issued = 0, runs = 0, lanes = 0;
        for (size_t k = 0; k < report->kernel_count; k++) {
            runs += report->kernels[k].runs;
            issued += report->kernels[k].warp_instructions;
            lanes += report->kernels[k].thread_instructions;
        }
        assert_int_equal(l.counts[HD_REPLAY_ISSUE], issued);
        assert_int_equal(l.lanes, lanes);
        assert_int_equal(l.counts[HD_REPLAY_LAUNCH_BEGIN], runs);
        assert_int_equal(l.all, issued + 2 * runs);
        assert_null(l.wrong);
    }
    hd_context_free(context);
    free(path);
}

static void of_a_model(void **state)
{
    (void)state;
    char *path = example("vectorAdd");
    const char *const files[] = {path};
    listener l = {0};
    const hd_replay_report *report;
    hd_context *context = hd_context_new();
    hd_replay_settings settings = {
        .size = sizeof settings, .techniques = "bow-wr-iw3", .event = listen, .event_model = "bow-wr-iw3", .user = &l};
    assert_int_equal(hd_context_replay_results(context, files, 1, &settings, &report), HD_STATUS_DONE);
    assert_string_equal(l.model, "bow-wr-iw3");
    assert_false(l.several);
    assert_true(l.counts[HD_REPLAY_ISSUE] > 0);
    settings.event_model = "corf";
    assert_int_equal(hd_context_replay_results(context, files, 1, &settings, &report), HD_STATUS_USAGE);
    assert_null(report);
    assert_non_null(strstr(hd_context_message(context, 0).text, "there are no events of 'corf'"));
    hd_context_free(context);
    free(path);
}

/* At several moments, with and without cycles, one file and two. */
static void cancelled_by_an_event(void **state)
{
    (void)state;
    char *path = example("reduction"), *other = example("vectorAdd");
    const char *const files[] = {path, other};
    static const uint64_t moments[] = {1, 2, 500, 5000};
    hd_context *context = hd_context_new();
    for (uint32_t i = 0; i < 4 * sizeof moments / sizeof *moments; i++) {
        listener l = {.cancel_at = moments[i / 4], .in_launch = true};
        const hd_replay_report *report;
        hd_text text;
        hd_replay_settings settings = {.size = sizeof settings,
                                       .gpu = "fermi-gtx480",
                                       .techniques = "bow,ltrf",
                                       .time = i & 1,
                                       .sms = i & 1,
                                       .threads = i & 2 ? 4 : 1,
                                       .event = listen,
                                       .events = 1u << HD_REPLAY_ISSUE,
                                       .user = &l};
        assert_int_equal(hd_context_replay_results(context, files, 2, &settings, &report), HD_STATUS_CANCELLED);
        assert_null(report);
        assert_int_equal(l.all, l.cancel_at); /* it is not called again */
        assert_int_equal(hd_context_error_count(context), 0);
        l.all = 0;
        assert_int_equal(hd_context_replay(context, files, 2, &settings, &text), HD_STATUS_CANCELLED);
        assert_null(text.bytes);
    }
    hd_context_free(context);
    free(path);
    free(other);
}

typedef struct progress {
    double first, last;
    uint32_t calls;
    bool falls; /* it was less than before */
    int answer;
} progress;

static int go_on(void *user, double done)
{
    progress *p = user;
    p->falls = p->falls || (p->calls && done < p->last);
    p->first = p->calls++ ? p->first : done;
    p->last = done;
    return p->answer;
}

static void shown_progress(void **state)
{
    (void)state;
    char *path = example("vectorAdd"), *other = example("reduction");
    const char *const files[] = {path, other};
    progress p = {0};
    const hd_replay_report *report;
    hd_context *context = hd_context_new();
    hd_replay_settings settings = {.size = sizeof settings, .techniques = "bow", .progress = go_on, .user = &p};
    assert_int_equal(hd_context_replay_results(context, files, 2, &settings, &report), HD_STATUS_DONE);
    assert_true(p.calls >= 2);
    assert_true(p.first == 0 && p.last == 1);
    p = (progress){.answer = 1};
    assert_int_equal(hd_context_replay_results(context, files, 2, &settings, &report), HD_STATUS_CANCELLED);
    assert_null(report);
    assert_int_equal(p.calls, 1);
    settings.techniques = "nosuch"; /* nothing begins */
    p = (progress){0};
    assert_int_equal(hd_context_replay_results(context, files, 2, &settings, &report), HD_STATUS_USAGE);
    assert_int_equal(p.calls, 0);
    hd_context_free(context);
    free(path);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(add_up), cmocka_unit_test(of_the_interpreter),
                                       cmocka_unit_test(of_a_model), cmocka_unit_test(cancelled_by_an_event),
                                       cmocka_unit_test(shown_progress)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
