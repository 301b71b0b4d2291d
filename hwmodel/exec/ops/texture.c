/* Executes texture and surface instructions, lane by lane; sampling is in hwmodel/memory/texture.c. Kernel faults: an
 * invalid handle, a texture of another kind than the instruction's, a type that the format does not provide, and a
 * surface access that is out of bounds with .trap or not aligned to its size. */
#include "hwmodel/exec/ops/texture.h"
#include "hwmodel/exec/state/fault.h"
#include "hwmodel/memory/narrow.h"
#include <inttypes.h>

/* ---- registers --------------------------------------------------------------------------------------------------- */

static const hd_texture_use *use_of(const hd_op *op) { return op->use.detail; }

static uint64_t read_element(const hd_warp *w, uint32_t at, uint32_t lane)
{
    const hd_code *code = hd_top_frame(w)->code;
    return hd_lane_value(hd_row(w, code->refs.items[at]), code->widths.items[at], lane);
}

static void write_element(hd_warp *w, uint32_t at, uint32_t lane, uint64_t value)
{
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t bytes = code->widths.items[at];
    if (code->refs.items[at] != HD_NO_REF)
        memcpy((unsigned char *)hd_row_of_frame(w, code->refs.items[at]) + (size_t)lane * bytes, &value, bytes);
}

static bool is_layered(uint8_t geometry)
{
    return geometry == HD_TEXTURE_A1D || geometry == HD_TEXTURE_A2D || geometry == HD_TEXTURE_ACUBE ||
           geometry == HD_TEXTURE_A2DMS;
}

static uint32_t dimensions(uint8_t geometry)
{
    switch ((hd_texture_kind)geometry) {
    case HD_TEXTURE_1D:
    case HD_TEXTURE_A1D:
    case HD_TEXTURE_BUFFER: return 1;
    case HD_TEXTURE_2D:
    case HD_TEXTURE_A2D:
    case HD_TEXTURE_2DMS:
    case HD_TEXTURE_A2DMS: return 2;
    case HD_TEXTURE_3D:
    case HD_TEXTURE_CUBE:
    case HD_TEXTURE_ACUBE: return 3;
    case HD_TEXTURE_SAMPLER:
    case HD_TEXTURE_KINDS: break;
    }
    return 0;
}

static void read_point(const hd_op *op, const hd_warp *w, uint32_t lane, hd_texture_point *p)
{
    const hd_texture_use *use = use_of(op);
    uint32_t at = op->first + op->count, count = dimensions(use->geometry);
    *p = (hd_texture_point){.layer = 0};
    if (is_layered(use->geometry))
        p->layer = (uint32_t)read_element(w, at++, lane);
    if (use->geometry == HD_TEXTURE_2DMS || use->geometry == HD_TEXTURE_A2DMS)
        p->sample = (uint32_t)read_element(w, at++, lane);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t bits = (uint32_t)read_element(w, at + k, lane);
        float f;
        memcpy(&f, &bits, 4);
        p->at[k] = f;
        p->index[k] = (int32_t)bits;
    }
    at = op->first + op->count + use->coordinates;
    for (uint32_t k = 0; k < use->offsets && k < count; k++)
        p->offset[k] = (int32_t)(uint32_t)read_element(w, at + k, lane);
    p->compare = use->compare;
    if (use->compare) {
        uint32_t bits = (uint32_t)hd_lane_value(hd_row(w, op->f), 4, lane);
        memcpy(&p->reference, &bits, 4);
    }
}

/* ---- what is accessed -------------------------------------------------------------------------------------------- */

enum { RECENT_SECTORS = 16 /* among which one is looked for, so that few come twice */ };

static void note_sector(hd_cta *cta, uint64_t sector)
{
    uint32_t count = cta->sector_count;
    for (uint32_t i = count > RECENT_SECTORS ? count - RECENT_SECTORS : 0; i < count; i++)
        if (cta->sectors[i] == sector)
            return;
    cta->sectors[cta->sector_count++] = sector;
}

