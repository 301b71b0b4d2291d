/* The report as one self-contained HTML file that needs no network: it contains style, scripts (emitters/page/ and
 * emitters/report/) and data, and a content security policy keeps browsers from loading anything else. The table of
 * kernels is plain markup and readable without scripts; everything else is drawn by scripts from the data
 * (report_page.h). Linear in the report. */
#include "emitters/report/quantity.h"
#include "emitters/report/report_page.h"

#include "base/version.h"

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static void write_paths(hd_writer *w, const hd_reports *reports)
{
    if (reports->count == 1)
        page_text(w, reports->items[0]->path);
    else
        hd_write_format(w, "%u modules", reports->count);
}

static void write_head(hd_writer *w, const hd_reports *reports)
{
    page_head(w, true);
    write_paths(w, reports);
    hd_write_string(w, " - heddle report");
    page_head_style(w, "report.css");
    page_head_end(w);
}

static void write_facts(hd_writer *w, const hd_report_module *report)
{
    hd_write_string(w, "<p class=\"meta\">heddle report " HD_VERSION " &middot; GPU ");
    page_text(w, report->arch ? report->arch : "unknown");
    if (report->block)
        hd_write_format(w, " &middot; CTAs of %u threads", report->block);
    hd_write_string(w, report->is_machine   ? " &middot; machine code: nothing is estimated"
                       : report->simplified ? " &middot; PTX after simplification"
                                            : " &middot; PTX as written");
    if (report->ptxas_version) {
        hd_write_string(w, " &middot; ptxas ");
        page_text(w, report->ptxas_version);
    } else if (report->ptxas_unknown && !report->is_machine) {
        hd_write_string(w, " &middot; ");
        page_text(w, report->ptxas_unknown);
    }
    if (report->compiled) {
        hd_write_string(w, " &middot; made by ");
        page_text(w, report->compiled);
    }
    hd_write_format(w, " &middot; %u kernel%s</p>\n", report->kernel_count, report->kernel_count == 1 ? "" : "s");
}

static void write_title(hd_writer *w, const hd_reports *reports)
{
    hd_write_string(w, "<header>\n<h1>");
    write_paths(w, reports);
    hd_write_string(w, "</h1>\n");
    if (reports->count == 1)
        write_facts(w, reports->items[0]);
    hd_write_string(w, "</header>\n");
}

/* ---- the table of kernels ---------------------------------------------------------------------------------------- */

static const char *const ptx_columns[][2] = {
    {"Kernel", NULL},
    {"Pressure", "Live registers by instruction"},
    {"Instr.", "Instructions after simplification"},
    {"ptxas", "Registers that ptxas uses: its own count"},
    {"Estimate", "Where a model expects the number of registers that ptxas uses"},
    {"Maximum pressure", "Maximum register pressure, in live 32-bit registers; exact, on the PTX"},
    {"Allocated", "Registers that heddle's own allocation needs"},
    {"Occupancy", "Warps of an SM at a time, of the most that it holds, and what limits them"},
    {"More at", "Registers of a thread at which more CTAs fit: how many fewer, and the occupancy then"},
    {"Less at", "Registers of a thread at which fewer CTAs fit: how many more, and the occupancy then"},
    {"Spills", "Bytes stored and loaded for spills: those of ptxas where known, else predicted (~)"},
    {"Findings", "What is worth a look"},
};

/* The same columns for machine code. */
static const char *const machine_columns[][2] = {
    {"Kernel", NULL},
    {"Pressure", "Live registers by instruction"},
    {"Instr.", "Instructions"},
    {"Registers", "Registers per thread, as the listing states"},
    {"Named", "General registers up to the highest that the code names"},
    {"Maximum pressure", "Maximum register pressure, in live 32-bit registers; exact"},
    {"Conflicts", "Instructions with bank conflicts"},
    {"Occupancy", "Warps of an SM at a time, of the most that it holds, and what limits them"},
    {"More at", "Registers per thread at which more thread blocks fit: how many fewer, and the occupancy then"},
    {"Less at", "Registers per thread at which fewer thread blocks fit: how many more, and the occupancy then"},
    {"Local memory", "Bytes stored and loaded in local memory: spills and local variables"},
    {"Findings", "What is worth a look"},
};
_Static_assert(sizeof ptx_columns == sizeof machine_columns, "one row of cells for both");

