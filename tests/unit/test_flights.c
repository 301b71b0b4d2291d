/* Registers in flight on random control flow: the spans of checkers (passes/check/flights.h) and the liveness of passes
 * (passes/analysis/async_spans.h) against all paths, walked one instruction at a time. */
#include "rf_bench.h"
#include "unit.h"

#include "passes/analysis/analyses.h"
#include "passes/analysis/liveness.h"
#include "passes/check/flights.h"

enum { PROGRAMS = 3000, MOST = 24, GROUPS = 2, COMMITS = 6, TEXT_BYTES = 8192 };

typedef enum kind { PLAIN, PRODUCT, COMMIT, WAIT, GUARDED_COMMIT, GUARDED_WAIT, BRANCH, JUMP, END } kind;

typedef struct step {
    kind kind;
    uint32_t number; /* group of registers, groups that a wait leaves, or target */
} step;

typedef struct body {
    step steps[MOST + 1];
    uint32_t count;
    bool device; /* a function, which returns to its caller, and begins with the first step */
} body;

static body random_body(uint64_t *seed)
{
    static const kind kinds[] = {PLAIN,        PLAIN, PRODUCT, PRODUCT, PRODUCT, COMMIT, COMMIT, COMMIT, GUARDED_COMMIT,
                                 GUARDED_WAIT, WAIT,  WAIT,    WAIT,    BRANCH,  BRANCH, BRANCH, JUMP,   END};
    body b = {.count = 4 + (uint32_t)(unit_random(seed) % (MOST - 4)), .device = unit_random(seed) % 4 == 0};
    for (uint32_t i = 0; i < b.count; i++) {
        b.steps[i].kind = kinds[unit_random(seed) % (sizeof kinds / sizeof *kinds)];
        uint32_t most = b.steps[i].kind == PRODUCT                                   ? GROUPS
                        : b.steps[i].kind == WAIT || b.steps[i].kind == GUARDED_WAIT ? 3
                                                                                     : b.count + 1;
        b.steps[i].number = (uint32_t)(unit_random(seed) % most);
    }
    b.steps[b.count++] = (step){END, 0};
    return b;
}

static void write_body(hd_writer *w, const body *b)
{
    hd_write_format(w,
                    ".version 8.6\n.target sm_90a\n.address_size 64\n%s\n{\n"
                    ".reg .b32 %%a<8>; .reg .f32 %%f<8>; .reg .pred %%p<2>; .reg .b32 %%t;\n%s",
                    b->device ? ".func k(.reg .b64 %d, .reg .b32 %x)" : ".entry k(.param .u64 desc)",
                    b->device ? "" : ".reg .b64 %d; .reg .b32 %x;\nld.param.u64 %d, [desc];\nmov.u32 %x, %tid.x;\n");
    for (uint32_t i = 0; i < b->count; i++) {
        const step *s = &b->steps[i];
        uint32_t r = 4 * s->number;
        hd_write_format(w, "L%u: ", i);
        switch (s->kind) {
        case PLAIN: hd_write_format(w, "add.u32 %%t, %%x, %u;\n", i); break;
        case PRODUCT:
            hd_write_format(w,
                            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f%u,%%f%u,%%f%u,%%f%u}, "
                            "{%%a%u,%%a%u,%%a%u,%%a%u}, %%d, %%p0, 1, 1, 0;\n",
                            r, r + 1, r + 2, r + 3, r, r + 1, r + 2, r + 3);
            break;
        case GUARDED_COMMIT: hd_write_format(w, "@%%p1 "); /* fall through */
        case COMMIT: hd_write_format(w, "wgmma.commit_group.sync.aligned;\n"); break;
        case GUARDED_WAIT: hd_write_format(w, "@%%p1 "); /* fall through */
        case WAIT: hd_write_format(w, "wgmma.wait_group.sync.aligned %u;\n", s->number); break;
        case BRANCH: hd_write_format(w, "@%%p1 bra L%u;\n", s->number); break;
        case JUMP: hd_write_format(w, "bra L%u;\n", s->number); break;
        case END: hd_write_format(w, "ret;\n"); break;
        }
    }
    hd_write_format(w, "}\n");
}

static uint32_t next_steps(const body *b, uint32_t at, uint32_t to[2])
{
    const step *s = &b->steps[at];
    if (s->kind == END)
        return 0;
    to[0] = s->kind == JUMP ? s->number : at + 1;
    to[1] = s->number;
    return s->kind == BRANCH ? 2 : 1;
}

/* What the registers of group g are before each step: in flight; or live, which they are where a product, or a step
 * before which a product that is reached has them in flight, can follow. */
