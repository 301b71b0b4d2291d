/* Quantities of a kernel: see quantity.h. */
#include "emitters/report/quantity.h"
#include "base/search.h"

const hd_quantity_info hd_quantities[HD_QUANTITY_COUNT] = {
#define HD_QUANTITY(id, name, kind, class, summary) {name, summary, HD_KIND_##kind, HD_CLASS_##class},
#include "emitters/report/quantities.def"
#undef HD_QUANTITY
};

const char *const hd_report_reuse_names[HD_REUSE_BUCKETS] = {"1",     "2",     "3-4",  "5-8",        "9-16",
                                                             "17-32", "33-64", "more", "other_block"};

hd_quantity hd_quantity_from_name(const char *name, size_t length)
{
    static const struct {
        hd_quantity quantity;
        const char *name;
    } former[] = {
#define HD_QUANTITY(id, name, kind, class, summary)
#define HD_FORMER_QUANTITY(id, former) {HD_QUANTITY_##id, former},
#include "emitters/report/quantities.def"
#undef HD_QUANTITY
#undef HD_FORMER_QUANTITY
    };
    enum { FORMER = sizeof former / sizeof *former };
    uint32_t old = HD_FIND_ROW(former, FORMER, name, name, length);
    return old < FORMER ? former[old].quantity
                        : (hd_quantity)HD_FIND_ROW(hd_quantities, HD_QUANTITY_COUNT, name, name, length);
}

/* Those that machine code has otherwise, or not at all. */
static bool machine_quantity(const hd_report_kernel *k, hd_quantity quantity, double *value, bool *known)
{
    const hd_report_machine *m = &k->machine;
    switch (quantity) {
    case HD_QUANTITY_REGISTERS:
        *value = m->registers;
        *known = !m->registers_unknown;
        return true;
    case HD_QUANTITY_OCCUPANCY:
    case HD_QUANTITY_WARPS:
    case HD_QUANTITY_CTAS: *known = false; return m->bound != NULL;
    case HD_QUANTITY_SPILL_BYTES:
        *value = (double)(m->local_store_bytes + m->local_load_bytes);
        *known = true;
        return true;
    case HD_QUANTITY_ALLOCATED:
    case HD_QUANTITY_ESTIMATE:
    case HD_QUANTITY_PTXAS:
    case HD_QUANTITY_PREDICTED_SPILL_BYTES:
    case HD_QUANTITY_PTXAS_SPILL_BYTES:
    case HD_QUANTITY_PTXAS_WARNINGS: *known = false; return true;
    case HD_QUANTITY_SHARED_BYTES:
    case HD_QUANTITY_LOCAL_BYTES: *known = false; return m->info_unknown != NULL;
    case HD_QUANTITY_BANK_CONFLICTS: *known = false; return m->banks_unknown != NULL;
    case HD_QUANTITY_MAX_PRESSURE:
    case HD_QUANTITY_INSTRUCTIONS:
    case HD_QUANTITY_INPUT_INSTRUCTIONS:
    case HD_QUANTITY_ADDED:
    case HD_QUANTITY_REMOVED:
    case HD_QUANTITY_COUNT: break;
    }
    return false;
}

