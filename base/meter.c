/* See meter.h. */
#include "base/meter.h"

#include <stddef.h>

void hd_meter_expect(hd_meter *m, uint64_t more)
{
    for (; m; more *= m->weight, m = m->whole)
        atomic_fetch_add_explicit(&m->total, more, memory_order_relaxed);
}

void hd_meter_step(hd_meter *m, uint64_t units)
{
    for (; m; units *= m->weight, m = m->whole)
        atomic_fetch_add_explicit(&m->done, units, memory_order_relaxed);
}

void hd_meter_next_item(hd_meter *m)
{
    if (m)
        atomic_fetch_add_explicit(&m->item, 1, memory_order_relaxed);
}

void hd_meter_open(hd_meter *m, hd_meter *whole, uint32_t weight, uint64_t total)
{
    m->whole = whole;
    m->weight = weight;
    hd_meter_expect(m, total);
}

void hd_meter_close(hd_meter *m)
{
    if (m && !atomic_load(&m->total))
        hd_meter_expect(m, 1);
    unsigned long long total = m ? atomic_load(&m->total) : 0, done = m ? atomic_load(&m->done) : 0;
    if (done < total)
        hd_meter_step(m, total - done);
}

double hd_meter_fraction(hd_meter *m)
{
    double total = (double)atomic_load_explicit(&m->total, memory_order_relaxed),
           done = (double)atomic_load_explicit(&m->done, memory_order_relaxed);
    return total <= 0 ? 0 : done < total ? done / total : 1;
}