static void write_columns(hd_writer *w, const char *const (*columns)[2], size_t count)
{
    hd_write_string(w, "<thead><tr>");
    for (size_t c = 0; c < count; c++) {
        hd_write_string(w, "<th scope=\"col\"");
        if (columns[c][1]) {
            hd_write_string(w, " title=\"");
            page_text(w, columns[c][1]);
            hd_write_char(w, '"');
        }
        hd_write_string(w, ">");
        page_text(w, columns[c][0]);
        hd_write_string(w, "</th>");
    }
    hd_write_string(w, "</tr></thead>\n");
}

/* A step for each run of instructions: its maximum. */
static void write_spark(hd_writer *w, const hd_report_kernel *k)
{
    enum { STEPS = 60, HEIGHT = 20 };
    uint32_t n = k->instruction_count, steps = hd_min(n, STEPS);
    hd_write_format(w,
                    "<td><svg class=\"spark\" viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" "
                    "aria-hidden=\"true\"><path d=\"M0 %u",
                    steps ? steps : 1, HEIGHT, HEIGHT);
    for (uint32_t s = 0; s < steps; s++) {
        uint32_t most = 0;
        for (uint32_t i = (uint32_t)((uint64_t)s * n / steps); i < (uint64_t)(s + 1) * n / steps; i++)
            most = hd_max(most, k->instructions[i].live);
        hd_write_format(w, "V%.4gH%u", HEIGHT - (k->max_pressure ? (HEIGHT - 1.0) * most / k->max_pressure : 0), s + 1);
    }
    hd_write_format(w, "V%uz\"/></svg></td>", HEIGHT);
}

static void write_count(hd_writer *w, uint64_t count)
{
    hd_write_format(w, "<td class=\"num\">%llu</td>", (unsigned long long)count);
}

/* The start of the parameters in a demangled name, outside templates, braces and "(anonymous namespace)"; its end if
 * there are none. */
static size_t parameters_at(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)";
    uint32_t depth = 0;
    for (size_t i = 0; name[i]; i++) {
        if (!strncmp(name + i, anonymous, sizeof anonymous - 1))
            i += sizeof anonymous - 2;
        else if (name[i] == '(' && !depth)
            return i;
        else if (strchr("<({", name[i]))
            depth++;
        else if (strchr(">)}", name[i]) && depth)
            depth--;
    }
    return strlen(name);
}

/* The function's own name in a demangled one, without scopes and template arguments; empty if it cannot be
 * determined. */
static hd_span own_name(const char *name)
{
    uint32_t end = (uint32_t)parameters_at(name), depth = 0;
    hd_span own = {0, 0};
    for (uint32_t i = 0; i < end && !strstr(name, "operator"); i++) {
        if (!depth && (name[i] == ' ' || name[i] == ':'))
            own = (hd_span){i + 1, i + 1};
        else if (strchr("<({", name[i]))
            depth++;
        else if (strchr(">)}", name[i]) && depth)
            depth--;
        else if (!depth)
            own.end = i + 1;
    }
    return own;
}

static void write_name(hd_writer *w, const char *name)
{
    hd_span own = own_name(name);
    if (own.end > own.begin && own.end - own.begin < 128 && own.end - own.begin < strlen(name)) {
        char text[128] = {0};
        memcpy(text, name + own.begin, own.end - own.begin);
        hd_write_string(w, "<b>");
        page_text(w, text);
        hd_write_string(w, "</b> <small>");
        page_text(w, name);
        hd_write_string(w, "</small>");
    } else {
        page_text(w, name);
    }
}

static void write_occupancy(hd_writer *w, const hd_report_kernel *k)
{
    const hd_report_occupancy *o = &k->occupancy;
    if (o->impossible) {
        hd_write_string(w, "<td data-sort=\"-1\"><strong class=\"bad\">cannot run</strong> <small>");
        page_text(w, o->impossible);
        hd_write_string(w, "</small></td>");
        return;
    }
    hd_write_format(
        w,
        "<td data-sort=\"%.6g\"><strong>%s%.3g %%</strong> <small>%u warps, limited by %s, with %u registers "
        "(%s)</small></td>",
        o->fraction, k->is_machine && k->machine.bound ? "&le; " : "", 100 * o->fraction, o->warps, o->limiter,
        k->use.registers, k->registers_from);
}

static void write_step(hd_writer *w, const hd_report_kernel *k, const hd_report_step *step)
{
    if (!step->exists) {
        hd_write_string(w, "<td class=\"none\">none</td>");
        return;
    }
    int32_t distance = (int32_t)(step->registers - k->use.registers);
    hd_write_format(w, "<td data-sort=\"%d\" class=\"step\">%u <small>(%+d)<br>", distance < 0 ? -distance : distance,
                    step->registers, distance);
    if (step->then.impossible)
        hd_write_string(w, "cannot run");
    else
        hd_write_format(w, "%.3g %%", 100 * step->then.fraction);
    hd_write_string(w, "</small></td>");
}

