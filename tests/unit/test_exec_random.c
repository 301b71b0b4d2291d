/* Random control flow: blocks that jump anywhere (branches, tables, guarded exits, calls), run by the interpreter a
 * warp at a time and by a plain evaluator one thread at a time. Every thread's value depends on the whole path that it
 * took. */
#include "kernel.h"

enum { BLOCKS = 12, THREADS = 64, FUEL = 60, PROGRAMS = 400 };

typedef enum ending { GOTO, BRANCH, BRANCH_BOTH, TABLE, GUARDED_EXIT, ENDINGS } ending;

typedef struct block {
    uint32_t multiplier, addend, shift;
    ending end;
    uint32_t targets[4];
    bool calls;
} block;

static void make_program(block *blocks, uint64_t *state)
{
    for (uint32_t i = 0; i < BLOCKS; i++) {
        block *b = &blocks[i];
        *b = (block){(uint32_t)unit_random(state) | 1,
                     (uint32_t)unit_random(state),
                     (uint32_t)unit_random(state) % 28,
                     (ending)(unit_random(state) % ENDINGS),
                     {0},
                     unit_random(state) % 4 == 0};
        for (uint32_t k = 0; k < 4; k++)
            b->targets[k] = (uint32_t)(unit_random(state) % BLOCKS);
    }
}

/* ---- one thread at a time ---------------------------------------------------------------------------------------- */

static uint32_t called(uint32_t x) { return x & 64 ? x * 7 + 1 : x ^ 0x5a5a; }

static uint32_t evaluate(const block *blocks, uint32_t thread)
{
    uint32_t x = thread * 0x9e3779b1u, at = 0;
    for (uint32_t fuel = FUEL; fuel; fuel--) {
        const block *b = &blocks[at];
        uint32_t next = (at + 1) % BLOCKS;
        x = x * b->multiplier + b->addend;
        if (b->calls)
            x = called(x);
        uint32_t bits = x >> b->shift & 3;
        switch (b->end) {
        case GOTO: at = b->targets[0]; break;
        case BRANCH: at = bits & 1 ? b->targets[0] : next; break;
        case BRANCH_BOTH: at = bits & 1 ? b->targets[0] : b->targets[1]; break;
        case TABLE: at = b->targets[bits]; break;
        case GUARDED_EXIT:
            if (bits == 3)
                return x;
            at = next;
            break;
        case ENDINGS: break;
        }
    }
    return x;
}

/* ---- as PTX ------------------------------------------------------------------------------------------------------ */

static size_t write_block(char *text, size_t size, const block *b, uint32_t i)
{
    size_t n = 0;
    uint32_t next = (i + 1) % BLOCKS;
#define PUT(...) n += (size_t)snprintf(text + n, size - n, __VA_ARGS__)
    PUT("B%u: setp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra END;\nsub.u32 %%r2, %%r2, 1;\n", i);
    PUT("mad.lo.u32 %%r1, %%r1, %u, %u;\n", b->multiplier, b->addend);
    if (b->calls)
        PUT("{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %%r1;\ncall (r), f, (a);\nld.param.b32 %%r1, "
            "[r];\n}\n");
    PUT("shr.u32 %%r3, %%r1, %u;\nand.b32 %%r3, %%r3, 3;\nand.b32 %%r4, %%r3, 1;\nsetp.ne.u32 %%p2, %%r4, 0;\n",
        b->shift);
    switch (b->end) {
    case GOTO: PUT("bra B%u;\n", b->targets[0]); break;
    case BRANCH: PUT("@%%p2 bra B%u;\nbra B%u;\n", b->targets[0], next); break;
    case BRANCH_BOTH: PUT("@!%%p2 bra B%u;\nbra B%u;\n", b->targets[1], b->targets[0]); break;
    case TABLE:
        PUT("T%u: .branchtargets B%u, B%u, B%u, B%u;\nbrx.idx %%r3, T%u;\n", i, b->targets[0], b->targets[1],
            b->targets[2], b->targets[3], i);
        break;
    case GUARDED_EXIT:
        PUT("setp.eq.u32 %%p3, %%r3, 3;\n@%%p3 st.global.u32 [%%rd3], %%r1;\n@%%p3 exit;\n");
        if (next != i + 1)
            PUT("bra B%u;\n", next);
        break;
    case ENDINGS: break;
    }
#undef PUT
    return n;
}

