/* Compiles the operand part of a row's syntax into rules, and decides which register types match an instruction type.
 * The matching follows measurements of what ptxas accepts, including odd cases (.f16x2 counts as a 32-bit integer; an
 * integer operand accepts the address of a variable with an offset). */
#include "ir/signature.h"
#include <assert.h>
#include <ctype.h>

#define BIT(id) (1ull << HD_TYPE_##id)

/* ---- which register types match ---------------------------------------------------------------------------------- */

static uint64_t declarable_of_bits(uint32_t low, uint32_t high, bool floats)
{
    uint64_t types = 0;
    for (int i = HD_TYPE_B8; i <= HD_TYPE_F64; i++)
        if (hd_types[i].bits >= low && hd_types[i].bits <= high && (floats || hd_types[i].class != HD_CLASS_FLOAT))
            types |= 1ull << i;
    return types;
}

static uint64_t bits_of_size(uint32_t bits)
{
    return bits == 8 ? BIT(B8) : bits == 16 ? BIT(B16) : bits == 32 ? BIT(B32) : bits == 64 ? BIT(B64) : BIT(B128);
}

/* Types for a fixed operand type. */
static uint64_t strict_types(hd_type type)
{
    const hd_type_info *info = &hd_types[type];
    switch ((hd_type_class)info->class) {
    case HD_CLASS_PRED: return BIT(PRED);
    case HD_CLASS_BITS: return declarable_of_bits(info->bits, info->bits, true);
    case HD_CLASS_UNSIGNED:
    case HD_CLASS_SIGNED:
        if (info->lanes > 1)
            return BIT(B32) | BIT(F16X2);
        return declarable_of_bits(info->bits, info->bits, false);
    case HD_CLASS_FLOAT: return bits_of_size(info->bits) | (info->declarable ? 1ull << type : 0);
    case HD_CLASS_ODD: return bits_of_size(info->bits);
    case HD_CLASS_OPAQUE: return BIT(B64) | BIT(U64) | BIT(S64);
    case HD_CLASS_NONE: break;
    }
    return 0;
}

/* Types of registers that match an operand of this type. */
static uint64_t same_types(hd_type type)
{
    const hd_type_info *info = &hd_types[type];
    bool integer = info->class == HD_CLASS_UNSIGNED || info->class == HD_CLASS_SIGNED;
    return strict_types(type) | (integer && info->bits == 32 ? BIT(F16X2) : 0);
}

/* Types of the same size or wider: for loads, stores, conversions. */
static uint64_t wider_types(hd_type type)
{
    const hd_type_info *info = &hd_types[type];
    switch ((hd_type_class)info->class) {
    case HD_CLASS_BITS: return declarable_of_bits(info->bits, 128, true);
    case HD_CLASS_UNSIGNED:
    case HD_CLASS_SIGNED: return declarable_of_bits(info->bits, 128, false) | (info->bits <= 32 ? BIT(F16X2) : 0);
    case HD_CLASS_FLOAT:
        if (!info->declarable)
            return strict_types(type);
        return strict_types(type) |
               (declarable_of_bits(info->bits, 128, false) & (BIT(B16) | BIT(B32) | BIT(B64) | BIT(B128)));
    case HD_CLASS_NONE:
    case HD_CLASS_PRED:
    case HD_CLASS_OPAQUE:
    case HD_CLASS_ODD: break;
    }
    return strict_types(type);
}

static hd_type twice(hd_type type)
{
    switch (type) {
    case HD_TYPE_U16: return HD_TYPE_U32;
    case HD_TYPE_S16: return HD_TYPE_S32;
    case HD_TYPE_U32: return HD_TYPE_U64;
    case HD_TYPE_S32: return HD_TYPE_S64;
    default: return HD_TYPE_NONE;
    }
}

/* The literal kinds that a source of this type may be. */
static uint16_t literals_of(hd_type type)
{
    const hd_type_info *info = &hd_types[type];
    switch ((hd_type_class)info->class) {
    case HD_CLASS_PRED: return HD_TAKES_INTEGER;
    case HD_CLASS_BITS:
        return HD_TAKES_INTEGER | (info->bits == 32 ? HD_TAKES_F32_BITS : 0) |
               (info->bits == 64 ? HD_TAKES_F64_BITS | HD_TAKES_DECIMAL : 0);
    case HD_CLASS_UNSIGNED:
    case HD_CLASS_SIGNED: return info->lanes > 1 ? 0 : HD_TAKES_INTEGER;
    case HD_CLASS_FLOAT: return type == HD_TYPE_F32 || type == HD_TYPE_F64 ? HD_TAKES_FLOAT : 0;
    case HD_CLASS_NONE:
    case HD_CLASS_OPAQUE:
    case HD_CLASS_ODD: break;
    }
    return 0;
}

