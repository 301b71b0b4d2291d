/* Pieces that all parts of the replay's page use: see replay_page.h. */
#include "emitters/replay/replay_page.h"

#include "base/path.h"

#include <math.h>

void page_launch_name(hd_writer *w, const hd_replay_report *report, const hd_replay_kernel *kernel)
{
    uint32_t same = 0;
    for (uint32_t k = 0; k < report->kernel_count; k++)
        same += !strcmp(report->kernels[k].demangled, kernel->demangled);
    page_text(w, kernel->demangled);
    if (same < 2)
        return;
    hd_write_format(w, " <small>launch %u of ", kernel->launch);
    page_text(w, hd_path_name(kernel->file));
    hd_write_string(w, "</small>");
}

/* The baseline alone has colour 0. */
uint32_t page_model_colour(uint32_t model) { return model ? (model - 1) % (REPLAY_COLOURS - 1) + 1 : 0; }

uint32_t page_model_shape(uint32_t model) { return model ? (model - 1) / (REPLAY_COLOURS - 1) % REPLAY_SHAPES : 0; }

void page_model_key(hd_writer *w, uint32_t model)
{
    hd_write_format(w, "<span class=\"key m%u k%u\">%u</span>", page_model_colour(model), page_model_shape(model),
                    model);
}

uint32_t page_parts(uint32_t count, uint32_t most) { return (count + most - 1) / most; }

uint32_t page_part_begin(uint32_t count, uint32_t parts, uint32_t part)
{
    return (uint32_t)((uint64_t)count * part / parts);
}

void page_table(hd_writer *w, const char *style, const char *caption)
{
    hd_write_string(w, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
    page_text(w, caption);
    hd_write_format(w, "\"><table class=\"%s\"><caption>", style);
    page_text(w, caption);
    hd_write_string(w, "</caption>\n");
}

void page_table_end(hd_writer *w) { hd_write_string(w, "</table></div>\n"); }

void page_column_head(hd_writer *w, const char *text, const char *title)
{
    hd_write_string(w, "<th scope=\"col\"");
    if (title) {
        hd_write_string(w, " title=\"");
        page_text(w, title);
        hd_write_char(w, '"');
    }
    hd_write_char(w, '>');
    page_text(w, text);
    hd_write_string(w, "</th>");
}

void page_ratio(hd_writer *w, double ratio, bool derived, const char *unknown)
{
    if (isnan(ratio))
        hd_write_format(w, "<td class=\"num none\">%s</td>", unknown);
    else
        hd_write_format(w, "<td class=\"num\">%.3f%s</td>", ratio, derived ? "*" : "");
}

void page_verdict(hd_writer *w, const char *verdict, bool failed)
{
    hd_write_string(w, failed ? "<td><strong class=\"fail\">" : "<td>");
    page_text(w, verdict);
    hd_write_string(w, failed ? "</strong></td>" : "</td>");
}