bool hd_quantity_of(const hd_report_kernel *k, hd_quantity quantity, double *value)
{
    const hd_report_ptxas *p = &k->ptxas;
    bool known;
    if (k->is_machine && machine_quantity(k, quantity, value, &known))
        return known;
    switch (quantity) {
    case HD_QUANTITY_REGISTERS: *value = k->use.registers; return true;
    case HD_QUANTITY_MAX_PRESSURE: *value = k->max_pressure; return true;
    case HD_QUANTITY_ALLOCATED: *value = k->allocated; return !k->allocated_unknown;
    case HD_QUANTITY_ESTIMATE: *value = k->estimate; return true;
    case HD_QUANTITY_PTXAS: *value = p->registers; return p->known;
    case HD_QUANTITY_OCCUPANCY: *value = k->occupancy.fraction; return !k->dynamic_shared_unknown;
    case HD_QUANTITY_WARPS: *value = k->occupancy.warps; return !k->dynamic_shared_unknown;
    case HD_QUANTITY_CTAS: *value = k->occupancy.ctas; return !k->dynamic_shared_unknown;
    case HD_QUANTITY_SPILL_BYTES:
        return hd_quantity_of(k, p->known ? HD_QUANTITY_PTXAS_SPILL_BYTES : HD_QUANTITY_PREDICTED_SPILL_BYTES, value);
    case HD_QUANTITY_PREDICTED_SPILL_BYTES:
        *value = (double)(k->predicted.stores + k->predicted.loads);
        return !k->predicted.unknown;
    case HD_QUANTITY_PTXAS_SPILL_BYTES: *value = (double)(p->spill_stores + p->spill_loads); return p->known;
    case HD_QUANTITY_PTXAS_WARNINGS: *value = p->message_count; return p->known && !p->messages_unknown;
    case HD_QUANTITY_SHARED_BYTES: *value = (double)k->static_shared_bytes; return true;
    case HD_QUANTITY_LOCAL_BYTES: *value = (double)k->local_bytes; return true;
    case HD_QUANTITY_INSTRUCTIONS: *value = k->instruction_count; return true;
    case HD_QUANTITY_INPUT_INSTRUCTIONS: *value = k->input_instructions; return true;
    case HD_QUANTITY_BANK_CONFLICTS: *value = (double)k->bank_conflicts; return !k->left_virtual;
    case HD_QUANTITY_ADDED:
    case HD_QUANTITY_REMOVED:
    case HD_QUANTITY_COUNT: break;
    }
    return false;
}

bool hd_quantity_range(const hd_report_kernel *k, hd_quantity quantity, double *low, double *high)
{
    bool estimated = quantity == HD_QUANTITY_ESTIMATE || (quantity == HD_QUANTITY_REGISTERS && !k->is_machine &&
                                                          strcmp(k->registers_from, "estimate") == 0);
    if (!hd_quantity_of(k, quantity, low))
        return false;
    *high = estimated ? k->estimate_high : *low;
    *low = estimated ? k->estimate_low : *low;
    return true;
}

bool hd_report_is_bound(const hd_report_kernel *k)
{
    return k->dynamic_shared_unknown || (k->is_machine && k->machine.bound);
}

bool hd_report_has_spills(const hd_report_kernel *k)
{
    double bytes;
    return hd_quantity_of(k, HD_QUANTITY_SPILL_BYTES, &bytes) && bytes > 0;
}

static const char *machine_unknown(const hd_report_kernel *k, hd_quantity quantity)
{
    const hd_report_machine *m = &k->machine;
    switch (quantity) {
    case HD_QUANTITY_REGISTERS: return m->registers_unknown;
    case HD_QUANTITY_OCCUPANCY:
    case HD_QUANTITY_WARPS:
    case HD_QUANTITY_CTAS: return m->bound;
    case HD_QUANTITY_SHARED_BYTES:
    case HD_QUANTITY_LOCAL_BYTES: return m->info_unknown;
    case HD_QUANTITY_BANK_CONFLICTS: return m->banks_unknown;
    case HD_QUANTITY_SPILL_BYTES: return NULL;
    default: return "it is of PTX, and this is machine code";
    }
}

const char *hd_quantity_unknown(const hd_report_kernel *k, hd_quantity quantity)
{
    if (k->is_machine)
        return machine_unknown(k, quantity);
    switch (quantity) {
    case HD_QUANTITY_PTXAS:
    case HD_QUANTITY_PTXAS_SPILL_BYTES:
    case HD_QUANTITY_PTXAS_WARNINGS: return k->ptxas.unknown ? k->ptxas.unknown : "no numbers of ptxas";
    case HD_QUANTITY_OCCUPANCY:
    case HD_QUANTITY_WARPS:
    case HD_QUANTITY_CTAS:
        return k->dynamic_shared_unknown ? "launches set the dynamic shared memory: give it with --shared" : NULL;
    case HD_QUANTITY_ALLOCATED: return k->allocated_unknown;
    case HD_QUANTITY_BANK_CONFLICTS: return "heddle cannot allocate its registers";
    default: return k->predicted.unknown;
    }
}

void hd_quantity_write(hd_writer *writer, hd_quantity quantity, double value)
{
    if (hd_quantities[quantity].kind == HD_KIND_FRACTION)
        hd_write_format(writer, "%.1f%%", 100 * value);
    else
        hd_write_format(writer, "%.0f", value);
}

void hd_quantity_write_change(hd_writer *writer, hd_quantity quantity, double change)
{
    hd_write_string(writer, change > 0 ? "+" : "");
    hd_quantity_write(writer, quantity, change);
}