/* ---- the language ------------------------------------------------------------------------------------------------ */

typedef struct compiler {
    const hd_module *module;
    const hd_form *form;
    const char *at;
    hd_rule_array *rules;
} compiler;

static bool take_character(compiler *c, char ch)
{
    if (*c->at != ch)
        return false;
    c->at++;
    return true;
}

static bool accesses_memory(const hd_form *form)
{
    return form->opcode == HD_OP_LD || form->opcode == HD_OP_LDU || form->opcode == HD_OP_ST ||
           form->opcode == HD_OP_ATOM || form->opcode == HD_OP_RED;
}

/* Whether an address register must have 64 bits: in the generic and global space, with .address_size 64, unless all
 * memory lies below 4 GB. */
static bool needs_wide_address(const compiler *c)
{
    uint8_t space = c->form->space;
    if (!accesses_memory(c->form) || (space != HD_SPACE_NONE && space != HD_SPACE_GLOBAL))
        return false;
    for (uint32_t i = 0; i < c->module->verbatims.count; i++)
        if (c->module->verbatims.items[i].kind == HD_VERBATIM_ADDRESS_SIZE)
            return c->module->address_bits == 64 && !c->module->low_memory;
    return false;
}

/* The type rule after a ':' (or none: slot 0): sets types, type, and the accepted literals and names. */
static void compile_type(compiler *c, hd_rule *rule, bool is_source)
{
    bool wider = false, doubled = false, fixed = false;
    hd_type type = HD_TYPE_NONE;
    if (!take_character(c, ':')) {
        type = (hd_type)c->form->types[0];
    } else {
        wider = take_character(c, '>');
        if (c->at[0] == '2' && c->at[1] == 'x') {
            doubled = true;
            c->at += 2;
        }
        if (isdigit((unsigned char)*c->at)) {
            type = (hd_type)c->form->types[*c->at++ - '0'];
        } else {
            const char *begin = c->at;
            while (isalnum((unsigned char)*c->at))
                c->at++;
            size_t length = (size_t)(c->at - begin);
            fixed = true;
            if (length == 3 && memcmp(begin, "any", 3) == 0) {
                rule->types = ~0ull;
                rule->takes |= is_source ? HD_TAKES_INTEGER | HD_TAKES_FLOAT : 0;
                return;
            }
            if (length == 4 && memcmp(begin, "addr", 4) == 0) {
                rule->types = strict_types(HD_TYPE_U32) | strict_types(HD_TYPE_U64);
                rule->type = HD_TYPE_U64;
                rule->takes |= is_source ? HD_TAKES_INTEGER | HD_TAKES_OFFSET : 0;
                return;
            }
            type = hd_type_from_spelling(begin, length);
            assert(type != HD_TYPE_NONE);
        }
    }
    if (doubled)
        type = twice(type);
    rule->type = (uint8_t)type;
    rule->types = wider ? wider_types(type) : fixed ? strict_types(type) : same_types(type);
    rule->takes |= wider ? HD_TAKES_WIDER : 0;
    if (!is_source)
        return;
    rule->takes |= literals_of(type);
    if (type != HD_TYPE_PRED && literals_of(type) & HD_TAKES_INTEGER)
        rule->takes |= HD_TAKES_OFFSET;
    if (!fixed)
        rule->takes |= HD_TAKES_FUNCTION;
}

/* Whether a variable named as a value must be in the instruction's state space. */
static bool names_space(const hd_form *form)
{
    bool cluster = form->opcode == HD_OP_MAPA || form->opcode == HD_OP_GETCTARANK;
    return form->opcode == HD_OP_CVTA || (cluster && form->space != HD_SPACE_NONE);
}

static void compile_flags(compiler *c, hd_rule *rule)
{
    for (;; c->at++)
        switch (*c->at) {
        case '_': rule->takes |= HD_TAKES_SINK; break;
        case '!': rule->takes |= rule->types & BIT(PRED) ? HD_TAKES_NOT : 0; break;
        case '-': rule->takes |= HD_TAKES_MINUS; break;
        case '.': rule->takes |= HD_TAKES_SELECTOR; break;
        case '+': rule->takes |= HD_TAKES_BRACES; break;
        case '%': rule->takes |= HD_TAKES_SREG; break;
        case '&':
            rule->takes |= hd_types[rule->type].class == HD_CLASS_FLOAT ? 0 : HD_TAKES_SYMBOL | HD_TAKES_OFFSET;
            rule->space = names_space(c->form) ? c->form->space : HD_SPACE_COUNT;
            break;
        default: return;
        }
}

