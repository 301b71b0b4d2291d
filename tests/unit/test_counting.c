/* Loops that end by themselves (passes/analysis/counting.h, passes/check/counting.h): what both find in PTX and in
 * machine code, what then is a poll, and that random loops which they find end whatever an opponent does that chooses
 * each loaded value, at the end of each iteration, such that the loop goes on. */
#include "tests/unit/unit.h"

#include "ir/machine.h"
#include "parser/parse.h"
#include "passes/analysis/counting.h"
#include "passes/analysis/polling.h"
#include "passes/check/counting.h"
#include "passes/check/polling.h"

typedef struct code {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    hd_function *f;
} code;

static void open_code(code *c, const char *text)
{
    hd_parse_options options = {.takes_listings = true};
    hd_source_from_memory(&c->source, "k", text, strlen(text));
    hd_diagnostics_init(&c->diagnostics);
    c->module = hd_parse_ptx(&c->source, &options, &c->diagnostics);
    if (c->diagnostics.first)
        fail_msg("%s:\n%s", c->diagnostics.first->message, text);
    c->f = hd_module_find_function(c->module, "k");
    assert_non_null(c->f);
}

static void close_code(code *c)
{
    hd_module_free(c->module);
    hd_diagnostics_free(&c->diagnostics);
}

enum { PASS = 1, CHECK = 2, BOTH = 3 };

