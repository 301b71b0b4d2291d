/* The clean-up passes: on random programs, each and all of them, in the interpreter against program_evaluate; and what
 * they make of small kernels, as text. CLEAN_COUNT=N programs for each list of passes (default 60), CLEAN_SEED=N starts
 * there, CLEAN_PASSES=LIST runs only that list. */
#include "golden_kernels.h"
#include "kernel.h"
#include "program.h"

#include "emitters/ir/ptx.h"

enum { TEXT_BYTES = 1 << 19 };

/* ---- random programs --------------------------------------------------------------------------------------------- */

static const char *const lists[] = {
    "cvta",
    "copyprop",
    "copyprop(all)",
    "params",
    "dce",
    "copyprop(all),dce",
    "fold",
    "fold(fuse)",
    "copyprop(all),fold,dce",
    "ifconvert",
    "ifconvert(limit=64)",
    "copyprop(all),fold(fuse),dce,ifconvert(limit=64),copyprop(all),dce",
    "clean",
    "clean,clean",
    "select",
    "select,select",
    "address32",
    "address32,select",
    "select,address32,select,regalloc",
    "demo",
    "select,demo",
};

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void run_program(const program *p, uint64_t seed, const char *text, const char *passes)
{
    static uint32_t got[96 * RESULT_WORDS], want[96 * RESULT_WORDS];
    memset(got, 0, sizeof got);
    kernel_run run = {.text = text,
                      .passes = passes,
                      .low_memory = strstr(passes, "address32") != NULL,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = got,
                      .out_bytes = sizeof *got * RESULT_WORDS * p->threads,
                      .block = p->threads,
                      .options.instruction_limit = 10000000};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s, seed %llu: line %u: %s", passes, (unsigned long long)seed, run.line, run.message);
    program_plain(p, got);
    program_evaluate(p, want);
    for (uint32_t i = 0; i < p->threads * RESULT_WORDS; i++)
        if (got[i] != want[i])
            fail_msg("%s, seed %llu, thread %u, word %u: 0x%08x, expected 0x%08x", passes, (unsigned long long)seed,
                     i / RESULT_WORDS, i % RESULT_WORDS, got[i], want[i]);
}

static void programs_compute_the_same(void **state)
{
    static program p;
    uint64_t count = number_from("CLEAN_COUNT", UNIT_CASES(60)), first = number_from("CLEAN_SEED", 1);
    const char *only = getenv("CLEAN_PASSES");
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = first; seed < first + count; seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        for (uint32_t i = 0; i < (only ? 1 : sizeof lists / sizeof *lists); i++)
            run_program(&p, seed, text, only ? only : lists[i]);
    }
    free(text);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Forms that fold computes, and some that it must leave: opcode, kinds of the operands (H 16, R 32, D 64 bits, F f32, G
 * f64). */
