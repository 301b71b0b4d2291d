/* parser/: what operands mean in the IR. Every form of an operand that PTX has, with roles as the instruction table
 * gives them. */
#include "tests/unit/parsed.h"

#define G ".global .b32 g[64]; .shared .b32 s[64]; .global .texref tx;"

static void plain(void **state)
{
    (void)state;
    expect_instruction("", "add.s32 x1,x2,-4;", "add.s32 x1! x2? #-4");
    expect_instruction("", "@p1 mov.b32 x1 , 0x10;", "@p1 mov.b32 x1! #16");
    expect_instruction("", "@! p2\n mov .b32 x1,WARP_SZ;", "@!p2 mov.b32 x1! #32");
    expect_instruction("", "mov.u32 x0,%tid.x;", "mov.u32 x0! %tid.0");
    expect_instruction("", "mov.u32 x0,%laneid;", "mov.u32 x0! %laneid.-1");
    expect_instruction("", "selp.b32 x0,x1,x2,!p3;", "selp.b32 x0! x1? x2? not p3?");
    expect_instruction("", "{add.s32 x1,x2,x3;} // after", "add.s32 x1! x2? x3?");
}

static void addresses(void **state)
{
    (void)state;
    expect_instruction(G, "ld.global.u32 x0,[y1];", "ld.global.u32 x0! [y1?]");
    expect_instruction(G, "ld.global.u32 x0,[y1+-16];", "ld.global.u32 x0! [y1?+#-16]");
    expect_instruction(G, "ld.global.u32 x0,[g+8];", "ld.global.u32 x0! [&g+#8]");
    expect_instruction(G, "ld.shared.u32 x0,[s+8-4];", "ld.shared.u32 x0! [&s+#4]");
    expect_instruction(G, "ld.shared.u32 x0,[s+1<<3|1];", "ld.shared.u32 x0! [&s+#9]");
    expect_instruction(G, "ld.shared.u32 x0,s[3];", "ld.shared.u32 x0! sub[&s #3]");
    expect_instruction(G, "ld.shared.u32 x0,s[x1];", "ld.shared.u32 x0! sub[&s x1?]");
    expect_instruction(G, "ld.param.u64 y0,[pp+0];", "ld.param.u64 y0! [&pp+#0]");
    expect_instruction(G, "ld.local.u32 x0,[4];", "ld.local.u32 x0! [#4]");
    expect_instruction(G, "mov.u64 y0,g+(1<<3);", "mov.u64 y0! &g+#8");
    expect_instruction(G, "mov.u64 y0,k;", "mov.u64 y0! &k");
    expect_instruction(G, "st.global.v2.u32 [y0],{1,x2};", "st.global.v2.u32 [y0?] {#1 x2?}");
    expect_instruction(G, "tex.2d.v4.f32.f32 {f0,f1,f2,f3},[tx,{f4,f5}];",
                       "tex.2d.v4.f32.f32 {f0! f1! f2! f3!} [&tx {f4? f5?}]");
    expect_instruction(G, "atom.global.add.u32 x0,[y0],x1;", "atom.global.add.u32 x0! [y0?] x1?");
}

static void offsets_are_marked(void **state)
{
    (void)state;
    parsed *p = parse_good(HEAD ".entry k(.param .u64 pp) {\n" REGISTERS "ld.global.u32 x0,[y1+4]; ret; }");
    const hd_function *f = function_of(p, "k");
    const hd_operand *o = hd_insn_operands(f, &f->instructions.items[0]);
    assert_int_equal(o[1].kind, HD_OPERAND_ADDRESS);
    assert_true(o[2].flags & HD_OPERAND_OFFSET && o[2].count == 1);
    assert_int_equal(p->source.text[o[2].begin], 'y');
    assert_int_equal(hd_operand_extent(&o[1]), 3);
    parsed_free(p);
}

static void vectors(void **state)
{
    (void)state;
    expect_instruction("", "ld.global.v2 .u32 { x0 , _ },[y0];", "ld.global.v2.u32 {x0! _} [y0?]");
    expect_instruction("", "mov.b64 {x0,x1},y0;", "mov.b64 {x0! x1!} y0?");
    expect_instruction("", ".reg .v4 .b32 v; add.s32 x0,v.x,v.w;", "add.s32 x0! v.x<.x>? v.w<.w>?");
    expect_instruction("", ".reg .v4 .f32 v; mov.f32 f0,v.g;", "mov.f32 f0! v.y<.g>?");
    expect_instruction("", ".reg .v4 .b32 v<3>; mov.b32 x0,v1.y;", "mov.b32 x0! v1.y<.y>?");
    expect_instruction("", ".reg .v4 .b32 v; ld.global.v4.b32 v,[y0];",
                       "ld.global.v4.b32 {*v.x! v.y! v.z! v.w!} [y0?]");
    expect_instruction("", "vadd.s32.s32.s32 x0,x1.b0,x2.h1;", "vadd.s32.s32.s32 x0! x1<.b0>? x2<.h1>?");
    expect_instruction("", "vmad.s32.s32.s32 x0,-x1.h0,x2.h1,x3;", "vmad.s32.s32.s32 x0! minus x1<.h0>? x2<.h1>? x3?");
}

static void pairs(void **state)
{
    (void)state;
    expect_instruction("", "setp.eq.s32 p0 | p1, x0,x1;", "setp.eq.s32 |p0! p1!| x0? x1?");
    expect_instruction("", "setp.lt.and.s32 _|p1,x1,x2,!p3;", "setp.lt.and.s32 |_ p1!| x1? x2? not p3?");
    expect_instruction("", "elect.sync _|p0,0xffffffff;", "elect.sync |_ p0!| #4294967295");
}

