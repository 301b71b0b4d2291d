/* Comparisons of two reports as text and JSON: see diff.h. */
#include "emitters/report/diff.h"

#include "base/shown.h"
#include "base/version.h"
#include "emitters/jansson.h"

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

static json_t *number(hd_quantity quantity, double value)
{
    return hd_quantities[quantity].kind == HD_KIND_FRACTION ? json_real(value) : json_integer((json_int_t)value);
}

static json_t *number_if(bool known, hd_quantity quantity, double value)
{
    return known ? number(quantity, value) : json_null();
}

static json_t *changes_of(const hd_diff_kernel *k)
{
    json_t *all = json_object();
    for (uint32_t q = 0; q < HD_QUANTITY_COUNT; q++) {
        const hd_quantity quantity = (hd_quantity)q;
        const hd_diff_change *c = &k->changes[q];
        if (hd_quantities[q].class == HD_CLASS_CHANGE)
            continue;
        json_object_set_new(all, c->quantity,
                            json_pack("{s:o, s:o, s:o}", "old", number_if(c->known_before, quantity, c->before), "new",
                                      number_if(c->known_after, quantity, c->after), "change",
                                      number_if(c->comparable, quantity, c->after - c->before)));
    }
    return all;
}

static json_t *side_text(const hd_report_kernel *side)
{
    return side ? json_string(side->registers_from) : json_null();
}

static json_t *kernel_to_json(const hd_diff_kernel *k)
{
    json_t *o = json_pack("{s:o, s:o, s:s, s:{s:o, s:o}, s:o}", "name", json_string(k->name), "demangled",
                          json_string(k->demangled), "status", status_names[k->status], "registers_from", "old",
                          side_text(k->before), "new", side_text(k->after), "changes", changes_of(k));
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
    for (uint32_t i = 0; i < diff->kernel_count; i++)
        json_array_append_new(kernels, kernel_to_json(&diff->kernels[i]));
    for (int s = 0; s < HD_DIFF_STATUS_COUNT; s++)
        json_object_set_new(summary, status_names[s], json_integer(diff->counts[s]));
    json_t *root = json_pack("{s:s, s:i, s:o, s:o, s:o, s:o}", "heddle", HD_VERSION, "schema", 2, "old",
                             module_to_json(diff->before), "new", module_to_json(diff->after), "summary", summary,
                             "kernels", kernels);
    hd_json_dump(w, root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(root);
}
