/* Comparisons of two reports as text and JSON: see diff.h. */
#include "emitters/diff.h"

#include "base/version.h"
#include "emitters/jansson.h"

const char *const hd_diff_status_names[HD_DIFF_STATUS_COUNT] = {
    [HD_DIFF_SAME] = "same", [HD_DIFF_CHANGED] = "changed", [HD_DIFF_ADDED] = "added", [HD_DIFF_REMOVED] = "removed"};

bool hd_diff_values(const hd_diff_kernel *k, hd_quantity quantity, double *before, double *after)
{
    if (hd_quantities[quantity].class == HD_CLASS_CHANGE) {
        *before = 0;
        *after = k->status == (quantity == HD_QUANTITY_ADDED ? HD_DIFF_ADDED : HD_DIFF_REMOVED);
        return true;
    }
    if (!k->before || !k->after || !hd_quantity_of(k->before, quantity, before) ||
        !hd_quantity_of(k->after, quantity, after))
        return false;
    return hd_quantities[quantity].class != HD_CLASS_CHOSEN ||
           strcmp(k->before->registers_from, k->after->registers_from) == 0;
}

uint32_t hd_diff_count(const hd_diff *diff, hd_diff_status status)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < diff->kernels.count; i++)
        count += diff->kernels.items[i].status == status;
    return count;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void write_name(hd_writer *w, const hd_diff_kernel *k)
{
    hd_write_string(w, k->demangled);
    if (strcmp(k->name, k->demangled) != 0)
        hd_write_format(w, " [%s]", k->name);
}

/* "  registers            40 -> 44         +4"; an unknown value is shown as ?. */
static void write_side(hd_writer *w, const hd_report_kernel *side, hd_quantity quantity, int width)
{
    double value;
    hd_writer text;
    hd_writer_to_memory(&text);
    if (hd_quantity_of(side, quantity, &value))
        hd_quantity_write(&text, quantity, value);
    else
        hd_write_char(&text, '?');
    hd_write_format(w, "%*.*s", width, (int)text.buffer.count, text.buffer.items);
    hd_writer_free(&text);
}

static bool differs(const hd_diff_kernel *k, hd_quantity quantity)
{
    double before, after;
    bool known_before = hd_quantity_of(k->before, quantity, &before),
         known_after = hd_quantity_of(k->after, quantity, &after);
    return known_before != known_after || (known_before && before != after);
}

static void write_change(hd_writer *w, const hd_diff_kernel *k, hd_quantity quantity)
{
    double before, after;
    hd_write_format(w, "  %-21s", hd_quantities[quantity].name);
    write_side(w, k->before, quantity, 10);
    hd_write_string(w, " -> ");
    write_side(w, k->after, quantity, -10);
    if (hd_diff_values(k, quantity, &before, &after))
        hd_quantity_write_change(w, quantity, after - before);
    else if (hd_quantities[quantity].class == HD_CLASS_CHOSEN)
        hd_write_format(w, "(%s, then %s: not compared)", k->before->registers_from, k->after->registers_from);
    else
        hd_write_string(w, "(known on one side only)");
    hd_write_char(w, '\n');
}

static void write_only(hd_writer *w, const hd_report_kernel *side)
{
    static const hd_quantity shown[] = {HD_QUANTITY_REGISTERS, HD_QUANTITY_MAX_PRESSURE, HD_QUANTITY_OCCUPANCY,
                                        HD_QUANTITY_INSTRUCTIONS};
    for (uint32_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        hd_write_format(w, "%s%s ", i ? ", " : "  ", hd_quantities[shown[i]].name);
        write_side(w, side, shown[i], 0);
    }
    hd_write_char(w, '\n');
}