static void calls(void **state)
{
    const char *f = ".func (.param .b32 r) f(.param .b32 a) { ret; }\n.func z;\n.func (.reg .b32 o) fr(.reg .b32 i) { "
                    "mov.b32 o,i; ret; }\n";
    (void)state;
    expect_instruction(f, "{ .param .b32 a; .param .b32 r; call.uni (r),\n f,\n (\n a\n ); }", "call.uni (&r) &f (&a)");
    expect_instruction(f, "call z;", "call &z");
    expect_instruction(f, "call (x0),fr,(7);", "call (x0!) &fr (#7)");
    expect_instruction(f, "pr: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (x0),y0,(x1),pr;",
                       "call (x0!) y0? (x1?) =pr");
    expect_instruction(f, "t: .calltargets fr; call (x0),y0,(x1),t;", "call (x0!) y0? (x1?) =t");
}

static void branches(void **state)
{
    (void)state;
    expect_instruction("", "@p0 bra L; L:", "@p0 bra :L@0");
    expect_instruction("", "ts: .branchtargets A,B; brx.idx x0,ts; A: B:", "brx.idx x0? =ts");
    expect_instruction("", "bra add; add:", "bra :add@0");
    expect_instruction("", "bra %L; %L:", "bra :%L@0");
}

static void odd_spellings(void **state)
{
    (void)state;
    expect_instruction("", ".reg .b32 r<20>; mov.b32 r01,1;", "mov.b32 r1<r01>! #1");
    expect_instruction("", ".reg .b32 r<20>; .reg .b32 r1<5>; mov.b32 r11,1;",
                       "mov.b32 r11! #1"); /* the longer stem, or the other: one */
    expect_instruction("", ".reg .b32 r1<10>; { .reg .b64 r<9>; } mov.b32 r15,1;", "mov.b32 r15! #1"); /* member 5 */
    expect_instruction("", ".reg .b32 add, generic, b32; mov.b32 add,generic;", "mov.b32 add! generic?");
    expect_instruction("", ".reg .b32 %tid; mov.b32 %tid,1;", "mov.b32 %tid! #1");
    expect_instruction("", ".reg .b32 __$1, %_a$b; mov.b32 __$1,%_a$b;", "mov.b32 __$1! %_a$b?");
}

static void unknown_opcodes_keep_names(void **state)
{
    char out[256];
    (void)state;
    parsed *p = parse_text(HEAD ".entry k {\n" REGISTERS "frob.b32 x1,[y1+4],nowhere,here,{x2,x3};\nhere: ret;\n}\n");
    assert_int_equal(p->diagnostics.error_count, 0);
    assert_int_equal(p->diagnostics.warning_count, 1);
    const hd_function *f = function_of(p, "k");
    describe(f, 0, out, sizeof out);
    assert_string_equal(out, "frob.b32 x1!? [y1!?+#4] 'nowhere :here@0 {x2!? x3!?}");
    assert_true(f->instructions.items[0].flags & HD_INSN_OPAQUE);
    parsed_free(p);
}

static void refused(void **state)
{
    (void)state;
    assert_int_equal(body_error(G, "ld.global.u32 x0,[y0-4];"), HD_DIAG_BAD_ADDRESS);
    assert_int_equal(body_error(G, "ld.global.u32 x0,[g+y1];"), HD_DIAG_BAD_ADDRESS);
    assert_int_equal(body_error(G, "ld.global.u32 x0,[g[1]];"), HD_DIAG_BAD_ADDRESS);
    assert_int_equal(body_error(G, "ld.global.u32 x0,[(y0+4)];"), HD_DIAG_BAD_ADDRESS);
    assert_int_equal(body_error(G, "mov.b64 y0,{x1+4,x2};"), HD_DIAG_BAD_ADDRESS);
    assert_int_equal(body_error(G, "mov.b32(x0),1;"), HD_DIAG_SYNTAX);
    assert_int_equal(body_error(G, "add.s32 x0,x1,x2,;"), HD_DIAG_SYNTAX);
    assert_int_equal(body_error(G, "mov.b32 x0,nothing;"), HD_DIAG_UNDECLARED_NAME);
    assert_int_equal(body_error(G, "mov.b32 x0,x9;"), HD_DIAG_UNDECLARED_REGISTER);
    assert_int_equal(body_error(G, "mov.b32 x0,%zz;"), HD_DIAG_UNDECLARED_REGISTER);
    assert_int_equal(body_error(G, "@x0 ret;"), HD_DIAG_BAD_GUARD);
    assert_int_equal(body_error(G, "@!!p0 ret;"), HD_DIAG_SYNTAX);
    assert_int_equal(body_error(G, ".reg .v4 .b32 v; mov.b32 x0,v.q;"), HD_DIAG_BAD_VECTOR);
    assert_int_equal(body_error(G, ".reg .v2 .b32 v; mov.b32 x0,v.z;"), HD_DIAG_BAD_VECTOR);
    assert_int_equal(body_error(G, ".reg .v4 .b32 v; mov.v2.b32 {x0,x1},v.xy;"), HD_DIAG_BAD_VECTOR);
    assert_int_equal(body_error(G, "ld.global.v2.u32 {{x0},x1},[y0];"), HD_DIAG_BAD_VECTOR);
    assert_int_equal(body_error(G, "brx.idx x0,t; L: t: .branchtargets L;"), HD_DIAG_UNDEFINED_LABEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(offsets_are_marked),
        cmocka_unit_test(addresses),
        cmocka_unit_test(vectors),
        cmocka_unit_test(pairs),
        cmocka_unit_test(calls),
        cmocka_unit_test(branches),
        cmocka_unit_test(odd_spellings),
        cmocka_unit_test(unknown_opcodes_keep_names),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