static const char *const forms[][2] = {
    {"add.s16", "HHH"},       {"add.u32", "RRR"},        {"add.s64", "DDD"},       {"sub.u16", "HHH"},
    {"sub.s32", "RRR"},       {"sub.u64", "DDD"},        {"mul.lo.s16", "HHH"},    {"mul.lo.u32", "RRR"},
    {"mul.lo.s64", "DDD"},    {"mul.hi.s16", "HHH"},     {"mul.hi.u16", "HHH"},    {"mul.hi.s32", "RRR"},
    {"mul.hi.u32", "RRR"},    {"mul.hi.s64", "DDD"},     {"mul.hi.u64", "DDD"},    {"mul.wide.s16", "RHH"},
    {"mul.wide.u16", "RHH"},  {"mul.wide.s32", "DRR"},   {"mul.wide.u32", "DRR"},  {"mad.lo.s16", "HHHH"},
    {"mad.lo.u32", "RRRR"},   {"mad.lo.s64", "DDDD"},    {"mad.hi.s32", "RRRR"},   {"mad.wide.s16", "RHHR"},
    {"mad.wide.u16", "RHHR"}, {"mad.wide.s32", "DRRD"},  {"mad.wide.u32", "DRRD"}, {"div.s16", "HHH"},
    {"div.u16", "HHH"},       {"div.s32", "RRR"},        {"div.u32", "RRR"},       {"div.s64", "DDD"},
    {"div.u64", "DDD"},       {"rem.s16", "HHH"},        {"rem.u16", "HHH"},       {"rem.s32", "RRR"},
    {"rem.u32", "RRR"},       {"rem.s64", "DDD"},        {"rem.u64", "DDD"},       {"neg.s16", "HH"},
    {"neg.s32", "RR"},        {"neg.s64", "DD"},         {"abs.s16", "HH"},        {"abs.s32", "RR"},
    {"abs.s64", "DD"},        {"min.s16", "HHH"},        {"min.u32", "RRR"},       {"min.s64", "DDD"},
    {"max.u16", "HHH"},       {"max.s32", "RRR"},        {"max.u64", "DDD"},       {"and.b16", "HHH"},
    {"and.b32", "RRR"},       {"or.b64", "DDD"},         {"xor.b16", "HHH"},       {"not.b16", "HH"},
    {"not.b32", "RR"},        {"not.b64", "DD"},         {"shl.b16", "HHR"},       {"shl.b32", "RRR"},
    {"shl.b64", "DDR"},       {"shr.u16", "HHR"},        {"shr.s16", "HHR"},       {"shr.u32", "RRR"},
    {"shr.s32", "RRR"},       {"shr.b32", "RRR"},        {"shr.u64", "DDR"},       {"shr.s64", "DDR"},
    {"popc.b32", "RR"},       {"popc.b64", "RD"},        {"clz.b32", "RR"},        {"clz.b64", "RD"},
    {"brev.b32", "RR"},       {"brev.b64", "DD"},        {"cvt.u32.u16", "RH"},    {"cvt.s32.s16", "RH"},
    {"cvt.u32.s16", "RH"},    {"cvt.s64.s32", "DR"},     {"cvt.u64.s32", "DR"},    {"cvt.s64.u32", "DR"},
    {"cvt.u16.u32", "HR"},    {"cvt.s16.s64", "HD"},     {"cvt.u32.u64", "RD"},    {"cvt.s64.s16", "DH"},
    {"cvt.s32.u32", "RR"},    {"cvt.sat.s16.s32", "HR"}, {"cvt.u32.u8", "RR"},     {"add.sat.s32", "RRR"},
    {"add.rn.f32", "FFF"},    {"sub.f32", "FFF"},        {"mul.rn.f32", "FFF"},    {"fma.rn.f32", "FFFF"},
    {"add.f64", "GGG"},       {"sub.rn.f64", "GGG"},     {"mul.f64", "GGG"},       {"fma.rn.f64", "GGGG"},
    {"add.rz.f32", "FFF"},    {"mul.rp.f64", "GGG"},     {"add.ftz.f32", "FFF"},   {"mul.sat.f32", "FFF"},
    {"neg.f32", "FF"},        {"abs.f64", "GG"},         {"add.u16x2", "RRR"},     {"min.s16x2", "RRR"},
};
enum { FORMS = sizeof forms / sizeof *forms, NUMBERED = 24, LINES_BYTES = 1 << 14 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20 ^ *state << 33;
}

static uint64_t interesting(uint64_t *state)
{
    static const uint64_t some[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    8,
                                    15,
                                    16,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    65,
                                    127,
                                    128,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x10000,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x100000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xffffffffffffffff,
                                    0xfffffffffffffffe,
                                    0x3f800000,
                                    0x40490fdb,
                                    0x00000001,
                                    0x7f7fffff,
                                    0x7f800000,
                                    0x7fc00000,
                                    0xff800000,
                                    0x80000001,
                                    0x3ff0000000000000,
                                    0x400921fb54442d18,
                                    0x7ff0000000000000,
                                    0x000fffffffffffff};
    uint64_t r = next_random(state);
    return r & 3 ? some[next_random(state) % (sizeof some / sizeof *some)] : next_random(state);
}

