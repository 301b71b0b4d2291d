/* DeMO against the best that its rules allow: small random blocks, every subset of the loads that are read once.
 *
 * The rules are stated here on a list of abstract instructions, naively, and know nothing of the pass or the IR. The
 * pass must find as many as the best subset has, with one exception, which it is held to: it leaves a load alone whose
 * register a guarded load writes later before something overwrites it in all lanes, because it follows one load a
 * register. Among these blocks, a third of whose instructions have guards, that costs less than one load in
 * twenty-five.
 *
 * And the check against the rules: a load that is annotated by hand where it stands is accepted where its consumer is
 * next, and it may have stood before everything else of its block for all that memory and the warp see; or after as
 * much of that as its annotation says.
 */
#include "tests/unit/unit.h"

#include "base/writer.h"
#include "ir/annotations.h"
#include "passes/check/check.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/rf_walk.h"

enum { REGISTERS_USED = 4, ADDRESSES = 2, PREDICATES = 2, MOST = 9, CASES = 20000 };

typedef enum verb { LOAD, STORE, ADD, TEST, MOVE, STEP, BARRIER, CLOCK, VERBS } verb;
typedef enum space { GLOBAL, SHARED, CONST, GENERIC, READ_ONLY, VOLATILE, SPACES } space;

typedef struct abstract {
    verb verb;
    space space;
    uint32_t to, a, b, address; /* TEST writes the predicate `to`; STEP writes the address */
    uint32_t guard;             /* 0: none, else 1 + predicate */
    bool negated;
} abstract;

typedef struct block {
    abstract items[MOST];
    uint32_t count;
} block;

/* ---- the rules --------------------------------------------------------------------------------------------------- */

static bool writes_register(const abstract *i, uint32_t reg)
{
    return (i->verb == LOAD || i->verb == ADD || i->verb == MOVE || i->verb == CLOCK) && i->to == reg;
}

static uint32_t reads_of(const abstract *i, uint32_t reg)
{
    switch (i->verb) {
    case ADD: return (uint32_t)(i->a == reg) + (uint32_t)(i->b == reg);
    case TEST:
    case MOVE:
    case STORE: return i->a == reg;
    case LOAD:
    case STEP:
    case BARRIER:
    case CLOCK:
    case VERBS: break;
    }
    return 0;
}

static bool may_clash(const abstract *load, const abstract *store)
{
    if (store->verb != STORE || load->space == CONST || load->space == READ_ONLY)
        return false;
    return load->space == GENERIC || store->space == GENERIC || load->space == store->space;
}

static bool same_guard(const abstract *x, const abstract *y)
{
    return x->guard == y->guard && (!x->guard || x->negated == y->negated);
}

/* Do memory and the warp end up the same, whichever of the two comes first? */
static bool may_be_passed(const abstract *load, const abstract *i)
{
    return i->verb != BARRIER && i->verb != CLOCK && !(i->verb == LOAD && i->space == VOLATILE) && !may_clash(load, i);
}

/* May the instruction be between a load and its consumer? */
static bool may_stand_between(const abstract *load, const abstract *i)
{
    if (!may_be_passed(load, i))
        return false;
    if (i->verb == STEP && i->address == load->address)
        return false;
    return !(i->verb == TEST && load->guard && i->to == load->guard - 1) && !writes_register(i, load->to);
}

/* Does a guarded load write the register before something overwrites it in all lanes? */
static bool is_written_in_part(const block *b, uint32_t at)
{
    for (uint32_t i = at + 1; i < b->count; i++) {
        const abstract *later = &b->items[i];
        if (writes_register(later, b->items[at].to))
            return later->guard && (is_written_in_part(b, i) || (later->verb == LOAD && later->space != VOLATILE));
    }
    return false;
}

/* The consumer of a load that may be made an operand; 0: none. */
static uint32_t consumer_of(const block *b, uint32_t at)
{
    const abstract *load = &b->items[at];
    uint32_t uses = 0, consumer = 0;
    if (load->verb != LOAD || load->space == VOLATILE)
        return 0;
    for (uint32_t i = at + 1; i < b->count; i++) {
        uint32_t reads = reads_of(&b->items[i], load->to);
        uses += reads;
        if (reads)
            consumer = i;
        if (writes_register(&b->items[i], load->to) && !b->items[i].guard)
            break;
    }
    if (uses != 1 || (b->items[consumer].verb != ADD && b->items[consumer].verb != TEST) ||
        !same_guard(load, &b->items[consumer]))
        return 0;
    for (uint32_t i = at + 1; i < consumer; i++)
        if (!may_stand_between(load, &b->items[i]))
            return 0;
    return consumer;
}