static const char *write_program(char *text, size_t size, const block *blocks)
{
    size_t n = (size_t)snprintf(
        text, size,
        ".version 8.0\n.target sm_80\n.address_size 64\n.func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 "
        "%%r<4>;\n.reg .pred %%p1;\n"
        "ld.param.u32 %%r1, [x];\nand.b32 %%r2, %%r1, 64;\nsetp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra ELSE;\nmad.lo.u32 "
        "%%r1, %%r1, 7, 1;\n"
        "st.param.b32 [r], %%r1;\nret;\nELSE: xor.b32 %%r1, %%r1, 0x5a5a;\nst.param.b32 [r], %%r1;\n}\n"
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<6>;\n.reg .pred "
        "%%p<4>;\n"
        "ld.param.u64 %%rd1, [out];\nmov.u32 %%r0, %%tid.x;\nmad.wide.u32 %%rd3, %%r0, 4, %%rd1;\nmul.lo.u32 %%r1, "
        "%%r0, 0x9e3779b1;\n"
        "mov.u32 %%r2, %u;\n",
        FUEL);
    for (uint32_t i = 0; i < BLOCKS; i++)
        n += write_block(text + n, size - n, &blocks[i], i);
    snprintf(text + n, size - n, "END: st.global.u32 [%%rd3], %%r1;\nret;\n}\n");
    return text;
}

/* Issue events of a warp may name only lanes that live, and the frame's depth follows calls and returns. */
typedef struct watch {
    uint32_t live[THREADS / 32], depth[THREADS / 32];
    bool wrong;
} watch;

static bool take(void *context, const hd_event *e)
{
    watch *w = context;
    switch ((hd_event_kind)e->kind) {
    case HD_EVENT_WARP_START: w->live[e->warp] = e->active; break;
    case HD_EVENT_ISSUE:
        w->wrong = w->wrong || e->active & ~w->live[e->warp] || e->effective & ~e->active || !e->active;
        break;
    case HD_EVENT_CALL: w->depth[e->warp]++; break;
    case HD_EVENT_RETURN: w->depth[e->warp]--; break;
    case HD_EVENT_WARP_END: w->wrong = w->wrong || w->depth[e->warp]; break;
    case HD_EVENT_LAUNCH:
    case HD_EVENT_CTA_START:
    case HD_EVENT_CTA_END:
    case HD_EVENT_LAUNCH_END:
    case HD_EVENT_ARRIVE:
    case HD_EVENT_OPEN:
    case HD_EVENT_PASS: break;
    }
    return true;
}

static void unstructured_programs(void **state)
{
    (void)state;
    uint64_t seed = 2026, divergent = 0;
    for (uint32_t k = 0; k < PROGRAMS; k++) {
        block blocks[BLOCKS];
        static char text[32768];
        uint32_t out[THREADS];
        watch w = {{0}, {0}, false};
        hd_sink sink = {take, &w, 0, NULL};
        make_program(blocks, &seed);
        memset(out, 0, sizeof out);
        kernel_run run = {.text = write_program(text, sizeof text, blocks),
                          .in = out,
                          .in_bytes = 4,
                          .out = out,
                          .out_bytes = sizeof out,
                          .block = THREADS,
                          .sink = k & 1 ? &sink : NULL};
        run_kernel(&run);
        if (run.status != HD_EXEC_DONE)
            fail_msg("program %u: %s\n%s", k, run.message, text);
        for (uint32_t t = 0; t < THREADS; t++)
            if (out[t] != evaluate(blocks, t))
                fail_msg("program %u, thread %u: %u, expected %u\n%s", k, t, out[t], evaluate(blocks, t), text);
        assert_false(w.wrong);
        divergent += run.statistics.divergent_branches;
    }
    assert_true(divergent > 20 * PROGRAMS); /* the programs do what they are for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unstructured_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
