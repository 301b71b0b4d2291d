/* Initializers: values in text order with the braces between them, checked against the variable's shape.
 *
 * A scalar takes one value; an array one brace level per dimension, a vector one more. Missing values are zero; excess
 * values are an error. Textures, samplers and surfaces take named fields, which are kept as tokens. */
#include "parser/builder.h"

static hd_symbol *variable(hd_builder *b) { return &b->module->symbols.items[b->symbol]; }

static void initializer_error(hd_builder *b, hd_span span, const char *why)
{
    if (!b->declaration.failed)
        hd_builder_error(b, BAD_INITIALIZER, span, "%s", why);
    b->declaration.failed = true;
}

void hd_build_initializer(hd_builder *b, const hd_node *assign)
{
    hd_symbol *s = variable(b);
    b->has_initializer = true;
    b->initial_counts.count = 0;
    s->initializer_first = b->module->initializers.count;
    if (s->space != HD_SPACE_GLOBAL && s->space != HD_SPACE_CONST)
        initializer_error(b, hd_node_span(assign), "only variables in .global and .const have an initial value");
    else if (s->linkage == HD_LINKAGE_EXTERN)
        initializer_error(b, hd_node_span(assign), "an .extern variable has no initial value");
    else if (s->type == HD_TYPE_F16 || s->type == HD_TYPE_F16X2)
        initializer_error(b, hd_node_span(assign), "no initial value for .f16; declare .b16");
}

/* Number of brace levels around a value. */
static uint32_t levels(const hd_symbol *s) { return s->dimension_count + (s->vector > 1); }

/* Maximum number of elements of the innermost open brace; 0: unlimited. */
static uint64_t room(hd_builder *b)
{
    const hd_symbol *s = variable(b);
    uint32_t level = b->initial_counts.count - 1;
    if (level < s->dimension_count)
        return b->module->dimensions.items[s->dimension_first + level];
    return s->vector;
}

/* Counts an element of the innermost open brace. */
static void count_element(hd_builder *b, hd_span span)
{
    if (!b->initial_counts.count || hd_types[variable(b)->type].class == HD_CLASS_OPAQUE)
        return;
    uint64_t count = ++hd_array_last(&b->initial_counts), limit = room(b);
    if (limit && count > limit)
        initializer_error(b, span, "more initial values than elements");
}

void hd_build_initial_open(hd_builder *b, const hd_node *brace)
{
    const hd_symbol *s = variable(b);
    bool opaque = hd_types[s->type].class == HD_CLASS_OPAQUE;
    count_element(b, hd_node_span(brace));
    if (!opaque && b->initial_counts.count >= levels(s))
        initializer_error(b, hd_node_span(brace), "more braces than the variable has dimensions");
    hd_array_push(&b->initial_counts, 0);
    hd_array_push(&b->module->initializers, (hd_initializer){.kind = HD_INIT_OPEN, .mask_shift = HD_NO_MASK});
    b->initial_end = brace->token.end;
}