/* By whom loop 0, an outermost one, is found to end; and whether the pass and the checker find polls. */
static uint32_t found_in(code *c, uint32_t *polls)
{
    hd_arena arena = {0};
    hd_facts facts = {0};
    hd_bitset of_pass = hd_find_counting_loops(c->f, &arena), polled = hd_find_polls(c->f, &arena);
    hd_facts_build(&facts, c->f);
    hd_bitset of_check = hd_check_counting_loops(&facts);
    hd_polls *checked = hd_polls_new(&facts);
    assert_int_not_equal(of_pass.bits, 0);
    uint32_t found = (hd_bitset_has(&of_pass, 0) ? PASS : 0) | (hd_bitset_has(&of_check, 0) ? CHECK : 0);
    *polls = hd_bitset_count(&polled) ? PASS : 0;
    for (uint32_t i = 0; i < c->f->instructions.count; i++)
        *polls |= hd_polls_has(checked, i) ? CHECK : 0;
    hd_polls_free(checked);
    hd_facts_free(&facts);
    hd_arena_free(&arena);
    return found;
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

typedef struct loop {
    const char *body;
    uint32_t ends, polls; /* masks */
} loop;

/* What the tests below show for machine code holds for PTX, and the other way round, where only one of them has it. */
static const loop of_ptx[] = {
    /* the limit is loaded each time: the loop goes on until `<` fails, at the greatest value at the latest */
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n", BOTH, 0},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 3;\nsetp.gt.s32 %p0, %r0, %r1;\n@%p0 bra L;\n", BOTH, 0},
    {"L: ld.global.u32 %r0, [%d0];\nsub.u32 %r1, %r1, 1;\nsetp.le.s32 %p0, %r1, %r0;\n@!%p0 bra L;\n", BOTH, 0},
    {"L: ld.shared.u64 %d1, [%r2];\nadd.s64 %d2, %d2, -1;\nsetp.hi.u64 %p0, %d2, %d1;\n@%p0 bra L;\n", BOTH, 0},
    /* one that another thread keeps away from the counter; a greatest value that is a limit; even steps */
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p0, %r1, %r0;\n@%p0 bra L;\n", 0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.le.u32 %p0, %r1, %r0;\n@%p0 bra L;\n", 0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 2;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n", 0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 0;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n", 0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, %r3;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n", 0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nadd.sat.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, %r0;\n@%p0 bra L;\n", 0, BOTH},
    /* spin locks, and one that counts its attempts */
    {"L: atom.global.cas.b32 %r0, [%d0], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n", 0, BOTH},
    {"L: ld.volatile.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra L;\n", 0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra L;\n", 0, BOTH},
    /* one that gives up is still one with strong loads, and none with plain ones: a search */
    {"L: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 7;\n@%p0 bra M;\nadd.u32 %r1, %r1, 1;\n"
     "setp.lt.u32 %p0, %r1, %r2;\n@%p0 bra L;\nM:\n",
     BOTH, 0},
    {"L: ld.relaxed.gpu.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 7;\n@%p0 bra M;\nadd.u32 %r1, %r1, 1;\n"
     "setp.lt.u32 %p1, %r1, %r2;\n@%p1 bra L;\nM:\n",
     BOTH, BOTH},
    /* both conditions in one; the other way round both would have to hold */
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p0, %r0, 7;\n"
     "setp.lt.and.u32 %p1, %r1, %r2, %p0;\n@%p1 bra L;\n",
     BOTH, 0},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p0, %r0, 7;\nsetp.lt.u32 %p1, %r1, %r2;\n"
     "or.pred %p2, %p0, %p1;\n@%p2 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.eq.u32 %p0, %r0, 7;\nsetp.ge.u32 %p1, %r1, %r2;\n"
     "not.pred %p3, %p1;\nnot.pred %p3, %p3;\nor.pred %p2, %p0, %p3;\n@!%p2 bra L;\n",
     BOTH, 0},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p0, %r0, 7;\n"
     "setp.lt.xor.u32 %p1, %r1, %r2, %p0;\n@%p1 bra L;\n",
     0, BOTH},
    /* equality with what the loop does not write, a parameter read in it, and a number; by steps that may miss it */
    {"L: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 7;\n@%p0 bra M;\nadd.u32 %r1, %r1, 1;\n"
     "setp.ne.u32 %p0, %r1, %r2;\n@%p0 bra L;\nM:\n",
     BOTH, 0},
    {"L: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 7;\n@%p0 bra M;\nadd.u32 %r1, %r1, 1;\n"
     "ld.param.u32 %r3, [n];\nsetp.ne.u32 %p0, %r1, %r3;\n@%p0 bra L;\nM:\n",
     BOTH, 0},
    {"L: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 7;\n@%p0 bra M;\nadd.u32 %r1, %r1, 4;\n"
     "setp.ne.u32 %p0, %r1, 64;\n@%p0 bra L;\nM:\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 7;\n@%p0 bra M;\nadd.u32 %r1, %r1, 4;\n"
     "setp.lt.s32 %p0, %r1, 64;\n@%p0 bra L;\nM:\n",
     BOTH, 0},
    {"L: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p0, %r0, 7;\n@%p0 bra M;\nadd.u32 %r1, %r1, 4;\n"
     "setp.lt.s32 %p0, %r1, 2147483646;\n@%p0 bra L;\nM:\n",
     0, BOTH},
    /* copies: those of a loop variable; two that change places advance by two in two iterations, or by one */
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r3, %r1, 1;\nsetp.lt.u32 %p0, %r3, %r0;\nmov.u32 %r1, %r3;\n@%p0 bra L;\n",
     BOTH, 0},
    {"L: ld.global.u32 %r0, [%d0];\nmov.u32 %r3, %r1;\nadd.u32 %r1, %r2, 1;\nadd.u32 %r2, %r3, 1;\n"
     "setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nmov.u32 %r3, %r1;\nadd.u32 %r1, %r2, 1;\nmov.u32 %r2, %r3;\n"
     "setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     BOTH, 0},
    /* the counter is written elsewhere, too; under a guard; not in each iteration; or tested not in each */
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.eq.u32 %p1, %r0, 5;\n@%p1 mov.u32 %r1, 0;\n"
     "setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p1, %r0, 5;\n@%p1 add.u32 %r1, %r1, 1;\n"
     "setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     0, BOTH},
    {"L: mov.u32 %r2, 0;\nM: add.u32 %r1, %r1, 1;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 8;\n@%p1 bra M;\n"
     "ld.global.u32 %r0, [%d0];\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nsetp.eq.u32 %p1, %r0, 5;\n@%p1 bra M;\nadd.u32 %r1, %r1, 1;\n"
     "M: setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.eq.u32 %p1, %r0, 5;\n@%p1 bra L;\n"
     "setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nmov.u32 %r1, 0;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     0, BOTH},
    /* in an outer loop that polls, a loop that counts; and a loop that polls in an outer one that counts */
    {"L: mov.u32 %r1, 0;\nM: ld.global.u32 %r0, [%d0];\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra M;\n"
     "setp.ne.u32 %p1, %r0, 5;\n@%p1 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p1, %r0, 5;\n@%p1 bra L;\nM: add.u32 %r1, %r1, 1;\n"
     "setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     0, BOTH},
    {"L: mov.u32 %r2, 0;\nM: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p1, %r0, 5;\n@%p1 bra M;\nadd.u32 %r1, %r1, 1;\n"
     "setp.lt.u32 %p0, %r1, %r0;\n@%p0 bra L;\n",
     BOTH, BOTH},
    /* local memory is private, unless what is stored there was a poll's value; read-only paths cannot poll */
    {"L: ld.local.u32 %r0, [%d0];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n", 0, 0},
    {"L: ld.global.u32 %r0, [%d0];\nst.local.u32 [%d1], %r0;\nld.local.u32 %r3, [%d1];\nsetp.ne.u32 %p0, %r3, 0;\n"
     "@%p0 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nst.u32 [%d1], %r0;\nld.local.u32 %r3, [%d2];\nsetp.ne.u32 %p0, %r3, 0;\n"
     "@%p0 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra M;\nst.local.u32 [%d1], 1;\n"
     "M: ld.local.u32 %r3, [%d1];\nsetp.ne.u32 %p0, %r3, 0;\n@%p0 bra L;\n",
     0, BOTH},
    {"L: ld.global.u32 %r0, [%d0];\nst.global.u32 [%d1], %r0;\nld.local.u32 %r3, [%d2];\nsetp.ne.u32 %p0, %r3, 0;\n"
     "@%p0 bra L;\n",
     0, 0},
    {"L: ldu.global.u32 %r0, [%d0];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n", 0, 0},
    {"L: tex.1d.v4.s32.s32 {%r0,%r4,%r5,%r6}, [%d0, {%r1}];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n", 0, 0},
    {"L: suld.b.1d.b32.trap %r0, [%d0, {%r1}];\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;\n", 0, BOTH},
};

static const loop of_machine[] = {
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R4, 0x1, RZ ;\nISETP.GE.AND P0, PT, R4, R5, PT ;\n@!P0 BRA `(.L) ;\n", BOTH,
     0},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, P1, PT, R4.reuse, -0x1, RZ ;\nISETP.GT.U32.AND P0, PT, R4, R5, PT ;\n"
     "@P0 BRA `(.L) ;\n",
     BOTH, 0},
    {".L: LDG.E R5, [R2.64] ;\nIMAD.IADD R4, R4, 0x1, RZ ;\nISETP.GE.AND P0, PT, R4, R5, PT ;\n@!P0 BRA `(.L) ;\n", 0,
     BOTH},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, -R4, 0x1, RZ ;\nISETP.GE.AND P0, PT, R4, R5, PT ;\n@!P0 BRA `(.L) ;\n", 0,
     BOTH},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R4, R6, RZ ;\nISETP.GE.AND P0, PT, R4, R5, PT ;\n@!P0 BRA `(.L) ;\n", 0, BOTH},
    {".L: LDG.E R5, [R2.64] ;\nIADD3.X R4, R4, 0x1, RZ, P1, !PT ;\nISETP.GE.AND P0, PT, R4, R5, PT ;\n"
     "@!P0 BRA `(.L) ;\n",
     0, BOTH},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R4, 0x1, RZ ;\nISETP.GE.AND P0, PT, R4, -R5, PT ;\n@!P0 BRA `(.L) ;\n", BOTH,
     0},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R4, 0x1, RZ ;\nISETP.GE.AND P0, PT, -R4, R5, PT ;\n@!P0 BRA `(.L) ;\n", 0,
     BOTH},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R4, 0x1, RZ ;\nISETP.NE.AND P0, PT, R4, c[0x0][0x170], PT ;\n"
     "ISETP.NE.AND P0, PT, R5, 0x7, P0 ;\n@P0 BRA `(.L) ;\n",
     BOTH, 0},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R4, 0x1, RZ ;\nISETP.NE.AND P0, PT, R4, c[0x0][0x170], PT ;\n"
     "ISETP.NE.OR P0, PT, R5, 0x7, P0 ;\n@P0 BRA `(.L) ;\n",
     0, BOTH},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R4, 0x1, RZ ;\nISETP.GE.AND.EX P0, PT, R4, R5, PT, P1 ;\n@!P0 BRA `(.L) ;\n",
     0, BOTH},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R4, 0x1, RZ ;\nMOV R6, R4 ;\nISETP.GE.AND P0, PT, R6, R5, PT ;\n"
     "@!P0 BRA `(.L) ;\n",
     BOTH, 0},
    {".L: LDG.E R5, [R2.64] ;\nIADD3 R4, R6, 0x1, RZ ;\nIMAD.MOV.U32 R6, RZ, RZ, R4 ;\n"
     "ISETP.GE.AND P0, PT, R6, R5, PT ;\n@!P0 BRA `(.L) ;\n",
     BOTH, 0},
    {".L: LDG.E R5, [R2.64] ;\nUIADD3 UR6, UR6, 0x1, URZ ;\nUISETP.GE.AND UP0, UPT, UR6, UR5, UPT ;\n"
     "ISETP.NE.AND P0, PT, R5, RZ, PT ;\n@P0 EXIT ;\nPLOP3.LUT P1, PT, PT, PT, UP0, 0x80, 0x0 ;\n@!P1 BRA `(.L) ;\n",
     0, BOTH},
    /* spin locks */
    {".L: LDG.E.STRONG.GPU R5, [R2.64] ;\nISETP.NE.AND P0, PT, R5, RZ, PT ;\n@P0 BRA `(.L) ;\n", 0, BOTH},
    {".L: ATOMG.E.CAS.STRONG.GPU PT, R5, [R2], R4, R6 ;\nISETP.NE.AND P0, PT, R5, RZ, PT ;\n@P0 BRA `(.L) ;\n", 0,
     BOTH},
    {".L: LDS R5, [R2] ;\nISETP.NE.AND P0, PT, R5, RZ, PT ;\n@P0 BRA `(.L) ;\n", 0, BOTH},
    {".L: LDG.E.STRONG.GPU R5, [R2.64] ;\nIADD3 R4, R4, 0x1, RZ ;\nISETP.GE.AND P1, PT, R4, 0x40, PT ;\n"
     "ISETP.EQ.OR P0, PT, R5, RZ, P1 ;\n@!P0 BRA `(.L) ;\n",
     BOTH, BOTH},
    /* private, and read-only */
    {".L: LDL R5, [R2] ;\nISETP.NE.AND P0, PT, R5, RZ, PT ;\n@P0 BRA `(.L) ;\n", 0, 0},
    {".L: LDG.E R4, [R2.64] ;\nSTL [R1], R4 ;\nLDL R5, [R1] ;\nISETP.NE.AND P0, PT, R5, RZ, PT ;\n@P0 BRA `(.L) ;\n", 0,
     BOTH},
    {".L: LDG.E.CONSTANT R5, [R2.64] ;\nISETP.NE.AND P0, PT, R5, RZ, PT ;\n@P0 BRA `(.L) ;\n", 0, 0},
    {".L: LDC R5, c[0x0][R2] ;\nISETP.NE.AND P0, PT, R5, RZ, PT ;\n@P0 BRA `(.L) ;\n", 0, 0},
};

