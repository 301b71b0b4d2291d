/* What the register allocator says of its result, counted again in the text of random programs: registers, predicates,
 * the space of spill slots, and the bytes that spilling stores and loads. RECOUNT=N programs (default 60). */
#include "program.h"
#include "unit.h"

#include "emitters/ir/ptx.h"
#include "parser/parse.h"
#include "passes/analysis/analyses.h"
#include "passes/regalloc/regalloc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1 << 19 };

typedef struct counted {
    uint64_t registers, predicates, slot_bytes, slot_end, load_bytes, store_bytes, loads, stores;
} counted;

static void raise(uint64_t *most, uint64_t value) { *most = value > *most ? value : *most; }

/* The register whose name begins at `at`, after the percent sign; the words that its name covers. */
static void count_register(counted *c, const char *at)
{
    static const struct {
        const char *stem;
        uint32_t words;
    } stems[] = {{"R", 1}, {"RH", 1}, {"RB", 1}, {"RD", 2}, {"RQ", 4}, {"P", 0}};
    size_t length = strcspn(at, "0123456789");
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (strlen(stems[i].stem) == length && strncmp(stems[i].stem, at, length) == 0 && isdigit(at[length])) {
            uint64_t number = strtoul(at + length, NULL, 10);
            raise(stems[i].words ? &c->registers : &c->predicates, number + (stems[i].words ? stems[i].words : 1));
        }
}

/* "st.local.v2.b32 [__hd_spill+8], ..." */
static void count_access(counted *c, const char *line, const char *slot)
{
    bool store = strstr(line, "st.local") != NULL;
    const char *type = strstr(line, ".b") ? strstr(line, ".b") + 2 : "";
    uint64_t bytes = strtoul(type, NULL, 10) / 8, at = slot[0] == '+' ? strtoul(slot + 1, NULL, 10) : 0;
    assert_true(store || strstr(line, "ld.local"));
    bytes *= strstr(line, ".v2.") ? 2 : strstr(line, ".v4.") ? 4 : 1;
    assert_true(bytes > 0);
    *(store ? &c->store_bytes : &c->load_bytes) += bytes;
    ++*(store ? &c->stores : &c->loads);
    raise(&c->slot_end, at + bytes);
}

static void count_line(counted *c, const char *line)
{
    static const char slots[] = "__hd_spill";
    const char *slot = strstr(line, slots);
    if (strstr(line, ".reg "))
        return;
    if (slot && slot[strlen(slots)] == '[')
        c->slot_bytes = strtoul(slot + strlen(slots) + 1, NULL, 10);
    else if (slot)
        count_access(c, line, slot + strlen(slots));
    for (const char *at = strchr(line, '%'); at; at = strchr(at + 1, '%'))
        count_register(c, at + 1);
}

/* Counts the registers that the kernel's text names, which ends with the file. */
static counted count_kernel(char *text)
{
    counted c = {0};
    char *at = strstr(text, ".entry k");
    assert_non_null(at);
    assert_null(strstr(at, ".func"));
    for (at = strtok(strchr(at, '{'), "\n"); at; at = strtok(NULL, "\n"))
        count_line(&c, at);
    return c;
}

static void equal(uint64_t said, uint64_t found, const char *what, uint64_t seed, uint32_t most)
{
    if (said != found)
        fail_msg("seed %llu, at most %u registers: %llu %s, and %llu in the text", (unsigned long long)seed, most,
                 (unsigned long long)said, what, (unsigned long long)found);
}

static void compare(const hd_regalloc_result *r, const counted *c, uint64_t seed, uint32_t most)
{
    equal(r->numbers.registers, c->registers, "registers", seed, most);
    equal(r->numbers.predicates, c->predicates, "predicates", seed, most);
    equal(r->numbers.spill_bytes, c->slot_bytes, "bytes of slots", seed, most);
    equal(c->slot_end, c->slot_bytes, "bytes of slots used", seed, most);
    equal(r->spill_load_bytes, c->load_bytes, "bytes loaded", seed, most);
    equal(r->spill_store_bytes, c->store_bytes, "bytes stored", seed, most);
    /* a store may be left out later, and a load repeated with the constant that it stands for */
    assert_true(r->stores >= c->stores && (r->loads > 0) == (c->loads > 0));
    assert_int_equal(r->spilled > 0, c->slot_bytes > 0 || r->predicate_moves > 0);
    assert_true(r->numbers.registers <= most);
}

/* False: it does not fit. */
static bool recount(char *text, uint64_t seed, uint32_t most)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_pass_context context;
    hd_regalloc_result result;
    hd_writer writer;
    hd_diagnostics_init(&diagnostics);
    hd_source_from_memory(&source, "k.ptx", text, strlen(text));
    hd_module *module = hd_parse_ptx(&source, &(hd_parse_options){0}, &diagnostics);
    assert_int_equal(diagnostics.error_count, 0);
    hd_function *kernel = hd_module_find_function(module, "k");
    assert_non_null(kernel);
    hd_pass_context_init(&context, kernel, &diagnostics);
    bool fits = hd_regalloc_run(&context, &(hd_regalloc_options){.max = most, .optional = true}, &result) &&
                !result.left_virtual;
    hd_pass_context_free(&context);
    if (fits) {
        hd_writer_to_memory(&writer);
        assert_true(hd_emit_ptx(&writer, module, &(hd_emit_options){0}));
        hd_write_char(&writer, '\0');
        counted c = count_kernel(writer.buffer.items);
        compare(&result, &c, seed, most);
        hd_writer_free(&writer);
    }
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    return fits && result.spill_load_bytes && result.spill_store_bytes;
}

static void results_are_counted_again(void **state)
{
    static program p;
    static const uint32_t most[] = {HD_GENERAL_REGISTERS, 40, 24, 16, 12, 10};
    const char *wanted = getenv("RECOUNT");
    uint64_t count = wanted ? strtoull(wanted, NULL, 10) : UNIT_CASES(60), spilled = 0;
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = 1; seed <= count; seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        for (uint32_t i = 0; i < sizeof most / sizeof *most; i++)
            spilled += recount(text, seed, most[i]);
    }
    free(text);
    assert_true(spilled > count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_counted_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
