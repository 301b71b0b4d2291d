/* parser/: long, deep and wide texts. Nothing here may take time or memory out of proportion; where a limit is met, one
 * message says so. The texts are made on the fly. */
#include "tests/unit/parsed.h"

#include "base/writer.h"

static hd_writer text_begin(void)
{
    hd_writer w;
    hd_writer_to_memory(&w);
    hd_write_string(&w, HEAD);
    return w;
}

static void repeat(hd_writer *w, const char *piece, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        hd_write_string(w, piece);
}

static parsed *parse_writer(hd_writer *w)
{
    parsed *p = parse_bytes(w->buffer.items, w->buffer.count);
    hd_writer_free(w);
    return p;
}

static void expect_only(parsed *p, int kind)
{
    if (kind < 0) {
        assert_int_equal(p->diagnostics.error_count, 0);
        assert_true(hd_ir_validate(p->module));
    } else {
        assert_in_range(p->diagnostics.error_count, 1, 2);
        assert_int_equal(p->diagnostics.last->kind, kind);
    }
    parsed_free(p);
}

/* `open` and `close` nested `depth` deep around `inner` in a body. */
static void nested(const char *before, const char *open, const char *inner, const char *close, uint32_t depth, int kind)
{
    hd_writer w = text_begin();
    hd_write_string(&w, before);
    repeat(&w, open, depth);
    hd_write_string(&w, inner);
    repeat(&w, close, depth);
    hd_write_string(&w, strchr(before, '{') ? "; ret; }\n" : ";\n");
    expect_only(parse_writer(&w), kind);
}

static void nesting(void **state)
{
    (void)state;
    const char *body = ".entry k { .reg .b32 x; mov.b32 x,0";
    const char *expression = ".entry k { .reg .b32 x; mov.b32 x,";
    nested(".entry k { ret; ", "{ ", "ret; ", "} ", 1000, HD_DIAG_SYNTAX); /* the empty statement after */
    nested(".entry k { ret; ", "{", "", "}", 100000, HD_DIAG_NESTING);
    nested(expression, "(", "1", ")", 1000, -1);
    nested(expression, "(", "1", ")", 100000, HD_DIAG_NESTING);
    nested(expression, "-", "1", " ", 100000, HD_DIAG_NESTING);
    nested(expression, "1?", "1", ":1", 100000, HD_DIAG_NESTING);
    nested(expression, "1+", "1", "", 100000, -1);
    nested(body, ";mov.b32 x,1", "", "", 10000, -1);
    nested(".global .b8 a = ", "{", "1", "}", 100000, HD_DIAG_NESTING);
}

static void long_lines_and_names(void **state)
{
    (void)state;
    hd_writer w = text_begin();
    hd_write_string(&w, ".global .b8 table[200000] = {0");
    for (uint32_t i = 1; i < 200000; i++)
        hd_write_format(&w, ", %u", i % 256);
    hd_write_string(&w, "};\n.entry ");
    repeat(&w, "a_very_long_name_", 30000);
    hd_write_string(&w, "() { .pragma \"");
    repeat(&w, "words ", 100000);
    hd_write_string(&w, "\"; /*");
    repeat(&w, "comment ", 100000);
    hd_write_string(&w, "*/ ret; }\n");
    parsed *p = parse_writer(&w);
    assert_int_equal(p->module->initializers.count, 200002);
    expect_only(p, -1);
}

static void wide_operands(void **state)
{
    (void)state;
    for (uint32_t count = 60000; count <= 70000; count += 10000) {
        hd_writer w = text_begin();
        hd_write_string(&w, ".entry k { frob {1");
        repeat(&w, ",1", count - 1);
        hd_write_string(&w, "}; ret; }");
        parsed *p = parse_writer(&w);
        assert_int_equal(p->diagnostics.error_count, count > 65535);
        parsed_free(p);
    }
}

/* Bytes of the arrays that grow with the code, the text included. */
static uint64_t bytes_of(const parsed *p)
{
    const hd_module *m = p->module;
    uint64_t bytes = p->source.length + (uint64_t)m->names.entries.capacity * sizeof(hd_name_entry) +
                     m->names.arena.reserved_bytes + (m->names.slot_mask + 1ull) * sizeof(hd_name_slot) +
                     (uint64_t)m->tokens.capacity * sizeof(hd_name) +
                     (uint64_t)m->literals.capacity * sizeof(hd_literal);
    for (uint32_t i = 0; i < m->functions.count; i++) {
        const hd_function *f = m->functions.items[i];
        bytes += sizeof *f + (uint64_t)f->statements.capacity * sizeof(hd_statement) +
                 (uint64_t)f->instructions.capacity * sizeof(hd_instruction) +
                 (uint64_t)f->operands.capacity * sizeof(hd_operand) +
                 (uint64_t)f->registers.capacity * sizeof(hd_register) +
                 (uint64_t)f->labels.capacity * sizeof(hd_label);
    }
    return bytes;
}