static void expect(const loop *l, const char *text)
{
    code c;
    uint32_t polls;
    open_code(&c, text);
    uint32_t ends = found_in(&c, &polls);
    if (ends != l->ends || polls != l->polls)
        fail_msg("ends %u, not %u; polls %u, not %u:\n%s", ends, l->ends, polls, l->polls, l->body);
    close_code(&c);
}

static void loops_of_ptx(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof of_ptx / sizeof *of_ptx; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
                 ".reg .b32 %%r<12>; .reg .b64 %%d<4>; .reg .pred %%p<4>;\nld.param.u64 %%d0, [out];\n"
                 "mov.u64 %%d1, %%d0; mov.u64 %%d2, 9; mov.u32 %%r0, 0; mov.u32 %%r1, 0; mov.u32 %%r2, 0;\n"
                 "mov.u32 %%r3, 0;\n%sst.global.u32 [%%d0], %%r1;\nexit;\n}\n",
                 of_ptx[i].body);
        expect(&of_ptx[i], text);
    }
}

static void loops_of_machine_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof of_machine / sizeof *of_machine; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "\t.headerflags\t@\"EF_CUDA_SM80 EF_CUDA_PTX_SM(EF_CUDA_SM80)\"\n.section .text.k,\"ax\",@progbits\n"
                 ".text.k:\nMOV R4, RZ ;\n%sSTG.E [R2.64], R4 ;\nEXIT ;\n",
                 of_machine[i].body);
        expect(&of_machine[i], text);
    }
}

