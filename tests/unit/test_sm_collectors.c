/* Ports of operand collectors beside conflicts of banks, and the renaming table of CORF, in cycles that are derived by
 * hand from sm.h. */
#include "small_machine.h"
#include "timed_kernel.h"

/* The last one makes its reader wait until all are written. */
#define THREE "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 2;\nadd.u32 %r6, %r0, 3;\n"

static timed time_ports(uint32_t ports, const char *body)
{
    timed t = {.machine = small_machine()};
    t.machine.core.collector_ports = ports;
    time_body(&t, body, 1, 32);
    return t;
}

/* Two operands in one bank take turns there: the port keeps them no longer. r4 and r8 are four registers apart. */
static void a_bank_conflict_hides_the_port(void **state)
{
    static const char body[] = THREE "add.u32 %r7, %r0, 4;\nadd.u32 %r8, %r0, 5;\nadd.u32 %r9, %r8, %r4;\n";
    (void)state;
    assert_int_equal(time_ports(1, body).counts.cycles, time_ports(0, body).counts.cycles);
}

/* The product is issued in t, what follows in t + 1. With one port it reads in t + 1, t + 2 and t + 3, so that its
 * operands wait for 0 + 1 + 2 cycles. In t + 2 the sum may read the register that the product has (no wait), that it
 * reads now, as it is older (1), or that its port keeps it from (none: the bank serves the sum). */
static void a_bank_serves_whose_port_is_free(void **state)
{
    static const char *const bodies[] = {THREE "mad.lo.u32 %r7, %r6, %r5, %r4;\nadd.u32 %r8, %r4, 1;\n",
                                         THREE "mad.lo.u32 %r7, %r6, %r5, %r4;\nadd.u32 %r8, %r5, 1;\n",
                                         THREE "mad.lo.u32 %r7, %r6, %r5, %r4;\nadd.u32 %r8, %r6, 1;\n"};
    uint64_t waited = 0;
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        waited += time_ports(1, bodies[i]).counts.sm.bank_conflicts - time_ports(0, bodies[i]).counts.sm.bank_conflicts;
    assert_int_equal(waited, 3 * (0 + 1 + 2) + 1);
}

static uint64_t cycles_of(const char *model, const char *body)
{
    timed t = {.machine = small_machine(), .model = hd_rf_model_find(model, strlen(model))};
    assert_non_null(t.model);
    time_body(&t, body, 1, 32);
    return t.counts.cycles;
}

/* The renaming table is looked up while the instruction goes to its collector: a chain of sums in registers that keep
 * their slices takes as long as in the baseline. A register that gets its slices, or wider ones, is written a cycle
 * later: they depend on the value. */
static void lookups_are_hidden(void **state)
{
    static const char *const models[] = {"corf-first-fit", "corf", "corf++"};
    static const char first[] = "add.u32 %r4, %r0, 1;\n";
    static const char keep[] = "add.u32 %r4, %r0, 1;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r4, %r4, 1;\n";
    static const char fresh[] = "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r4, 1;\nadd.u32 %r6, %r5, 1;\n";
    static const char wider[] = "add.u32 %r4, %r0, 1;\nadd.u32 %r4, %r4, 1000;\nadd.u32 %r4, %r4, 100000;\n";
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t begin = cycles_of(models[i], first), plain = cycles_of("baseline", first);
        assert_int_equal(cycles_of(models[i], keep) - begin, cycles_of("baseline", keep) - plain);
        assert_int_equal(cycles_of(models[i], fresh) - begin, cycles_of("baseline", fresh) - plain + 2);
        assert_int_equal(cycles_of(models[i], wider) - begin, cycles_of("baseline", wider) - plain + 2);
    }
}

/* Values of four bytes lie in entries of their own. The product is issued in t, sums in t + 1 and t + 2: the first
 * and the last result are written in the same cycle. CORF++ has all registers of a warp in one bank, where they
 * conflict. */
static void all_registers_of_a_warp_in_one_bank(void **state)
{
    static const char both[] = "mul.lo.u32 %r4, %r0, 0x7f010101;\nadd.u32 %r5, %r0, 0x10000000;\n"
                               "add.u32 %r6, %r0, 0x20000000;\n",
                      one[] = "mul.lo.u32 %r4, %r0, 0x7f010101;\nadd.u32 %r5, %r0, 0x10000000;\n";
    static const char *const models[] = {"corf", "corf++"};
    uint64_t more[2];
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        timed with = {.model = hd_rf_model_find(models[i], strlen(models[i]))}, without = with;
        time_body(&with, both, 1, 32);
        time_body(&without, one, 1, 32);
        more[i] = with.counts.sm.bank_conflicts - without.counts.sm.bank_conflicts;
    }
    assert_int_equal(more[0], 0);
    assert_int_equal(more[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bank_conflict_hides_the_port), cmocka_unit_test(a_bank_serves_whose_port_is_free),
        cmocka_unit_test(lookups_are_hidden), cmocka_unit_test(all_registers_of_a_warp_in_one_bank)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
