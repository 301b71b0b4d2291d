/* Comparisons of two reports as text and JSON: see diff.h. */
#include "emitters/report/diff.h"

#include "base/shown.h"
#include "base/version.h"
#include "emitters/json.h"

static const char *const status_names[HD_DIFF_STATUS_COUNT] = {
    [HD_DIFF_SAME] = "same", [HD_DIFF_CHANGED] = "changed", [HD_DIFF_ADDED] = "added", [HD_DIFF_REMOVED] = "removed"};

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void write_name(hd_writer *w, const hd_diff_kernel *k)
{
    hd_write_string(w, k->demangled);
    if (strcmp(k->name, k->demangled) != 0)
        hd_write_format(w, " [%s]", k->name);
}

/* "  registers            40 -> 44         +4"; a side that does not know it shows ?. */
static void write_side(hd_writer *w, hd_quantity quantity, bool known, double value, int width)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    if (known)
        hd_quantity_write(&text, quantity, value);
    else
        hd_write_char(&text, '?');
    hd_write_format(w, "%*.*s", width, (int)text.buffer.count, text.buffer.items);
    hd_writer_free(&text);
}

static void write_change(hd_writer *w, const hd_diff_kernel *k, hd_quantity quantity)
{
    const hd_diff_change *c = &k->changes[quantity];
    hd_write_format(w, "  %-21s", c->quantity);
    write_side(w, quantity, c->known_before, c->before, 10);
    hd_write_string(w, " -> ");
    write_side(w, quantity, c->known_after, c->after, -10);
    if (c->comparable)
        hd_quantity_write_change(w, quantity, c->after - c->before);
    else if (hd_quantities[quantity].class == HD_CLASS_CHOSEN)
        hd_write_format(w, "(%s, then %s: not compared)", k->before->registers_from, k->after->registers_from);
    else
        hd_write_string(w, "(known on one side only)");
    hd_write_char(w, '\n');
}

static void write_only(hd_writer *w, const hd_diff_kernel *k)
{
    static const hd_quantity shown[] = {HD_QUANTITY_REGISTERS, HD_QUANTITY_MAX_PRESSURE, HD_QUANTITY_OCCUPANCY,
                                        HD_QUANTITY_INSTRUCTIONS};
    for (uint32_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const hd_diff_change *c = &k->changes[shown[i]];
        hd_write_format(w, "%s%s ", i ? ", " : "  ", c->quantity);
        write_side(w, shown[i], k->before ? c->known_before : c->known_after, k->before ? c->before : c->after, 0);
    }
    hd_write_char(w, '\n');
}

static void write_kernel(hd_writer *w, const hd_diff_kernel *k)
{
    hd_write_format(w, "\n%s: ", status_names[k->status]);
    write_name(w, k);
    hd_write_char(w, '\n');
    if (k->status != HD_DIFF_CHANGED) {
        write_only(w, k);
    } else {
        for (uint32_t q = 0; q < HD_QUANTITY_COUNT; q++)
            if (hd_quantities[q].class != HD_CLASS_CHANGE && k->changes[q].differs)
                write_change(w, k, (hd_quantity)q);
    }
    for (uint32_t i = 0; i < k->failed_gate_count; i++)
        hd_write_format(w, "  not met: %s\n", k->failed_gates[i]);
}

static void write_module(hd_writer *w, const char *title, const hd_report_module *m)
{
    hd_write_format(w, "%s %s, for %s", title, m->path, m->arch);
    if (m->block)
        hd_write_format(w, ", %u threads per block", m->block);
    if (m->ptxas_version)
        hd_write_format(w, ", ptxas %s", m->ptxas_version);
    hd_write_char(w, '\n');
}

static void write_diff(hd_writer *w, const void *what, bool colour)
{
    const hd_diff *diff = what;
    (void)colour; /* there is none */
    write_module(w, "old:", diff->before);
    write_module(w, "new:", diff->after);
    hd_write_format(w, "kernels: %u changed, %u the same, %u added, %u removed\n", diff->counts[HD_DIFF_CHANGED],
                    diff->counts[HD_DIFF_SAME], diff->counts[HD_DIFF_ADDED], diff->counts[HD_DIFF_REMOVED]);
    for (uint32_t i = 0; i < diff->kernel_count; i++)
        if (diff->kernels[i].status != HD_DIFF_SAME || diff->kernels[i].failed_gate_count)
            write_kernel(w, &diff->kernels[i]);
}

void hd_emit_diff_text(hd_writer *w, const hd_diff *diff) { hd_write_shown_by(w, write_diff, diff, false); }

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_number(hd_json *j, const char *key, hd_quantity quantity, bool known, double value)
{
    if (!known)
        hd_json_null(j, key);
    else if (hd_quantities[quantity].kind == HD_KIND_FRACTION)
        hd_json_real(j, key, value);
    else
        hd_json_signed(j, key, (int64_t)value);
}

static void write_kernel_json(hd_json *j, const hd_diff_kernel *k)
{
    hd_json_object(j, NULL);
    hd_json_text(j, "name", k->name);
    hd_json_text(j, "demangled", k->demangled);
    hd_json_text(j, "status", status_names[k->status]);
    hd_json_object(j, "registers_from");
    hd_json_text(j, "old", k->before ? k->before->registers_from : NULL);
    hd_json_text(j, "new", k->after ? k->after->registers_from : NULL);
    hd_json_end(j);
    hd_json_object(j, "changes");
    for (hd_quantity q = 0; q < HD_QUANTITY_COUNT; q++) {
        const hd_diff_change *c = &k->changes[q];
        if (hd_quantities[q].class == HD_CLASS_CHANGE)
            continue;
        hd_json_object(j, c->quantity);
        write_number(j, "old", q, c->known_before, c->before);
        write_number(j, "new", q, c->known_after, c->after);
        write_number(j, "change", q, c->comparable, c->after - c->before);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_array(j, "failed_gates");
    for (uint32_t i = 0; i < k->failed_gate_count; i++)
        hd_json_text(j, NULL, k->failed_gates[i]);
    hd_json_end(j);
    hd_json_end(j);
}

static void write_module_json(hd_json *j, const char *key, const hd_report_module *m)
{
    hd_json_object(j, key);
    hd_json_text(j, "path", m->path);
    hd_json_text(j, "arch", m->arch);
    hd_json_number(j, "block", m->block);
    hd_json_text(j, "ptxas_version", m->ptxas_version);
    hd_json_end(j);
}

void hd_emit_diff_json(hd_writer *w, const hd_diff *diff)
{
    hd_json json = {.out = w, .long_reals = true};
    hd_json_object(&json, NULL);
    hd_json_text(&json, "heddle", HD_VERSION);
    hd_json_number(&json, "schema", 2);
    write_module_json(&json, "old", diff->before);
    write_module_json(&json, "new", diff->after);
    hd_json_object(&json, "summary");
    for (int s = 0; s < HD_DIFF_STATUS_COUNT; s++)
        hd_json_number(&json, status_names[s], diff->counts[s]);
    hd_json_end(&json);
    hd_json_array(&json, "kernels");
    for (uint32_t i = 0; i < diff->kernel_count; i++)
        write_kernel_json(&json, &diff->kernels[i]);
    hd_json_end(&json);
    hd_json_end(&json);
}