static const char *stem_of(char kind)
{
    return kind == 'H' ? "h" : kind == 'R' ? "r" : kind == 'D' ? "rd" : kind == 'F' ? "f" : "fd";
}
static uint32_t bits_of(char kind) { return kind == 'H' ? 16 : kind == 'R' || kind == 'F' ? 32 : 64; }

/* Forms on numbers in registers, half of them written as literals where the form takes integers; results stored. */
static void number_lines(char *text, uint64_t seed)
{
    uint64_t state = seed;
    text[0] = 0;
    for (uint32_t i = 0; i < NUMBERED; i++) {
        const char *const *form = forms[next_random(&state) % FORMS];
        char operands[256] = "";
        for (const char *k = form[1] + 1; *k; k++) {
            uint64_t bits = interesting(&state) & (bits_of(*k) < 64 ? (1ull << bits_of(*k)) - 1 : ~0ull);
            unsigned reg = 8 + (unsigned)(k - form[1]);
            sprintf(text + strlen(text), "mov.b%u %%%s%u, 0x%llx;\n", bits_of(*k), stem_of(*k), reg,
                    (unsigned long long)bits);
            bool literal = next_random(&state) >> 7 & 1 && *k != 'F' && *k != 'G' && !strstr(form[0], "x2") &&
                           !strstr(form[0], "cvt");
            if (literal)
                sprintf(operands + strlen(operands), ", 0x%llx", (unsigned long long)bits);
            else
                sprintf(operands + strlen(operands), ", %%%s%u", stem_of(*k), reg);
        }
        char d = form[1][0];
        sprintf(text + strlen(text), "%s %%%s7%s;\nst.global.b%u [%%rd1+%u], %%%s7;\n", form[0], stem_of(d), operands,
                bits_of(d), 8 * i, stem_of(d));
    }
}

static void numbers_fold_as_they_run(void **state)
{
    uint64_t count = 20 * number_from("CLEAN_COUNT", UNIT_CASES(60)), first = number_from("CLEAN_SEED", 1);
    char *lines = malloc(LINES_BYTES), *text = malloc(2 * LINES_BYTES);
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++) {
        uint64_t plain[NUMBERED] = {0}, folded[NUMBERED] = {0};
        number_lines(lines, seed);
        kernel_run run = {
            .text = kernel_text(text, 2 * LINES_BYTES, lines), .out = plain, .out_bytes = sizeof plain, .block = 1};
        run_kernel(&run);
        assert_int_equal(run.status, HD_EXEC_DONE);
        run.passes = "fold(fuse),copyprop(all),fold(fuse),dce";
        run.out = folded;
        run_kernel(&run);
        assert_int_equal(run.status, HD_EXEC_DONE);
        for (uint32_t i = 0; i < NUMBERED; i++)
            if (plain[i] != folded[i])
                fail_msg("seed %llu, result %u: 0x%llx, folded 0x%llx in\n%s", (unsigned long long)seed, i,
                         (unsigned long long)plain[i], (unsigned long long)folded[i], lines);
    }
    free(lines);
    free(text);
}

/* ---- packs ------------------------------------------------------------------------------------------------------- */

enum { PACK_LINES = 24, PACKED = 6 };

static uint32_t below(uint64_t *state, uint32_t n) { return (uint32_t)(next_random(state) >> 8) % n; }