/* Role, type and flags of a scalar. */
static hd_rule compile_scalar(compiler *c)
{
    hd_rule rule = {.kind = HD_RULE_SCALAR, .size = 1, .space = HD_SPACE_COUNT};
    switch (*c->at++) {
    case 'd':
        rule.roles = HD_OPERAND_DEF;
        rule.takes = HD_TAKES_REGISTER;
        compile_type(c, &rule, false);
        break;
    case 'm':
        rule.roles = HD_OPERAND_DEF | HD_OPERAND_USE;
        rule.takes = HD_TAKES_REGISTER;
        compile_type(c, &rule, false);
        break;
    case 'a':
        rule.roles = HD_OPERAND_USE;
        rule.takes = HD_TAKES_REGISTER;
        compile_type(c, &rule, true);
        break;
    case 'r':
        rule.roles = HD_OPERAND_USE;
        rule.takes = HD_TAKES_REGISTER;
        compile_type(c, &rule, false);
        break;
    case 'i':
        rule.takes = HD_TAKES_INTEGER;
        rule.type = HD_TYPE_S64;
        break;
    case 't':
        rule.kind = HD_RULE_OBJECT;
        rule.roles = HD_OPERAND_USE;
        rule.types = BIT(B64) | BIT(U64) | BIT(S64);
        break;
    case '@':
        rule.kind = HD_RULE_BASE;
        rule.roles = HD_OPERAND_USE;
        rule.space = !accesses_memory(c->form) ? HD_SPACE_COUNT : c->form->space;
        rule.types = declarable_of_bits(8, 64, false) & ~(needs_wide_address(c) ? BIT(B32) | BIT(U32) | BIT(S32) : 0);
        break;
    case 'L': rule.kind = HD_RULE_LABEL; break;
    case 'T': rule.kind = HD_RULE_TABLE; break;
    case 'F':
        rule.kind = HD_RULE_CALLEE;
        rule.roles = HD_OPERAND_USE;
        rule.types = BIT(B64) | BIT(U64) | BIT(S64) | BIT(B32) | BIT(U32) | BIT(S32);
        break;
    default: assert(!"an unknown role in ir/ptx.def");
    }
    compile_flags(c, &rule);
    return rule;
}

/* ---- lengths of vectors ------------------------------------------------------------------------------------------ */

static uint32_t rank(const hd_form *form)
{
    switch (form->modifiers[HD_GROUP_GEOMETRY]) {
    case HD_MOD_GEOMETRY_1D: return 1;
    case HD_MOD_GEOMETRY_2D: return 2;
    case HD_MOD_GEOMETRY_3D: return 3;
    case HD_MOD_GEOMETRY_4D: return 4;
    case HD_MOD_GEOMETRY_5D: return 5;
    case HD_MOD_GEOMETRY_A1D: return 2;
    default: return 4;
    }
}

/* Whether the first coordinate is a layer index, an integer whatever the type of the coordinates. */
static bool is_layered(const hd_form *form)
{
    uint16_t geometry = form->modifiers[HD_GROUP_GEOMETRY];
    return geometry == HD_MOD_GEOMETRY_A1D || geometry == HD_MOD_GEOMETRY_A2D || geometry == HD_MOD_GEOMETRY_ACUBE ||
           geometry == HD_MOD_GEOMETRY_A2DMS;
}

/* Coordinates of a texture or surface access: three are padded to four. */
static uint32_t coordinates(const hd_form *form)
{
    uint32_t n = rank(form);
    return n == 3 ? 4 : n;
}

/* Gradients and offsets have neither layer nor sample. */
static uint32_t directions(const hd_form *form)
{
    switch (form->modifiers[HD_GROUP_GEOMETRY]) {
    case HD_MOD_GEOMETRY_1D:
    case HD_MOD_GEOMETRY_A1D: return 1;
    case HD_MOD_GEOMETRY_2D:
    case HD_MOD_GEOMETRY_A2D:
    case HD_MOD_GEOMETRY_2DMS:
    case HD_MOD_GEOMETRY_A2DMS: return 2;
    default: return 4;
    }
}

static uint32_t tensor_coordinates(const hd_form *form)
{
    uint16_t mode = form->modifiers[HD_GROUP_LOADMODE];
    return mode == HD_MOD_LOADMODE_GATHER4 || mode == HD_MOD_LOADMODE_SCATTER4 ? 5 : rank(form);
}

