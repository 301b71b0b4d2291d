/* Allocated registers over a launch, in the replay's page: see replay_page.h. A curve for each model that records them,
 * as RFV's paper draws it, with the numbers of its points. Linear in the points. */
#include "emitters/replay/replay_page.h"

enum { WIDTH = 320, HEIGHT = 90 };

static void write_curve(hd_writer *w, const hd_replay_result *r, uint32_t launch, uint32_t model)
{
    const hd_replay_allocation *a = &r->allocated;
    char peak[32], instructions[32];
    double most = a->peak ? (double)a->peak : 1;
    hd_write_format(w, "<figure><figcaption>");
    page_model_key(w, model);
    page_text(w, r->title);
    hd_write_format(
        w,
        " <small>mean %.1f, peak %s</small></figcaption><svg role=\"img\" aria-labelledby=\"a%u-%u\" "
        "width=\"100%%\" height=\"%u\" viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\"><title id=\"a%u-%u\">",
        a->mean, hd_replay_grouped(peak, a->peak), launch, model, HEIGHT, WIDTH, HEIGHT, launch, model);
    hd_write_string(w, "Allocated registers: ");
    page_text(w, r->title);
    hd_write_format(w, "</title><path class=\"curve\" d=\"M0 %u", HEIGHT);
    for (uint32_t b = 0; b < a->bucket_count; b++)
        hd_write_format(w, "V%.1fH%.2f", HEIGHT - (HEIGHT - 2) * a->buckets[b] / most,
                        (b + 1.0) * WIDTH / a->bucket_count);
    hd_write_format(w, "V%uz\"/></svg><p class=\"points\">Means over %s instructions each:", HEIGHT,
                    hd_replay_grouped(instructions, a->bucket_instructions));
    for (uint32_t b = 0; b < a->bucket_count; b++)
        hd_write_format(w, " %.1f", a->buckets[b]);
    hd_write_string(w, "</p></figure>\n");
}

void page_allocations(hd_writer *w, const hd_replay_kernel *kernel, uint32_t launch)
{
    bool some = false;
    for (uint32_t m = 0; m < kernel->result_count; m++)
        some = some || (!kernel->results[m].not_applied && kernel->results[m].allocated.bucket_count);
    if (!some)
        return;
    hd_write_string(w, "<details><summary>Allocated registers over issued instructions</summary>\n"
                       "<div class=\"panels\">\n");
    for (uint32_t m = 0; m < kernel->result_count; m++)
        if (!kernel->results[m].not_applied && kernel->results[m].allocated.bucket_count)
            write_curve(w, &kernel->results[m], launch, m);
    hd_write_string(w, "</div></details>\n");
}
