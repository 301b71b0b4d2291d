/* Counters: how they add up, and the energy that they stand for. */
#include "hwmodel/rf/counters.h"
#include "target/gpu.h"

#include <math.h>

static hd_counter_info rows[HD_COUNTER_COUNT] = {
#define HD_COUNTER(id, group, key, energy, title) {key, title, HD_COUNTS_##group, HD_ENERGY_##energy, 0},
#include "hwmodel/rf/counters.def"
#undef HD_COUNTER
};
const hd_counter_info *const hd_counters = rows;
uint32_t hd_counter_count = HD_COUNTER_BUILT_IN;

bool hd_counter_add_row(const hd_counter_info *row) { return HD_ADD_ROW(rows, hd_counter_count, row); }

void hd_counter_add(uint64_t counters[HD_COUNTER_COUNT], hd_counter c, uint64_t n, uint64_t times)
{
    switch ((hd_counter_group)hd_counters[c].group) {
    case HD_COUNTS_LEAST: counters[c] = n && (!counters[c] || n < counters[c]) ? n : counters[c]; break;
    case HD_COUNTS_MOST: counters[c] = hd_max(counters[c], n); break;
    case HD_COUNTS_FILE:
    case HD_COUNTS_NEAR:
    case HD_COUNTS_PART:
    case HD_COUNTS_CLASS:
        if (__builtin_mul_overflow(n, times, &n) || __builtin_add_overflow(counters[c], n, &counters[c]))
            counters[c] = HD_UNCOUNTED;
        break;
    }
}

void hd_counters_join(uint64_t into[HD_COUNTER_COUNT], const uint64_t from[HD_COUNTER_COUNT])
{
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
        hd_counter_add(into, (hd_counter)c, from[c], 1);
}

/* The figure's table at another capacity, on the line through two published ones, in logarithms of both: 1.14 pJ for 1
 * KB (RFV, table 2.2) and 1.83 pJ for 5 KB (CORF, table 2.2), both in 40 nm. */
static double scaled_table_pj(const hd_energy_figure *figure, uint32_t bytes)
{
    return figure->dynamic_pj * pow((double)bytes / figure->leakage_bytes, log(1.83 / 1.14) / log(5));
}

/* How many of the events that the counter counts have its energy. */
static uint64_t priced(const uint64_t counters[HD_COUNTER_COUNT], uint32_t counter)
{
    static const struct {
        uint32_t part, whole;
    } apart[] = {
#define HD_COUNTER_APART(part, whole) {HD_COUNTER_##part, HD_COUNTER_##whole},
#include "hwmodel/rf/apart.def"
#undef HD_COUNTER_APART
    };
    uint64_t n = counters[counter];
    for (uint32_t i = 0; i < sizeof apart / sizeof *apart; i++)
        n -= apart[i].whole == counter ? counters[apart[i].part] : 0;
    return n;
}

/* The register file with less capacity, on the line through two published ones, in logarithms of both: half of it
 * takes 20 % less (GPU-Shrink, section 3.1). */
static double scaled_file_pj(const hd_energy_figure *figure, uint32_t less)
{
    return figure->dynamic_pj * pow((100.0 - less) / 100, log(0.8) / log(0.5));
}

hd_rf_energy hd_rf_dynamic_energy(const uint64_t counters[HD_COUNTER_COUNT], hd_rf_sizes sizes, const hd_gpu *gpu)
{
    hd_rf_energy energy = {.known = true};
    for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++) {
        const hd_energy_figure *figure = &gpu->energies[hd_counters[c].energy];
        uint64_t n = priced(counters, c);
        if (n && hd_counters[c].pj != 0) {
            energy.derived = true;
            energy.dynamic_pj += hd_counters[c].pj * (double)n;
        }
        if (hd_counters[c].energy == HD_ENERGY_NONE || !n)
            continue;
        if (!figure->known)
            return (hd_rf_energy){.known = false};
        bool table = hd_counters[c].energy == HD_ENERGY_RENAMING_TABLE && sizes.table_bytes && figure->leakage_bytes &&
                     sizes.table_bytes != figure->leakage_bytes;
        bool file = hd_counters[c].energy == HD_ENERGY_REGISTER_BANK && sizes.file_reduction_percent;
        energy.derived = energy.derived || figure->derived || table || file;
        energy.dynamic_pj += (table  ? scaled_table_pj(figure, sizes.table_bytes)
                              : file ? scaled_file_pj(figure, sizes.file_reduction_percent)
                                     : figure->dynamic_pj) *
                             (double)n;
    }
    return energy;
}

/* The leakage of a structure of so many bytes over so many cycles: mW times microseconds are nJ. */
static double leaked_pj(const hd_energy_figure *figure, double byte_cycles, const hd_gpu *gpu)
{
    if (byte_cycles == 0)
        return 0;
    if (!figure->known || !figure->leakage_bytes || !gpu->machine.known)
        return (double)NAN;
    return figure->leakage_mw / figure->leakage_bytes * byte_cycles / gpu->machine.clocks.core_mhz * 1000;
}

double hd_rf_static_energy(const hd_rf_leakage *leakage, const hd_gpu *gpu)
{
    enum { REGISTER_BYTES = 128 };
    uint32_t file = leakage->file ? leakage->file : HD_ENERGY_REGISTER_BANK;
    double storage = (double)leakage->storage_bits * (double)leakage->cycles / 8,
           gated = (double)leakage->gated_bits * (double)leakage->cycles,
           off = gated > (double)leakage->gated_on ? (gated - (double)leakage->gated_on) / 8 : 0;
    return leaked_pj(&gpu->energies[file], (double)leakage->powered * REGISTER_BYTES, gpu) +
           leaked_pj(&gpu->energies[leakage->storage], storage - off, gpu) +
           leaked_pj(&gpu->energies[leakage->gates], off, gpu);
}