static uint32_t tensor_offsets(const hd_form *form)
{
    if (form->modifiers[HD_GROUP_LOADMODE] != HD_MOD_LOADMODE_IM2COL)
        return 2;
    return rank(form) > 2 ? rank(form) - 2 : 1;
}

/* wgmma: 64 x N accumulators over 128 threads, two .f16 in a register. */
static uint32_t accumulators(const hd_form *form)
{
    static const uint8_t groups[] = {HD_GROUP_M64K8, HD_GROUP_M64K16, HD_GROUP_M64K32, HD_GROUP_M64K64,
                                     HD_GROUP_M64K256};
    for (size_t i = 0; i < sizeof groups; i++) {
        const char *shape = hd_modifier_spelling((hd_modifier)form->modifiers[groups[i]]);
        if (*shape)
            return (uint32_t)strtoul(shape + strlen("m64n"), NULL, 10) / (form->types[0] == HD_TYPE_F16 ? 4 : 2);
    }
    return 0;
}

static uint32_t repetitions(const hd_form *form)
{
    const char *x = hd_modifier_spelling((hd_modifier)form->modifiers[HD_GROUP_NUM]);
    return *x ? (uint32_t)strtoul(x + 1, NULL, 10) : 1;
}

static uint32_t tensor_memory_registers(const hd_form *form)
{
    uint16_t shape = form->modifiers[HD_GROUP_SHAPE];
    uint32_t each = shape == HD_MOD_SHAPE_16X128B ? 2 : shape == HD_MOD_SHAPE_16X256B ? 4 : 1;
    return each * repetitions(form);
}

static uint32_t take_number(compiler *c)
{
    uint32_t number = 0;
    while (isdigit((unsigned char)*c->at))
        number = number * 10 + (uint32_t)(*c->at++ - '0');
    return number;
}

/* The length after a '}': a number, a range, or a letter that is resolved from the form. */
static void compile_length(compiler *c, hd_rule *rule)
{
    bool has_number = isdigit((unsigned char)*c->at);
    uint32_t number = take_number(c), length = 0;
    rule->low = (uint8_t)number;
    if (take_character(c, '-')) {
        rule->high = (uint8_t)take_number(c);
        return;
    }
    switch (*c->at) {
    case 'v': length = c->form->vector; break;
    case 'n': length = accumulators(c->form); break;
    case 'x': length = (has_number ? number : 1) * repetitions(c->form); break;
    case 'T': length = tensor_memory_registers(c->form); break;
    case 't': length = tensor_coordinates(c->form); break;
    case 'o': length = tensor_offsets(c->form); break;
    case 'g': length = coordinates(c->form); break;
    case 'G':
    case 'w': length = directions(c->form); break;
    default: rule->high = rule->low; return;
    }
    c->at++;
    rule->low = rule->high = (uint8_t)length;
}

/* ---- structure --------------------------------------------------------------------------------------------------- */

static void compile_operand(compiler *c);

/* In a vector any literal is accepted with its bits, and special registers may be read. */
static void widen_element(hd_rule *element)
{
    if (element->roles == HD_OPERAND_USE)
        element->takes |= HD_TAKES_INTEGER | HD_TAKES_FLOAT | HD_TAKES_SREG;
    element->takes |= HD_TAKES_SELECTOR;
    if (element->type == HD_TYPE_F32)
        element->types |= BIT(U32) | BIT(S32);
    if (element->type == HD_TYPE_F64)
        element->types |= BIT(U64) | BIT(S64);
    if (element->type == HD_TYPE_BF16X2)
        element->types |= strict_types(HD_TYPE_B32);
    if (element->types & BIT(B32))
        element->types |= BIT(PRED);
}

static void push_vector(compiler *c, hd_rule vector, hd_rule element, bool scalar_too)
{
    if (scalar_too && vector.low == 1) {
        element.takes |= HD_TAKES_BRACES;
        element.optional = vector.optional;
        hd_array_push(c->rules, element);
        return;
    }
    uint16_t narrow = element.takes;
    widen_element(&element);
    if (vector.padded) /* coordinates accept literals of their own type only, as measured */
        element.takes = (uint16_t)(narrow | HD_TAKES_SREG | HD_TAKES_SELECTOR);
    vector.kind = HD_RULE_VECTOR;
    vector.size = 2;
    vector.type = element.type;
    hd_array_push(c->rules, vector);
    hd_array_push(c->rules, element);
}

