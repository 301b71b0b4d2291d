/* The instruction table against the facts of tests/isa, and against itself: every opcode of isa.tsv has a row with its
 * version and target; every statement of forms.tsv decodes, and what it writes is where the role column says; every
 * alternative of every row is reached by a spelling made of its own words. */
#include "tests/unit/parsed.h"

#include "ir/form.h"

static FILE *open_facts(const char *name)
{
    char path[1024];
    const char *top = getenv("TOP");
    snprintf(path, sizeof path, "%s/tests/isa/%s", top ? top : ".", name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    return file;
}

/* Cuts a line at its tabs; absent fields are empty. */
static uint32_t split_line(char *line, char *fields[], uint32_t limit)
{
    uint32_t count = 0;
    line[strcspn(line, "\n")] = 0;
    for (uint32_t i = 0; i < limit; i++)
        fields[i] = line + strlen(line);
    for (char *at = line; at && count < limit; count++) {
        char *tab = strchr(at, '\t');
        if (tab)
            *tab = 0;
        fields[count] = at;
        at = tab ? tab + 1 : NULL;
    }
    return count;
}

/* ---- isa.tsv ----------------------------------------------------------------------------------------------------- */

static hd_module *new_module(parsed *p)
{
    static const char head[] = HEAD;
    hd_source_from_memory(&p->source, "t.ptx", head, sizeof head - 1);
    hd_diagnostics_init(&p->diagnostics);
    p->module = hd_module_new(&p->source, &p->diagnostics);
    p->module->version_major = 9;
    p->module->target_number = 121;
    return p->module;
}

static const hd_form *form_of(hd_module *module, const char *spelling)
{
    uint32_t form = hd_form_of(module, hd_names_add_string(&module->names, spelling));
    return &module->forms.items[form];
}

/* What isa.tsv writes otherwise than it is spelled. */
static const char *spelling_of(const char *opcode)
{
    static const char *const odd[][2] = {{"match.sync", "match.any.sync"},
                                         {"tcgen05.wait", "tcgen05.wait::ld"},
                                         {"tcgen05.fence", "tcgen05.fence::before_thread_sync"}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (strcmp(odd[i][0], opcode) == 0)
            return odd[i][1];
    return opcode;
}

static void check_row(hd_module *module, char *fields[])
{
    const char *spelling = spelling_of(fields[0]);
    const hd_form *form = form_of(module, spelling);
    const hd_opcode_info *info = &hd_opcodes[form->opcode];
    if (form->flags & (HD_FORM_UNKNOWN_OPCODE | HD_FORM_UNKNOWN_MODIFIER))
        fail_msg("ir/ptx.def does not know '%s'", spelling);
    uint32_t major = 0, minor = 0;
    assert_int_equal(sscanf(fields[1], "%u.%u", &major, &minor), 2);
    uint32_t target = (uint32_t)strtoul(fields[2] + 3, NULL, 10);
    bool whole = strcmp(info->name, spelling) == 0 && strcmp(spelling, fields[0]) == 0;
    if (whole && (info->introduced != major * 10 + minor || info->target != target))
        fail_msg("'%s' is of %u and sm_%u in the table, of %s and %s by the facts", spelling, info->introduced,
                 info->target, fields[1], fields[2]);
    if (!whole)
        assert_true(info->introduced <= major * 10 + minor);
}

static void every_opcode_has_a_row(void **state)
{
    (void)state;
    FILE *file = open_facts("isa.tsv");
    char line[4096], *fields[8];
    uint32_t rows = 0;
    parsed *p = calloc(1, sizeof *p);
    hd_module *module = new_module(p);
    while (fgets(line, sizeof line, file)) {
        if (*line == '#')
            continue;
        split_line(line, fields, 8);
        check_row(module, fields);
        rows++;
    }
    assert_in_range(rows, 180, 1000);
    fclose(file);
    parsed_free(p);
}

/* ---- forms.tsv --------------------------------------------------------------------------------------------------- */

static const char declarations[] =
    ".global .b32 g[64]; .shared .b32 sh[64]; .const .b32 cst[64]; .global .texref tx; .global .surfref sf;\n.func fn "
    "{ ret; }\n"
    ".func (.reg .b32 o) fnr (.reg .b32 i) { mov.b32 o, i; ret; }\n.entry k (.param .u32 pp) {\n"
    ".reg .pred p<10>; .reg .b16 h<10>; .reg .b32 x<20>; .reg .b64 y<10>; .reg .b128 z<4>; .reg .f32 f<16>; .reg .f64 "
    "d<10>;\n"
    ".reg .b8 c<10>; .reg .b32 r0; .local .b32 lc[8]; .local .b32 lp[8];\nts: .branchtargets L0, L1;\n"
    "pr: .callprototype (.reg .b32 _) _ (.reg .b32 _);\nctg: .calltargets fnr;\n";

static parsed *parse_statement(const char *statement, const char *header)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s;\nL0: L1: ret;\n}\n", header, declarations, statement);
    return parse_text(text);
}

