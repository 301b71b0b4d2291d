/* Parsing small texts in unit tests, and IR as text to compare with. */
#ifndef HD_TESTS_PARSED_H
#define HD_TESTS_PARSED_H

#include "tests/unit/unit.h"

#include "ir/cfg.h"
#include "ir/sregs.h"
#include "parser/parse.h"

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define REGISTERS ".reg .pred p<4>; .reg .b16 h<4>; .reg .b32 x<9>; .reg .f32 f<9>; .reg .b64 y<9>; .reg .f64 d<4>;\n"

typedef struct parsed {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
} parsed;

static inline parsed *parse_as(const char *text, size_t length, bool strict)
{
    hd_parse_options options = {.ignore_annotations = true, .strict = strict};
    parsed *p = calloc(1, sizeof *p);
    hd_source_from_memory(&p->source, "t.ptx", text, length);
    hd_diagnostics_init(&p->diagnostics);
    p->module = hd_parse_ptx(&p->source, &options, &p->diagnostics);
    return p;
}
static inline parsed *parse_bytes(const char *text, size_t length) { return parse_as(text, length, false); }
static inline parsed *parse_text(const char *text) { return parse_bytes(text, strlen(text)); }

static inline void parsed_free(parsed *p)
{
    hd_module_free(p->module);
    hd_diagnostics_free(&p->diagnostics);
    free(p);
}

/* Parses a text that must be valid, and validates the module. */
static inline parsed *parse_good(const char *text)
{
    parsed *p = parse_text(text);
    if (p->diagnostics.first)
        print_message("# %s: %s\n", text, p->diagnostics.first->message);
    assert_int_equal(p->diagnostics.error_count, 0);
    assert_int_equal(p->diagnostics.warning_count, 0);
    assert_true(hd_ir_validate(p->module));
    return p;
}

/* The kind of the first error of a text; -1: none. */
static inline int first_error_as(const char *text, bool strict)
{
    parsed *p = parse_as(text, strlen(text), strict);
    int kind = -1;
    for (const hd_diagnostic *d = p->diagnostics.first; d && kind < 0; d = d->next)
        kind = d->severity == HD_ERROR ? (int)d->kind : -1;
    parsed_free(p);
    return kind;
}

static inline int first_error(const char *text) { return first_error_as(text, false); }

/* The function with a body of that name. */
static inline hd_function *function_of(const parsed *p, const char *name)
{
    hd_function *f = hd_module_find_function(p->module, name);
    assert_non_null(f);
    return f;
}

static inline const char *name_text(const hd_function *f, hd_name name)
{
    return hd_names_text(&f->module->names, name);
}

/* One operand and its elements: x1! is written, x1? read, x1!? both; [..] an address, {..} a vector, (..) a list, a|b,
 * +4 an offset, #5 a number, &g a symbol, %tid.0 a special register, :L a label, =t a table. */
static inline const hd_operand *describe_operand(const hd_function *f, const hd_operand *o, char *out, size_t size)
{
    char buffer[256] = "";
    const hd_operand *next = o + 1;
    const char *open = "", *close = "";
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_REGISTER:
        hd_register_spell(f, o->value, buffer, sizeof buffer);
        if (o->extra)
            snprintf(buffer + strlen(buffer), sizeof buffer - strlen(buffer), "<%s>", name_text(f, o->extra));
        break;
    case HD_OPERAND_LITERAL:
        snprintf(buffer, sizeof buffer, "#%lld", (long long)f->module->literals.items[o->value].bits);
        break;
    case HD_OPERAND_SYMBOL:
        snprintf(buffer, sizeof buffer, "&%s", name_text(f, f->module->symbols.items[o->value].name));
        break;
    case HD_OPERAND_SREG: snprintf(buffer, sizeof buffer, "%%%s.%d", hd_sregs[o->value].spelling, (int)o->extra); break;
    case HD_OPERAND_LABEL:
        snprintf(buffer, sizeof buffer, ":%s@%u", name_text(f, f->labels.items[o->value].name), o->value);
        break;
    case HD_OPERAND_TABLE: snprintf(buffer, sizeof buffer, "=%s", name_text(f, f->tables.items[o->value].name)); break;
    case HD_OPERAND_SINK: snprintf(buffer, sizeof buffer, "_"); break;
    case HD_OPERAND_NAME: snprintf(buffer, sizeof buffer, "'%s", name_text(f, o->value)); break;
    case HD_OPERAND_VECTOR: open = o->flags & HD_OPERAND_WHOLE ? "{*" : "{", close = "}"; break;
    case HD_OPERAND_ADDRESS: open = o->flags & HD_OPERAND_BARE ? "sub[" : "[", close = "]"; break;
    case HD_OPERAND_PAIR: open = "|", close = "|"; break;
    case HD_OPERAND_LIST: open = "(", close = ")"; break;
    }
    snprintf(out + strlen(out), size - strlen(out), "%s%s%s%s%s%s%s", o->flags & HD_OPERAND_IMPLICIT ? "~" : "",
             o->flags & HD_OPERAND_NOT ? "not " : "", o->flags & HD_OPERAND_MINUS ? "minus " : "", open, buffer,
             o->flags & HD_OPERAND_DEF ? "!" : "", o->flags & HD_OPERAND_USE ? "?" : "");
    for (uint32_t i = 0; i < o->count; i++) {
        snprintf(out + strlen(out), size - strlen(out), "%s", *open ? i ? " " : "" : "+");
        next = describe_operand(f, next, out, size);
    }
    snprintf(out + strlen(out), size - strlen(out), "%s", close);
    return next;
}

/* "@!p1 add.s32 x1! x2? #4" */
static inline void describe(const hd_function *f, uint32_t ordinal, char *out, size_t size)
{
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    char guard[64] = "";
    if (insn->guard != HD_NONE)
        hd_register_spell(f, insn->guard, guard, sizeof guard);
    const char *mark = insn->guard == HD_NONE ? "" : insn->flags & HD_INSN_GUARD_NOT ? "@!" : "@";
    snprintf(out, size, "%s%s%s%s", mark, guard, *mark ? " " : "",
             name_text(f, f->module->forms.items[insn->form].spelling));
    while (o < end) {
        snprintf(out + strlen(out), size - strlen(out), " ");
        o = describe_operand(f, o, out, size);
    }
}

/* Parses one kernel with the registers p x f y d h and this body; its first instruction must have this description. */
static inline void expect_instruction(const char *before, const char *body, const char *described)
{
    char text[4096], out[2048];
    snprintf(text, sizeof text, HEAD "%s\n.entry k(.param .u64 pp) {\n" REGISTERS "%s\nret;\n}\n", before, body);
    parsed *p = parse_good(text);
    describe(function_of(p, "k"), 0, out, sizeof out);
    assert_string_equal(out, described);
    parsed_free(p);
}

/* The first error of one such kernel. */
static inline int body_error_as(const char *before, const char *body, bool strict)
{
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s\n.entry k(.param .u64 pp) {\n" REGISTERS "%s\nret;\n}\n", before, body);
    return first_error_as(text, strict);
}
static inline int body_error(const char *before, const char *body) { return body_error_as(before, body, false); }

/* The spellings of kept tokens, joined by blanks. */
static inline const char *join_tokens(const hd_module *m, hd_tokens tokens, char *out, size_t size)
{
    out[0] = 0;
    for (uint32_t i = 0; i < tokens.count; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? " " : "",
                 hd_names_text(&m->names, m->tokens.items[tokens.first + i]));
    return out;
}

#endif