/* The largest set of loads of which no consumer has more than so many. */
static uint32_t best(const block *b, bool with_exception, uint32_t operands)
{
    uint32_t most = 0;
    for (uint32_t set = 0; set < 1u << b->count; set++) {
        uint32_t size = 0, taken[MOST] = {0};
        bool good = true;
        for (uint32_t i = 0; i < b->count && good; i++) {
            if (!(set >> i & 1))
                continue;
            uint32_t consumer = consumer_of(b, i);
            good = consumer && ++taken[consumer] <= operands && !(with_exception && is_written_in_part(b, i));
            size++;
        }
        most = good && size > most ? size : most;
    }
    return most;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

static block draw_block(uint64_t seed)
{
    static const verb verbs[] = {LOAD, LOAD, LOAD,  LOAD, LOAD, ADD,     ADD,  ADD,
                                 ADD,  TEST, STORE, MOVE, STEP, BARRIER, CLOCK};
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    block b = {.count = 3 + draw(&state, MOST - 2)};
    for (uint32_t i = 0; i < b.count; i++) {
        abstract *x = &b.items[i];
        x->verb = verbs[draw(&state, sizeof verbs / sizeof *verbs)];
        x->space = (space)draw(&state, x->verb == STORE ? SHARED + 1 : draw(&state, 3) ? GENERIC : SPACES);
        x->space = x->verb == STORE && !draw(&state, 4) ? GENERIC : x->space;
        x->to = draw(&state, x->verb == TEST ? PREDICATES : REGISTERS_USED);
        x->a = draw(&state, REGISTERS_USED);
        x->b = draw(&state, REGISTERS_USED);
        x->address = draw(&state, ADDRESSES);
        x->guard = x->verb == BARRIER || draw(&state, 3) ? 0 : 1 + draw(&state, PREDICATES);
        x->negated = draw(&state, 2);
    }
    return b;
}

static void print_instruction(hd_writer *out, const abstract *i)
{
    static const char *const spaces[SPACES] = {"global", "shared", "const", "", "global.nc", "volatile.global"};
    const char *dot = i->space == GENERIC ? "" : ".";
    if (i->guard)
        hd_write_format(out, "@%s%%p%u ", i->negated ? "!" : "", i->guard - 1);
    switch (i->verb) {
    case LOAD: hd_write_format(out, "ld%s%s.u32 %%r%u, [%%rd%u];\n", dot, spaces[i->space], i->to, i->address); break;
    case STORE: hd_write_format(out, "st%s%s.u32 [%%rd%u], %%r%u;\n", dot, spaces[i->space], i->address, i->a); break;
    case ADD: hd_write_format(out, "add.u32 %%r%u, %%r%u, %%r%u;\n", i->to, i->a, i->b); break;
    case TEST: hd_write_format(out, "setp.lt.u32 %%p%u, %%r%u, 5;\n", i->to, i->a); break;
    case MOVE: hd_write_format(out, "mov.u32 %%r%u, %%r%u;\n", i->to, i->a); break;
    case STEP: hd_write_format(out, "add.u64 %%rd%u, %%rd%u, 4;\n", i->address, i->address); break;
    case BARRIER: hd_write_string(out, "bar.sync 0;\n"); break;
    case CLOCK: hd_write_format(out, "mov.u32 %%r%u, %%clock;\n", i->to); break;
    case VERBS: break;
    }
}

static void print_block(hd_writer *out, const block *b)
{
    hd_write_string(out, ".version 8.0\n.target sm_80\n.address_size 64\n"
                         ".entry k()\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n");
    for (uint32_t i = 0; i < b->count; i++)
        print_instruction(out, &b->items[i]);
    hd_write_string(out, "ret;\n}\n");
}

static uint32_t found_by_pass(const hd_writer *text, uint64_t seed, const char *operands)
{
    hd_source source;
    hd_diagnostics diagnostics;
    hd_pass_context context;
    uint64_t checked = 0;
    uint32_t found = 0;
    hd_diagnostics_init(&diagnostics);
    hd_module *module = rf_parse(&source, text->buffer.items, text->buffer.count, &diagnostics);
    hd_function *kernel = hd_module_find_function(module, "k");
    hd_pass_context_init(&context, kernel, &diagnostics);
    hd_option option = {"operands", operands};
    context.options = &option;
    context.option_count = operands != NULL;
    hd_pass_demo(&context);
    hd_pass_context_free(&context);
    for (uint32_t a = 0; a < kernel->annotations.count; a++)
        found += kernel->annotations.items[a].kind == HD_ANNOTATION_DEMO;
    if (!hd_check_demo(kernel, &diagnostics, &checked))
        fail_msg("seed %llu: the check refutes the pass", (unsigned long long)seed);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    return found;
}

static void the_pass_finds_as_many_as_the_best_subset(void **state)
{
    (void)state;
    uint64_t total = 0, several = 0, most = 0, one_each = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        block b = draw_block(seed);
        hd_writer text;
        hd_writer_to_memory(&text);
        print_block(&text, &b);
        uint32_t want = best(&b, true, 2), want_one = best(&b, true, 1);
        uint32_t found = found_by_pass(&text, seed, NULL), found_one = found_by_pass(&text, seed, "1");
        if (found != want || found_one != want_one)
            fail_msg("seed %llu: %u of %u:\n%.*s", (unsigned long long)seed, found, want, (int)text.buffer.count,
                     text.buffer.items);
        total += found;
        one_each += found_one;
        most += best(&b, false, 2);
        several += found > 1;
        hd_writer_free(&text);
    }
    assert_true(total > CASES / 10 && several > CASES / 400);
    assert_true(total < most && total * 25 >= most * 24 && one_each < total);
}