static const char *header_of(const char *opcode, const char *verdict)
{
    if (strcmp(verdict, "legacy") != 0)
        return ".version 9.0\n.target sm_121a\n.address_size 64\n";
    return strcmp(opcode, "mad") == 0 ? ".version 1.4\n.target sm_13\n"
                                      : ".version 6.0\n.target sm_30\n.address_size 64\n";
}

/* First letter of the role column for an operand: d p { for something written, [ a ( ... for something
 * read. */
static bool writes_first(const char *roles)
{
    return *roles == 'd' || *roles == 'p' || (*roles == '{' && roles[1] == 'd');
}

/* No register is written but in the first operand (the second too, of tcgen05.ld.red), none in an address. */
static void check_roles(const hd_function *f, const char *opcode, const char *roles, const char *statement)
{
    const hd_instruction *insn = &f->instructions.items[0];
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    uint32_t limit = strcmp(opcode, "tcgen05.ld.red") == 0 ? 2 : 1;
    bool irregular = strchr(roles, ':') || strncmp(roles, "as ", 3) == 0 || *roles == '(';
    for (uint32_t position = 0; o < end; position++) {
        const hd_operand *next = o + hd_operand_extent(o);
        bool may_write = position < limit && o->kind != HD_OPERAND_ADDRESS && (irregular || writes_first(roles));
        for (; o < next; o++) {
            if (o->kind != HD_OPERAND_REGISTER || o->flags & HD_OPERAND_IMPLICIT)
                continue;
            bool writes = o->flags & HD_OPERAND_DEF;
            if (!(o->flags & (HD_OPERAND_DEF | HD_OPERAND_USE)) || (writes && !may_write) ||
                (!writes && may_write && !irregular))
                fail_msg("operand %u of '%s': roles %u, the facts say '%s'", position + 1, statement, o->flags, roles);
            if (writes && o->flags & HD_OPERAND_USE && !strstr(roles, "use+def"))
                fail_msg("operand %u of '%s' is read too", position + 1, statement);
        }
    }
}

/* The role column of an opcode, "" where isa.tsv has none. */
static void find_roles(const char *opcode, char *roles, size_t size)
{
    FILE *file = open_facts("isa.tsv");
    char line[4096], *fields[8];
    *roles = 0;
    while (fgets(line, sizeof line, file)) {
        split_line(line, fields, 8);
        if (*line != '#' && strcmp(fields[0], opcode) == 0)
            snprintf(roles, size, "%s", fields[3]);
    }
    fclose(file);
}

static void check_form(char *fields[])
{
    const char *opcode = fields[0], *verdict = fields[1], *statement = fields[4];
    parsed *p = parse_statement(statement, header_of(opcode, verdict));
    bool accept = strcmp(verdict, "accept") == 0 || strcmp(verdict, "legacy") == 0;
    if (accept && p->diagnostics.first)
        fail_msg("'%s': %s", statement, p->diagnostics.first->message);
    if (strcmp(verdict, "reject") == 0 && !p->diagnostics.error_count)
        fail_msg("'%s' is accepted", statement);
    if (strcmp(verdict, "warn") == 0 && !p->diagnostics.first)
        fail_msg("'%s' is accepted without a word", statement);
    if (accept) {
        char roles[512];
        find_roles(opcode, roles, sizeof roles);
        assert_true(*roles);
        check_roles(function_of(p, "k"), opcode, roles, statement);
    }
    parsed_free(p);
}

