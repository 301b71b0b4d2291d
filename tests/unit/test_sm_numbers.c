/* Cycles, stalls and accesses of random programs on random machines, with every model, held against
 * tests/numbers/machines.txt: what no other test derives shows as numbers, and nothing changes them unnoticed. Whether
 * they are right is for test_sm and test_sm_limits to say. BLESS=1 (make bless) writes the file anew. */
#include "golden.h"

#include "base/hash.h"
#include "program.h"
#include "small_machine.h"
#include "timed_kernel.h"

enum { TEXT_BYTES = 1 << 19, SEEDS = 2 };

static void add_counts(golden_sums *s, const timed *t)
{
    const hd_sm_counts *c = &t->counts.sm;
    const hd_memory_counts *m = &t->counts.memory;
    golden_add(s, "cycles", t->counts.cycles);
    for (uint32_t i = 0; i < HD_SM_SLOTS_ALL; i++)
        golden_add(s, hd_sm_slot_keys[i], c->slots[i]);
    golden_add(s, "warp_cycles", c->warp_cycles);
    golden_add(s, "powered", c->powered);
    golden_add(s, "busy", c->busy_cycles);
    golden_add(s, "fetches", c->fetches);
    golden_add(s, "code_misses", c->code_misses);
    golden_add(s, "bank_conflicts", c->bank_conflicts);
    golden_add(s, "l1", c->l1_reads);
    golden_add(s, "l1_hits", c->l1_hits);
    golden_add(s, "shared", c->shared_accesses);
    golden_add(s, "shared_passes", c->shared_passes);
    golden_add(s, "l2_reads", m->l2_reads);
    golden_add(s, "l2_hits", m->l2_read_hits);
    golden_add(s, "l2_writes", m->l2_writes);
    golden_add(s, "l2_atomics", m->l2_atomics);
    golden_add(s, "dram_reads", m->dram_reads);
    golden_add(s, "dram_writes", m->dram_writes);
    golden_add(s, "row_hits", m->dram_row_hits);
    golden_add(s, "interconnect", m->interconnect_bytes);
}

static void add_run(golden_sums *s, const char *text, const program *p, const hd_rf_model_info *model, uint64_t seed)
{
    static uint32_t out[96 * RESULT_WORDS];
    char passes[128];
    uint64_t by_chance = seed;
    timed t = {.machine = random_machine(&by_chance), .sms = 1 + seed % 2, .ctas = 1 + seed % 3, .model = model};
    snprintf(passes, sizeof passes, "select,regalloc%s%s", *model->pass ? "," : "", model->pass);
    kernel_run run = {.text = text,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = out,
                      .out_bytes = sizeof *out * RESULT_WORDS * p->threads,
                      .grid = 3,
                      .block = p->threads,
                      .options.instruction_limit = 10000000,
                      .passes = passes,
                      .opened = open_timed,
                      .closing = close_timed,
                      .context = &t};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    if (t.refused)
        golden_add(s, "refused", 1);
    else
        add_counts(s, &t);
}

static void numbers_of_random_machines(void **state)
{
    static program p;
    char *text = hd_malloc(TEXT_BYTES);
    golden_sums s = {0};
    hd_writer writer;
    (void)state;
    hd_writer_to_memory(&writer);
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        for (uint64_t i = 0; i < SEEDS; i++) {
            uint64_t seed = hd_hash(hd_rf_models[m].name, strlen(hd_rf_models[m].name)) % 1000 + i;
            program_make(&p, seed);
            program_print(&p, text, TEXT_BYTES);
            add_run(&s, text, &p, &hd_rf_models[m], seed);
        }
        golden_write(&s, &writer, hd_rf_models[m].name);
    }
    golden_expect("machines.txt", &writer);
    hd_array_free(&s.items);
    hd_writer_free(&writer);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_of_random_machines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
