/* target/gpu: the built-in descriptions and what is said about wrong ones. */
#include "tests/unit/unit.h"

#include <math.h>

#include "hwmodel/rf/technique.h"
#include "target/gpu.h"
#include <unistd.h>

static hd_gpu *load(const char *name, hd_diagnostics *diagnostics)
{
    hd_diagnostics_init(diagnostics);
    return hd_gpu_load(name, diagnostics);
}

static void every_built_in_one_is_right(void **state)
{
    (void)state;
    assert_true(hd_gpu_file_count >= 12);
    for (uint32_t i = 0; i < hd_gpu_file_count; i++) {
        hd_diagnostics diagnostics;
        hd_gpu *gpu = load(hd_gpu_files[i].name, &diagnostics);
        if (!gpu->valid)
            fail_msg("%s: %s", hd_gpu_files[i].name, diagnostics.first->message);
        assert_string_equal(gpu->name, hd_gpu_files[i].name);
        unsigned compute;
        if (sscanf(gpu->name, "sm_%u", &compute) == 1)
            assert_int_equal(compute, gpu->compute_major * 10 + gpu->compute_minor);
        assert_true(gpu->limits.shared_bytes_per_cta <= gpu->limits.shared_bytes_per_sm);
        assert_true(gpu->limits.warps_per_sm * 32 >= gpu->limits.threads_per_cta);
        for (uint32_t c = 1; c < gpu->limits.carveout_count; c++)
            assert_true(gpu->limits.carveout_bytes[c - 1] < gpu->limits.carveout_bytes[c]);
        hd_gpu_free(gpu);
        hd_diagnostics_free(&diagnostics);
    }
}

static void the_papers_figures(void **state)
{
    (void)state;
    hd_diagnostics diagnostics;
    hd_gpu *gpu = load(HD_GPU_DEFAULT, &diagnostics);
    assert_true(gpu->valid && gpu->energies[HD_ENERGY_REGISTER_BANK].known &&
                gpu->energies[HD_ENERGY_BYPASS_COLLECTOR].known);
    assert_true(gpu->energies[HD_ENERGY_REGISTER_BANK].dynamic_pj == 185.26);
    assert_true(gpu->energies[HD_ENERGY_BYPASS_COLLECTOR].dynamic_pj == 2.72);
    assert_int_equal(gpu->limits.warps_per_sm, 32);
    assert_int_equal(gpu->register_banks, 32);
    hd_gpu_free(gpu);
    gpu = hd_gpu_load("fermi-gtx480", &diagnostics);
    assert_true(gpu->valid && gpu->energies[HD_ENERGY_REGISTER_BANK].dynamic_pj == 149.76);
    assert_null(gpu->energies[HD_ENERGY_REGISTER_BANK].derived);
    assert_non_null(gpu->energies[HD_ENERGY_BYPASS_COLLECTOR].derived);
    assert_int_equal(gpu->limits.registers_per_sm, 32768);
    hd_gpu_free(gpu);
    gpu = hd_gpu_load("fermi-rfv", &diagnostics);
    assert_true(gpu->valid && gpu->energies[HD_ENERGY_REGISTER_BANK].dynamic_pj == 37.44); /* 8 clusters of 4.68 */
    assert_true(gpu->energies[HD_ENERGY_RENAMING_TABLE].dynamic_pj == 1.14);
    assert_true(gpu->limits.warps_per_sm == 48 && gpu->limits.registers_per_sm / 32 == 1024);
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* The sum of what was counted; nothing if a figure is missing for something that was counted. */
static void energy_of_counted_accesses(void **state)
{
    (void)state;
    hd_diagnostics diagnostics;
    uint64_t counters[HD_COUNTER_COUNT] = {0};
    hd_gpu *gpu = load("fermi-gtx480", &diagnostics);
    hd_rf_energy energy = hd_rf_dynamic_energy(counters, (hd_rf_sizes){0}, gpu);
    assert_true(energy.known && !energy.derived && energy.dynamic_pj == 0);
    counters[HD_COUNTER_FILE_READS] = 3;
    counters[HD_COUNTER_FILE_WRITES] = 4;
    counters[HD_COUNTER_OPERANDS] = 1000; /* costs nothing */
    energy = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 0}, gpu);
    assert_true(energy.known && !energy.derived && energy.dynamic_pj == 3 * 149.76 + 4 * 149.76);
    counters[HD_COUNTER_WINDOW_READS] = 1;
    energy = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 0}, gpu);
    assert_true(energy.known && energy.derived && energy.dynamic_pj == 3 * 149.76 + 4 * 149.76 + 2.2);
    gpu->energies[HD_ENERGY_BYPASS_COLLECTOR].known = false;
    assert_false(hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 0}, gpu).known);
    hd_gpu_free(gpu);
    gpu = load(HD_GPU_DEFAULT, &diagnostics);
    counters[HD_COUNTER_FILE_WRITES] = 0;
    energy = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 0}, gpu);
    assert_true(energy.known && !energy.derived && energy.dynamic_pj == 3 * 185.26 + 2.72);
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* CORF's table of 5 KB, scaled to the 1 KB of RFV's, takes what RFV publishes; at 25 KB as much more again. */
static void energy_of_a_table_of_another_size(void **state)
{
    (void)state;
    hd_diagnostics diagnostics;
    uint64_t counters[HD_COUNTER_COUNT] = {0};
    counters[HD_COUNTER_RENAMING] = 1;
    hd_gpu *gpu = load("fermi-gtx480", &diagnostics), *rfv = load("fermi-rfv", &diagnostics);
    hd_rf_energy whole = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 5120}, gpu),
                 small = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 1024}, gpu),
                 large = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 25 * 1024}, gpu),
                 own = hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 1024}, rfv);
    assert_true(!whole.derived && whole.dynamic_pj == 1.83);
    assert_true(!own.derived && own.dynamic_pj == 1.14);
    assert_true(small.derived && fabs(small.dynamic_pj - own.dynamic_pj) < 1e-9);
    assert_true(large.derived && fabs(large.dynamic_pj - 1.83 * 1.83 / 1.14) < 1e-9);
    counters[HD_COUNTER_FILE_READS] = 1; /* nothing else is scaled */
    assert_true(fabs(hd_rf_dynamic_energy(counters, (hd_rf_sizes){.table_bytes = 1024}, gpu).dynamic_pj -
                     small.dynamic_pj - 149.76) < 1e-9);
    hd_gpu_free(gpu);
    hd_gpu_free(rfv);
    hd_diagnostics_free(&diagnostics);
}