void hd_build_initial_close(hd_builder *b, const hd_node *brace)
{
    hd_symbol *s = variable(b);
    uint32_t count = hd_array_pop(&b->initial_counts);
    if (!b->initial_counts.count && s->dimension_count && !b->module->dimensions.items[s->dimension_first])
        b->module->dimensions.items[s->dimension_first] = count ? count : 1;
    hd_array_push(&b->module->initializers, (hd_initializer){.kind = HD_INIT_CLOSE, .mask_shift = HD_NO_MASK});
    b->initial_end = brace->token.end;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void check_literal(hd_builder *b, const hd_node *n, const hd_constant *c)
{
    hd_type type = (hd_type)variable(b)->type;
    uint8_t class = hd_types[type].class;
    bool is_float = c->kind >= HD_LITERAL_F32_BITS;
    if (class == HD_CLASS_FLOAT && !is_float)
        initializer_error(b, hd_node_span(n), "an integer cannot initialize a floating-point variable");
    else if ((class == HD_CLASS_SIGNED || class == HD_CLASS_UNSIGNED) && is_float)
        initializer_error(b, hd_node_span(n), "a floating-point number cannot initialize an integer variable");
}

static void push_literal(hd_builder *b, const hd_node *n)
{
    hd_constant c;
    hd_constant_of(b, n, &c);
    check_literal(b, n, &c);
    hd_initializer i = {.kind = HD_INIT_LITERAL, .literal_kind = c.kind, .mask_shift = HD_NO_MASK, .bits = c.bits};
    hd_array_push(&b->module->initializers, i);
}

/* The symbol of a previously declared name. */
static uint32_t symbol_of(hd_builder *b, hd_name name, hd_span span)
{
    const hd_use *use = hd_use_of(b, name);
    if (use->kind == HD_BIND_SYMBOL)
        return use->value;
    hd_builder_error(b, UNDECLARED_NAME, span, "nothing before here declares '%s'",
                     hd_names_text(&b->module->names, name));
    return HD_NONE;
}

/* An address in one of the forms name, name + constant, generic(name). */
static void push_address(hd_builder *b, const hd_node *n, hd_initializer i)
{
    hd_token name = n->token;
    uint8_t class = hd_types[variable(b)->type].class;
    i.kind = HD_INIT_ADDRESS;
    i.bits = n->constant == HD_NONE ? 0 : b->constants.items[n->constant].bits;
    if (n->token.kind == HD_NODE_SUM)
        name.end = b->constants.items[n->constant].name_end;
    i.is_generic = n->token.kind == HD_NODE_GENERIC;
    i.symbol = symbol_of(b, i.is_generic ? n->token.name : hd_full_name(b, &name), (hd_span){n->token.begin, name.end});
    if (class == HD_CLASS_FLOAT)
        initializer_error(b, hd_node_span(n), "an address cannot initialize a floating-point variable");
    const hd_symbol *of = i.symbol == HD_NONE ? NULL : &b->module->symbols.items[i.symbol];
    if (of && of->kind == HD_SYMBOL_VARIABLE && of->space != HD_SPACE_GLOBAL && of->space != HD_SPACE_CONST &&
        of->space != HD_SPACE_TEX)
        initializer_error(b, hd_node_span(n),
                          "only variables in .global and .const have an address before a kernel runs");
    hd_array_push(&b->module->initializers, i);
}

static void push_mask(hd_builder *b, const hd_node *n)
{
    const hd_node_pair pair = b->pairs.items[n->constant];
    uint64_t mask = b->constants.items[pair.left.constant].bits;
    uint8_t shift = 0;
    while (shift < 64 && mask != 0xffull << shift)
        shift += 8;
    if (shift == 64)
        initializer_error(b, hd_node_span(n), "a mask selects one byte: 0xff, 0xff00, ...");
    push_address(b, &pair.right, (hd_initializer){.mask_shift = shift});
}

void hd_build_initial(hd_builder *b, const hd_node *n)
{
    count_element(b, hd_node_span(n));
    if (b->initial_counts.count < levels(variable(b)) && hd_types[variable(b)->type].class != HD_CLASS_OPAQUE)
        initializer_error(b, hd_node_span(n),
                          "the values of arrays and vectors are in braces, one pair for each dimension");
    b->initial_end = n->token.end;
    uint32_t kind =
        n->token.kind != HD_NODE_CONSTANT && n->flags ? HD_NODE_COUNT : n->token.kind; /* no !, - or ( ) around names */
    switch (kind) {
    case HD_TOKEN_INTEGER:
    case HD_TOKEN_FLOAT:
    case HD_TOKEN_WARP_SZ:
    case HD_NODE_CONSTANT: push_literal(b, n); break;
    case HD_TOKEN_NAME:
    case HD_NODE_SUM:
    case HD_NODE_GENERIC: push_address(b, n, (hd_initializer){.mask_shift = HD_NO_MASK}); break;
    case HD_NODE_MASK: push_mask(b, n); break;
    case HD_NODE_BAD: break;
    default:
        initializer_error(b, hd_node_span(n),
                          "no initial value: a constant, a name, name+constant or generic(name) is");
        break;
    }
    b->constants.count = 0;
    b->pairs.count = 0;
}

void hd_build_field(hd_builder *b, const hd_node *name)
{
    if (hd_types[variable(b)->type].class != HD_CLASS_OPAQUE)
        initializer_error(b, hd_node_span(name), "only textures, samplers and surfaces have named fields");
}

void hd_initializer_end(hd_builder *b)
{
    hd_symbol *s = variable(b);
    s->initializer_count = b->module->initializers.count - s->initializer_first;
}