/* ---- by chance --------------------------------------------------------------------------------------------------- */

/* A loop of registers of 16 bits. h0 to h3 are written in it, h4 is loaded at its beginning, h5 is written before it.
 */
typedef struct step {
    enum { ADD, COPY, COMPARE, JOIN, BRANCH, LEAVE } what;
    uint32_t to, from, other; /* registers; JOIN: predicates; BRANCH, LEAVE: `from` is the predicate */
    uint32_t relation, join;  /* join: 0 none, 1 and, 2 or */
    int32_t number;           /* ADD; COMPARE: the limit where `literal` */
    bool is_signed, literal, value;
    bool guarded;   /* not BRANCH, LEAVE: by the opponent's predicate */
    uint32_t until; /* BRANCH: the step to which it goes, later than this one; LEAVE: the end */
} step;
enum { STEPS = 8, LOADED = 4, KEPT = 5, REGISTERS = 6, PREDICATES = 3, OPPONENT = 2 };

typedef struct state {
    uint16_t h[REGISTERS];
    bool p[PREDICATES];
} state;

static step random_step(uint64_t *seed, uint32_t at)
{
    static const int32_t numbers[] = {1, 1, 1, -1, -1, 3, -5, 2, 4, 0, 7, 32767};
    uint32_t what = unit_random(seed) % 16;
    step s = {.what = what < 5    ? ADD
                      : what < 7  ? COPY
                      : what < 11 ? COMPARE
                      : what < 12 ? JOIN
                      : what < 13 ? BRANCH
                                  : LEAVE,
              .to = unit_random(seed) % 3,
              .from = unit_random(seed) % 3,
              .other = unit_random(seed) % REGISTERS,
              .relation = unit_random(seed) % 6,
              .join = unit_random(seed) % 6,
              .number = numbers[unit_random(seed) % 12],
              .is_signed = unit_random(seed) % 2,
              .literal = unit_random(seed) % 3 == 0,
              .value = unit_random(seed) % 2,
              .until = at + 1 + (uint32_t)(unit_random(seed) % (STEPS - at))};
    if (s.what == ADD && unit_random(seed) % 3)
        s.from = s.to;
    s.guarded = s.what < BRANCH && unit_random(seed) % 8 == 0;
    if (s.what >= COMPARE) {
        s.to = unit_random(seed) % (PREDICATES - 1);
        s.from = unit_random(seed) % (s.what == COMPARE ? 3 : PREDICATES);
        s.join = s.what == JOIN ? 1 + s.join % 2 : s.join > 2 ? 0 : s.join;
    }
    return s;
}

