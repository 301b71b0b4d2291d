/* parser/: declarations, functions, scopes, labels, places, sections: what each leaves in the IR, and exact spans. */
#include "tests/unit/parsed.h"
#include "tests/unit/ptx_file.h"

static const hd_symbol *symbol(const parsed *p, const char *name)
{
    for (uint32_t i = p->module->symbols.count; i-- > 0;)
        if (strcmp(hd_names_text(&p->module->names, p->module->symbols.items[i].name), name) == 0)
            return &p->module->symbols.items[i];
    fail_msg("no symbol %s", name);
    return NULL;
}

/* The statements of a list as one letter each. */
static const char *letters(const hd_statement *statements, uint32_t count, char *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = "IL{}@TRVXF"[statements[i].kind];
    out[count] = 0;
    return out;
}

/* The span of every statement has its text. */
static void expect_span(const parsed *p, hd_span span, const char *text)
{
    assert_int_equal(span.end - span.begin, strlen(text));
    assert_memory_equal(p->source.text + span.begin, text, strlen(text));
}

/* ---- the module -------------------------------------------------------------------------------------------------- */

static void heads(void **state)
{
    (void)state;
    parsed *p = parse_good(
        "// hi\n/* x */ .version 7.8 .target sm_90a, texmode_independent .address_size 64 .entry k { ret; }");
    assert_int_equal(p->module->version_major, 7);
    assert_int_equal(p->module->version_minor, 8);
    assert_int_equal(p->module->target_number, 90);
    assert_string_equal(hd_names_text(&p->module->names, p->module->target), "sm_90a");
    assert_int_equal(p->module->address_bits, 64);
    parsed_free(p);
    p = parse_good(".version 9.00\n.target compute_90\n");
    assert_int_equal(p->module->version_minor, 0);
    assert_int_equal(p->module->address_bits, 64);
    parsed_free(p);
    p = parse_good(".version 1.4\n.target sm_10, map_f64_to_f32\n.entry k { exit; }");
    assert_int_equal(p->module->target_number, 10);
    parsed_free(p);
}

static void wrong_heads(void **state)
{
    (void)state;
    assert_int_equal(first_error(""), HD_DIAG_EMPTY_INPUT);
    assert_int_equal(first_error("/* a */"), HD_DIAG_EMPTY_INPUT);
    assert_int_equal(first_error(".version 9.0\n"), HD_DIAG_BAD_TARGET);
    assert_int_equal(first_error(".version 9\n.target sm_90\n"), HD_DIAG_BAD_VERSION);
    assert_int_equal(first_error(".version 9.0\n.version 8.0\n.target sm_90\n"), HD_DIAG_BAD_DIRECTIVE);
    assert_int_equal(first_error(HEAD ".entry k { ret; }\n.version 9.0\n"), HD_DIAG_BAD_DIRECTIVE);
    assert_int_equal(first_error(".version 9.0\n.target sm_90\n.entry k { ret; }\n.address_size 64\n"),
                     HD_DIAG_BAD_DIRECTIVE);
    assert_int_equal(first_error(".target sm_90\n.entry k { ret; }\n"), HD_DIAG_BAD_DIRECTIVE);
    assert_int_equal(first_error(".entry k { ret; }\n"), HD_DIAG_MISSING_VERSION);
    assert_int_equal(first_error(".version 9.0\n.target sm_90, debug\n.entry k { ret; }\n.section .foo { .b8 1 }"),
                     HD_DIAG_BAD_TARGET);
    parsed_free(parse_good(".version 9.0\n.target sm_90, debug\n.entry k { ret; }\n.section .debug_foo { .b8 1 }"));
    assert_int_equal(first_error(".version 9.0\n.target sm_90, debug\n.entry k { ret; }\n"), HD_DIAG_BAD_TARGET);
    assert_int_equal(first_error(".version 9.0\n.entry k { ret; }\n"), -1); /* a warning */
}

/* ---- variables --------------------------------------------------------------------------------------------------- */