static void write_spills(hd_writer *w, const hd_report_kernel *k)
{
    double bytes;
    if (!hd_quantity_of(k, HD_QUANTITY_SPILL_BYTES, &bytes)) {
        hd_write_string(w, "<td class=\"num none\" title=\"");
        page_text(w, k->predicted.unknown);
        hd_write_string(w, "\">?</td>");
        return;
    }
    hd_write_format(w, "<td class=\"num\">%s%.0f", k->ptxas.known || k->is_machine ? "" : "~", bytes);
    if (k->ptxas.known && !k->predicted.unknown && k->predicted.stores + k->predicted.loads)
        hd_write_format(w, "<br><small>predicted %llu</small>",
                        (unsigned long long)(k->predicted.stores + k->predicted.loads));
    hd_write_string(w, "</td>");
}

static void write_findings(hd_writer *w, const hd_report_kernel *k)
{
    hd_write_format(w, "<td data-sort=\"%u\">%u", k->finding_count + 1000 * k->failed_gate_count, k->finding_count);
    for (uint32_t i = 0; i < k->failed_gate_count; i++) {
        hd_write_string(w, "<br><small class=\"bad\">not met: ");
        page_text(w, k->failed_gates[i]);
        hd_write_string(w, "</small>");
    }
    hd_write_string(w, "</td>");
}

static void write_unknown(hd_writer *w, const char *why)
{
    hd_write_string(w, "<td class=\"num none\" title=\"");
    page_text(w, why ? why : "unknown");
    hd_write_string(w, "\">-</td>");
}

static const char *why(const char *unknown) { return unknown ? unknown : "unknown"; }

/* unknown: the reason, or NULL */
static void write_known(hd_writer *w, uint64_t count, const char *unknown)
{
    if (unknown)
        write_unknown(w, unknown);
    else
        write_count(w, count);
}

static void write_kernel(hd_writer *w, const hd_report_kernel *k, uint32_t index)
{
    hd_write_format(w, "<tr%s><th scope=\"row\"><a href=\"#kernel=%u\" data-kernel=\"%u\" title=\"",
                    k->failed_gate_count ? " class=\"failed\"" : "", index, index);
    page_text(w, k->name);
    hd_write_string(w, "\">");
    write_name(w, k->demangled ? k->demangled : k->name);
    hd_write_string(w, k->is_entry ? "</a></th>" : "</a> <small>function</small></th>");
    write_spark(w, k);
    write_count(w, k->instruction_count);
    write_known(w, k->is_machine ? k->machine.registers : k->ptxas.registers,
                k->is_machine    ? k->machine.registers_unknown
                : k->ptxas.known ? NULL
                                 : why(k->ptxas.unknown));
    if (k->is_machine)
        write_count(w, k->machine.named);
    else
        hd_write_format(w, "<td>%u&ndash;%u</td>", k->estimate_low, k->estimate_high);
    write_count(w, k->max_pressure);
    write_known(w, k->is_machine ? k->bank_conflicts : k->allocated,
                k->is_machine ? k->machine.banks_unknown : k->allocated_unknown);
    write_occupancy(w, k);
    write_step(w, k, &k->gain);
    write_step(w, k, &k->loss);
    write_spills(w, k);
    write_findings(w, k);
    hd_write_string(w, "</tr>\n");
}

/* `first`: number of the module's first kernel in the page. */
static void write_table(hd_writer *w, const hd_report_module *report, uint32_t first)
{
    if (!report->kernel_count) {
        hd_write_string(w, "<p>No function with a body was asked for.</p>\n");
        return;
    }
    hd_write_string(w, "<div class=\"scroll\"><table class=\"kernels\">\n");
    write_columns(w, report->is_machine ? machine_columns : ptx_columns, sizeof ptx_columns / sizeof *ptx_columns);
    hd_write_string(w, "<tbody>\n");
    for (uint32_t k = 0; k < report->kernel_count; k++)
        write_kernel(w, &report->kernels[k], first + k);
    hd_write_string(w, "</tbody></table></div>\n");
}

