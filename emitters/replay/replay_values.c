/* Values of a replay as readers see them: see replay_values.h. Linear in the launches. */
#include "emitters/replay/replay_values.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const hd_replay_verdicts[HD_CHECK_COUNT] = {
    "-", "pass", "FAIL (operands)", "FAIL (output)", "FAIL (differs)", "FAIL (stopped)"};
static const char *const output_words[] = {"output not checked", "output as expected", "output NOT as expected",
                                           "output depends on a clock"};
static const char *const identical_words[] = {"", "identical to the original's", "NOT identical to the original's",
                                              "depends on a clock"};

void hd_replay_write_output(hd_writer *w, const hd_replay_kernel *k)
{
    bool again = k->outputs == HD_OUTPUTS_CLOCK && k->identical == HD_OUTPUTS_CLOCK;
    hd_write_string(w, output_words[k->outputs]);
    if (k->identical && !again)
        hd_write_format(w, ", %s", identical_words[k->identical]);
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

#define TYPE(of, member) \
    _Generic(((of *)0)->member, const char * : HD_REPLAY_TEXT_VALUE, uint32_t : HD_REPLAY_NUMBER_VALUE,                \
             const char *const * : HD_REPLAY_LIST_VALUE, uint64_t : HD_REPLAY_ADDRESS_VALUE)
#define SILENT 0, NULL, HD_REPLAY_UNNAMED, HD_REPLAY_TEXT_VALUE, 0
#define ECHO(position, key, presence, member) \
    position, key, HD_REPLAY_##presence, TYPE(hd_replay_report, member), offsetof(hd_replay_report, member)
#define ECHO_OF_LAUNCH(position, key, member) \
    position, key, HD_REPLAY_OF_LAUNCH, TYPE(hd_replay_kernel, member), offsetof(hd_replay_kernel, member)
static const hd_replay_setting settings[] = {
#define HD_OPTION(id, letter, name, argument, value, commands, marks, sets, echo, help) {name, echo},
#include "base/options.def"
#undef HD_OPTION
};

const hd_replay_setting *hd_replay_setting_at(uint32_t position)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].presence != HD_REPLAY_UNNAMED && settings[i].position == position)
            return &settings[i];
    return NULL;
}

static const char *join(const char *const *texts, uint32_t count, hd_arena *arena)
{
    const char *joined = count ? texts[0] : NULL;
    for (uint32_t i = 1; i < count; i++)
        joined = hd_arena_printf(arena, "%s %s", joined, texts[i]);
    return joined;
}

static uint64_t address_of(const hd_replay_kernel *kernel, const hd_replay_setting *setting)
{
    uint64_t address;
    memcpy(&address, (const char *)kernel + setting->at, sizeof address);
    return address;
}

/* What all launches share, unless `kernel` is one of them. */
static const char *address_text(const hd_replay_report *report, const hd_replay_kernel *kernel,
                                const hd_replay_setting *setting, hd_arena *arena)
{
    const hd_replay_kernel *one = kernel ? kernel : report->kernels;
    for (uint32_t k = 0; !kernel && k < report->kernel_count; k++)
        if (address_of(&report->kernels[k], setting) != address_of(one, setting))
            return NULL;
    uint64_t address = one ? address_of(one, setting) : 0;
    return address ? hd_arena_printf(arena, "0x%llx", (unsigned long long)address) : NULL;
}

uint32_t hd_replay_setting_number(const hd_replay_report *report, const hd_replay_setting *setting)
{
    uint32_t number;
    memcpy(&number, (const char *)report + setting->at, sizeof number);
    return number;
}

const char *hd_replay_setting_text(const hd_replay_report *report, const hd_replay_kernel *kernel,
                                   const hd_replay_setting *setting, hd_arena *arena)
{
    uint32_t number;
    const char *text = NULL;
    switch (setting->type) {
    case HD_REPLAY_TEXT_VALUE: memcpy(&text, (const char *)report + setting->at, sizeof text); break;
    case HD_REPLAY_LIST_VALUE: text = join(report->settings, report->setting_count, arena); break;
    case HD_REPLAY_ADDRESS_VALUE: text = address_text(report, kernel, setting, arena); break;
    case HD_REPLAY_NUMBER_VALUE:
        number = hd_replay_setting_number(report, setting);
        if (number || setting->presence == HD_REPLAY_ALWAYS)
            text = hd_arena_printf(arena, "%u", number);
        break;
    }
    return text;
}

const char *hd_replay_own_memory_base(const hd_replay_report *report, const hd_replay_kernel *kernel, hd_arena *arena)
{
    for (uint32_t k = 1; k < report->kernel_count; k++)
        if (report->kernels[k].memory_base != report->kernels[0].memory_base)
            return kernel->memory_base ? hd_arena_printf(arena, "0x%llx", (unsigned long long)kernel->memory_base)
                                       : NULL;
    return NULL;
}

/* ---- words and numbers ------------------------------------------------------------------------------------------- */

