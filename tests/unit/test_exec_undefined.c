/* Which bits of an instruction's result are undefined where some bits of its operands are: every instruction of
 * program_ops.def, against what follows from its values alone. Of instructions that move bits about, or work bit by
 * bit, a bit of the result is undefined that some way to fill the operands' undefined bits changes; of every other one,
 * and where a shift's amount or the like is undefined, the whole result is. Shared and local memory keep them. The
 * interpreter tells of a bit when a guard is made of it. */
#include "kernel.h"
#include "program.h"

enum { LANES = 32, FILLS = 96, ROUNDS = 4, FAULTS = 3 };

typedef struct lane_input {
    uint64_t values[3], undefined[3]; /* by operand */
    uint64_t runs;                    /* whether the lane executes the instruction; its result is zero otherwise */
    uint64_t tested;                  /* bits of the result that the guard is made of */
} lane_input;

static uint64_t random_state = 1;
static uint64_t next(void) { return unit_random(&random_state); }

/* ---- what must be ------------------------------------------------------------------------------------------------ */

/* Of instructions that move bits: operands from the first that chooses where they go. */
static int first_choice(const char *opcode)
{
    static const struct {
        const char *opcode;
        int choice;
    } moves[] = {{"mov.", 3},        {"and.", 3},        {"or.", 3},        {"xor.", 3},  {"not.", 3},
                 {"lop3.", 3},       {"brev.", 3},       {"shl.", 1},       {"shr.", 1},  {"bfe.", 1},
                 {"bfi.", 2},        {"prmt.", 2},       {"shf.", 2},       {"selp.", 2}, {"cvt.s64.s32", 3},
                 {"cvt.u32.u64", 3}, {"cvt.s32.s16", 3}, {"cvt.u16.u32", 3}};
    for (uint32_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (!strncmp(opcode, moves[i].opcode, strlen(moves[i].opcode)))
            return moves[i].choice;
    return -1;
}

static uint64_t undefined_bits(uint32_t op, const lane_input *in)
{
    const program_op_info *info = &program_ops[op];
    int choice = first_choice(info->opcode);
    uint64_t undefined = 0, all = program_masks[info->d];
    for (int k = 0; k < 3 && info->kinds[k]; k++)
        if (in->undefined[k] && k >= choice)
            return in->runs ? all : 0;
    for (uint32_t i = 0; i < FILLS && in->runs; i++) {
        uint64_t s[3];
        for (uint32_t k = 0; k < 3; k++)
            s[k] = in->values[k] ^ (in->undefined[k] & next());
        undefined |= program_compute(op, s) ^ program_compute(op, in->values);
    }
    return undefined;
}

/* ---- what the interpreter says ----------------------------------------------------------------------------------- */

static void print_operand(char *text, size_t size, uint32_t k, uint32_t kind)
{
    static const char *const from_64[KINDS] = {"",
                                               "cvt.u16.u64 %%h%u, %%v;\n",
                                               "cvt.u32.u64 %%r1%u, %%v;\n",
                                               "mov.b64 %%d%u, %%v;\n",
                                               "cvt.u32.u64 %%t, %%v;\nmov.b32 %%f%u, %%t;\n",
                                               "mov.b64 %%g%u, %%v;\n",
                                               "setp.ne.u64 %%p%u, %%v, 0;\n"};
    size_t used = strlen(text);
    used +=
        (size_t)snprintf(text + used, size - used,
                         "ld.global.u64 %%v, [%%rd3+%u];\nld.global.u64 %%m, [%%rd3+%u];\nand.b64 %%u, %%never, %%m;\n"
                         "not.b64 %%m, %%m;\nand.b64 %%v, %%v, %%m;\nor.b64 %%v, %%v, %%u;\n",
                         8 * k, 24 + 8 * k);
    snprintf(text + used, size - used, from_64[kind], k);
}

static const char *print_kernel(uint32_t op)
{
    static const char letters[KINDS][3] = {"", "h", "r1", "d", "f", "g", "p"};
    static const char *const zero[KINDS] = {0,
                                            "mov.u16 %h9, 0;\n",
                                            "mov.u32 %r19, 0;\n",
                                            "mov.u64 %d9, 0;\n",
                                            "mov.f32 %f9, 0f00000000;\n",
                                            "mov.f64 %g9, 0d0000000000000000;\n",
                                            "setp.ne.u32 %p9, 0, 0;\n"};
    static const char *const to_64[KINDS] = {0,
                                             "cvt.u64.u16 %v, %h9;\n",
                                             "cvt.u64.u32 %v, %r19;\n",
                                             "mov.b64 %v, %d9;\n",
                                             "mov.b32 %t, %f9;\ncvt.u64.u32 %v, %t;\n",
                                             "mov.b64 %v, %g9;\n",
                                             "selp.u64 %v, 1, 0, %p9;\n"};
    static char body[4096], text[8192];
    const program_op_info *info = &program_ops[op];
    strcpy(body,
           "{\n.reg .b64 %v, %u, %m, %never, %d<10>;\n.reg .b32 %t, %r1<10>;\n.reg .b16 %h<10>;\n.reg .f32 %f<10>;\n"
           ".reg .f64 %g<10>;\n.reg .pred %p<10>, %runs, %bad;\nmad.wide.u32 %rd3, %r0, 64, %rd0;\n");
    for (uint32_t k = 0; k < 3 && info->kinds[k]; k++)
        print_operand(body, sizeof body, k, info->kinds[k]);
    strcat(body, zero[info->d]);
    strcat(body, "ld.global.u64 %m, [%rd3+48];\nsetp.ne.u64 %runs, %m, 0;\n@%runs ");
    snprintf(body + strlen(body), sizeof body - strlen(body), "%s %%%s9", info->opcode, letters[info->d]);
    for (uint32_t k = 0; k < 3 && info->kinds[k]; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), ", %%%s%u", letters[info->kinds[k]], k);
    strcat(body, info->suffix);
    strcat(body, ";\n");
    strcat(body, to_64[info->d]);
    strcat(body, "ld.global.u64 %m, [%rd3+56];\nand.b64 %v, %v, %m;\nsetp.ne.u64 %bad, %v, 0;\n"
                 "@%bad st.global.u32 [%rd1], %r0;\n}\n");
    return kernel_text(text, sizeof text, body);
}