static void write_explanation(hd_writer *w, const hd_reports *reports)
{
    bool any_ptx = !reports->count, any_machine = false;
    for (uint32_t m = 0; m < reports->count; m++) {
        any_ptx |= !reports->items[m]->is_machine;
        any_machine |= reports->items[m]->is_machine;
    }
    if (any_ptx)
        hd_write_string(
            w, "<p class=\"meta\"><b>Maximum pressure</b> is exact, on the simplified PTX; "
               "<b>allocated</b> is what heddle's own allocation needs; <b>estimate</b> is where a model expects the "
               "count of ptxas; <b>ptxas</b> is its own count. Occupancy is that of the count of ptxas where it is "
               "known, else of "
               "the likely number of the estimate.</p>\n");
    if (any_machine)
        hd_write_string(w, "<p class=\"meta\">Numbers of machine code are exact; what the listing does not say is "
                           "unknown, but for registers per thread, which are derived from those named where the rule "
                           "of ptxas holds. An occupancy after &le; is an upper bound.</p>\n");
}

static void write_overview(hd_writer *w, const hd_reports *reports)
{
    hd_write_string(w, "<section id=\"overview\" aria-label=\"Kernels\">\n");
    for (uint32_t m = 0, first = 0; m < reports->count; first += reports->items[m++]->kernel_count) {
        if (reports->count > 1) {
            hd_write_string(w, "<h2>");
            page_text(w, reports->items[m]->path);
            hd_write_string(w, "</h2>\n");
            write_facts(w, reports->items[m]);
        }
        write_table(w, reports->items[m], first);
    }
    write_explanation(w, reports);
    hd_write_string(w, "</section>\n<noscript><p>The details of each kernel need scripts.</p></noscript>\n");
}

/* ---- the data ---------------------------------------------------------------------------------------------------- */

/* Writes the contents of a memory writer and empties it. */
static void pass_on(hd_writer *writer, hd_writer *part)
{
    hd_write(writer, part->buffer.items, part->buffer.count);
    writer->error = writer->error ? writer->error : part->error;
    hd_array_clear(&part->buffer);
}

/* The kernel shown first: that with the highest register pressure. */
static uint32_t first_kernel(const hd_reports *reports)
{
    uint32_t best = 0, number = 0, most = 0;
    for (uint32_t m = 0; m < reports->count; m++)
        for (uint32_t k = 0; k < reports->items[m]->kernel_count; k++, number++)
            if (reports->items[m]->kernels[k].max_pressure > most) {
                most = reports->items[m]->kernels[k].max_pressure;
                best = number;
            }
    return best;
}

static void write_index(hd_writer *w, const hd_reports *reports, uint32_t kernels, const page_files *files)
{
    hd_write_string(w, "<script type=\"application/json\" id=\"module\">{\"files\":[");
    for (uint32_t f = 0; f < files->names.count; f++) {
        hd_write_string(w, f ? "," : "");
        hd_json_quote_in_page(w, files->names.items[f], strlen(files->names.items[f]));
    }
    hd_write_format(w, "],\"kernels\":%u,\"start\":%u}</script>\n", kernels, first_kernel(reports));
}

/* The data of one module. `first`: number of its first kernel in the page. */
static void write_module(hd_writer *w, const hd_report_module *report, uint32_t first, page_files *files,
                         const hd_report_texts *texts)
{
    hd_writer part;
    hd_writer_to_memory(&part);
    files->module_first = files->names.count;
    for (uint32_t k = 0; k < report->kernel_count; k++) {
        page_kernel(&part, report, k, first + k, texts->ptx, files);
        pass_on(w, &part);
    }
    page_sources(&part, report, files, texts);
    pass_on(w, &part);
    hd_writer_free(&part);
}

static void write_scripts(hd_writer *w)
{
    for (uint32_t i = 0; i < hd_page_file_count; i++)
        if (strstr(hd_page_files[i].name, ".js"))
            page_file_text(w, hd_page_files[i].name);
}

void hd_emit_report_html(hd_writer *writer, const hd_reports *reports, const hd_report_texts *texts)
{
    page_files files = {0};
    uint32_t kernels = 0;
    write_head(writer, reports);
    hd_write_string(writer, "<body>\n");
    write_title(writer, reports);
    write_overview(writer, reports);
    hd_write_string(writer, "<main id=\"detail\"></main>\n");
    for (uint32_t m = 0; m < reports->count; kernels += reports->items[m++]->kernel_count)
        write_module(writer, reports->items[m], kernels, &files, &texts[m]);
    write_index(writer, reports, kernels, &files);
    hd_write_string(writer, "<script>\n\"use strict\";\n");
    write_scripts(writer);
    hd_write_string(writer, "</script>\n</body>\n</html>\n");
    page_files_free(&files);
}
