/* What the SM knows of an instruction, against a table by hand: its class, unit, space and traits, the bytes of a lane,
 * and how many registers and predicates it reads and writes. */
#include "tests/unit/rf_bench.h"
#include "tests/unit/unit.h"

#include "hwmodel/sm/ops.h"
#include "ir/machine.h"

typedef struct expected {
    const char *text;
    uint32_t class, unit, space, traits, bytes, reads, writes; /* bytes: 0: no access */
} expected;

#define C(class) HD_MACHINE_CLASS_##class
#define U(unit) HD_UNIT_##unit
enum { NOWHERE = HD_SPACE_NONE, GLOBAL = HD_SPACE_GLOBAL, SHARED = HD_SPACE_SHARED, LOCAL = HD_SPACE_LOCAL };

static const expected all[] = {
    {"mov.u32 %r1, %r2", C(MOVE), U(INT), NOWHERE, 0, 0, 1, 1},
    {"mov.b64 %rd1, {%r1, %r2}", C(MOVE), U(INT), NOWHERE, 0, 0, 2, 2},
    {"xor.b32 %r1, %r2, %r3", C(MOVE), U(INT), NOWHERE, 0, 0, 2, 1},
    {"setp.lt.u32 %p1, %r2, %r3", C(MOVE), U(INT), NOWHERE, 0, 0, 2, 1},
    {"setp.lt.and.f32 %p1|%p2, %f2, %f3, %p3", C(MOVE), U(SP), NOWHERE, 0, 0, 3, 2},
    {"@%p2 selp.b32 %r1, %r2, %r3, %p1", C(MOVE), U(INT), NOWHERE, 0, 0, 4, 1},
    {"add.u32 %r1, %r2, %r3", C(INT_ADD), U(INT), NOWHERE, 0, 0, 2, 1},
    {"sub.s64 %rd1, %rd2, %rd3", C(INT_ADD), U(INT), NOWHERE, 0, 0, 4, 2},
    {"add.rn.f32 %f1, %f2, %f3", C(FP_ADD), U(SP), NOWHERE, 0, 0, 2, 1},
    {"add.rn.f64 %rd1, %rd2, %rd3", C(DP_ADD), U(DP), NOWHERE, 0, 0, 4, 2},
    {"min.s32 %r1, %r2, %r3", C(INT_MIN), U(INT), NOWHERE, 0, 0, 2, 1},
    {"max.f32 %f1, %f2, 0f00000000", C(FP_MIN), U(SP), NOWHERE, 0, 0, 1, 1},
    {"mul.lo.u32 %r1, %r2, 3", C(INT_MUL), U(INT), NOWHERE, 0, 0, 1, 1},
    {"mul.wide.u32 %rd1, %r2, %r3", C(INT_MUL), U(INT), NOWHERE, 0, 0, 2, 2},
    {"mul.f32 %f1, %f2, %f3", C(FP_MUL), U(SP), NOWHERE, 0, 0, 2, 1},
    {"mul.f64 %rd1, %rd2, %rd3", C(DP_MUL), U(DP), NOWHERE, 0, 0, 4, 2},
    {"mad.lo.s32 %r1, %r2, %r3, %r4", C(INT_MAD), U(INT), NOWHERE, 0, 0, 3, 1},
    {"fma.rn.f32 %f1, %f2, %f3, %f4", C(FP_MAD), U(SP), NOWHERE, 0, 0, 3, 1},
    {"fma.rn.f64 %rd1, %rd2, %rd3, %rd4", C(DP_MAD), U(DP), NOWHERE, 0, 0, 6, 2},
    {"rem.u32 %r1, %r2, %r3", C(INT_DIV), U(INT), NOWHERE, 0, 0, 2, 1},
    {"div.rn.f32 %f1, %f2, %f3", C(FP_DIV), U(SFU), NOWHERE, 0, 0, 2, 1},
    {"div.rn.f64 %rd1, %rd2, %rd3", C(DP_DIV), U(DP), NOWHERE, 0, 0, 4, 2},
    {"rsqrt.approx.f32 %f1, %f2", C(SFU), U(SFU), NOWHERE, 0, 0, 1, 1},
    {"shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1", C(SHUFFLE), U(INT), NOWHERE, 0, 0, 2, 1},
    {"bra.uni L", C(MOVE), U(CTRL), NOWHERE, HD_SM_CONTROL, 0, 0, 0},
    {"@%p1 bra L", C(MOVE), U(CTRL), NOWHERE, HD_SM_CONTROL, 0, 1, 0},
    {"exit", C(MOVE), U(CTRL), NOWHERE, 0, 0, 0, 0},
    {"bar.sync 0", C(MOVE), U(CTRL), NOWHERE, HD_SM_BARRIER, 0, 0, 0},
    {"membar.gl", C(MEMORY), U(LDST), NOWHERE, HD_SM_FENCE, 0, 0, 0},
    {"fence.acq_rel.gpu", C(MEMORY), U(LDST), NOWHERE, HD_SM_FENCE, 0, 0, 0},
    {"ld.global.u32 %r1, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD, 4, 1, 1},
    {"ld.global.nc.u32 %r1, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD | HD_SM_READ_ONLY, 4, 1, 1},
    {"ld.global.u8 %r1, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD, 1, 1, 1},
    {"ld.shared.u16 %h1, [%r2+4]", C(MEMORY), U(LDST), SHARED, HD_SM_LOAD, 2, 1, 1},
    {"ld.local.u64 %rd1, [%r2]", C(MEMORY), U(LDST), LOCAL, HD_SM_LOAD, 8, 1, 2},
    {"ld.u32 %r1, [%r2]", C(MEMORY), U(LDST), NOWHERE, HD_SM_LOAD, 4, 1, 1},
    {"ld.global.v2.u32 {%r1, %r3}, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD, 8, 1, 2},
    {"ld.global.v4.u32 {%r1, %r3, %r4, %r5}, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD, 16, 1, 4},
    {"ld.global.cg.u32 %r1, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD | HD_SM_BYPASS_L1, 4, 1, 1},
    {"ld.global.cv.u32 %r1, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD | HD_SM_BYPASS_L1, 4, 1, 1},
    {"ld.global.ca.u32 %r1, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD, 4, 1, 1},
    {"ld.volatile.global.u32 %r1, [%r2]", C(MEMORY), U(LDST), GLOBAL, HD_SM_LOAD | HD_SM_BYPASS_L1, 4, 1, 1},
    {"@!%p1 st.global.u32 [%r1], %r2", C(MEMORY), U(LDST), GLOBAL, HD_SM_STORE, 4, 3, 0},
    {"st.shared.v2.u64 [%r1], {%rd1, %rd2}", C(MEMORY), U(LDST), SHARED, HD_SM_STORE, 16, 5, 0},
    {"atom.shared.add.u64 %rd1, [%r2], %rd3", C(MEMORY), U(LDST), SHARED, HD_SM_ATOMIC | HD_SM_BYPASS_L1, 8, 3, 2},
    {"cp.async.ca.shared.global [%r1], [%r2], 8", C(MEMORY), U(LDST), SHARED, HD_SM_COPY, 8, 2, 0},
    {"cp.async.cg.shared.global [%r1], [%r2], 16, %r3", C(MEMORY), U(LDST), SHARED, HD_SM_COPY | HD_SM_BYPASS_L1, 16, 3,
     0},
    {"cp.async.commit_group", C(MEMORY), U(LDST), NOWHERE, HD_SM_COMMIT, 0, 0, 0},
    {"cp.async.wait_group 3", C(MOVE), U(CTRL), NOWHERE, HD_SM_WAIT_COPIES, 0, 0, 0},
    {"cp.async.wait_all", C(MOVE), U(CTRL), NOWHERE, HD_SM_WAIT_COPIES, 0, 0, 0},
    {"red.global.add.u32 [%r2], %r3", C(MEMORY), U(LDST), GLOBAL, HD_SM_ATOMIC | HD_SM_BYPASS_L1, 4, 2, 0},
};

static void instructions_are_as_the_table_says(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char body[256];
        rf_bench b;
        snprintf(body, sizeof body, "L: mov.u32 %%r9, 0;\n%s;\n", all[k].text);
        rf_bench_open_body(&b, body);
        hd_rf_module *module = hd_rf_module_new(b.module);
        hd_sm_code *code = hd_sm_code_new(module);
        const hd_sm_op *op = &code->functions[0].ops[1];
        uint32_t bytes = op->traits & (HD_SM_ACCESS | HD_SM_COPY) ? op->bytes : 0;
        if (op->class != all[k].class || op->unit != all[k].unit || op->space != all[k].space ||
            op->traits != all[k].traits || bytes != all[k].bytes || op->reads != all[k].reads ||
            op->writes != all[k].writes)
            fail_msg("%s: class %u, unit %u, space %u, traits %x, %u bytes, %u read, %u written", all[k].text,
                     op->class, op->unit, op->space, op->traits, bytes, op->reads, op->writes);
        hd_sm_code_free(code);
        hd_rf_module_free(module);
        rf_bench_close(&b);
    }
}

static bool is_among(const uint32_t *names, uint32_t count, uint32_t name)
{
    for (uint32_t i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

/* Names stand for registers by their words, and for predicates: two instructions share one where their texts do. */
static void registers_are_those_of_the_operands(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        rf_bench b;
        rf_bench_open_random(&b, seed);
        hd_rf_module *module = hd_rf_module_new(b.module);
        hd_sm_code *code = hd_sm_code_new(module);
        const hd_function *f = b.kernel;
        uint32_t which = 0;
        while (b.module->functions.items[which] != f)
            which++;
        const hd_sm_function *of = &code->functions[which];
        const hd_storage *storage = &module->functions[which]->storage;
        uint32_t *name_of = hd_calloc(f->registers.count + 1, sizeof *name_of);
        for (uint32_t i = 0; i < f->instructions.count; i++) {
            const hd_sm_op *op = &of->ops[i];
            const hd_instruction *insn = &f->instructions.items[i];
            const uint32_t *reads = of->registers + op->register_first, *writes = reads + op->reads;
            uint32_t words = 0, predicates = insn->guard != HD_NONE;
            if (hd_storage_skips(storage, i))
                continue;
            HD_INSN_REGISTERS (f, insn, o) {
                bool is_read = o->flags & HD_OPERAND_USE;
                const uint32_t *names = is_read ? reads : writes;
                uint32_t count = is_read ? op->reads : op->writes;
                predicates += !hd_register_words(f, o->value);
                HD_STORAGE_WORDS (storage, o->value, word) {
                    assert_true(is_among(names, count, word) && word < of->register_count);
                    words++;
                }
            }
            assert_true(op->reads + op->writes <= words + predicates);
            /* a predicate has one name, which no other register has */
            if (insn->guard != HD_NONE) {
                uint32_t *name = &name_of[insn->guard];
                bool found = false;
                for (uint32_t k = 0; k < op->reads; k++)
                    if (reads[k] >= storage->frame) {
                        found = found || !*name || *name == 1 + reads[k];
                        *name = *name ? *name : 1 + reads[k];
                        break;
                    }
                assert_true(found);
            }
        }
        for (uint32_t r = 0; r < f->registers.count; r++)
            for (uint32_t q = 0; q < r; q++)
                assert_true(!name_of[r] || name_of[r] != name_of[q]);
        free(name_of);
        hd_sm_code_free(code);
        hd_rf_module_free(module);
        rf_bench_close(&b);
    }
}

/* The bytes of one lane and the traits, by the opcode's access and its modifiers. */
static void accesses_of_machine_code(void **state)
{
    static const struct {
        const char *spelling;
        uint32_t bytes, traits;
    } forms[] = {{"LDG.E", 4, 0},
                 {"LDG.E.U8", 1, 0},
                 {"LDG.E.S8", 1, 0},
                 {"STS.U8", 1, 0},
                 {"LDS.U16", 2, 0},
                 {"LDS.S16", 2, 0},
                 {"STG.E.U16", 2, 0},
                 {"STS.16", 2, 0},
                 {"LDG.E.64", 8, 0},
                 {"LDS.64", 8, 0},
                 {"RED.E.ADD.F64", 8, 0},
                 {"ATOMG.E.ADD.S64", 8, 0},
                 {"LDL.96", 12, 0},
                 {"LDS.128", 16, 0},
                 {"STL", 4, 0},
                 {"LDG.E.STRONG.GPU", 4, HD_SM_BYPASS_L1},
                 {"STG.E.64.STRONG.SYS", 8, HD_SM_BYPASS_L1},
                 {"LDG.E.CONSTANT", 4, HD_SM_READ_ONLY},
                 {"LDG.E.128.CONSTANT", 16, HD_SM_READ_ONLY},
                 {"LDGSTS.E", 4, HD_SM_LOAD},
                 {"LDGSTS.E.BYPASS.128", 16, HD_SM_LOAD | HD_SM_BYPASS_L1},
                 {"MEMBAR.SC.GPU", 4, HD_SM_FENCE},
                 {"IADD3", 4, 0}};
    rf_bench b;
    (void)state;
    rf_bench_open_body(&b, "ret;\n");
    for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        hd_name spelling = hd_names_add_string(&b.module->names, forms[i].spelling);
        uint32_t form = hd_machine_form_of(b.module, spelling, 90, HD_MACHINE_PLAIN);
        const hd_machine_form *machine = b.module->forms.items[form].machine;
        uint32_t bytes = hd_sm_machine_bytes(machine), traits = hd_sm_machine_traits(machine);
        if (bytes != forms[i].bytes || traits != forms[i].traits)
            fail_msg("%s: %u bytes, traits 0x%x, expected %u, 0x%x", forms[i].spelling, bytes, traits, forms[i].bytes,
                     forms[i].traits);
    }
    rf_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_are_as_the_table_says),
                                       cmocka_unit_test(registers_are_those_of_the_operands),
                                       cmocka_unit_test(accesses_of_machine_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