static void every_form_decodes(void **state)
{
    (void)state;
    FILE *file = open_facts("forms.tsv");
    char line[4096], *fields[6];
    uint32_t forms = 0;
    while (fgets(line, sizeof line, file)) {
        if (*line == '#')
            continue;
        split_line(line, fields, 6);
        check_form(fields);
        forms++;
    }
    assert_in_range(forms, 480, 10000);
    fclose(file);
}

/* ---- the table against itself ------------------------------------------------------------------------------------ */

static const char *const group_names[] = {
#define HD_MODIFIER_GROUP(id, summary) #id,
#define HD_MODIFIER(group, id, spelling)
#include "ir/modifiers.def"
#undef HD_MODIFIER_GROUP
#undef HD_MODIFIER
};

/* The first spelling that a needed word ".GROUP:a|b" allows. */
static void append_modifier(const char *word, size_t length, char *out, size_t size)
{
    const char *colon = memchr(word, ':', length);
    const char *mark = memchr(word, '?', length);
    size_t name_length = colon ? (size_t)(colon - word) : mark ? (size_t)(mark - word) : length;
    if (colon) {
        size_t first = strcspn(colon + 1, "| >;?");
        snprintf(out + strlen(out), size - strlen(out), ".%.*s", (int)first, colon + 1);
        return;
    }
    for (int i = HD_MOD_NONE + 1; i < HD_MODIFIER_COUNT; i++) {
        const char *group = group_names[hd_modifier_group_of((hd_modifier)i)];
        if (strlen(group) == name_length && memcmp(group, word, name_length) == 0) {
            snprintf(out + strlen(out), size - strlen(out), ".%s", hd_modifier_spelling((hd_modifier)i));
            return;
        }
    }
    fail_msg("no modifier is of the group '%.*s'", (int)name_length, word);
}

/* A spelling of needed words only; the types are the first of each slot. Returns where the operands begin. */
static const char *spell_alternative(const char *at, char *out, size_t size)
{
    char types[8][16] = {{0}};
    uint32_t type_count = 0;
    while (*at == ' ')
        at++;
    for (; *at != '>'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " >");
        const char *word = at;
        at += length;
        if (*word == '^')
            word++, length--;
        if (*word == '.') {
            if (word[length - 1] != '?') /* ?14 and the like: needed by now */
                append_modifier(word + 1, length - 1, out, size);
            continue;
        }
        const char *type = *word == '=' ? types[word[1] - '0'] : word;
        int type_length = (int)strcspn(type, "| >?");
        bool any_integer = type_length == 3 && memcmp(type, "int", 3) == 0;
        snprintf(types[type_count], sizeof types[0], "%.*s", any_integer ? 3 : type_length, any_integer ? "u32" : type);
        snprintf(out + strlen(out), size - strlen(out), ".%s", types[type_count++]);
    }
    return at + 1;
}

/* Each alternative is valid by itself, and no modifier of a row names a spelling that its group does not have. */
static void every_alternative_is_reached(void **state)
{
    (void)state;
    parsed *p = calloc(1, sizeof *p);
    hd_module *module = new_module(p);
    uint32_t alternatives = 0;
    for (int i = HD_OP_UNKNOWN + 1; i < HD_OP_MACHINE; i++) {
        const char *at = hd_opcodes[i].syntax;
        while (at) {
            char spelling[512];
            snprintf(spelling, sizeof spelling, "%s", hd_opcodes[i].name);
            at = strchr(spell_alternative(at, spelling, sizeof spelling), ';');
            at = at ? at + 1 + strspn(at + 1, " ") : NULL;
            at = at && *at ? at : NULL;
            const hd_form *form = form_of(module, spelling);
            if (form->opcode != i || form->flags & (HD_FORM_OPAQUE | HD_FORM_INVALID))
                fail_msg("'%s' of the row '%s' is not valid: %s", spelling, hd_opcodes[i].name,
                         form->error ? form->error : "?");
            alternatives++;
        }
    }
    assert_in_range(alternatives, 400, 10000);
    parsed_free(p);
}