/* bytes: a texel or a vector, at most a sector */
static void note_access(hd_cta *cta, const hd_texture *t, uint64_t offset, uint32_t bytes)
{
    uint64_t first = (t->texel_address + offset) / HD_EVENT_SECTOR_BYTES;
    uint64_t last = (t->texel_address + offset + bytes - 1) / HD_EVENT_SECTOR_BYTES;
    note_sector(cta, first);
    if (last != first)
        note_sector(cta, last);
}

static bool is_noted(const hd_warp *w) { return w->cta->columns & HD_COLUMN_ADDRESSES; }

/* ---- handles ----------------------------------------------------------------------------------------------------- */

static hd_step find_texture(const hd_op *op, hd_warp *w, uint32_t lane, hd_ref handle, const hd_texture **t)
{
    uint64_t value = hd_lane_value(hd_row(w, handle), 8, lane);
    *t = hd_texture_find(w->cta->program->image->textures, value);
    if (*t)
        return HD_STEP_NEXT;
    return hd_fault_note(op, w, 1u << lane, "textures are named in the launch file, see heddle-launch(5)",
                         "0x%" PRIx64 " names no texture", value);
}

/* Machine code samples a texture of one dimension as one of two. */
static bool geometry_fits(const hd_texture *t, uint8_t geometry, bool surface, bool machine)
{
    bool cube = hd_texture_is_cube(t);
    return t->kind == geometry || (machine && t->kind == HD_TEXTURE_1D && geometry == HD_TEXTURE_2D) ||
           (t->kind == HD_TEXTURE_BUFFER && geometry == HD_TEXTURE_1D) ||
           (surface && cube && geometry == HD_TEXTURE_A2D); /* surfaces number the faces as layers */
}

static hd_step check_geometry(const hd_op *op, hd_warp *w, uint32_t lane, const hd_texture *t, bool surface)
{
    uint8_t geometry = use_of(op)->geometry;
    if (t->kind == HD_TEXTURE_SAMPLER || t->surface != surface)
        return hd_fault(op, w, 1u << lane, "'%s' is a %s, not a %s", t->name,
                        t->kind == HD_TEXTURE_SAMPLER ? "sampler"
                        : t->surface                  ? "surface"
                                                      : "texture",
                        surface ? "surface" : "texture");
    if (!geometry_fits(t, geometry, surface, w->cta->program->machine))
        return hd_fault(op, w, 1u << lane, "%s '%s' is %s, and is used as %s", surface ? "surface" : "texture", t->name,
                        hd_texture_kind_names[t->kind], hd_texture_kind_names[geometry]);
    return HD_STEP_NEXT;
}

/* 32-bit types read the bits as either. */
static bool type_fits(const hd_texture *t, uint8_t type)
{
    bool is_float = hd_texture_is_float(t), plain = hd_types[t->type].bits == 32;
    if (type == HD_TYPE_F16X2)
        return is_float;
    if (type == HD_TYPE_NONE)
        return true;
    return plain || (type == HD_TYPE_F32) == is_float;
}

static hd_step check_comparison(const hd_op *op, hd_warp *w, uint32_t lane, const hd_texture *t, const hd_texture *how)
{
    if (how->compare == HD_TEXTURE_NO_COMPARE)
        return hd_fault_note(op, w, 1u << lane, "the launch file says how, see 'compare' in heddle-launch(5)",
                             "%s '%s' compares with no depth", how == t ? "texture" : "sampler", how->name);
    if (t->channels != 1 || !hd_texture_is_float(t))
        return hd_fault(op, w, 1u << lane, "texture '%s' holds no depths: one channel that is read as a float",
                        t->name);
    return HD_STEP_NEXT;
}