/* ---- annotated by hand ------------------------------------------------------------------------------------------- */

static uint32_t slot_read(const abstract *consumer, uint32_t reg)
{
    return consumer->verb == ADD && consumer->a != reg;
}

/* Does the check accept load `at` where it is, annotated as moved from after `after` of what it may not pass? */
static bool accepts(const hd_writer *text, const block *b, uint32_t at, uint32_t after)
{
    hd_source source;
    hd_diagnostics diagnostics, quiet;
    uint64_t checked = 0;
    hd_diagnostics_init(&diagnostics);
    hd_diagnostics_init(&quiet);
    hd_module *module = rf_parse(&source, text->buffer.items, text->buffer.count, &diagnostics);
    hd_function *kernel = hd_module_find_function(module, "k");
    uint16_t slot = (uint16_t)slot_read(&b->items[at + 1], b->items[at].to);
    hd_annotate(kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO, .instruction = at});
    hd_annotate(kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO_OPERAND, .instruction = at + 1, .slot = slot});
    if (after)
        hd_annotate(kernel, (hd_annotation){.kind = HD_ANNOTATION_DEMO_AFTER, .instruction = at, .value = after});
    hd_annotations_sort(kernel);
    bool accepted = hd_check_demo(kernel, &quiet, &checked);
    assert_int_equal(accepted, quiet.error_count == 0);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    hd_diagnostics_free(&quiet);
    return accepted;
}

static void the_check_refutes_what_may_have_been_moved(void **state)
{
    (void)state;
    uint32_t accepted = 0, refuted = 0, moved = 0;
    for (uint64_t seed = 0; seed < CASES / 4; seed++) {
        block b = draw_block(seed);
        hd_writer text;
        hd_writer_to_memory(&text);
        print_block(&text, &b);
        for (uint32_t at = 0; at + 1 < b.count; at++) {
            const abstract *next = &b.items[at + 1];
            if (b.items[at].verb != LOAD || (next->verb != ADD && next->verb != TEST))
                continue;
            uint32_t passed = 0;
            for (uint32_t i = 0; i < at; i++)
                passed += !may_be_passed(&b.items[at], &b.items[i]);
            bool pair = consumer_of(&b, at) == at + 1;
            for (uint32_t after = 0; after < 4; after++)
                if (accepts(&text, &b, at, after) != (pair && passed <= after))
                    fail_msg("seed %llu: load %u, after %u:\n%.*s", (unsigned long long)seed, at, after,
                             (int)text.buffer.count, text.buffer.items);
            accepted += pair && !passed;
            moved += pair && passed;
            refuted += !pair;
        }
        hd_writer_free(&text);
    }
    assert_true(accepted > 200 && refuted > 200 && moved > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_pass_finds_as_many_as_the_best_subset),
                                       cmocka_unit_test(the_check_refutes_what_may_have_been_moved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
