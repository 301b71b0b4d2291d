/* Memory of the interpreter: every space, width and vector form, generic addresses, atomics, initial values, and the
 * faults. */
#include "kernel.h"
#include "ptx_file.h"

#include <math.h>

static uint32_t in[256], out[1024];

static kernel_run run_text(const char *text, uint32_t threads)
{
    for (uint32_t i = 0; i < 256; i++)
        in[i] = i * 0x01010101u + 0x80;
    memset(out, 0, sizeof out);
    kernel_run run = {
        .text = text, .in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out, .block = threads};
    run_kernel(&run);
    return run;
}

static kernel_run run_body(const char *body, uint32_t threads)
{
    static char text[8192], whole[8192];
    snprintf(whole, sizeof whole, "mad.wide.u32 %%rd2, %%r0, 4, %%rd0;\nmad.wide.u32 %%rd3, %%r0, 4, %%rd1;\n%s", body);
    return run_text(kernel_text(text, sizeof text, whole), threads);
}

static void expect_done(const kernel_run *run)
{
    if (run->status != HD_EXEC_DONE)
        fail_msg("%s", run->message);
}

static void expect_fault(const kernel_run *run, const char *part)
{
    assert_int_equal(run->status, HD_EXEC_FAULT);
    if (!strstr(run->message, part))
        fail_msg("'%s' does not hold '%s'", run->message, part);
}

static void narrow_loads_and_stores(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_memory-narrow_loads_and_stores"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t v = in[i];
        int8_t low = (int8_t)v;
        assert_int_equal(out[i], (uint32_t)low);
        assert_int_equal(out[32 + i], v >> 8 & 255);
        assert_int_equal(out[64 + i], (uint32_t)(int16_t)(v >> 16));
        assert_int_equal(out[96 + i], v & 0xffff);
        assert_int_equal(out[128 + i], (uint16_t)low);
        assert_int_equal(out[160 + i], low < 0 ? 0xffffffff : 0);
        assert_int_equal(out[192 + i], (uint32_t)(uint8_t)low << 8);
        assert_int_equal(out[224 + i], v & 0xffff0000);
    }
}

static void vectors(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_memory-vectors"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t *v = in + 4 * i, *o = out + 4 * i;
        assert_true(o[0] == v[3] && o[1] == v[2] && o[2] == v[1] && o[3] == v[0]);
        assert_int_equal(o[128], v[0] >> 16 | v[0] << 16);
        assert_int_equal(o[129], (v[0] >> 16 & 255) | (v[0] & 255) << 8);
    }
}

/* Some lanes, in any order, and two of them at one place. */
static void scattered(void **state)
{
    (void)state;
    kernel_run run = run_body(
        "setp.lt.u32 %p1, %r0, 20;\nmul.lo.u32 %r1, %r0, 7;\nand.b32 %r1, %r1, 31;\nmad.wide.u32 %rd4, %r1, 4, "
        "%rd0;\n@%p1 ld.global.u32 %r2, [%rd4];\n"
        "mad.wide.u32 %rd5, %r1, 4, %rd1;\n@%p1 st.global.u32 [%rd5], %r2;\n@%p1 st.global.u32 [%rd1+1024], %r0;",
        32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i * 7 & 31], i < 20 ? in[i * 7 & 31] : 0);
    assert_int_equal(out[256], 19);
    /* what the other lanes' registers hold is no address */
    run = run_body(
        "setp.lt.u32 %p1, %r0, 20;\nmov.u64 %rd4, 3;\n@%p1 mov.u64 %rd4, %rd2;\n@%p1 ld.global.u32 %r2, [%rd4];\n"
        "@!%p1 mov.u64 %rd3, 5;\n@%p1 st.global.u32 [%rd3], %r2;",
        32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 20 ? in[i] : 0);
}

static void spaces_and_generic_addresses(void **state)
{
    (void)state;
    const char *text = ptx_file("exec_memory-spaces_and_generic_addresses");
    memset(out, 0, sizeof out);
    kernel_run run = {
        .text = text, .in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out, .shared = 128};
    run_kernel(&run);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        float three;
        memcpy(&three, &out[32 + i], 4);
        assert_int_equal(out[i], 2 * 10 * (i % 4 + 1) + 20);
        assert_true(three == 3);
        assert_int_equal(out[64 + i], 2 * i + 1000);
        assert_int_equal(out[96 + i], i);
        assert_int_equal(out[128 + i], 4 * 100 + 2 * 10 + 0 + 255);
        assert_int_equal(out[160 + i], 1);
    }
}