const char *hd_replay_grouped(char text[static 32], uint64_t value)
{
    char digits[24];
    if (value == UINT64_MAX) {
        snprintf(text, 32, "too many to count");
        return text;
    }
    size_t count = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

void hd_replay_format_headline(char text[static 64], const hd_replay_headline *h)
{
    static const char *const forms[] = {"-", "%s %.*f %%", "%s %+.*f %%", "%s %.*f"};
    double value = h->kind == HD_FIGURE_NUMBER ? h->value : 100 * h->value;
    if (h->absent)
        snprintf(text, 64, "not applied: %s", h->absent);
    else if (h->kind != HD_FIGURE_NONE && isnan(h->value))
        snprintf(text, 64, "%s unknown", h->title);
    else
        snprintf(text, 64, forms[h->kind], h->title, h->kind == HD_FIGURE_NUMBER && value < 10 ? 2 : 1, value);
}

void hd_replay_format_baseline(char text[static 64], const hd_replay_result *r)
{
    static const struct {
        double pj;
        const char *name;
    } units[] = {{1e12, "J"}, {1e9, "mJ"}, {1e6, "uJ"}, {1e3, "nJ"}, {0, "pJ"}};
    char accesses[32];
    uint32_t u = 0;
    while (units[u].pj > r->energy_pj)
        u++;
    if (isnan(r->energy_pj))
        snprintf(text, 64, "%s accesses", hd_replay_grouped(accesses, r->rf_accesses));
    else
        snprintf(text, 64, "%s accesses, %.3g %s", hd_replay_grouped(accesses, r->rf_accesses),
                 r->energy_pj / (units[u].pj > 0 ? units[u].pj : 1), units[u].name);
}

bool hd_replay_slot_is_used(const hd_replay_report *report, uint32_t slot)
{
    for (uint32_t k = 0; k < report->kernel_count; k++)
        for (uint32_t r = 0; r < report->kernels[k].result_count; r++) {
            const hd_replay_timing *t = report->kernels[k].results[r].timing;
            if (t && t->slots[slot])
                return true;
        }
    return false;
}

const hd_replay_result *hd_replay_least_exact(const hd_replay_kernel *kernel)
{
    const hd_replay_result *found = NULL;
    for (uint32_t i = 0; i < kernel->result_count; i++) {
        const hd_replay_result *r = &kernel->results[i];
        if (r->timing && r->timing->sampled_fraction < 1 &&
            (!found || r->timing->error_fraction > found->timing->error_fraction))
            found = r;
    }
    return found;
}

uint32_t hd_replay_next_largest(const uint64_t *values, uint32_t count, uint32_t last)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        bool follows = last == UINT32_MAX || values[i] < values[last] || (values[i] == values[last] && i > last);
        if (values[i] && follows && (best == UINT32_MAX || values[i] > values[best]))
            best = i;
    }
    return best;
}

const char *hd_replay_lines_advice(const hd_replay_kernel *k)
{
    bool is_trace = k->profile->is_machine && !k->machine_sm;
    if (k->profile->has_lines || is_trace)
        return NULL;
    return k->profile->is_machine
               ? "the code does not say which source lines it is of: ptxas -lineinfo and nvcc -lineinfo keep them"
               : "the code does not say which source lines it is of: nvcc -lineinfo adds them";
}

uint64_t hd_replay_all_slots(const hd_replay_report *report, const hd_replay_timing *timing)
{
    uint64_t all = 0;
    for (uint32_t s = 0; s < report->slot_count; s++)
        all += timing->slots[s];
    return all;
}

/* ---- means ------------------------------------------------------------------------------------------------------- */

typedef struct sum { /* of logarithms for a geometric mean */
    double sum;
    uint32_t count;
} sum;

static void add_log(sum *s, double ratio)
{
    if (isnan(ratio))
        return;
    s->sum += log(ratio);
    s->count++;
}

/* NAN with fewer than `least` values. */
static double geometric(const sum *s, uint32_t least)
{
    return s->count && s->count >= least ? exp(s->sum / s->count) : (double)NAN;
}

static void add_headline(sum *s, const hd_replay_headline *h)
{
    if (h->kind == HD_FIGURE_CHANGE) {
        add_log(s, 1 + h->value);
    } else if (!isnan(h->value)) {
        s->sum += h->value;
        s->count++;
    }
}

static void finish_headline(hd_replay_headline *h, const sum *s)
{
    h->absent = s->count ? NULL : "nothing to work on";
    h->value = !s->count ? (double)NAN : h->kind == HD_FIGURE_CHANGE ? geometric(s, 1) - 1 : s->sum / s->count;
}

hd_replay_mean hd_replay_mean_of(const hd_replay_report *report, uint32_t model)
{
    hd_replay_mean m = {0};
    sum accesses = {0}, energy = {0}, speedup = {0}, timed_energy = {0}, headline = {0};
    uint32_t timings = 0;
    for (uint32_t k = 0; k < report->kernel_count; k++) {
        const hd_replay_result *r = &report->kernels[k].results[model];
        if (r->not_applied)
            continue;
        if (!m.launches++)
            m.headline = r->headline;
        m.failed += r->check != HD_CHECK_PASS;
        m.energy_derived = m.energy_derived || r->energy_derived;
        add_log(&accesses, r->rf_accesses_normalized);
        add_log(&energy, r->energy_normalized);
        add_headline(&headline, &r->headline);
        if (!r->timing)
            continue;
        timings++;
        add_log(&speedup, r->timing->speedup);
        add_log(&timed_energy, r->timing->energy_normalized);
    }
    m.rf_accesses_normalized = geometric(&accesses, 1);
    m.energy_normalized = geometric(&energy, m.launches);
    m.speedup = geometric(&speedup, 1);
    m.timed = speedup.count;
    m.timed_energy_normalized = geometric(&timed_energy, timings);
    finish_headline(&m.headline, &headline);
    return m;
}

void hd_replay_format_verdict(char text[static 64], const hd_replay_report *report, const hd_replay_mean *m)
{
    if (m->failed)
        snprintf(text, 64, "FAIL on %u of %u", m->failed, report->kernel_count);
    else if (m->launches < report->kernel_count)
        snprintf(text, 64, "pass on %u of %u", m->launches, report->kernel_count);
    else
        snprintf(text, 64, "pass");
}