/* A kernel of `rounds` times eight instructions, each with registers and a label of its own. */
static void write_kernel(hd_writer *w, uint32_t number, uint32_t rounds)
{
    hd_write_format(w,
                    ".visible .entry kernel_%u(\n\t.param .u64 kernel_%u_param_0\n)\n{\n\t.reg .pred "
                    "\t%%p<%u>;\n\t.reg .b32 \t%%r<%u>;\n"
                    "\t.reg .f32 \t%%f<%u>;\n\t.reg .b64 \t%%rd<%u>;\n\tld.param.u64 \t%%rd0, [kernel_%u_param_0];\n",
                    number, number, rounds + 1, rounds + 1, 2 * rounds + 2, 2 * rounds + 2, number);
    for (uint32_t i = 0; i < rounds; i++)
        hd_write_format(
            w,
            "\tadd.s32 \t%%r%u, %%r%u, %u;\n\tmul.wide.s32 \t%%rd%u, %%r%u, 4;\n\tadd.s64 \t%%rd%u, %%rd0, %%rd%u;\n"
            "\tld.global.f32 \t%%f%u, [%%rd%u+-8];\n\tfma.rn.f32 \t%%f%u, %%f%u, %%f%u, %%f%u;\n\tsetp.ge.s32 \t%%p%u, "
            "%%r%u, 100;\n"
            "\t@%%p%u bra \t$L__BB%u_%u;\n\tst.global.f32 \t[%%rd%u], %%f%u;\n$L__BB%u_%u:\n",
            i + 1, i, i % 1000, 2 * i + 1, i, 2 * i + 2, 2 * i + 1, 2 * i, 2 * i + 2, 2 * i + 1, 2 * i, 2 * i, 2 * i, i,
            i + 1, i, number, i, 2 * i + 2, 2 * i + 1, number, i);
    hd_write_string(w, "\tret;\n\n}\n");
}

static void memory_per_instruction(void **state)
{
    (void)state;
    for (uint32_t kernels = 1; kernels <= 1000; kernels *= 1000) {
        hd_writer w = text_begin();
        uint32_t rounds = 20000 / kernels, instructions = 0;
        for (uint32_t k = 0; k < kernels; k++)
            write_kernel(&w, k, rounds);
        parsed *p = parse_writer(&w);
        for (uint32_t k = 0; k < kernels; k++)
            instructions += p->module->functions.items[k]->instructions.count;
        assert_int_equal(instructions, kernels * (8 * rounds + 2));
        assert_true(bytes_of(p) / instructions < 200);
        expect_only(p, -1);
    }
}

static void many_declarations(void **state)
{
    (void)state;
    hd_writer w = text_begin();
    hd_write_string(&w, ".entry k {\n");
    for (uint32_t i = 0; i < 20000; i++)
        hd_write_format(&w, ".reg .b32 a%u, b%u_<100000000>; mov.b32 a%u,b%u_%u;\n", i, i, i, i, 4000 * i);
    hd_write_string(&w, "ret; }\n");
    parsed *p = parse_writer(&w);
    const hd_function *f = function_of(p, "k");
    assert_int_equal(f->registers.count, 40000);
    assert_int_equal(f->registers.items[1].index, 0);
    assert_int_equal(f->registers.items[39999].index, 4000 * 19999);
    expect_only(p, -1);
}

static void many_scopes_and_labels(void **state)
{
    (void)state;
    hd_writer w = text_begin();
    hd_write_string(&w, ".entry k { .reg .b32 a; .reg .pred p;\n");
    for (uint32_t i = 0; i < 20000; i++)
        hd_write_format(&w, "{ .reg .b32 a, r<9>; L: mov.b32 a,r%u; @p bra L; @p bra END; }\n", i % 9);
    hd_write_string(&w, "END: mov.b32 a,1; ret; }\n");
    parsed *p = parse_writer(&w);
    assert_int_equal(function_of(p, "k")->labels.count, 20001);
    assert_int_equal(function_of(p, "k")->registers.count, 40002);
    expect_only(p, -1);
}

static void many_mistakes(void **state)
{
    (void)state;
    hd_writer w = text_begin();
    hd_write_string(&w, ".entry k {\n");
    repeat(&w, "mov.b32 x,y;\nbra L;\nadd 1 2;\n}\n", 10000);
    parsed *p = parse_writer(&w);
    assert_int_equal(p->diagnostics.error_count, 20); /* parsing stops where no more are kept */
    parsed_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting),           cmocka_unit_test(long_lines_and_names),
        cmocka_unit_test(wide_operands),     cmocka_unit_test(memory_per_instruction),
        cmocka_unit_test(many_declarations), cmocka_unit_test(many_scopes_and_labels),
        cmocka_unit_test(many_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