static kernel_run run_lanes(const char *text, const lane_input *in)
{
    static uint32_t out[4];
    kernel_run run = {.text = text,
                      .in = in,
                      .in_bytes = LANES * sizeof *in,
                      .out = out,
                      .out_bytes = sizeof out,
                      .options.check_uninitialized = true};
    run_kernel(&run);
    return run;
}

/* ---- all instructions -------------------------------------------------------------------------------------------- */

/* Amounts of shifts are small often; bits are undefined by chance, all of them, or none. */
static void make_lane(lane_input *in, const program_op_info *info)
{
    memset(in, 0, sizeof *in);
    in->runs = next() % 4 != 0;
    for (uint32_t k = 0; k < 3 && info->kinds[k]; k++) {
        uint64_t mask = program_masks[info->kinds[k]], some[] = {0, 0, ~0ull, next() & next(), 0xffull << next() % 57};
        in->values[k] = (k && next() % 2 ? next() % 40 : next()) & mask;
        in->undefined[k] = (k && next() % 2 ? 0 : some[next() % 5]) & mask;
    }
}

/* No guard of other bits is undefined, and one of each of these is. */
static void expect_undefined(const char *text, lane_input *in, const uint64_t *undefined, uint64_t seen)
{
    for (uint32_t l = 0; l < LANES; l++)
        in[l].tested = seen & ~undefined[l];
    kernel_run run = run_lanes(text, in);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s\n%s", text, run.message);
    for (uint32_t i = 0, l = (uint32_t)next() % LANES; i < FAULTS; i++, l = (l + 7) % LANES) {
        if (!undefined[l])
            continue;
        do
            in[l].tested = 1ull << next() % 64;
        while (!(in[l].tested & undefined[l]));
        run = run_lanes(text, in);
        if (run.status != HD_EXEC_FAULT || !strstr(run.message, "%bad was never written and is used as a guard"))
            fail_msg("%s\nlane %u, bit 0x%llx is not undefined: %s", text, l, (unsigned long long)in[l].tested,
                     run.message);
        in[l].tested = seen & ~undefined[l];
    }
}