static void variables(void **state)
{
    (void)state;
    char out[256];
    parsed *p = parse_good(
        HEAD ".visible .global .align 8 .v2 .f32 a[2][3], b = {1.0, 2.0};\n.extern .shared .align 16 .b8 s[];\n"
             ".global .attribute(.managed) .b8 m[] = {1, 2, 3};\n.weak .const .u16 c;\n.global .b32 r<3>;\n");
    assert_int_equal(symbol(p, "a")->align, 8);
    assert_int_equal(symbol(p, "a")->vector, 2);
    assert_int_equal(symbol(p, "a")->type, HD_TYPE_F32);
    assert_int_equal(symbol(p, "a")->size_bytes, 48);
    assert_int_equal(symbol(p, "a")->linkage, HD_LINKAGE_VISIBLE);
    assert_int_equal(symbol(p, "b")->initializer_count, 4);
    assert_string_equal(join_tokens(p->module, symbol(p, "a")->declarator, out, sizeof out), "a [ 2 ] [ 3 ]");
    assert_string_equal(join_tokens(p->module, symbol(p, "b")->declarator, out, sizeof out), "b = { 1.0 , 2.0 }");
    assert_string_equal(join_tokens(p->module, p->module->variable_groups.items[0].qualifiers, out, sizeof out),
                        ".visible .global .align 8 .v2 .f32");
    assert_int_equal(p->module->variable_groups.items[0].count, 2);
    assert_true(symbol(p, "s")->is_unsized && symbol(p, "s")->size_bytes == 0);
    assert_int_equal(symbol(p, "m")->size_bytes, 3);
    assert_int_equal(symbol(p, "c")->align, 2);
    assert_int_equal(symbol(p, "r2")->size_bytes, 4);
    assert_string_equal(letters(p->module->statements.items, p->module->statements.count, out), "XXXVVVVV");
    expect_span(p, p->module->statements.items[4].span, ".extern .shared .align 16 .b8 s[];");
    parsed_free(p);
}

static void initializers(void **state)
{
    (void)state;
    parsed *p = parse_good(
        HEAD ".func f;\n.global .b8 x[4];\n.global .u64 t[6] = {x, x+-8, generic(x)+4, f, 0xff00(x), (1<<3)|2};\n");
    const hd_symbol *t = symbol(p, "t");
    const hd_initializer *i = p->module->initializers.items + t->initializer_first;
    assert_int_equal(t->initializer_count, 8);
    assert_int_equal(i[0].kind, HD_INIT_OPEN);
    assert_int_equal(i[1].kind, HD_INIT_ADDRESS);
    assert_ptr_equal(p->module->symbols.items + i[1].symbol, symbol(p, "x"));
    assert_true(i[2].bits == (uint64_t)-8 && !i[2].is_generic && i[2].mask_shift == HD_NO_MASK);
    assert_true(i[3].is_generic && i[3].bits == 4);
    assert_int_equal(p->module->symbols.items[i[4].symbol].kind, HD_SYMBOL_FUNCTION);
    assert_int_equal(i[5].mask_shift, 8);
    assert_true(i[6].kind == HD_INIT_LITERAL && i[6].bits == 10);
    assert_int_equal(i[7].kind, HD_INIT_CLOSE);
    parsed_free(p);
}

/* A definition takes over from the .extern declarations before it, wherever they are. */
static void definitions_come_first(void **state)
{
    (void)state;
    parsed *p = parse_good(HEAD ".extern .global .b32 a;\n.visible .global .b32 a = 1;\n.extern .global .b32 a;\n"
                                ".entry k { .reg .b64 y; mov.u64 y,a; ret; }");
    const hd_function *f = function_of(p, "k");
    const hd_operand *o = hd_insn_operands(f, &f->instructions.items[0]);
    assert_int_equal(p->module->symbols.items[o[1].value].linkage, HD_LINKAGE_VISIBLE);
    parsed_free(p);
}

