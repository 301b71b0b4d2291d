/* Uniformity, liveness and warp order against the oracle (tests/unit/oracle.h) on random programs: the passes must say
 * what the naive rules say, and a machine that releases by them must never miss a value. Each rule is broken in turn:
 * the machine must notice. ORACLE_COUNT=N in the environment runs N programs (default 1,000); ORACLE_SEED=N starts at
 * another. */
#include "tests/unit/unit.h"

#include "parser/parse.h"
#include "passes/analysis/liveness.h"
#include "passes/analysis/analyses.h"
#include "tests/unit/oracle.h"
#include "tests/unit/order_mask.h"

enum { RUNS = 3 }; /* executions of each program */

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- a program as the toolkit sees it ---------------------------------------------------------------------------- */

typedef struct subject {
    oracle_program program;
    uint64_t seed;
    hd_diagnostics diagnostics;
    hd_source source;
    hd_module *module;
    hd_function *function;
    uint32_t bit[64]; /* register id to the oracle's register; ORACLE_REGISTERS: none of its */
} subject;

static void map_registers(subject *s)
{
    for (uint32_t r = 0; r < s->function->registers.count; r++) {
        char name[32];
        assert_true(r < 64);
        hd_register_spell(s->function, r, name, sizeof name);
        s->bit[r] = ORACLE_REGISTERS;
        if (name[1] == 'r' && name[2] != 'd')
            s->bit[r] = (uint32_t)(name[2] - '0');
        else if (name[1] == 'p')
            s->bit[r] = ORACLE_WORDS + (uint32_t)(name[2] - '0');
    }
}

static void subject_open(subject *s, uint64_t seed)
{
    hd_writer text;
    memset(s, 0, sizeof *s);
    s->seed = seed;
    oracle_generate(&s->program, seed);
    hd_writer_to_memory(&text);
    oracle_print(&s->program, &text);
    hd_diagnostics_init(&s->diagnostics);
    s->diagnostics.severity[HD_DIAG_UNKNOWN_OPCODE] = HD_SILENT;
    hd_source_from_memory(&s->source, "random.ptx", text.buffer.items, text.buffer.count);
    s->module = hd_parse_ptx(&s->source, &(hd_parse_options){0}, &s->diagnostics);
    if (s->diagnostics.first)
        print_error("seed %llu: %s\n%.*s", (unsigned long long)seed, s->diagnostics.first->message,
                    (int)text.buffer.count, text.buffer.items);
    assert_null(s->diagnostics.first);
    s->function = s->module->functions.items[0];
    assert_true(hd_ir_validate(s->module));
    map_registers(s);
    hd_writer_free(&text);
}

static void subject_close(subject *s)
{
    hd_module_free(s->module);
    hd_diagnostics_free(&s->diagnostics);
}

static void subject_fail(const subject *s, const char *what, uint32_t block)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    oracle_print(&s->program, &text);
    print_error("%.*s", (int)text.buffer.count, text.buffer.items);
    hd_writer_free(&text);
    fail_msg("seed %llu: %s at block %u", (unsigned long long)s->seed, what, block);
}

#define SAME(s, what, block, passes, oracle)    \
    do {                                        \
        if ((passes) != (oracle))               \
            subject_fail((s), (what), (block)); \
    } while (0)

/* ---- the passes' answer in the oracle's terms -------------------------------------------------------------------- */

static uint16_t bits_of(const subject *s, const uint32_t *items, uint32_t count)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < count; i++)
        mask |= 1u << s->bit[items[i]];
    return (uint16_t)(mask & ((1u << ORACLE_REGISTERS) - 1));
}

static uint16_t bits_of_set(const subject *s, hd_register_set set) { return bits_of(s, set.items, set.count); }

static void read_liveness(const subject *s, hd_pass_context *context, oracle_facts *facts)
{
    const hd_liveness *live = hd_analysis_get(context, HD_ANALYSIS_LIVENESS);
    const hd_cfg *cfg = hd_function_cfg(s->function);
    hd_live_walk walk;
    hd_live_walk_init(&walk, &context->scratch, s->function, live);
    for (uint32_t b = 0; b <= cfg->block_count; b++)
        facts->live_in[b] = bits_of_set(s, live->live_in[b]);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        facts->live_out[b] = bits_of_set(s, live->live_out[b]);
        hd_live_start(&walk, b);
        for (uint32_t i = cfg->blocks[b].end - cfg->blocks[b].first; i-- > 0;) {
            facts->live_after[b][i] = bits_of(s, walk.members, walk.count);
            hd_live_step(&walk);
        }
        SAME(s, "the walk and live-in", b, bits_of(s, walk.members, walk.count), facts->live_in[b]);
    }
}