/* 128 KB leak 89.6 mW: with all of 1,024 warp registers powered for 700 cycles at 700 MHz, 1 us, 89.6 nJ. A table as
 * large as the published one of 5 KB adds 5.56 nJ. */
static void energy_of_leakage(void **state)
{
    (void)state;
    hd_diagnostics diagnostics;
    hd_gpu *gpu = load("fermi-gtx480", &diagnostics);
    hd_rf_leakage leakage = {.powered = 1024 * 700};
    assert_true(fabs(hd_rf_static_energy(&leakage, gpu) - 89600) < 1e-6);
    leakage.powered /= 2;
    assert_true(fabs(hd_rf_static_energy(&leakage, gpu) - 44800) < 1e-6);
    leakage.storage = HD_ENERGY_RENAMING_TABLE;
    leakage.storage_bits = 5 * 1024 * 8;
    leakage.cycles = 700;
    assert_true(fabs(hd_rf_static_energy(&leakage, gpu) - (44800 + 5560)) < 1e-6);
    gpu->energies[HD_ENERGY_RENAMING_TABLE].leakage_bytes = 0;
    assert_true(isnan(hd_rf_static_energy(&leakage, gpu)));
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* What is `derived` is what the rules of heddle-replay(1) give from the papers' figures, to three digits. */
static bool follows(double value, double expected) { return fabs(value / expected - 1) < 0.005; }

static void check_derived(const hd_gpu *gpu)
{
    const hd_energy_figure *bank = &gpu->energies[HD_ENERGY_REGISTER_BANK],
                           *collector = &gpu->energies[HD_ENERGY_BYPASS_COLLECTOR],
                           *table = &gpu->energies[HD_ENERGY_RENAMING_TABLE],
                           *cache = &gpu->energies[HD_ENERGY_REGISTER_CACHE],
                           *addresses = &gpu->energies[HD_ENERGY_ADDRESS_TABLE];
    double entries = (double)gpu->limits.warps_per_sm * gpu->limits.registers_per_thread,
           table_kb = entries * (log2(gpu->limits.registers_per_sm / 32.0) + 4) / 8 / 1024;
    if (bank->derived)
        assert_true(bank->dynamic_pj == 185.26 && bank->leakage_mw == 111.84);
    if (collector->derived)
        assert_true(follows(collector->dynamic_pj, bank->dynamic_pj * 2.72 / 185.26) &&
                    follows(collector->leakage_mw, bank->leakage_mw * 1.11 / 111.84));
    if (table->derived)
        assert_true(follows(table->dynamic_pj,
                            bank->dynamic_pj * 1.83 / 149.76 * pow(table_kb / 5, log(1.83 / 1.14) / log(5.0))) &&
                    follows(table->leakage_mw, bank->leakage_mw * 5.56 / 89.6 * table_kb / 5));
    if (cache->derived)
        assert_true(
            follows(cache->dynamic_pj, collector->dynamic_pj * pow(1 / 1.5, log(185.26 / 2.72) / log(64 / 1.5))) &&
            follows(cache->leakage_mw, collector->leakage_mw * 16 / 1.5));
    if (addresses->derived)
        assert_true(follows(addresses->dynamic_pj, table->dynamic_pj * pow(400 * 83 / 8.0 / table->leakage_bytes,
                                                                           log(1.83 / 1.14) / log(5.0))) &&
                    follows(addresses->leakage_mw, table->leakage_mw * 400 * 83 / 8.0 / table->leakage_bytes));
}

/* The write buffer of HRF has 64 entries of 39 bits in 32 lanes, its index 64 of 7 bits. */
static void check_derived_hybrid(const hd_gpu *gpu)
{
    const hd_energy_figure *bank = &gpu->energies[HD_ENERGY_REGISTER_BANK], *read = &gpu->energies[HD_ENERGY_STT_RAM],
                           *write = &gpu->energies[HD_ENERGY_STT_RAM_WRITE],
                           *buffer = &gpu->energies[HD_ENERGY_WRITE_BUFFER],
                           *index = &gpu->energies[HD_ENERGY_BUFFER_INDEX],
                           *gates = &gpu->energies[HD_ENERGY_BUFFER_GATES];
    double kb = 64 * 39 * 32 / 8 / 1024.0, leakage = bank->leakage_mw * kb * 1024 / bank->leakage_bytes;
    double access = bank->dynamic_pj * 2.72 / 185.26 * pow(kb / 1.5, log(185.26 / 2.72) / log(64 / 1.5));
    double lookup = bank->dynamic_pj * 1.83 / 149.76 * pow(56 / 5120.0, log(1.83 / 1.14) / log(5.0));
    assert_true(follows(read->dynamic_pj, bank->dynamic_pj * 0.239 / 0.197) &&
                follows(write->dynamic_pj, bank->dynamic_pj * 0.300 / 0.197) &&
                follows(read->leakage_mw, bank->leakage_mw * 16.2 / 248.7));
    assert_true(follows(buffer->dynamic_pj, access) && follows(buffer->leakage_mw, leakage));
    assert_true(follows(gates->dynamic_pj, 0.04 * access) && follows(gates->leakage_mw, leakage * (0.3 - 0.25) / 0.75));
    assert_true(follows(index->dynamic_pj, lookup));
    assert_int_equal(read->leakage_bytes, bank->leakage_bytes);
    assert_true(buffer->leakage_bytes == kb * 1024 && gates->leakage_bytes == buffer->leakage_bytes);
}

static void every_built_in_one_has_all_energies(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < hd_gpu_file_count; i++) {
        hd_diagnostics diagnostics;
        hd_gpu *gpu = load(hd_gpu_files[i].name, &diagnostics);
        for (uint32_t e = 1; e < HD_ENERGY_COUNT; e++)
            if (!gpu->energies[e].known)
                fail_msg("%s has no energy of %s", gpu->name, hd_energy_keys[e]);
        check_derived(gpu);
        check_derived_hybrid(gpu);
        hd_gpu_free(gpu);
        hd_diagnostics_free(&diagnostics);
    }
}