static void wrong_variables(void **state)
{
    static const struct {
        const char *text;
        int kind;
    } rows[] = {
        {".global .b32 a[2] = {1,2,3};", HD_DIAG_BAD_INITIALIZER},
        {".global .b32 a[2][2] = {1,2,3,4};", HD_DIAG_BAD_INITIALIZER},
        {".global .v2 .f32 t[2] = {1.0,2.0,3.0,4.0};", HD_DIAG_BAD_INITIALIZER},
        {".shared .b32 a = 1;", HD_DIAG_BAD_INITIALIZER},
        {".extern .global .b32 a = 1;", HD_DIAG_BAD_INITIALIZER},
        {".global .u32 a = 1.5;", HD_DIAG_BAD_INITIALIZER},
        {".global .f32 a = 1;", HD_DIAG_BAD_INITIALIZER},
        {".global .f16 a = 1.0;", HD_DIAG_BAD_INITIALIZER},
        {".global .u64 a = b;", HD_DIAG_UNDECLARED_NAME},
        {".global .b8 s; .global .u64 t = s-1;", HD_DIAG_BAD_ADDRESS},
        {".global .b8 s; .global .u64 t = (s);", HD_DIAG_BAD_INITIALIZER},
        {".global .b32 a[];", HD_DIAG_BAD_DECLARATION},
        {".global .b32 a[0];", HD_DIAG_BAD_DECLARATION},
        {".global .b32 a[1+1];", HD_DIAG_SYNTAX},
        {".global .visible .b32 a;", HD_DIAG_SYNTAX},
        {".weak .extern .func f;", HD_DIAG_SYNTAX},
        {".common .shared .b32 a;", HD_DIAG_BAD_DECLARATION},
        {".local .b32 a;", HD_DIAG_BAD_DECLARATION},
        {".reg .b32 a;", HD_DIAG_BAD_DECLARATION},
        {".global .e4m3 a;", HD_DIAG_BAD_DECLARATION},
        {".global .pred a;", HD_DIAG_BAD_DECLARATION},
        {".global .b32 .align 8 a;", HD_DIAG_SYNTAX},
        {".global .b32 %tid;", HD_DIAG_REDECLARED},
        {".global .b32 a; .global .b32 a;", HD_DIAG_REDECLARED},
        {".global .b32 a; .func a;", HD_DIAG_REDECLARED},
        {".tex .u32 t;", HD_DIAG_BAD_DECLARATION},
        {".const[1] .b32 a;", HD_DIAG_BAD_DECLARATION},
        {".global .samplerref s;", HD_DIAG_BAD_DECLARATION},
        {".global .b32 WARP_SZ;", HD_DIAG_SYNTAX},
        {".global .b32 _;", HD_DIAG_SYNTAX},
        {".global .b32 r<100000000>;", HD_DIAG_BAD_DECLARATION},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "%s\n", rows[i].text);
        int kind = first_error(text);
        if (kind != rows[i].kind)
            print_message("# %s\n", rows[i].text);
        assert_int_equal(kind, rows[i].kind);
    }
    parsed_free(parse_good(HEAD ".extern .global .b32 a;\n.visible .global .b32 a = 1;\n.global .texref t = { width = "
                                "5, normalized_coords = 1};"));
    parsed_free(parse_good(".version 1.4\n.target sm_10\n.const[3] .b32 a;\n.tex .u32 t2;\n"));
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void entries(void **state)
{
    char out[512];
    (void)state;
    parsed *p = parse_good(ptx_file("parser-entries"));
    const hd_function *f = function_of(p, "k"), *q = function_of(p, "q");
    assert_true(f->is_entry && f->has_body);
    assert_int_equal(f->parameter_count, 2);
    assert_int_equal(f->max_threads[0], 128);
    assert_int_equal(f->max_threads[1], 2);
    assert_int_equal(f->max_threads[2], 1);
    assert_int_equal(f->min_ctas, 4);
    assert_int_equal(f->max_registers, 64);
    assert_int_equal(q->required_threads[0], 32);
    const hd_symbol *a = symbol(p, "a");
    assert_true(a->kind == HD_SYMBOL_PARAMETER && a->is_pointer && a->pointer_space == HD_SPACE_GLOBAL &&
                a->space == HD_SPACE_PARAM);
    assert_int_equal(symbol(p, "b")->size_bytes, 24);
    expect_span(p, f->body, "{\n\tret;\n}");
    assert_string_equal(
        join_tokens(p->module, f->header, out, sizeof out),
        ".visible .entry k ( .param .u64 .ptr .global .align 16 a , .param .align 8 .b8 b [ 24 ] ) .maxntid 128 , 2 "
        ".minnctapersm 4 .maxnreg 64");
    assert_string_equal(letters(p->module->statements.items, p->module->statements.count, out), "XXXFF");
    parsed_free(p);
}