static void try_instruction(uint32_t op)
{
    lane_input in[LANES];
    uint64_t undefined[LANES];
    for (uint32_t l = 0; l < LANES; l++) {
        make_lane(&in[l], &program_ops[op]);
        undefined[l] = undefined_bits(op, &in[l]);
    }
    expect_undefined(print_kernel(op), in, undefined, program_ops[op].d == KIND_P ? 1 : ~0ull);
}

static void undefined_bits_spread(void **state)
{
    (void)state;
    for (uint32_t op = 0; op < PROGRAM_OPS; op++)
        for (uint32_t i = 0; i < ROUNDS; i++)
            try_instruction(op);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { CELL = 16, STORES = 3 }; /* bytes that each lane has; operands of lane_input that are stored */

typedef struct store {
    uint32_t at, bytes;
} store;

/* What a load reads, of bytes that were undefined until something was stored there. */
static uint64_t loaded_undefined(const lane_input *in, const store *stores, store load, bool is_signed)
{
    uint8_t cell[CELL];
    uint64_t undefined = 0;
    memset(cell, 0xff, sizeof cell);
    for (uint32_t k = 0; k < STORES; k++)
        memcpy(cell + stores[k].at, &in->undefined[k], stores[k].bytes);
    memcpy(&undefined, cell + load.at, load.bytes);
    uint32_t unused = 64 - 8 * load.bytes;
    return is_signed ? (uint64_t)((int64_t)(undefined << unused) >> unused) : undefined;
}

static const char *print_memory(const char *space, const store *stores, store load, bool is_signed)
{
    static char body[4096], text[8192];
    snprintf(
        body, sizeof body,
        "{\n.reg .b64 %%v, %%u, %%m, %%never;\n.reg .pred %%bad;\n.reg .b32 %%cell;\n.%s .align 16 .b8 cells[%u];\n"
        "mov.u32 %%cell, cells;\nmad.lo.u32 %%cell, %%r0, %u, %%cell;\nmad.wide.u32 %%rd3, %%r0, 64, %%rd0;\n",
        space, CELL * LANES, CELL);
    for (uint32_t k = 0; k < STORES; k++) {
        print_operand(body, sizeof body, k, KIND_X);
        snprintf(body + strlen(body), sizeof body - strlen(body), "st.%s.u%u [%%cell+%u], %%v;\n", space,
                 8 * stores[k].bytes, stores[k].at);
    }
    snprintf(body + strlen(body), sizeof body - strlen(body),
             "ld.%s.%c%u %%v, [%%cell+%u];\nld.global.u64 %%m, [%%rd3+56];\nand.b64 %%v, %%v, %%m;\n"
             "setp.ne.u64 %%bad, %%v, 0;\n@%%bad st.global.u32 [%%rd1], %%r0;\n}\n",
             space, is_signed ? 's' : 'u', 8 * load.bytes, load.at);
    return kernel_text(text, sizeof text, body);
}

static store random_place(void)
{
    uint32_t bytes = 1u << next() % 4;
    return (store){(uint32_t)(next() % (CELL / bytes)) * bytes, bytes};
}

static void memory_keeps_undefined_bits(void **state)
{
    static const program_op_info stored = {"st", "", KIND_X, {KIND_D, KIND_D, KIND_D}};
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        store stores[STORES], load = random_place();
        bool is_signed = next() % 2;
        for (uint32_t k = 0; k < STORES; k++)
            stores[k] = random_place();
        const char *text = print_memory(i % 2 ? "shared" : "local", stores, load, is_signed);
        lane_input in[LANES];
        uint64_t undefined[LANES];
        for (uint32_t l = 0; l < LANES; l++) {
            make_lane(&in[l], &stored);
            undefined[l] = loaded_undefined(&in[l], stores, load, is_signed);
        }
        expect_undefined(text, in, undefined, ~0ull);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(undefined_bits_spread),
                                       cmocka_unit_test(memory_keeps_undefined_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