/* One load whose lanes go to global and to shared memory. */
static void lanes_in_different_spaces(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_memory-lanes_in_different_spaces"), 32);
    expect_done(&run);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[i], i * 3 + !(i & 1));
        assert_int_equal(out[32 + i], in[i] + (i & 1));
    }
}

/* What a kernel names of other spaces takes none of its shared memory, and moves nothing there. */
static void shared_memory_has_shared_variables_only(void **state)
{
    static const char *const named[] = {"", "ld.global.u32 %r4, [g+4];\n", "ld.const.u32 %r4, [c+8];\n",
                                        "st.local.u32 [l], 7;\nld.local.u32 %r4, [l];\n",
                                        "ld.param.u32 %r4, [more];\nld.global.u32 %r5, [g];\n"};
    uint32_t first[4] = {0};
    (void)state;
    for (uint32_t i = 0; i < sizeof named / sizeof *named; i++) {
        char text[2048];
        uint32_t got[4] = {0};
        snprintf(
            text, sizeof text,
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 64 .b32 g[2000];\n"
            ".const .align 32 .b32 c[4] = {1, 2, 3, 4};\n.visible .entry k(.param .u64 in, .param .u64 out, .param "
            ".align 16 .b8 more[32])\n{\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<4>;\n.local .align 4 .b8 l[64];\n"
            ".shared .align 8 .b8 s[24];\n.shared .align 4 .b8 t[12];\n%s"
            "ld.param.u64 %%rd1, [out];\nmov.u32 %%r1, s;\nmov.u32 %%r2, t;\nmov.u32 %%r3, %%total_smem_size;\n"
            "st.global.v4.u32 [%%rd1], {%%r1, %%r2, %%r3, 1};\nret;\n}\n",
            named[i]);
        kernel_run run = {.text = text, .out = got, .out_bytes = sizeof got};
        run_kernel(&run);
        expect_done(&run);
        if (i == 0)
            memcpy(first, got, sizeof got);
        assert_memory_equal(got, first, sizeof got);
    }
    assert_int_equal(first[0] - first[1], 0u - 24);
    assert_in_range(first[2], 36, 128);
}

static void atomics(void **state)
{
    (void)state;
    kernel_run run = run_text(ptx_file("exec_memory-atomics"), 32);
    float sum;
    uint64_t wide;
    expect_done(&run);
    memcpy(&sum, &out[6], 4);
    memcpy(&wide, &out[8], 8);
    assert_int_equal(out[0], 64);
    assert_int_equal(out[1], 31);
    assert_int_equal(out[2], 32 % 10);
    assert_int_equal(out[3], 5); /* lane 0 finds 0 and puts 5; lane 5 finds 5 and puts 5 */
    assert_int_equal(out[4], 31);
    assert_int_equal(out[5], 0xffffffff);
    assert_true(sum == 496);
    assert_true(wide == 496);
    assert_int_equal(out[7], 0);
    assert_int_equal((int32_t)out[10], -31);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[32 + i], 2 * i);
        assert_int_equal(out[64 + i], i ? i - 1 : 0);
    }
}

/* On global memory atomic additions of f32 flush subnormals, on shared memory they do not. */
static void atomic_subnormals(void **state)
{
    (void)state;
    kernel_run run =
        run_body(".shared .align 4 .f32 s;\nmov.b32 %f1, 5;\nst.shared.f32 [s], %f1;\nred.shared.add.f32 [s], "
                 "%f1;\nld.shared.f32 %f2, [s];\n"
                 "st.global.f32 [%rd1], %f2;\nst.global.f32 [%rd1+4], %f1;\nred.global.add.f32 [%rd1+4], %f1;",
                 1);
    expect_done(&run);
    assert_int_equal(out[0], 10);
    assert_int_equal(out[1], 0);
    /* the result alone may be subnormal: 2^-126 minus 1.5 * 2^-126 */
    run = run_body("st.global.u32 [%rd1], 0x00800000;\nmov.b32 %f1, 0x80c00000;\nred.global.add.f32 [%rd1], %f1;", 1);
    expect_done(&run);
    assert_int_equal(out[0], 0x80000000);
}

/* Immediates: each in the type that the instruction asks for. */
static void immediates(void **state)
{
    (void)state;
    static const uint32_t expected[] = {0x40200000, 0x3fc00000, 0, 0x3ff80000, 0x80000000, 0xffffffff, 0, 0xffff};
    kernel_run run = run_text(ptx_file("exec_memory-immediates"), 1);
    expect_done(&run);
    assert_memory_equal(out, expected, sizeof expected);
}

/* Whatever the spelling of a number, the variable's type decides; braces fill rows, and addresses may be cut into
 * bytes. */
