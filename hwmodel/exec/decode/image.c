/* Places a module's .global and .const variables in device memory, with their initializers. */
#include "hwmodel/exec/exec.h"
#include "ir/form.h"

typedef struct loader {
    hd_image *image;
    hd_diagnostics *diagnostics;
    bool good;
} loader;

static bool fail(loader *l, const hd_symbol *s, const char *why)
{
    const hd_module *m = l->image->module;
    hd_report(l->diagnostics, HD_DIAG_UNSUPPORTED, m->source, s->span, "variable '%s': %s",
              hd_names_text(&m->names, s->name), why);
    return l->good = false;
}

/* A function declared before its definition has two symbols: both get one address. */
static uint32_t definition_of(const hd_module *m, uint32_t symbol)
{
    const hd_function *f = hd_module_function(m, m->symbols.items[symbol].name);
    return f ? f->symbol : symbol;
}

static void place(loader *l, uint32_t index)
{
    hd_image *image = l->image;
    const hd_symbol *s = &image->module->symbols.items[index];
    image->allocations[index] = HD_NONE;
    if (s->kind == HD_SYMBOL_FUNCTION) {
        image->addresses[index] = image->memory->code_window + 16 * ((uint64_t)definition_of(image->module, index) + 1);
        return;
    }
    bool constant = s->space == HD_SPACE_CONST;
    if (s->kind != HD_SYMBOL_VARIABLE || (s->space != HD_SPACE_GLOBAL && !constant))
        return;
    uint32_t at = hd_memory_allocate(image->memory, hd_names_text(&image->module->names, s->name), (hd_space)s->space,
                                     s->size_bytes, s->align, constant);
    if (at == HD_NONE) {
        fail(l, s, "does not fit the address space");
        return;
    }
    const hd_allocation *a = &image->memory->allocations.items[at];
    image->addresses[index] = a->base - (constant ? image->memory->const_window : 0);
    image->allocations[index] = at;
}

/* ---- initializers ------------------------------------------------------------------------------------------------ */

static uint64_t float_bits(const hd_initializer *i, hd_type type)
{
    double wide;
    float narrow;
    uint64_t bits = i->bits;
    bool is_double = i->literal_kind == HD_LITERAL_F64_BITS || i->literal_kind == HD_LITERAL_DECIMAL;
    if (is_double && type == HD_TYPE_F32) {
        memcpy(&wide, &bits, 8);
        narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, 4);
    } else if (i->literal_kind == HD_LITERAL_F32_BITS && type == HD_TYPE_F64) {
        memcpy(&narrow, &bits, 4);
        wide = narrow;
        memcpy(&bits, &wide, 8);
    }
    return bits;
}

static uint64_t address_bits(const loader *l, const hd_initializer *i)
{
    const hd_image *image = l->image;
    const hd_symbol *s = &image->module->symbols.items[i->symbol];
    uint64_t address = image->addresses[i->symbol] + i->bits;
    if (i->is_generic && s->space == HD_SPACE_CONST)
        address += image->memory->const_window;
    return i->mask_shift == HD_NO_MASK ? address : address >> i->mask_shift & 0xff;
}

/* Nested braces fill rows of the dimensions: an opening brace at depth k starts at a multiple of that row's size. */
static uint64_t row_elements(const hd_module *m, const hd_symbol *s, uint32_t depth)
{
    uint64_t n = 1;
    for (uint32_t k = depth; k < s->dimension_count; k++) {
        uint64_t size = m->dimensions.items[s->dimension_first + k];
        n *= size ? size : 1;
    }
    return n * s->vector;
}

static void initialize(loader *l, uint32_t index)
{
    const hd_module *m = l->image->module;
    const hd_symbol *s = &m->symbols.items[index];
    if (l->image->allocations[index] == HD_NONE || !s->initializer_count)
        return;
    const hd_allocation *a = &l->image->memory->allocations.items[l->image->allocations[index]];
    uint32_t bytes = hd_types[s->type].bits / 8u, depth = 0;
    uint64_t at = 0, starts[32] = {0};
    for (uint32_t k = 0; k < s->initializer_count; k++) {
        const hd_initializer *i = &m->initializers.items[s->initializer_first + k];
        if (i->kind == HD_INIT_OPEN) {
            if (depth < 32)
                starts[depth] = at;
            depth++;
            continue;
        }
        if (i->kind == HD_INIT_CLOSE) {
            depth--;
            if (depth && depth < 32 && depth <= s->dimension_count)
                at = starts[depth] + row_elements(m, s, depth);
            continue;
        }
        uint64_t value = i->kind == HD_INIT_ADDRESS ? address_bits(l, i) : float_bits(i, (hd_type)s->type);
        if (!bytes || bytes > 8 || at >= a->size / bytes) {
            fail(l, s, "its initializer is not understood");
            return;
        }
        memcpy(a->bytes + at * bytes, &value, bytes);
        at++;
    }
}

bool hd_image_load(hd_image *image, const hd_module *module, hd_memory *memory, hd_diagnostics *diagnostics)
{
    loader l = {image, diagnostics, true};
    uint32_t count = module->symbols.count;
    *image = (hd_image){.module = module,
                        .memory = memory,
                        .addresses = hd_calloc((size_t)count + 1, sizeof(uint64_t)),
                        .allocations = hd_malloc(((size_t)count + 1) * sizeof(uint32_t))};
    for (uint32_t i = 0; i < count; i++)
        place(&l, i);
    for (uint32_t i = 0; i < count; i++)
        initialize(&l, i);
    return l.good;
}

void hd_image_free(hd_image *image)
{
    free(image->addresses);
    free(image->allocations);
    hd_array_free(&image->sections);
}