/* A spelling of any length is one form: unknown words warn, too many are an error. */
static void too_many_words(void **state)
{
    (void)state;
    parsed *p = calloc(1, sizeof *p);
    hd_module *module = new_module(p);
    char spelling[8000] = "add";
    for (int i = 0; i < 1000; i++)
        strcat(spelling, ".rn");
    assert_int_equal(form_of(module, spelling)->flags, HD_FORM_INVALID);
    snprintf(spelling, sizeof spelling, "add.%06000d", 7);
    assert_int_equal(form_of(module, spelling)->flags, HD_FORM_UNKNOWN_MODIFIER);
    assert_int_equal(form_of(module, "add.")->flags & HD_FORM_UNKNOWN_MODIFIER, HD_FORM_UNKNOWN_MODIFIER);
    parsed_free(p);
}

/* ---- behaviour and units ----------------------------------------------------------------------------------------- */

static void behaviour_is_refined(void **state)
{
    (void)state;
    parsed *p = calloc(1, sizeof *p);
    hd_module *m = new_module(p);
    assert_int_equal(form_of(m, "ld.global.u32")->behaviour, HD_BEHAVE_LOAD);
    assert_true(form_of(m, "ld.volatile.global.u32")->behaviour & HD_BEHAVE_VOLATILE);
    assert_true(form_of(m, "st.release.gpu.global.u32")->behaviour & HD_BEHAVE_FENCE);
    assert_true(form_of(m, "add.cc.u32")->flags & HD_FORM_WRITES_CARRY);
    assert_int_equal(form_of(m, "addc.u32")->flags, HD_FORM_READS_CARRY);
    assert_int_equal(form_of(m, "bra.uni")->behaviour, HD_BEHAVE_BRANCH);
    assert_int_equal(form_of(m, "frob.u32")->flags, HD_FORM_UNKNOWN_OPCODE);
    assert_int_equal(form_of(m, "ld.global.v4.f32")->vector, 4);
    assert_int_equal(form_of(m, "ld.global.v4.f32")->space, HD_SPACE_GLOBAL);
    assert_int_equal(form_of(m, "cp.async.ca.shared.global")->space2, HD_SPACE_GLOBAL);
    assert_int_equal(form_of(m, "setp.lo.u32")->modifiers[HD_GROUP_COMPARE], HD_MOD_COMPARE_LO);
    assert_int_equal(form_of(m, "mul.lo.u32")->modifiers[HD_GROUP_HALF], HD_MOD_HALF_LO);
    hd_name name = hd_names_add_string(&m->names, "mul.lo.u32");
    assert_int_equal(hd_form_of(m, name), hd_form_of(m, name));
    parsed_free(p);
}

static void units_follow_types(void **state)
{
    (void)state;
    static const struct {
        const char *spelling;
        hd_unit unit;
    } cases[] = {
        {"add.s32", HD_UNIT_INT},
        {"add.f32", HD_UNIT_SP},
        {"add.f64", HD_UNIT_DP},
        {"fma.rn.f16x2", HD_UNIT_SP},
        {"div.s32", HD_UNIT_INT},
        {"div.rn.f32", HD_UNIT_SFU},
        {"div.rn.f64", HD_UNIT_DP},
        {"mov.f32", HD_UNIT_INT},
        {"setp.lt.f32", HD_UNIT_SP},
        {"sin.approx.f32", HD_UNIT_SFU},
        {"ld.global.f64", HD_UNIT_LDST},
        {"bar.sync", HD_UNIT_CTRL},
        {"tex.1d.v4.f32.f32", HD_UNIT_TEX},
        {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", HD_UNIT_TENSOR},
    };
    parsed *p = calloc(1, sizeof *p);
    hd_module *module = new_module(p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(hd_form_unit(form_of(module, cases[i].spelling)), cases[i].unit);
    parsed_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_has_a_row),       cmocka_unit_test(every_form_decodes),
        cmocka_unit_test(every_alternative_is_reached), cmocka_unit_test(too_many_words),
        cmocka_unit_test(behaviour_is_refined),         cmocka_unit_test(units_follow_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