static void read_facts(const subject *s, oracle_rule rule, oracle_facts *facts)
{
    static const hd_liveness_rule rules[] = {HD_LIVENESS_OURS, HD_LIVENESS_PAPER, HD_LIVENESS_ITS};
    hd_pass_context context;
    memset(facts, 0, sizeof *facts);
    hd_pass_context_init(&context, s->function, (hd_diagnostics *)&s->diagnostics);
    context.liveness = rules[rule];
    read_liveness(s, &context, facts);
    const hd_uniformity *uniformity = hd_analysis_get(&context, HD_ANALYSIS_UNIFORMITY);
    const hd_warp_liveness *warp = hd_analysis_get(&context, HD_ANALYSIS_WARP_LIVENESS);
    const hd_warp_order *order = hd_analysis_get(&context, HD_ANALYSIS_WARP_ORDER);
    HD_BITSET_EACH (&uniformity->divergent_registers, r)
        facts->divergent |= (uint16_t)(s->bit[r] < ORACLE_REGISTERS ? 1u << s->bit[r] : 0);
    HD_BITSET_EACH (&uniformity->divergent_branches, b)
        facts->branches |= 1ull << b;
    for (uint32_t b = 0; b < s->program.count; b++) {
        facts->pend[b] = bits_of_set(s, warp->pend[b]);
        facts->order[b] = order_mask(order->successor_first, order->successors, s->program.count, order->nodes, b);
        uint64_t backward = 0;
        for (uint32_t o = 0; o < s->program.count; o++)
            backward |=
                (order_mask(order->predecessor_first, order->predecessors, s->program.count, order->nodes, o) >> b & 1)
                << o;
        SAME(s, "warp order both ways", b, facts->order[b] & ~(1ull << s->program.count), backward);
    }
    hd_pass_context_free(&context);
}

static void compare_facts(const subject *s, const oracle_facts *passes, const oracle_facts *oracle)
{
    SAME(s, "divergent registers", 0, passes->divergent, oracle->divergent);
    SAME(s, "divergent branches", 0, passes->branches, oracle->branches);
    for (uint32_t b = 0; b <= s->program.count; b++)
        SAME(s, "live-in", b, passes->live_in[b], oracle->live_in[b]);
    for (uint32_t b = 0; b < s->program.count; b++) {
        SAME(s, "live-out", b, passes->live_out[b], oracle->live_out[b]);
        for (uint32_t i = 0; i < s->program.blocks[b].count; i++)
            SAME(s, "live after an instruction", b, passes->live_after[b][i], oracle->live_after[b][i]);
        SAME(s, "pend", b, passes->pend[b], oracle->pend[b]);
        SAME(s, "warp order", b, passes->order[b], oracle->order[b]);
    }
}

/* ---- the machine's answer ---------------------------------------------------------------------------------------- */

static int run_program(const oracle_program *p, uint64_t seed, const oracle_facts *facts, bool interleaved,
                       bool per_lane, const uint8_t *color)
{
    int failure = 0;
    for (uint64_t n = 0; n < RUNS; n++)
        failure |= oracle_execute(p, &(oracle_run){interleaved, per_lane, facts, color, seed * RUNS + n});
    return interleaved ? failure & ~ORACLE_SPLIT
                       : failure; /* sides that meet by chance may split at any branch again */
}

static void check_program(uint64_t seed)
{
    subject s;
    oracle_facts passes, naive;
    uint8_t color[ORACLE_REGISTERS];
    subject_open(&s, seed);
    SAME(&s, "the number of blocks", 0, hd_function_cfg(s.function)->block_count, s.program.count);
    for (oracle_rule rule = ORACLE_OURS; rule < ORACLE_RULES; rule++) {
        read_facts(&s, rule, &passes);
        oracle_analyse(&s.program, rule, ORACLE_SOUND, &naive);
        compare_facts(&s, &passes, &naive);
        SAME(&s, "release", rule, run_program(&s.program, seed, &passes, rule == ORACLE_ITS, false, NULL), 0);
    }
    oracle_color(&s.program, &passes, color);
    SAME(&s, "names by thread-level liveness", 0, run_program(&s.program, seed, &passes, seed % 2, true, color), 0);
    subject_close(&s);
}

static void passes_agree_with_the_oracle(void **state)
{
    uint64_t count = number_from("ORACLE_COUNT", UNIT_CASES(1000)), first = number_from("ORACLE_SEED", 1);
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++)
        check_program(seed);
}

/* ---- broken rules ------------------------------------------------------------------------------------------------ */

typedef struct broken {
    const char *what;
    oracle_mutation mutation;
    oracle_rule rule;
    bool interleaved, per_lane, color;
    int failure; /* what the machine must find */
} broken;