static void formals(void **state)
{
    (void)state;
    parsed *p = parse_good(HEAD ".func (.reg .b32 r, .reg .v2 .b32 s) f(.reg .b32 a, .param .b32 b, .param .b64 c, "
                                ".reg .v2 .b32 d, .param .b32 e)"
                                " { ret; }\n.func (.param .b32 r) g(.param .b32 a) { ret; }\n.func h() { ret; }\n");
    static const struct {
        const char *name;
        bool results;
        const char *kinds;
    } cases[] = {{"f", false, "rppvp"}, {"f", true, "rv"}, {"g", false, "p"},
                 {"g", true, "p"},      {"h", false, ""},  {"h", true, ""}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hd_function *f = function_of(p, cases[i].name);
        hd_formals walk = {.function = f, .results = cases[i].results};
        hd_formal formal;
        char kinds[16] = "", *at = kinds;
        uint32_t variables = cases[i].results ? f->result_first : f->parameter_first, registers = 0;
        for (; hd_formals_next(&walk, &formal); *at++ = formal.symbol != HD_NONE ? 'p'
                                                        : formal.components == 1 ? 'r'
                                                                                 : 'v') {
            assert_int_equal(formal.symbol == HD_NONE ? formal.first : formal.symbol,
                             formal.symbol == HD_NONE ? registers : variables);
            registers += formal.symbol == HD_NONE ? formal.components : 0;
            variables += formal.symbol != HD_NONE;
        }
        *at = 0;
        assert_string_equal(kinds, cases[i].kinds);
        assert_int_equal(hd_formals_count(f, cases[i].results), strlen(kinds));
    }
    parsed_free(p);
    assert_int_equal(first_error(HEAD ".func (.param .b32 a, .param .b32 b) f();\n"), HD_DIAG_BAD_DECLARATION);
    assert_int_equal(first_error(HEAD ".func (.reg .b32 a, .param .b32 b) f();\n"), HD_DIAG_BAD_DECLARATION);
    assert_int_equal(
        first_error(HEAD ".func f(.reg .b32 a, .param .b32 b);\n.func f(.param .b32 b, .reg .b32 a) { ret; }\n"),
        HD_DIAG_BAD_DECLARATION);
}

static void calls_of_mixed_parameters(void **state)
{
    (void)state;
#define MIXED                                                                                                          \
    HEAD ".func f(.reg .b32 a, .param .b32 b, .reg .v2 .b32 c) { ret; }\n.entry k() { .reg .b32 x; .reg .b64 y; .reg " \
         ".v2 .b32 v; .reg .v4 .b32 w;"                                                                                \
         " .param .b32 p; .param .b64 q; call f, ("
#define END "); ret; }\n"
    static const char *const good[] = {MIXED "x, p, v" END, MIXED "7, 5, v" END, MIXED "p, x, v" END};
    static const char *const bad[] = {MIXED "x, p" END,    MIXED "x, p, v, x" END, MIXED "y, p, v" END,
                                      MIXED "x, q, v" END, MIXED "x, p, w" END,    MIXED "x, p, x" END,
                                      MIXED "v, p, v" END, MIXED "x, v, v" END};
    for (uint32_t i = 0; i < sizeof good / sizeof *good; i++)
        parsed_free(parse_good(good[i]));
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(first_error(bad[i]), HD_DIAG_BAD_CALL);
}