static void write_kernel(hd_writer *w, const hd_diff_kernel *k)
{
    hd_write_format(w, "\n%s: ", hd_diff_status_names[k->status]);
    write_name(w, k);
    hd_write_char(w, '\n');
    if (k->status != HD_DIFF_CHANGED) {
        write_only(w, k->before ? k->before : k->after);
    } else {
        for (uint32_t q = 0; q < HD_QUANTITY_COUNT; q++)
            if (hd_quantities[q].class != HD_CLASS_CHANGE && differs(k, (hd_quantity)q))
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

void hd_emit_diff_text(hd_writer *w, const hd_diff *diff)
{
    write_module(w, "old:", diff->before);
    write_module(w, "new:", diff->after);
    hd_write_format(w, "kernels: %u changed, %u the same, %u added, %u removed\n", hd_diff_count(diff, HD_DIFF_CHANGED),
                    hd_diff_count(diff, HD_DIFF_SAME), hd_diff_count(diff, HD_DIFF_ADDED),
                    hd_diff_count(diff, HD_DIFF_REMOVED));
    for (uint32_t i = 0; i < diff->kernels.count; i++)
        if (diff->kernels.items[i].status != HD_DIFF_SAME || diff->kernels.items[i].failed_gate_count)
            write_kernel(w, &diff->kernels.items[i]);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *number(hd_quantity quantity, double value)
{
    return hd_quantities[quantity].kind == HD_KIND_FRACTION ? json_real(value) : json_integer((json_int_t)value);
}

static json_t *side_value(const hd_report_kernel *side, hd_quantity quantity)
{
    double value;
    return side && hd_quantity_of(side, quantity, &value) ? number(quantity, value) : json_null();
}

static json_t *changes_of(const hd_diff_kernel *k)
{
    json_t *all = json_object();
    for (uint32_t q = 0; q < HD_QUANTITY_COUNT; q++) {
        double before, after;
        if (hd_quantities[q].class == HD_CLASS_CHANGE)
            continue;
        json_t *change = json_pack("{s:o, s:o}", "old", side_value(k->before, (hd_quantity)q), "new",
                                   side_value(k->after, (hd_quantity)q));
        bool known = hd_diff_values(k, (hd_quantity)q, &before, &after);
        json_object_set_new(change, "change", known ? number((hd_quantity)q, after - before) : json_null());
        json_object_set_new(all, hd_quantities[q].name, change);
    }
    return all;
}

static json_t *side_text(const hd_report_kernel *side)
{
    return side ? json_string(side->registers_from) : json_null();
}

static json_t *kernel_to_json(const hd_diff_kernel *k)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:{s:o, s:o}, s:o}", "name", k->name, "demangled", k->demangled, "status",
                          hd_diff_status_names[k->status], "registers_from", "old", side_text(k->before), "new",
                          side_text(k->after), "changes", changes_of(k));
    json_t *failed = json_array();
    for (uint32_t i = 0; i < k->failed_gate_count; i++)
        json_array_append_new(failed, json_string(k->failed_gates[i]));
    json_object_set_new(o, "failed_gates", failed);
    return o;
}

static json_t *module_to_json(const hd_report_module *m)
{
    json_t *o = json_pack("{s:o, s:o, s:I}", "path", json_string(m->path), "arch", json_string(m->arch), "block",
                          (json_int_t)m->block);
    json_object_set_new(o, "ptxas_version", m->ptxas_version ? json_string(m->ptxas_version) : json_null());
    return o;
}

void hd_emit_diff_json(hd_writer *w, const hd_diff *diff)
{
    json_t *kernels = json_array(), *summary = json_object();
    for (uint32_t i = 0; i < diff->kernels.count; i++)
        json_array_append_new(kernels, kernel_to_json(&diff->kernels.items[i]));
    for (int s = 0; s < HD_DIFF_STATUS_COUNT; s++)
        json_object_set_new(summary, hd_diff_status_names[s], json_integer(hd_diff_count(diff, (hd_diff_status)s)));
    json_t *root = json_pack("{s:s, s:i, s:o, s:o, s:o, s:o}", "heddle", HD_VERSION, "schema", 2, "old",
                             module_to_json(diff->before), "new", module_to_json(diff->after), "summary", summary,
                             "kernels", kernels);
    hd_json_dump(w, root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(root);
}
