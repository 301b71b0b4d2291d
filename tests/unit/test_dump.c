/* What heddle dump shows of a small loop, held against text written by hand. */
#include "annotated.h"
#include "ptx_file.h"

#include "emitters/ir/dump.h"

#include <jansson.h>

typedef void emit_function(hd_writer *, hd_function *);

/* What an emitter writes of LOOP; freed by the caller. */
static char *emitted(emit_function *emit)
{
    annotated *a = read_good(ptx_file("dump-loop"));
    hd_writer writer;
    hd_writer_to_memory(&writer);
    emit(&writer, a->f);
    hd_write_char(&writer, '\0');
    char *text = strdup(writer.buffer.items);
    hd_writer_free(&writer);
    annotated_free(a);
    return text;
}

static void shows_the_ir(void **state)
{
    (void)state;
    char *text = emitted(hd_emit_ir_text);
    assert_string_equal(text, "entry k: 7 instructions, 5 registers, 3 blocks, 1 loops\n"
                              "b0: from to b1 dominator - post-dominator b1\n"
                              "     0  ld.param.u32 %r1, [n];   writes %r1  reads -\n"
                              "     1  mov.u32 %r2, 0;   writes %r2  reads -\n"
                              "b1: from b0 b1 to b1 b2 dominator b0 post-dominator b2 loop 0 depth 1\n"
                              "     2  add.cc.u32 %r2, %r2, %r1;   writes %r2 %CC  reads %r2 %r1\n"
                              "     3  addc.u32 %r3, %r2, 0;   writes %r3  reads %r2 %CC\n"
                              "     4  setp.lt.u32 %p1, %r3, 100;   writes %p1  reads %r3\n"
                              "     5  @%p1 bra L;   writes -  reads %p1\n"
                              "b2: from b1 to X dominator b1 post-dominator X\n"
                              "     6  ret;   writes -  reads -\n");
    free(text);
}

static void shows_liveness(void **state)
{
    (void)state;
    char *text = emitted(hd_emit_liveness);
    assert_string_equal(text, "k: ordinal, live registers before, words they fill, instruction\n"
                              "b0:\n"
                              "     0     0    0  ld.param.u32 %r1, [n];  {}\n"
                              "     1     1    1  mov.u32 %r2, 0;  {%r1}\n"
                              "b1:\n"
                              "     2     2    2  add.cc.u32 %r2, %r2, %r1;  {%r1 %r2}\n"
                              "     3     3    2  addc.u32 %r3, %r2, 0;  {%r1 %r2 %CC}\n"
                              "     4     3    3  setp.lt.u32 %p1, %r3, 100;  {%r1 %r2 %r3}\n"
                              "     5     3    2  @%p1 bra L;  {%r1 %r2 %p1}\n"
                              "b2:\n"
                              "     6     0    0  ret;  {}\n");
    free(text);
}

static void emit_whole_dot(hd_writer *writer, hd_function *f) { hd_emit_cfg_dot(writer, f, 0); }
static void emit_short_dot(hd_writer *writer, hd_function *f) { hd_emit_cfg_dot(writer, f, 1); }

static void draws_the_graph(void **state)
{
    (void)state;
    char *text = emitted(emit_short_dot);
    assert_string_equal(text, "digraph \"k\" {\n  node [shape=box, fontname=\"monospace\"];\n"
                              "  b0 [label=\"b0\\l0: ld.param.u32 %r1, [n];\\l1 more\\l\"];\n"
                              "  b1 [label=\"b1 loop 0 depth 1\\l2: add.cc.u32 %r2, %r2, %r1;\\l3 more\\l\"];\n"
                              "  b2 [label=\"b2\\l6: ret;\\l\"];\n"
                              "  X [label=\"exit\", shape=ellipse];\n"
                              "  b0 -> b1 [style=dashed];\n"
                              "  b1 -> b1;\n"
                              "  b1 -> b2 [style=dashed];\n"
                              "  b1 -> b2 [style=dotted, constraint=false, arrowhead=none];\n"
                              "  b2 -> X;\n}\n");
    free(text);
    text = emitted(emit_whole_dot);
    assert_non_null(strstr(text, "5: @%p1 bra L;\\l"));
    free(text);
}

static void writes_json(void **state)
{
    (void)state;
    char *text = emitted(hd_emit_ir_json);
    json_error_t error;
    json_t *first;
    json_t *f = json_loads(text, 0, &error);
    assert_non_null(f);
    const char *name, *tag, *exit, *spelled;
    int entry, line, writes, reads, successor, header;
    assert_int_equal(
        json_unpack_ex(f, &error, 0, "{s:s, s:b, s:[{s:{s:[s]}}], s:[{s:o}, {s:[i,i!]}, {s:[s!]}], s:[{s:i}!]}", "name",
                       &name, "entry", &entry, "instructions", "annotations", "bow", &tag, "blocks", "first", &first,
                       "successors", &successor, &header, "successors", &exit, "loops", "header", &header),
        0);
    assert_string_equal(name, "k");
    assert_true(entry);
    assert_string_equal(tag, "rf");
    assert_string_equal(exit, "exit");
    assert_int_equal(successor, 1);
    assert_int_equal(header, 1);
    json_t *add = json_array_get(json_object_get(f, "instructions"), 2);
    assert_int_equal(json_unpack(add, "{s:i, s:s, s:[i,i!], s:[i,i!]}", "line", &line, "text", &spelled, "writes",
                                 &writes, &reads, "reads", &writes, &reads),
                     0);
    assert_int_equal(line, 10);
    assert_string_equal(spelled, "add.cc.u32 %r2, %r2, %r1;");
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(json_object_get(f, "registers"), (size_t)reads), "name")),
        "%r1");
    json_decref(f);
    free(text);
}

static void lists_tokens(void **state)
{
    (void)state;
    hd_source source;
    hd_diagnostics diagnostics;
    hd_writer writer;
    hd_source_from_memory(&source, "t", "add.s32 // c\n %r1 ,", 20);
    hd_diagnostics_init(&diagnostics);
    hd_writer_to_memory(&writer);
    hd_emit_tokens(&writer, &source, &diagnostics);
    hd_write_char(&writer, '\0');
    assert_string_equal(writer.buffer.items, "1:1\ta name with modifiers\tadd.s32\n2:2\ta name\t%r1\n2:6\t','\t,\n");
    hd_writer_free(&writer);
    hd_diagnostics_free(&diagnostics);
    hd_source_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_the_ir), cmocka_unit_test(shows_liveness), cmocka_unit_test(draws_the_graph),
        cmocka_unit_test(writes_json),  cmocka_unit_test(lists_tokens),
    };
    return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