typedef struct truth {
    bool flies[GROUPS][MOST + 1], used[GROUPS][MOST + 1], reached[MOST + 1], leaves;
} truth;

/* Follows the product at `start` to the steps that it is in flight before. commits: 0 while its group is open. */
static void walk(const body *b, truth *t, uint32_t start, uint32_t at, uint32_t commits, bool seen[][COMMITS])
{
    const step *s = &b->steps[at];
    uint32_t to[2];
    if (seen[at][commits])
        return;
    seen[at][commits] = true;
    t->flies[b->steps[start].number][at] = true;
    t->used[b->steps[start].number][at] |= t->reached[start];
    t->leaves = t->leaves || (s->kind == END && b->device);
    if (at == start || (s->kind == WAIT && commits && commits - 1 >= s->number))
        return;
    if (s->kind == COMMIT && commits < COMMITS - 1)
        commits++;
    for (uint32_t count = next_steps(b, at, to), k = 0; k < count; k++)
        walk(b, t, start, to[k], commits, seen);
}

static void find_truth(const body *b, truth *t)
{
    uint32_t to[2];
    memset(t, 0, sizeof *t);
    t->reached[0] = true;
    for (uint32_t round = 0; round < b->count; round++)
        for (uint32_t i = 0; i < b->count; i++)
            for (uint32_t count = next_steps(b, i, to), k = 0; k < count; k++)
                t->reached[to[k]] |= t->reached[i];
    for (uint32_t i = 0; i < b->count; i++)
        if (b->steps[i].kind == PRODUCT) {
            bool seen[MOST + 1][COMMITS] = {{false}};
            walk(b, t, i, i + 1, 0, seen);
            t->used[b->steps[i].number][i] = true;
        }
    for (uint32_t round = 0; round < b->count; round++)
        for (uint32_t i = b->count; i-- > 0;)
            for (uint32_t count = next_steps(b, i, to), k = 0; k < count; k++)
                for (uint32_t g = 0; g < GROUPS; g++)
                    t->used[g][i] = t->used[g][i] || t->used[g][to[k]];
}

static uint32_t register_called(const hd_function *f, const char *name)
{
    char text[64];
    for (uint32_t r = 0; r < f->registers.count; r++) {
        hd_register_spell(f, r, text, sizeof text);
        if (!strcmp(text, name))
            return r;
    }
    return HD_NONE; /* no instruction names it */
}

static bool is_live(hd_pass_context *context, hd_arena *arena, const hd_liveness *liveness, uint32_t reg, uint32_t at)
{
    hd_live_walk walk;
    hd_live_walk_init(&walk, arena, context->function, liveness);
    for (hd_live_start(&walk, walk.cfg->block_of[at]); walk.ordinal > at;)
        hd_live_step(&walk);
    return hd_live_has(&walk, reg);
}

static void compare(rf_bench *b, const body *wanted, uint64_t seed)
{
    static const char *const names[GROUPS][2] = {{"%a1", "%f3"}, {"%a7", "%f4"}};
    hd_arena arena = {0};
    hd_pass_context context;
    truth t;
    find_truth(wanted, &t);
    hd_pass_context_init(&context, b->kernel, &b->diagnostics);
    hd_flights flights = hd_flights_of(b->kernel, NULL, b->kernel->registers.count, &arena);
    const hd_liveness *liveness = hd_liveness_build(&context, &arena);
    assert_int_equal(flights.leave, t.leaves);
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t reg = register_called(b->kernel, names[g][k]);
            for (uint32_t i = 0; i < wanted->count && reg != HD_NONE; i++) {
                uint32_t at = i + (wanted->device ? 0 : 2);
                if (hd_flights_has(&flights, reg, at) != t.flies[g][i])
                    fail_msg("seed %llu: %s is %sin flight before L%u", (unsigned long long)seed, names[g][k],
                             t.flies[g][i] ? "not " : "", i);
                bool live = t.used[g][i];
                if (t.reached[i] && is_live(&context, &arena, liveness, reg, at) != live)
                    fail_msg("seed %llu: %s is %slive before L%u", (unsigned long long)seed, names[g][k],
                             live ? "not " : "", i);
            }
        }
    hd_pass_context_free(&context);
    hd_arena_free(&arena);
}

static void spans_are_those_of_all_paths(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= UNIT_CASES(PROGRAMS); seed++) {
        uint64_t random = seed;
        rf_bench b;
        hd_writer text;
        body wanted = random_body(&random);
        hd_writer_to_memory(&text);
        write_body(&text, &wanted);
        rf_bench_open(&b, text.buffer.items, text.buffer.count);
        compare(&b, &wanted, seed);
        rf_bench_close(&b);
        hd_writer_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spans_are_those_of_all_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