static const char *const relations[2][6] = {{"eq", "ne", "lo", "ls", "hi", "hs"}, {"eq", "ne", "lt", "le", "gt", "ge"}};
static const char *const joins[] = {"", ".and", ".or"};

static void print_step(char **out, const step *s, uint32_t at)
{
    *out += sprintf(*out, "S%u: %s", at, s->guarded ? "@%p2 " : "");
    switch (s->what) {
    case ADD: *out += sprintf(*out, "add.u16 %%h%u, %%h%u, %d;\n", s->to, s->from, s->number); break;
    case COPY: *out += sprintf(*out, "mov.u16 %%h%u, %%h%u;\n", s->to, s->other); break;
    case COMPARE:
        *out += sprintf(*out, "setp.%s%s.%s %%p%u, %%h%u, ", relations[s->is_signed][s->relation], joins[s->join],
                        s->is_signed ? "s16" : "u16", s->to, s->from);
        *out += s->literal ? sprintf(*out, "%d", s->number) : sprintf(*out, "%%h%u", s->other);
        *out +=
            s->join ? sprintf(*out, ", %s%%p%u;\n", s->value ? "!" : "", s->other % PREDICATES) : sprintf(*out, ";\n");
        break;
    case JOIN:
        *out +=
            sprintf(*out, "%s.pred %%p%u, %%p%u, %%p%u;\n", joins[s->join] + 1, s->to, s->from, s->other % PREDICATES);
        break;
    case BRANCH: *out += sprintf(*out, "@%s%%p%u bra S%u;\n", s->value ? "" : "!", s->from, s->until); break;
    case LEAVE: *out += sprintf(*out, "@%s%%p%u bra END;\n", s->value ? "" : "!", s->from); break;
    }
}

