/* Memory dependences of a load: see clashes.h. */
#include "passes/check/clashes.h"

#include "ir/sregs.h"

/* ---- variables whose address does not escape --------------------------------------------------------------------- */

typedef struct mention {
    uint32_t symbol;
    bool is_base;
} mention;
typedef HD_ARRAY(mention) mention_array;

static bool is_local_access(const hd_form *form)
{
    return (form->opcode == HD_OP_LD || form->opcode == HD_OP_ST) && form->space == HD_SPACE_LOCAL;
}

static int by_symbol(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b; /* the symbol is the first member of both structures */
    return x < y ? -1 : x > y;
}

static mention_array list_mentions(const hd_function *f)
{
    mention_array all = {0};
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_operand *o = hd_insn_operands(f, &f->instructions.items[i]);
        bool access = is_local_access(hd_insn_form(f, &f->instructions.items[i]));
        for (uint32_t k = 0; k < f->instructions.items[i].operand_count; k++)
            if (o[k].kind == HD_OPERAND_SYMBOL && f->module->symbols.items[o[k].value].space == HD_SPACE_LOCAL)
                hd_array_push(&all, ((mention){o[k].value, access && k && o[k - 1].kind == HD_OPERAND_ADDRESS}));
    }
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, by_symbol);
    return all;
}

void hd_clashes_init(hd_clashes *c, const hd_function *function)
{
    *c = (hd_clashes){.function = function};
    mention_array all = list_mentions(function);
    for (uint32_t i = 0, end; i < all.count; i = end) {
        bool only = true;
        for (end = i; end < all.count && all.items[end].symbol == all.items[i].symbol; end++)
            only = only && all.items[end].is_base;
        if (only)
            hd_array_push(&c->variables, ((hd_private_variable){.symbol = all.items[i].symbol}));
    }
    hd_array_free(&all);
}

void hd_clashes_free(hd_clashes *c) { hd_array_free(&c->variables); }

static hd_private_variable *private_variable(hd_clashes *c, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(c->function, insn), *end = o + insn->operand_count;
    if (!is_local_access(hd_insn_form(c->function, insn)) || !c->variables.count)
        return NULL;
    while (o < end && o->kind != HD_OPERAND_ADDRESS)
        o++;
    if (o + 1 >= end || o[1].kind != HD_OPERAND_SYMBOL)
        return NULL;
    return bsearch(&o[1].value, c->variables.items, c->variables.count, sizeof *c->variables.items, by_symbol);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

void hd_clashes_begin_block(hd_clashes *c)
{
    memset(c->counts, 0, sizeof c->counts);
    for (uint32_t i = 0; i < c->variables.count; i++)
        c->variables.items[i].stores = (hd_clash_count){0};
}

static bool is_ordering(const hd_function *f, const hd_instruction *insn)
{
    const hd_form *form = hd_insn_form(f, insn);
    const uint32_t plain = HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_DIVERGENT | HD_BEHAVE_TEXTURE;
    uint16_t order = form->modifiers[HD_GROUP_SEM];
    if (insn->flags & HD_INSN_OPAQUE || form->behaviour & ~plain)
        return true;
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const hd_operand *o = hd_insn_operands(f, insn) + i;
        if (o->kind == HD_OPERAND_SREG && hd_sregs[o->value].varies == HD_VARIES_TIME)
            return true;
    }
    bool weak = !order || order == HD_MOD_SEM_WEAK;
    return form->behaviour & plain && form->behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE) &&
           (!weak || form->modifiers[HD_GROUP_CACHE] == HD_MOD_CACHE_CV);
}

static hd_clash_class class_of(uint8_t space)
{
    switch (space) {
    case HD_SPACE_GLOBAL: return HD_CLASH_GLOBAL;
    case HD_SPACE_SHARED:
    case HD_SPACE_SHARED_CTA:
    case HD_SPACE_SHARED_CLUSTER: return HD_CLASH_SHARED;
    case HD_SPACE_LOCAL: return HD_CLASH_LOCAL;
    case HD_SPACE_PARAM:
    case HD_SPACE_PARAM_ENTRY:
    case HD_SPACE_PARAM_FUNC: return HD_CLASH_PARAM;
    default: return HD_CLASH_ANYWHERE;
    }
}

/* The counter that the instruction increments; NULL: no load depends on it. */
static hd_clash_count *count_of(hd_clashes *c, uint32_t ordinal)
{
    const hd_function *f = c->function;
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(f, insn);
    hd_private_variable *variable = private_variable(c, insn);
    if (is_ordering(f, insn))
        return &c->counts[HD_CLASH_ORDERING];
    if (!(form->behaviour & HD_BEHAVE_STORE))
        return NULL;
    return variable ? &variable->stores
                    : &c->counts[form->opcode == HD_OP_ST ? class_of(form->space) : HD_CLASH_ANYWHERE];
}

void hd_clashes_step(hd_clashes *c, uint32_t ordinal)
{
    hd_clash_count *of = count_of(c, ordinal);
    if (of)
        *of = (hd_clash_count){of->count + 1, ordinal};
}

/* Whether the load must not be moved across instructions counted here. */
static bool concerns(const hd_clashes *c, const hd_form *load, const hd_private_variable *variable,
                     const hd_clash_count *of)
{
    hd_clash_class class = class_of(load->space);
    if (of == &c->counts[HD_CLASH_ORDERING])
        return true;
    if (load->space == HD_SPACE_CONST || load->modifiers[HD_GROUP_NC])
        return false;
    if (of < c->counts || of >= c->counts + HD_CLASH_CLASSES)
        return variable && of == &variable->stores;
    bool anywhere = of == &c->counts[HD_CLASH_ANYWHERE];
    return !variable &&
           (of == &c->counts[class] || class == HD_CLASH_ANYWHERE || (anywhere && class != HD_CLASH_PARAM));
}

uint32_t hd_clashes_with(hd_clashes *c, const hd_instruction *load, uint32_t *last)
{
    const hd_form *form = hd_insn_form(c->function, load);
    const hd_private_variable *variable = private_variable(c, load);
    hd_clash_count sum = {0};
    for (uint32_t k = 0; k <= HD_CLASH_CLASSES; k++) {
        const hd_clash_count *of = k < HD_CLASH_CLASSES ? &c->counts[k] : variable ? &variable->stores : NULL;
        if (!of || !of->count || !concerns(c, form, variable, of))
            continue;
        sum.count += of->count;
        sum.last = hd_max(sum.last, of->last);
    }
    if (sum.count)
        *last = sum.last;
    return sum.count;
}

bool hd_clashes_at(hd_clashes *c, const hd_instruction *load, uint32_t ordinal)
{
    const hd_clash_count *of = count_of(c, ordinal);
    return of && concerns(c, hd_insn_form(c->function, load), private_variable(c, load), of);
}