static void functions(void **state)
{
    char out[256];
    (void)state;
    parsed *p = parse_good(HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                                ".func (.reg .b32 o, .reg .pred q) f(.reg .b32 i) { mov.b32 o,i; mov.pred q,1; ret; }\n"
                                ".func g() .noreturn { exit; }\n.func h();\n.alias h, g;\n.func proto(.param .b32 "
                                "a);\n.func proto(.param .b32 a) { ret; }\n");
    const hd_function *f = function_of(p, "f");
    assert_int_equal(f->register_results.count, 2);
    assert_int_equal(f->register_parameters.count, 1);
    assert_int_equal(f->declarations.count, 3);
    describe(f, 0, out, sizeof out);
    assert_string_equal(out, "mov.b32 o! i?");
    assert_int_equal(hd_insn_operands(f, &f->instructions.items[0])[0].value, f->register_results.items[0]);
    assert_true(function_of(p, "g")->no_return);
    const hd_function *v = function_of(p, "vprintf");
    assert_true(!v->has_body && v->linkage == HD_LINKAGE_EXTERN && v->result_count == 1 && v->parameter_count == 2);
    assert_int_equal(p->module->symbols.items[v->symbol].kind, HD_SYMBOL_FUNCTION);
    assert_true(function_of(p, "proto")->has_body);
    parsed_free(p);
}

static void wrong_functions(void **state)
{
    static const struct {
        const char *text;
        int kind;
    } rows[] = {
        {".entry k { ret; } .entry k { ret; }", HD_DIAG_REDECLARED},
        {".entry (.param .u32 r) k() { ret; }", HD_DIAG_SYNTAX},
        {".entry k(.reg .u32 a) { ret; }", HD_DIAG_BAD_DECLARATION},
        {".entry k(.param .b8 a[]) { ret; }", HD_DIAG_BAD_DECLARATION},
        {".entry k(.param .pred a) { ret; }", HD_DIAG_BAD_DECLARATION},
        {".entry k(.param .u32 a, .param .u32 a) { ret; }", HD_DIAG_REDECLARED},
        {".func f(.param .b32 _);", HD_DIAG_BAD_DECLARATION},
        {".entry k() .noreturn { ret; }", HD_DIAG_BAD_DIRECTIVE},
        {".func f() .maxnreg 3 { ret; }", HD_DIAG_BAD_DIRECTIVE},
        {".entry k .maxntid 1 .reqntid 1 { ret; }", HD_DIAG_BAD_DIRECTIVE},
        {".entry k .blocksareclusters { ret; }", HD_DIAG_BAD_DIRECTIVE},
        {".entry k .maxntid 1 .maxnctapersm 4 { ret; }", HD_DIAG_BAD_DIRECTIVE},
        {".entry k .pragma \"x\" { ret; }", HD_DIAG_SYNTAX},
        {".entry k .maxntid 32 .pragma \"enable_smem_spilling\"; { ret; }", HD_DIAG_BAD_DIRECTIVE},
        {".entry k { .entry l { ret; } }", HD_DIAG_SYNTAX},
        {".entry k { ret; ", HD_DIAG_UNTERMINATED_SCOPE},
        {".entry k { ; }", HD_DIAG_SYNTAX},
        {".entry k { .file 1 \"a\"\n }", HD_DIAG_SYNTAX},
        {".alias a, b;", HD_DIAG_UNDECLARED_NAME},
        {".func a { ret; } .func b { ret; } .alias a, b;", HD_DIAG_REDECLARED},
        {".entry WARP_SZ { ret; }", HD_DIAG_SYNTAX},
        {".entry %tid { ret; }", HD_DIAG_REDECLARED},
        {".entry k(.param .u32 a) { .reg .b32 a; ret; }", HD_DIAG_REDECLARED},
        {".func f(.param .b32 a); .func f(.param .b64 a) { ret; }", HD_DIAG_BAD_DECLARATION},
        {".func f(.param .b32 a); .func f(.param .b32 a, .param .b32 b);", HD_DIAG_BAD_DECLARATION},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "%s", rows[i].text);
        int kind = first_error(text);
        if (kind != rows[i].kind)
            print_message("# %s gave %d\n", rows[i].text, kind);
        assert_int_equal(kind, rows[i].kind);
    }
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void statements_have_exact_spans(void **state)
{
    char out[64];
    (void)state;
    parsed *p =
        parse_good(HEAD ".entry k {\n .reg .b32 x, y<3>; .reg .pred q; /* a */ A: B:\n.loc\n1 5\n3 mov.b32 x,1;{ "
                        "@!q\nmov.b32 /**/ y1 ,x ; }\n"
                        ".pragma \"nounroll\"; .shared .b32 s[4]; ts: .branchtargets A,B; ret; }\n.file 1 \"a.cu\"");
    const hd_function *f = function_of(p, "k");
    assert_string_equal(letters(f->statements.items, f->statements.count, out), "RRLL@I{I}XVTI");
    const hd_statement *s = f->statements.items;
    expect_span(p, s[0].span, ".reg .b32 x, y<3>;");
    expect_span(p, s[2].span, "A:");
    expect_span(p, s[4].span, ".loc\n1 5\n3");
    expect_span(p, s[5].span, "mov.b32 x,1;");
    expect_span(p, s[6].span, "{");
    expect_span(p, s[7].span, "@!q\nmov.b32 /**/ y1 ,x ;");
    expect_span(p, s[9].span, ".pragma \"nounroll\";");
    expect_span(p, s[11].span, "ts: .branchtargets A,B;");
    assert_int_equal(f->declarations.count, 3);
    assert_int_equal(f->declarations.items[1].count, 3);
    assert_int_equal(f->register_groups.items[0].count, 2);
    assert_int_equal(f->tables.items[0].count, 2);
    parsed_free(p);
}

