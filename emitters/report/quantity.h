/* The quantities of a kernel, for gates and comparisons: see quantities.def. */
#ifndef HD_EMITTERS_QUANTITY_H
#define HD_EMITTERS_QUANTITY_H

#include "emitters/report/report.h"

typedef enum hd_quantity {
#define HD_QUANTITY(id, name, kind, class, summary) HD_QUANTITY_##id,
#include "emitters/report/quantities.def"
#undef HD_QUANTITY
    HD_QUANTITY_COUNT
} hd_quantity;

typedef enum hd_quantity_kind { HD_KIND_COUNT, HD_KIND_BYTES, HD_KIND_FRACTION } hd_quantity_kind;
typedef enum hd_quantity_class { HD_CLASS_VALUE, HD_CLASS_CHOSEN, HD_CLASS_CHANGE } hd_quantity_class;

typedef struct hd_quantity_info {
    const char *name, *summary;
    hd_quantity_kind kind;
    hd_quantity_class class;
} hd_quantity_info;
extern const hd_quantity_info hd_quantities[HD_QUANTITY_COUNT];
/* By its current or a former name; HD_QUANTITY_COUNT: unknown. */
hd_quantity hd_quantity_from_name(const char *name, size_t length);

/* false if the report does not have it, or it belongs to comparisons only. */
bool hd_quantity_of(const hd_report_kernel *kernel, hd_quantity quantity, double *value);
/* The same, and an interval where the number is an estimate of ptxas' registers; else both ends are the number. */
bool hd_quantity_range(const hd_report_kernel *kernel, hd_quantity quantity, double *low, double *high);
/* Whether its occupancy is an upper bound. */
bool hd_report_is_bound(const hd_report_kernel *kernel);
/* Whether registers of the kernel are spilled: by ptxas if its numbers are known, else as predicted. */
bool hd_report_has_spills(const hd_report_kernel *kernel);
/* Why a quantity is unknown: "ptxas was not asked"; or NULL. */
const char *hd_quantity_unknown(const hd_report_kernel *kernel, hd_quantity quantity);

/* Fractions as percentages with one decimal, as gates compare them. */
void hd_quantity_write(hd_writer *writer, hd_quantity quantity, double value);
void hd_quantity_write_change(hd_writer *writer, hd_quantity quantity, double change); /* with its sign */

#endif