/* Moves between registers and their parts, few of them, so that parts are overwritten and names return. */
static void pack_line(char *line, uint64_t *state)
{
    uint32_t a = below(state, PACKED), b = below(state, PACKED), c = below(state, PACKED);
    uint32_t other = (b + 1 + below(state, PACKED - 1)) % PACKED;
    const char *guard = below(state, 6) ? "" : below(state, 2) ? "@%p1 " : "@!%p2 ";
    switch (below(state, 10)) {
    case 0:
    case 1: sprintf(line, "%smov.b32 %%r%u, {%%h%u, %%h%u};\n", guard, a, b, c); return;
    case 2:
    case 3: sprintf(line, "%smov.b64 %%rd%u, {%%r%u, %%r%u};\n", guard, 4 + a, b, c); return;
    case 4: sprintf(line, "%smov.b32 {%%h%u, %%h%u}, %%r%u;\n", guard, b, other, a); return;
    case 5:
    case 6: sprintf(line, "%smov.b64 {%%r%u, %%r%u}, %%rd%u;\n", guard, b, other, 4 + a); return;
    case 7: sprintf(line, "%smov.b32 {%s%u, _}, %%r%u;\n", guard, "%h", b, a); return;
    case 8: sprintf(line, "%smov.b64 {_, %%r%u}, %%rd%u;\n", guard, b, 4 + a); return;
    default: sprintf(line, "%smov.b32 %%r%u, %%r%u;\n", guard, a, b);
    }
}

static void pack_lines(char *text, uint64_t seed)
{
    uint64_t state = seed;
    text[0] = 0;
    sprintf(text, "setp.lt.u32 %%p1, %%r0, 5;\nsetp.ne.u32 %%p2, %%r0, 7;\n");
    for (uint32_t k = 0; k < PACKED; k++)
        sprintf(text + strlen(text), "mov.u32 %%r%u, 0x%x;\nmov.u16 %%h%u, 0x%x;\nmov.u64 %%rd%u, 0x%llx;\n", k,
                (uint32_t)next_random(&state), k, (uint32_t)next_random(&state) & 0xffff, 4 + k,
                (unsigned long long)next_random(&state));
    for (uint32_t k = 0; k < PACK_LINES; k++)
        pack_line(text + strlen(text), &state);
    for (uint32_t k = 0; k < PACKED; k++)
        sprintf(
            text + strlen(text),
            "st.global.u32 [%%rd1+%u], %%r%u;\nst.global.u16 [%%rd1+%u], %%h%u;\nst.global.u64 [%%rd1+%u], %%rd%u;\n",
            16 * k, k, 16 * k + 4, k, 16 * k + 8, 4 + k);
}

/* What is left after the passes. */
static void sum_left(golden_sums *s, const hd_function *f)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn);
        bool is_mov = hd_insn_form(f, insn)->opcode == HD_OP_MOV;
        golden_add(s, "instructions", 1);
        golden_add(s, "packs", is_mov && o[1].kind == HD_OPERAND_VECTOR);
        golden_add(s, "unpacks", is_mov && o->kind == HD_OPERAND_VECTOR);
        HD_INSN_REGISTERS (f, insn, r)
            golden_add(s, "sum of registers", r->value);
    }
}

/* Values by the interpreter; how many instructions are left, against tests/numbers/packs.txt. */
static void packs_move_as_they_did(void **state)
{
    static const char *const passes[] = {"fold(fuse)", "copyprop(all)", "fold(fuse),copyprop(all),dce", "select",
                                         "select,regalloc"};
    const golden_kernels kernels = {.make = pack_lines,
                                    .sum = sum_left,
                                    .passes = passes,
                                    .lists = sizeof passes / sizeof *passes,
                                    .count = 10 * number_from("CLEAN_COUNT", UNIT_CASES(60)),
                                    .out_bytes = 2 * PACKED * sizeof(uint64_t)};
    hd_writer writer;
    (void)state;
    golden_kernels_run(&kernels, &writer);
    if (kernels.count == 10 * 60)
        golden_expect("packs.txt", &writer);
    hd_writer_free(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_compute_the_same),
                                       cmocka_unit_test(numbers_fold_as_they_run),
                                       cmocka_unit_test(packs_move_as_they_did)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