static void places(void **state)
{
    (void)state;
    parsed *p = parse_good(
        HEAD ".file 1 \"a.cu\", 1339013327, 64118\n.entry k { .reg .b32 x;\nmov.b32 x,0; .loc 1 5 3 mov.b32 x,1;\n"
             ".loc 1 9 0, function_name info+4, inlined_at 1 5 3\nmov.b32 x,2; ret; }\n.section .debug_str { info: .b8 "
             "102,111,0 }");
    const hd_function *f = function_of(p, "k");
    assert_int_equal(f->instructions.items[0].location, HD_NONE);
    const hd_location *l = p->module->locations.items;
    assert_int_equal(f->instructions.items[1].location, 0);
    assert_true(l[0].file == 1 && l[0].line == 5 && l[0].column == 3 && l[0].function_name == HD_NO_NAME);
    assert_int_equal(f->instructions.items[2].location, 1);
    assert_true(l[1].line == 9 && l[1].inlined_file == 1 && l[1].inlined_line == 5 && l[1].inlined_column == 3 &&
                l[1].function_offset == 4);
    assert_string_equal(hd_names_text(&p->module->names, l[1].function_name), "info");
    expect_span(p, f->statements.items[4].span, ".loc 1 9 0, function_name info+4, inlined_at 1 5 3");
    assert_int_equal(p->module->files.count, 1);
    assert_string_equal(hd_names_text(&p->module->names, p->module->files.items[0].name), "a.cu");
    const hd_verbatim *section = &hd_array_last(&p->module->verbatims);
    assert_int_equal(section->kind, HD_VERBATIM_SECTION);
    assert_string_equal(hd_names_text(&p->module->names, section->name), ".debug_str");
    parsed_free(p);
}