static hd_step check_texture(const hd_op *op, hd_warp *w, uint32_t lane, const hd_texture *t, const hd_texture *how)
{
    const hd_texture_use *use = use_of(op);
    hd_step step = check_geometry(op, w, lane, t, false);
    if (step != HD_STEP_NEXT)
        return step;
    if (!type_fits(t, use->type))
        return hd_fault(op, w, 1u << lane, "texture '%s' of .%s%s cannot be read as .%s", t->name,
                        hd_types[t->type].spelling, t->to_float ? " as normalized float" : "",
                        hd_types[use->type].spelling);
    if (t->kind == HD_TEXTURE_BUFFER && !use->integer)
        return hd_fault(op, w, 1u << lane, "texture '%s' is linear memory and is read by index only", t->name);
    if (!use->integer && how->linear && !hd_texture_is_float(t))
        return hd_fault(op, w, 1u << lane, "texture '%s' of integers cannot be filtered", t->name);
    return use->compare ? check_comparison(op, w, lane, t, how) : HD_STEP_NEXT;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static uint32_t half_pair(const hd_texel *texel, uint32_t c)
{
    return (uint32_t)hd_f16_from_double((double)texel->of.f[c]) |
           (uint32_t)hd_f16_from_double((double)texel->of.f[c + 1]) << 16;
}

static void write_texel(const hd_op *op, hd_warp *w, uint32_t lane, const hd_texel *texel)
{
    bool halves = use_of(op)->type == HD_TYPE_F16X2;
    for (uint32_t k = 0; k < op->count; k++)
        write_element(w, op->first + k, lane, halves ? half_pair(texel, 2 * k) : texel->of.u[k]);
}

static hd_step read_lane(const hd_op *op, hd_warp *w, uint32_t lane)
{
    const hd_texture_use *use = use_of(op);
    const hd_texture *t, *how;
    hd_texture_point p;
    hd_texel texel;
    hd_step step = find_texture(op, w, lane, op->a, &t);
    how = t;
    if (step == HD_STEP_NEXT && op->b != HD_NO_REF)
        step = find_texture(op, w, lane, op->b, &how);
    if (step == HD_STEP_NEXT)
        step = check_texture(op, w, lane, t, how);
    if (step != HD_STEP_NEXT)
        return step;
    hd_texel_reads reads = {0};
    read_point(op, w, lane, &p);
    p.reads = is_noted(w) ? &reads : NULL;
    if (hd_texture_is_multisample(t) && p.sample >= (t->samples ? t->samples : 1u))
        return hd_fault(op, w, 1u << lane, "sample %u of texture '%s', whose texels have %u", p.sample, t->name,
                        t->samples);
    if (use->integer)
        hd_texture_fetch(t, &p, &texel);
    else if (use->gather)
        hd_texture_gather(t, how, &p, use->component, &texel);
    else
        hd_texture_sample(t, how, &p, &texel);
    for (uint32_t i = 0; i < reads.count; i++)
        note_access(w->cta, t, reads.offsets[i], hd_texel_bytes(t));
    write_texel(op, w, lane, &texel);
    return HD_STEP_NEXT;
}

typedef hd_step run_lane(const hd_op *op, hd_warp *w, uint32_t lane);

static hd_step run_lanes(const hd_op *op, hd_warp *w, uint32_t mask, run_lane *run)
{
    w->cta->sector_count = 0;
    HD_EACH_BIT (lane, mask) {
        hd_step step = run(op, w, lane);
        if (step != HD_STEP_NEXT)
            return step;
    }
    return HD_STEP_NEXT;
}

hd_step hd_run_texture(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_step step = run_lanes(op, w, mask, read_lane);
    if (step == HD_STEP_NEXT && op->e != HD_NO_REF) /* textures are always resident */
        hd_set_warp_word(w, op->e, HD_ALL_LANES, mask);
    return step;
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* Types and orders by OpenCL's numbers. */
static uint32_t type_number(const hd_texture *t)
{
    bool is_signed = hd_types[t->type].class == HD_CLASS_SIGNED;
    uint32_t size = hd_types[t->type].bits == 8 ? 0 : hd_types[t->type].bits == 16 ? 1 : 2;
    if (hd_types[t->type].class == HD_CLASS_FLOAT)
        return size == 1 ? 0x10dd : 0x10de;
    return (t->to_float ? is_signed ? 0x10d0 : 0x10d2 : is_signed ? 0x10d7 : 0x10da) + size;
}

static uint32_t answer(const hd_texture *t, uint16_t query)
{
    static const uint32_t modes[] = {
        [HD_TEXTURE_WRAP] = 0, [HD_TEXTURE_MIRROR] = 1, [HD_TEXTURE_CLAMP] = 3, [HD_TEXTURE_BORDER] = 4};
    switch (query) {
    case HD_MOD_QUERY_WIDTH: return t->width;
    case HD_MOD_QUERY_HEIGHT: return t->height;
    case HD_MOD_QUERY_DEPTH: return hd_texture_is_cube(t) ? 1 : t->depth;
    case HD_MOD_QUERY_ARRAY_SIZE: return t->layers;
    case HD_MOD_QUERY_CHANNEL_DATA_TYPE: return type_number(t);
    case HD_MOD_QUERY_CHANNEL_ORDER: return t->channels == 1 ? 0x10b0 : t->channels == 2 ? 0x10b2 : 0x10b5;
    case HD_MOD_QUERY_NORMALIZED_COORDS: return t->normalized;
    case HD_MOD_QUERY_FORCE_UNNORMALIZED_COORDS: return !t->normalized;
    case HD_MOD_QUERY_FILTER_MODE: return t->linear;
    case HD_MOD_QUERY_ADDR_MODE_0:
    case HD_MOD_QUERY_ADDR_MODE_1:
    case HD_MOD_QUERY_ADDR_MODE_2: return modes[t->address[query - HD_MOD_QUERY_ADDR_MODE_0]];
    case HD_MOD_QUERY_NUM_SAMPLES: return t->samples ? t->samples : 1;
    case HD_MOD_QUERY_MEMORY_LAYOUT: /* a surface is an array: not linear */ return 0;
    default: /* one level */ return 1;
    }
}

static hd_step query_lane(const hd_op *op, hd_warp *w, uint32_t lane)
{
    const hd_texture *t;
    hd_step step = find_texture(op, w, lane, op->a, &t);
    if (step != HD_STEP_NEXT)
        return step;
    if (op->c != HD_NO_REF && hd_lane_value(hd_row(w, op->c), 4, lane))
        return hd_fault(op, w, 1u << lane, "texture '%s' has level 0 only", t->name);
    uint32_t value = answer(t, use_of(op)->query);
    if (op->d != HD_NO_REF)
        memcpy((unsigned char *)hd_row_of_frame(w, op->d) + (size_t)lane * 4, &value, 4);
    return HD_STEP_NEXT;
}

hd_step hd_run_texture_query(const hd_op *op, hd_warp *w, uint32_t mask) { return run_lanes(op, w, mask, query_lane); }

hd_step hd_run_texture_type(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t is = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const hd_texture *t =
            hd_texture_find(w->cta->program->image->textures, hd_lane_value(hd_row(w, op->a), 8, lane));
        uint8_t type = !t                              ? HD_TYPE_COUNT
                       : t->kind == HD_TEXTURE_SAMPLER ? HD_TYPE_SAMPLERREF
                       : t->surface                    ? HD_TYPE_SURFREF
                                                       : HD_TYPE_TEXREF;
        is |= (uint32_t)(type == use_of(op)->type) << lane;
    }
    if (op->d != HD_NO_REF)
        hd_set_warp_word(w, op->d, is, mask);
    return HD_STEP_NEXT;
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

/* NULL with HD_STEP_NEXT: outside, nothing to be done. */
static hd_step surface_address(const hd_op *op, hd_warp *w, uint32_t lane, const hd_texture **t, unsigned char **bytes)
{
    const hd_texture_use *use = use_of(op);
    hd_texture_point p;
    uint32_t size = op->item_bytes * op->count;
    hd_step step = find_texture(op, w, lane, op->a, t);
    if (step == HD_STEP_NEXT)
        step = check_geometry(op, w, lane, *t, true);
    if (step != HD_STEP_NEXT)
        return step;
    read_point(op, w, lane, &p);
    if (!use->formatted && p.index[0] % size)
        return hd_fault(op, w, 1u << lane, "surface '%s': byte %" PRId64 " is not a multiple of the access's %u bytes",
                        (*t)->name, p.index[0], size);
    *bytes = hd_surface_address(*t, &p, size, use->formatted, (hd_surface_bounds)use->bounds);
    if (*bytes && is_noted(w))
        note_access(w->cta, *t, (uint64_t)(*bytes - (*t)->bytes), use->formatted ? hd_texel_bytes(*t) : size);
    if (*bytes || use->bounds == HD_SURFACE_ZERO)
        return HD_STEP_NEXT;
    return hd_fault(op, w, 1u << lane,
                    "outside of surface '%s' of %u x %u x %u texels of %u bytes, %u layers: %s %" PRId64 ", y %" PRId64
                    ", z %" PRId64 ", layer %u",
                    (*t)->name, (*t)->width, (*t)->height, (*t)->depth, hd_texel_bytes(*t), (*t)->layers,
                    use->formatted ? "x" : "byte", p.index[0], p.index[1], p.index[2], p.layer);
}

static hd_step load_lane(const hd_op *op, hd_warp *w, uint32_t lane)
{
    const hd_texture *t;
    unsigned char *bytes;
    hd_step step = surface_address(op, w, lane, &t, &bytes);
    for (uint32_t k = 0; k < op->count && step == HD_STEP_NEXT; k++) {
        uint64_t value = 0;
        if (bytes)
            memcpy(&value, bytes + k * op->item_bytes, op->item_bytes);
        write_element(w, op->first + k, lane, value);
    }
    return step;
}

static hd_step store_lane(const hd_op *op, hd_warp *w, uint32_t lane)
{
    const hd_texture *t;
    unsigned char *bytes;
    hd_step step = surface_address(op, w, lane, &t, &bytes);
    for (uint32_t k = 0; k < op->count && step == HD_STEP_NEXT && bytes; k++) {
        uint64_t value = read_element(w, op->first + k, lane);
        memcpy(bytes + k * op->item_bytes, &value, op->item_bytes);
    }
    return step;
}

static hd_step format_lane(const hd_op *op, hd_warp *w, uint32_t lane)
{
    const hd_texture *t;
    unsigned char *bytes;
    hd_texel texel = {.of.u = {0}};
    hd_step step = surface_address(op, w, lane, &t, &bytes);
    if (step != HD_STEP_NEXT || !bytes)
        return step;
    for (uint32_t k = 0; k < op->count; k++)
        texel.of.u[k] = (uint32_t)read_element(w, op->first + k, lane);
    hd_texel_store(t, &texel, op->count, bytes);
    return HD_STEP_NEXT;
}

static hd_step reduce_lane(const hd_op *op, hd_warp *w, uint32_t lane)
{
    const hd_texture_use *use = use_of(op);
    const hd_texture *t;
    unsigned char *bytes;
    uint64_t old = 0;
    hd_step step = surface_address(op, w, lane, &t, &bytes);
    if (step != HD_STEP_NEXT || !bytes)
        return step;
    if (use->formatted && (t->channels != 1 || (t->type != HD_TYPE_U32 && t->type != HD_TYPE_S32)))
        return hd_fault(op, w, 1u << lane, "surface '%s' of %u x .%s: a formatted reduction needs one u32 or s32",
                        t->name, t->channels, hd_types[t->type].spelling);
    memcpy(&old, bytes, op->item_bytes);
    uint64_t value = use->combine[t->type == HD_TYPE_S32](old, read_element(w, op->first, lane), 0);
    memcpy(bytes, &value, op->item_bytes);
    return HD_STEP_NEXT;
}

hd_step hd_run_surface_load(const hd_op *op, hd_warp *w, uint32_t mask) { return run_lanes(op, w, mask, load_lane); }
hd_step hd_run_surface_store(const hd_op *op, hd_warp *w, uint32_t mask)
{
    w->cta->writes++;
    return run_lanes(op, w, mask, store_lane);
}
hd_step hd_run_surface_format(const hd_op *op, hd_warp *w, uint32_t mask)
{
    w->cta->writes++;
    return run_lanes(op, w, mask, format_lane);
}
hd_step hd_run_surface_reduce(const hd_op *op, hd_warp *w, uint32_t mask)
{
    w->cta->writes++;
    return run_lanes(op, w, mask, reduce_lane);
}