/* Capacity is that of its banks; the last two columns of table 2 follow from the others. */
static void designs_of_register_files(void **state)
{
    (void)state;
    static const double per_area[] = {1, 1, 1, 1, 1, 1, 32}, per_power[] = {1, 1, 1, 2.5, 2.5, 7.6, 12};
    hd_diagnostics diagnostics;
    hd_gpu *gpu = load("maxwell-ltrf", &diagnostics);
    assert_true(gpu->valid);
    assert_int_equal(gpu->register_banks, 16);
    assert_int_equal(gpu->design_count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        const hd_register_file_design *d = &gpu->designs[i];
        double power = d->capacity / d->power / per_power[i];
        assert_true(d->capacity == d->banks * d->bank_size && d->capacity / d->area == per_area[i] && power > 0.97 &&
                    power < 1.03);
        assert_true(i == 0 || d->latency > gpu->designs[i - 1].latency);
    }
    assert_string_equal(gpu->designs[6].cell, "DWM");
    assert_true(gpu->designs[5].latency == 5.3 && gpu->designs[6].latency == 6.3);
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* What follows from clocks, lanes and buses is what NVIDIA states for the product, within 3 %: TFLOP/s of 32 bits (two
 * for a multiplication with addition), GB/s. 0: stated for another clock. */
static void peaks_of_products(void **state)
{
    static const struct {
        const char *name;
        double tflops, gbytes, l2_mbytes;
    } products[] = {
        {"volta-v100", 15.7, 900, 6},     {"turing-tu106", 0, 336, 3},    {"ampere-a100", 19.5, 2039, 40},
        {"ampere-rtx3070", 20.3, 448, 4}, {"ampere-a6000", 38.7, 768, 6}, {"hopper-h100", 67, 3350, 50},
        {"hopper-h200", 67, 4800, 60},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof products / sizeof *products; i++) {
        hd_diagnostics diagnostics;
        hd_gpu *gpu = load(products[i].name, &diagnostics);
        const hd_machine *m = &gpu->machine;
        hd_machine_class_timing mad = m->classes[HD_MACHINE_CLASS_FP_MAD];
        double tflops = 2e-6 * 32 * gpu->limits.sms * m->units[mad.unit] / mad.interval * m->clocks.core_mhz,
               gbytes = 1e-3 * m->dram.channels * m->dram.bytes * m->clocks.dram_mhz;
        print_message("%-16s %6.1f TFLOP/s %7.0f GB/s\n", gpu->name, tflops, gbytes);
        assert_true(!(products[i].tflops > 0) || fabs(tflops / products[i].tflops - 1) < 0.03);
        assert_true(fabs(gbytes / products[i].gbytes - 1) < 0.03);
        assert_true(m->l2.bytes == products[i].l2_mbytes * (1 << 20));
        hd_gpu_free(gpu);
        hd_diagnostics_free(&diagnostics);
    }
}

static void expect_error(const char *name, hd_diagnostic_kind kind, const char *part)
{
    hd_diagnostics diagnostics;
    hd_gpu *gpu = load(name, &diagnostics);
    assert_false(gpu->valid);
    assert_non_null(diagnostics.first);
    assert_int_equal(diagnostics.first->kind, kind);
    if (!strstr(diagnostics.first->message, part))
        fail_msg("'%s' does not say '%s'", diagnostics.first->message, part);
    hd_gpu_free(gpu);
    hd_diagnostics_free(&diagnostics);
}

/* The text of a built-in description with one piece replaced, read as a file. */
static void expect_file_error(const char *old, const char *new, hd_diagnostic_kind kind, const char *part)
{
    char path[] = "/tmp/heddle-gpu-XXXXXX.yaml";
    int descriptor = mkstemps(path, 5);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    const hd_gpu_file *base = &hd_gpu_files[0];
    while (strcmp(base->name, HD_GPU_DEFAULT))
        base++;
    const char *at = strstr(base->text, old);
    assert_non_null(at);
    fprintf(file, "%.*s%s%s", (int)(at - base->text), base->text, new, at + strlen(old));
    fclose(file);
    if (part) {
        expect_error(path, kind, part);
    } else {
        hd_diagnostics diagnostics;
        hd_gpu *gpu = load(path, &diagnostics);
        assert_true(gpu->valid);
        hd_gpu_free(gpu);
        hd_diagnostics_free(&diagnostics);
    }
    unlink(path);
}

static void wrong_descriptions(void **state)
{
    (void)state;
    expect_error("sm_81", HD_DIAG_UNKNOWN_GPU, "no GPU is called 'sm_81'");
    expect_error("/nowhere/x.yaml", HD_DIAG_UNREADABLE, "");
    expect_file_error("name:", "name:", HD_DIAG_BAD_KEY, NULL);
    expect_file_error("ctas_per_sm:", "ctas_per_sn:", HD_DIAG_BAD_KEY, "ctas_per_sn");
    expect_file_error("registers_per_sm: 65536", "registers_per_sm: many", HD_DIAG_BAD_VALUE, "");
    expect_file_error("dynamic_pj: 2.72", "dynamic_pj: -1", HD_DIAG_BAD_VALUE, "energy");
    expect_file_error("derived: \"bypass_collector, from 1.5 KB to 16 banks of 1 KB by capacity\"", "derived: [1]",
                      HD_DIAG_BAD_VALUE, "");
    expect_file_error("limits:", "address_bits: 33\nlimits:", HD_DIAG_BAD_VALUE, "32");
    expect_file_error("compute: \"6.1\"", "compute: six", HD_DIAG_BAD_VALUE, "compute capability");
    expect_file_error("    source: \"[bow] table 3.4: 64 KB register bank, 28 nm, CACTI 7.0\"\n", "", HD_DIAG_BAD_KEY,
                      "source");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_one_is_right), cmocka_unit_test(the_papers_figures),
        cmocka_unit_test(energy_of_counted_accesses),  cmocka_unit_test(energy_of_a_table_of_another_size),
        cmocka_unit_test(energy_of_leakage),           cmocka_unit_test(every_built_in_one_has_all_energies),
        cmocka_unit_test(designs_of_register_files),   cmocka_unit_test(peaks_of_products),
        cmocka_unit_test(wrong_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