static void sections(void **state)
{
    (void)state;
    parsed_free(parse_good(ptx_file("parser-sections")));
    assert_int_equal(first_error(HEAD ".section .debug_str { .b8 1; }"), HD_DIAG_SYNTAX);
    assert_int_equal(first_error(HEAD ".section .debug_str { .b8 \"abc\" }"), HD_DIAG_SYNTAX);
    assert_int_equal(first_error(HEAD ".section debug_str { .b8 1 }"), HD_DIAG_SYNTAX);
    assert_int_equal(first_error(HEAD ".section .debug_str { .f32 1 }"), HD_DIAG_BAD_DIRECTIVE);
    assert_int_equal(first_error(HEAD ".file 1 \"a\"\n.file 1 \"b\"\n"), HD_DIAG_REDECLARED);
    assert_int_equal(first_error(HEAD ".loc 1 1 1\n"), HD_DIAG_SYNTAX);
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

static void scopes_shadow(void **state)
{
    char out[256];
    (void)state;
    parsed *p = parse_good(HEAD ".entry k { .reg .b32 r<4>; .reg .b32 a; mov.b32 a,r1;\n{ .reg .b64 r<2>; .reg .b64 a; "
                                "mov.b64 a,r1; mov.b32 r3,1; }\n"
                                "{ .reg .b64 r2; mov.b64 r2,1; { .reg .b16 r<9>; mov.b16 r2,1; } mov.b64 r2,2; "
                                "}\nmov.b32 r2,r1; mov.b32 r3,a; ret; }");
    const hd_function *f = function_of(p, "k");
    uint32_t value[8];
    for (uint32_t i = 0; i < 8; i++)
        value[i] = hd_insn_operands(f, &f->instructions.items[i])[0].value;
    const hd_operand *first = hd_insn_operands(f, &f->instructions.items[0]),
                     *second = hd_insn_operands(f, &f->instructions.items[1]);
    assert_true(first[1].value != second[1].value && first[0].value != second[0].value);
    assert_int_equal(f->registers.items[second[1].value].type, HD_TYPE_B64);
    assert_int_equal(value[3], value[5]);     /* r2 of the block */
    assert_int_not_equal(value[3], value[4]); /* r2 of the range inside it */
    assert_int_not_equal(value[6], value[3]); /* r2 of the body */
    assert_int_equal(value[2], value[7]);     /* r3, first mentioned inside a block */
    describe(f, 6, out, sizeof out);
    assert_string_equal(out, "mov.b32 r2! r1?");
    assert_int_equal(hd_insn_operands(f, &f->instructions.items[6])[1].value, first[1].value);
    parsed_free(p);
}

static void labels_are_seen_inside(void **state)
{
    (void)state;
    parsed *p = parse_good(HEAD ".entry k { .reg .pred p; L: { @p bra L; bra M; L: bra L; { bra L; } } @p bra L; M: { "
                                "bra N; N: } { bra N; N: } ret; }");
    const hd_function *f = function_of(p, "k");
    static const uint32_t labels[] = {1, 2, 1, 1, 0, 3, 4};
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(hd_insn_operands(f, &f->instructions.items[i])[0].value, labels[i]);
    parsed_free(p);
    assert_int_equal(body_error("", "bra L; { L: }"), HD_DIAG_UNDEFINED_LABEL);
    assert_int_equal(body_error("", "{ L: } bra L;"), HD_DIAG_UNDEFINED_LABEL);
    assert_int_equal(body_error("", "bra NOPE;"), HD_DIAG_UNDEFINED_LABEL);
    assert_int_equal(body_error("", "L: L: mov.b32 x0,1;"), HD_DIAG_REDECLARED);
    assert_int_equal(body_error("", ".reg .b32 L; L: mov.b32 x0,1;"), HD_DIAG_REDECLARED);
    assert_int_equal(body_error("", "t: .branchtargets L, M; L: brx.idx x0,t;"), HD_DIAG_UNDEFINED_LABEL);
}

static void registers_are_declared_first(void **state)
{
    (void)state;
    assert_int_equal(body_error("", "mov.b32 zz,1; .reg .b32 zz;"), HD_DIAG_UNDECLARED_NAME);
    assert_int_equal(body_error("", "{ .reg .b32 zz; } mov.b32 zz,1;"), HD_DIAG_UNDECLARED_NAME);
    assert_int_equal(body_error("", ".reg .b32 r<4>; mov.b32 r4,1;"), HD_DIAG_UNDECLARED_REGISTER);
    assert_int_equal(body_error("", ".reg .b32 r<4>, r2;"), HD_DIAG_REDECLARED);
    assert_int_equal(body_error("", ".reg .b32 r2; .reg .b32 r<4>;"), HD_DIAG_REDECLARED);
    assert_int_equal(body_error("", ".reg .b32 r<4>; .reg .b64 r<2>;"), HD_DIAG_REDECLARED);
    assert_int_equal(body_error("", ".reg .b32 r<2+2>;"), HD_DIAG_SYNTAX);
    assert_int_equal(body_error("", ".reg .b32 r<2147483648>;"), HD_DIAG_REGISTER_RANGE);
    assert_int_equal(body_error("", ".reg .b32 r<2147483647>; mov.b32 r2147483646,1;"), -1);
    assert_int_equal(body_error("", ".reg .b32 r < 0x4U > ; .reg .b32 r9; mov.b32 r3,r9;"), -1);
    assert_int_equal(body_error("", ".reg .b32 r<0>;"), -1);
    assert_int_equal(body_error("", ".reg .b32 r<4>; r1: bra r1;"), -1); /* a label may be named as a member is */
    assert_int_equal(body_error("", ".reg a;"), HD_DIAG_SYNTAX);
    assert_int_equal(body_error("", ".reg .tf32 a;"), HD_DIAG_BAD_DECLARATION);
    assert_int_equal(body_error("", ".reg .v3 .b32 a;"), HD_DIAG_BAD_DECLARATION);
    assert_int_equal(body_error("", ".reg .v2 .pred a;"), HD_DIAG_BAD_DECLARATION);
}

static void register_ids_are_given_at_the_mention(void **state)
{
    (void)state;
    parsed *p = parse_good(HEAD ".entry k { .reg .b32 r<100000000>; .reg .v4 .f32 v; .reg .b32 unused; mov.b32 "
                                "r99999999,r70000; mov.b32 r0,r70000; ret; }");
    const hd_function *f = function_of(p, "k");
    assert_int_equal(f->registers.count, 3);
    assert_int_equal(f->declarations.count, 3);
    assert_int_equal(f->registers.items[0].index, 99999999);
    assert_int_equal(f->registers.items[1].index, 70000);
    parsed_free(p);
}

/* Old PTX: registers of the module belong to each function that mentions them. */
static void module_registers(void **state)
{
    char out[256];
    (void)state;
    parsed *p = parse_good(".version 2.3\n.target sm_20\n.reg .u32 g; .reg .u32 r<5>;\n.entry a { { mov.u32 g,r3; } "
                           "mov.u32 r3,g; exit; }\n"
                           ".entry b { .reg .u32 g; mov.u32 g,r1; exit; }\n");
    const hd_function *a = function_of(p, "a"), *b = function_of(p, "b");
    assert_non_null(p->module->globals);
    assert_int_equal(a->registers.count, 2);
    assert_int_equal(a->declarations.count, 2);
    describe(a, 1, out, sizeof out);
    assert_string_equal(out, "mov.u32 r3! g?");
    assert_int_equal(hd_insn_operands(a, &a->instructions.items[0])[0].value,
                     hd_insn_operands(a, &a->instructions.items[1])[1].value);
    assert_int_equal(a->declarations.items[a->registers.items[0].declaration].depth, 0);
    const hd_operand *o = hd_insn_operands(b, &b->instructions.items[0]);
    assert_int_equal(b->declarations.items[b->registers.items[o[0].value].declaration].depth, 1);
    assert_int_equal(b->declarations.items[b->registers.items[o[1].value].declaration].depth, 0);
    parsed_free(p);
}

static void extended_spelling_is_cut_off(void **state)
{
    char out[256];
    (void)state;
    parsed *p =
        parse_text(HEAD ".entry k {\n.heddle bow_window 3;\n.reg .b32 x<4>;\nmul.lo.s32.bow::boc x1,x2,x3;\nret;\n}\n");
    assert_int_equal(p->diagnostics.error_count + p->diagnostics.warning_count, 0);
    assert_true(p->module->extended);
    const hd_function *f = function_of(p, "k");
    describe(f, 0, out, sizeof out);
    assert_string_equal(out, "mul.lo.s32 x1! x2? x3?");
    assert_string_equal(letters(f->statements.items, f->statements.count, out), "XRII");
    expect_span(p, f->statements.items[0].span, ".heddle bow_window 3;");
    parsed_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads),
        cmocka_unit_test(wrong_heads),
        cmocka_unit_test(variables),
        cmocka_unit_test(definitions_come_first),
        cmocka_unit_test(initializers),
        cmocka_unit_test(wrong_variables),
        cmocka_unit_test(entries),
        cmocka_unit_test(functions),
        cmocka_unit_test(formals),
        cmocka_unit_test(calls_of_mixed_parameters),
        cmocka_unit_test(wrong_functions),
        cmocka_unit_test(statements_have_exact_spans),
        cmocka_unit_test(places),
        cmocka_unit_test(sections),
        cmocka_unit_test(scopes_shadow),
        cmocka_unit_test(labels_are_seen_inside),
        cmocka_unit_test(registers_are_declared_first),
        cmocka_unit_test(register_ids_are_given_at_the_mention),
        cmocka_unit_test(module_registers),
        cmocka_unit_test(extended_spelling_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