static void initializers(void **state)
{
    const char *text = ptx_file("exec_memory-initializers");
    static const double wide[4] = {1.5, 2.5, -0.75, -INFINITY};
    static const float narrow[4] = {1.5f, 2.5f, -0.75f, 1.0f};
    static const uint16_t rows[12] = {1, 0, 0, 2, 3, 0, 4, 5, 6, 7, 0, 0};
    (void)state;
    memset(out, 0, sizeof out);
    kernel_run run = {.text = text, .in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out, .block = 4};
    run_kernel(&run);
    expect_done(&run);
    assert_memory_equal(out, wide, sizeof wide);
    assert_memory_equal(out + 8, narrow, sizeof narrow);
    assert_memory_equal(out + 16, rows, 8);
    assert_memory_equal(out + 24, rows + 4, 8);
    assert_memory_equal(out + 32, rows + 8, 8);
    assert_int_equal(out[40], 30);
    assert_int_equal(out[41], 30);
}

static void bounds(void **state)
{
    (void)state;
    kernel_run run = run_body("ld.global.u32 %r1, [%rd2+1020];\nst.global.u32 [%rd3], %r1;", 32);
    expect_fault(&run, "out-of-bounds access of 4 bytes at global address");
    expect_fault(&run, "kernel k, block (0,0,0), thread (1,0,0)");
    assert_int_equal(run.line, 17);
    run = run_body("ld.global.u32 %r1, [%rd2+2];", 32);
    expect_fault(&run, "misaligned access of 4 bytes");
    run = run_body("ld.global.v2.u32 {%r1, %r2}, [%rd2];", 32);
    expect_fault(&run, "misaligned access of 8 bytes at global address");
    expect_fault(&run, "thread (1,0,0)");
    run = run_body("setp.eq.u32 %p1, %r0, 7;\nmov.u64 %rd4, 0;\n@%p1 st.global.u32 [%rd4], %r0;", 32);
    expect_fault(&run, "at global address 0x0; kernel k, block (0,0,0), thread (7,0,0)");
    run = run_body(".shared .b32 s[8];\nmov.u32 %r1, s;\nmad.lo.u32 %r1, %r0, 4, %r1;\nst.shared.u32 [%r1], %r0;", 32);
    expect_fault(&run, "out-of-bounds access of 4 bytes at shared address 0x20");
    run = run_body(".local .align 4 .b8 l[8];\nmov.u64 %rd4, l;\nld.local.u32 %r1, [%rd4+16];", 32);
    expect_fault(&run, "at local address 0x10");
    run = run_body("atom.global.add.u32 %r1, [%rd1+4096], 1;", 32);
    expect_fault(&run, "out-of-bounds");
    run = run_body("ld.u32 %r1, [%rd0+-4];", 1);
    expect_fault(&run, "at generic address");
    run = run_body("mov.b64 %rd4, in;\ncvta.param.u64 %rd5, %rd4;\nst.u32 [%rd5], 1;", 1);
    expect_fault(&run, "read-only memory: forbidden access of 4 bytes");
}

static void source_line_of_a_fault(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b64 %rd<9>;\n.loc 1 42 7\nld.global.u64 %rd1, [%rd2];\nret;\n}\n.file 1 \"kernel.cu\"\n";
    kernel_run run = {.text = text, .in = in, .in_bytes = 4, .out = out, .out_bytes = 4};
    run_kernel(&run);
    expect_fault(&run, "kernel k, block (0,0,0), thread (0,0,0)");
    assert_string_equal(run.origin, "kernel.cu:42");
    assert_int_equal(run.line, 8);
}

static void addresses_are_the_same_in_every_run(void **state)
{
    (void)state;
    uint32_t first[2];
    kernel_run run = run_body("st.global.u64 [%rd1], %rd0;", 1);
    expect_done(&run);
    memcpy(first, out, sizeof first);
    run = run_body("st.global.u64 [%rd1], %rd0;", 1);
    assert_memory_equal(first, out, sizeof first);
    assert_true(first[1] != 0); /* a pointer cut to 32 bits cannot work */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_loads_and_stores),
        cmocka_unit_test(vectors),
        cmocka_unit_test(scattered),
        cmocka_unit_test(spaces_and_generic_addresses),
        cmocka_unit_test(lanes_in_different_spaces),
        cmocka_unit_test(shared_memory_has_shared_variables_only),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomic_subnormals),
        cmocka_unit_test(immediates),
        cmocka_unit_test(initializers),
        cmocka_unit_test(bounds),
        cmocka_unit_test(source_line_of_a_fault),
        cmocka_unit_test(addresses_are_the_same_in_every_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