/* The elements of an address or a list, up to its closing bracket. */
static void compile_children(compiler *c, hd_rule rule, char close)
{
    uint32_t index = c->rules->count;
    hd_array_push(c->rules, rule);
    if (*c->at == close) {
        hd_rule base = compile_scalar(&(compiler){c->module, c->form, "@", c->rules});
        hd_array_push(c->rules, base);
    }
    while (!take_character(c, close)) {
        compile_operand(c);
        take_character(c, ',');
    }
    c->rules->items[index].size = (uint8_t)(c->rules->count - index);
}

/* Whether elements of the stored vector may be left out: of 256 bits only. */
static bool takes_masked_store(const hd_form *form) { return form->vector * hd_types[form->types[0]].bits == 256; }

static void compile_primary(compiler *c)
{
    hd_rule rule = {.size = 1};
    if (take_character(c, '{')) {
        hd_rule element = compile_scalar(c);
        bool closed = take_character(c, '}');
        assert(closed);
        (void)closed;
        bool scalar_too = strchr("Gw", *c->at) != NULL;
        rule.padded = *c->at == 'g';
        rule.indexed = rule.padded && is_layered(c->form);
        compile_length(c, &rule);
        push_vector(c, rule, element, scalar_too);
    } else if (take_character(c, '[')) {
        rule.kind = HD_RULE_ADDRESS;
        rule.indexed = c->form->opcode == HD_OP_LD || c->form->opcode == HD_OP_ST || c->form->opcode == HD_OP_LDU;
        compile_children(c, rule, ']');
    } else if (take_character(c, '(')) {
        rule.kind = HD_RULE_LIST;
        compile_children(c, rule, ')');
    } else {
        hd_rule scalar = compile_scalar(c);
        if (c->at[0] == '*') {
            c->at++;
            compile_length(c, &rule);
            if (rule.low == 1 || (scalar.roles == HD_OPERAND_USE && !takes_masked_store(c->form)))
                scalar.takes &= (uint16_t)~HD_TAKES_SINK; /* only elements may be discarded */
            push_vector(c, rule, scalar, true);
        } else {
            hd_array_push(c->rules, scalar);
        }
    }
}

/* Operands that exist only if a modifier requests them; NULL: the letter has another meaning. */
static const char *conditional(const hd_form *form, char letter)
{
    const uint16_t *has = form->modifiers;
    uint16_t mode = has[HD_GROUP_LOADMODE];
    bool im2col =
        mode == HD_MOD_LOADMODE_IM2COL || mode == HD_MOD_LOADMODE_IM2COL_W || mode == HD_MOD_LOADMODE_IM2COL_W_128;
    switch (letter) {
    case 'h': return has[HD_GROUP_HINT] ? "a:u64" : "";
    case 'M': return has[HD_GROUP_MULTICAST] ? "a:u16" : "";
    case 'K': return has[HD_GROUP_CPMASK] ? "a:u16" : "";
    case 'O': return im2col ? "{a:u16}o" : "";
    case 'I': return has[HD_GROUP_IGNOREOOB] ? "a:u32 a:u32" : "";
    case 'S': return !has[HD_GROUP_SCALED] ? "" : has[HD_GROUP_SCALED] == HD_MOD_SCALED_N1 ? "a:>b8" : "a:u16";
    default: return NULL;
    }
}

/* [?] primary [ '|' [?] primary ] */
static void compile_operand(compiler *c)
{
    uint32_t index = c->rules->count;
    const char *replaced = conditional(c->form, *c->at);
    if (replaced) {
        c->at++;
        if (*replaced)
            hd_rules_compile(c->module, c->form, replaced, c->rules);
        return;
    }
    bool optional = take_character(c, '?');
    compile_primary(c);
    if (take_character(c, '|')) {
        hd_rule pair = {.kind = HD_RULE_PAIR, .low = *c->at == '?' ? 1 : 2};
        take_character(c, '?');
        hd_array_push(c->rules, pair); /* placed before its elements */
        memmove(&c->rules->items[index + 1], &c->rules->items[index], (c->rules->count - 1 - index) * sizeof pair);
        c->rules->items[index] = pair;
        compile_primary(c);
        c->rules->items[index].size = (uint8_t)(c->rules->count - index);
    }
    c->rules->items[index].optional = optional;
}

const char *hd_rules_compile(const hd_module *module, const hd_form *form, const char *text, hd_rule_array *rules)
{
    compiler c = {module, form, text, rules};
    for (;;) {
        while (*c.at == ' ')
            c.at++;
        if (*c.at == '\0' || *c.at == ';')
            return c.at;
        compile_operand(&c);
    }
}