static bool compare(const step *s, const state *now)
{
    uint16_t a = now->h[s->from], b = s->literal ? (uint16_t)s->number : now->h[s->other];
    int32_t x = s->is_signed ? (int16_t)a : a, y = s->is_signed ? (int16_t)b : b;
    bool all[] = {x == y, x != y, x<y, x <= y, x> y, x >= y}, other = now->p[s->other % PREDICATES] != s->value;
    return s->join == 1 ? all[s->relation] && other : s->join == 2 ? all[s->relation] || other : all[s->relation];
}

/* One iteration; false: the loop was left. */
static bool iterate(const step *steps, state *now)
{
    for (uint32_t i = 0; i < STEPS;) {
        const step *s = &steps[i];
        bool p = now->p[s->from % PREDICATES], q = now->p[s->other % PREDICATES];
        i++;
        if (s->guarded && !now->p[OPPONENT])
            continue;
        switch (s->what) {
        case ADD: now->h[s->to] = (uint16_t)(now->h[s->from] + s->number); break;
        case COPY: now->h[s->to] = now->h[s->other]; break;
        case COMPARE: now->p[s->to] = compare(s, now); break;
        case JOIN: now->p[s->to] = s->join == 1 ? p && q : p || q; break;
        case BRANCH: i = p == s->value ? s->until : i; break;
        case LEAVE:
            if (p == s->value)
                return false;
        }
    }
    return true;
}

/* Whether the loop goes on for more iterations than its counters have values, however often copies delay them. */
static bool goes_on(const step *steps, uint64_t *seed)
{
    state now = {.h = {(uint16_t)unit_random(seed), 0, (uint16_t)unit_random(seed), 0, 0, (uint16_t)unit_random(seed)}};
    now.h[KEPT] = unit_random(seed) % 3 ? now.h[KEPT] : UINT16_MAX;
    for (uint32_t n = 0; n < 5 * 65536; n++) {
        const uint16_t tries[] = {now.h[0],
                                  now.h[1],
                                  now.h[2],
                                  (uint16_t)(now.h[0] + 1),
                                  (uint16_t)(now.h[0] - 1),
                                  (uint16_t)(now.h[1] + 1),
                                  (uint16_t)(now.h[2] - 1),
                                  0,
                                  UINT16_MAX,
                                  32767,
                                  32768};
        uint32_t first = (uint32_t)(unit_random(seed) % 11), t;
        for (t = 0; t < 22; t++) {
            state next = now;
            next.h[LOADED] = tries[(first + t) % 11];
            next.p[OPPONENT] = (t >= 11) != (n % 3 == 0);
            if (iterate(steps, &next)) {
                now = next;
                break;
            }
        }
        if (t == 22)
            return false;
    }
    return true;
}

static void random_loops_end(void **unused)
{
    (void)unused;
    uint64_t seed = 1;
    uint32_t found = 0, endless = 0;
    for (uint32_t n = 0; n < UNIT_CASES(6000); n++) {
        step steps[STEPS];
        char text[2048], *out = text;
        code c;
        uint32_t polls;
        out += sprintf(out, ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n"
                            ".reg .b16 %%h<6>; .reg .pred %%p<3>; .reg .b64 %%d0;\nld.param.u64 %%d0, [at];\n"
                            "L: ld.global.u16 %%h4, [%%d0];\nsetp.eq.u16 %%p2, %%h4, 7;\n");
        for (uint32_t i = 0; i < STEPS; i++) {
            steps[i] = random_step(&seed, i);
            print_step(&out, &steps[i], i);
        }
        sprintf(out, "S%u: bra L;\nEND: ret;\n}\n", STEPS);
        open_code(&c, text);
        uint32_t ends = found_in(&c, &polls);
        close_code(&c);
        assert_true(ends != PASS); /* the checker finds what the pass finds */
        found += ends != 0;
        bool on = (ends || n % 64 == 0) && goes_on(steps, &seed);
        endless += on && !ends;
        if (on && ends)
            fail_msg("does not end:\n%s", text);
    }
    assert_in_range(found, UNIT_CASES(6000) / 40, UNIT_CASES(6000));
    assert_in_range(endless, 1, UINT32_MAX); /* the opponent can keep loops going */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_of_ptx), cmocka_unit_test(loops_of_machine_code),
                                       cmocka_unit_test(random_loops_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