static const broken broken_rules[] = {
    {"pend without what is live into the join", ORACLE_DROP_JOIN, ORACLE_OURS, false, false, false,
     ORACLE_READ_RELEASED},
    {"pend without the other sides", ORACLE_DROP_SIDES, ORACLE_OURS, false, false, false, ORACLE_READ_RELEASED},
    {"thread-level liveness for warp-wide registers", ORACLE_DROP_PEND, ORACLE_OURS, false, false, false,
     ORACLE_READ_RELEASED},
    {"the papers' rule without the join", ORACLE_DROP_JOIN, ORACLE_PAPER, false, false, false, ORACLE_READ_RELEASED},
    {"guarded definitions kill", ORACLE_GUARDED_KILLS, ORACLE_OURS, false, false, false, ORACLE_READ_RELEASED},
    {"guarded definitions kill, lane by lane", ORACLE_GUARDED_KILLS, ORACLE_OURS, false, true, false,
     ORACLE_READ_RELEASED},
    {"guarded definitions kill, for names", ORACLE_GUARDED_KILLS, ORACLE_OURS, false, true, true, ORACLE_CLOBBERED},
    {"definitions of a part kill", ORACLE_PART_KILLS, ORACLE_OURS, false, true, false, ORACLE_READ_RELEASED},
    {"opaque instructions only write", ORACLE_OPAQUE_KILLS, ORACLE_OURS, false, true, false, ORACLE_READ_RELEASED},
    {"guards are no uses", ORACLE_GUARD_IS_NO_USE, ORACLE_OURS, false, true, false, ORACLE_READ_RELEASED},
    {"results die at the return", ORACLE_RESULT_DIES, ORACLE_OURS, false, true, false, ORACLE_READ_RELEASED},
    {"uniformity by operands only: splits", ORACLE_UNIFORM_BY_OPERANDS, ORACLE_OURS, false, false, false, ORACLE_SPLIT},
    {"divergent guards give uniform results", ORACLE_UNIFORM_GUARD, ORACLE_OURS, false, false, false, ORACLE_SPLIT},
    {"loads are uniform", ORACLE_UNIFORM_LOAD, ORACLE_OURS, false, false, false, ORACLE_SPLIT},
    {"warp order by CFG edges", ORACLE_ORDER_BY_EDGES, ORACLE_OURS, false, false, false, ORACLE_OUT_OF_ORDER},
    {"warp order without the other sides", ORACLE_ORDER_NO_SIDES, ORACLE_OURS, false, false, false,
     ORACLE_OUT_OF_ORDER},
    {"warp order without lanes that exit", ORACLE_ORDER_NO_EXIT, ORACLE_OURS, false, false, false, ORACLE_OUT_OF_ORDER},
    {"interleaved sides under the stack's rule", ORACLE_SOUND, ORACLE_OURS, true, false, false, ORACLE_READ_RELEASED},
    {"interleaved sides under the papers' rule", ORACLE_SOUND, ORACLE_PAPER, true, false, false, ORACLE_READ_RELEASED},
    {"interleaved: what is live into the side only", ORACLE_ITS_LIVE_IN, ORACLE_ITS, true, false, false,
     ORACLE_READ_RELEASED},
    {"interleaved: sides end at the join", ORACLE_ITS_JOINS, ORACLE_ITS, true, false, false, ORACLE_READ_RELEASED},
};

/* Programs run until the machine found it in three, or in none of `most`. */
static uint32_t find_failures(const broken *b, uint64_t most, uint64_t *programs)
{
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= most && found < 3; seed++) {
        *programs = seed;
        oracle_program program;
        oracle_facts facts;
        uint8_t color[ORACLE_REGISTERS];
        oracle_generate(&program, seed);
        oracle_analyse(&program, b->rule, b->mutation, &facts);
        oracle_color(&program, &facts, color);
        found += (run_program(&program, seed, &facts, b->interleaved, b->per_lane, b->color ? color : NULL) &
                  b->failure) != 0;
    }
    return found;
}

static void the_machine_finds_broken_rules(void **state)
{
    uint64_t most = 20 * number_from("ORACLE_COUNT", 1000), programs = 0;
    (void)state;
    for (uint32_t i = 0; i < sizeof broken_rules / sizeof *broken_rules; i++) {
        uint32_t found = find_failures(&broken_rules[i], most, &programs);
        print_message("%u of %llu programs: %s\n", found, (unsigned long long)programs, broken_rules[i].what);
        if (!found)
            fail_msg("not found: %s", broken_rules[i].what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_agree_with_the_oracle),
        cmocka_unit_test(the_machine_finds_broken_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
