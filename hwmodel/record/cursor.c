/* The cursor of records: see record.h. */
#include "hwmodel/record/codes.h"
#include <assert.h>

void hd_record_open(hd_record_cursor *c, const hd_record_warp *warp)
{
    c->at = warp->bytes.items;
    c->end = hd_array_at(&warp->bytes, warp->bytes.count);
    c->run = c->next = c->active = 0;
    c->frame = c->function = HD_NONE;
    c->last = 0;
}

static uint64_t read_varint(const uint8_t **at)
{
    uint64_t value = 0;
    uint8_t byte;
    uint32_t shift = 0;
    do {
        byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static uint64_t take_varint(hd_record_cursor *c) { return read_varint(&c->at); }

static uint64_t unzigzag(uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

uint64_t hd_record_take_sector(hd_record_sectors *sectors)
{
    sectors->left--;
    return sectors->last += unzigzag(read_varint(&sectors->at));
}

static uint32_t take_mask(hd_record_cursor *c)
{
    uint32_t mask = c->at[0] | (uint32_t)c->at[1] << 8 | (uint32_t)c->at[2] << 16 | (uint32_t)c->at[3] << 24;
    c->at += 4;
    return mask;
}

/* Reads a value for each lane that executes. `before`: the value to which the first one's difference is coded. Returns
 * the coded stride. */
static uint64_t take_lanes(hd_record_cursor *c, uint64_t before, uint64_t values[32])
{
    uint32_t lanes = c->step.effective, first = (uint32_t)__builtin_ctz(lanes);
    uint64_t value = before + unzigzag(take_varint(c)), how = take_varint(c), stride = unzigzag(how >> 1);
    values[first] = value;
    HD_EACH_BIT (lane, lanes & (lanes - 1)) {
        value = how & 1 ? values[first] + stride * (lane - first) : value + unzigzag(take_varint(c));
        values[lane] = value;
    }
    return how;
}

static void take_addresses(hd_record_cursor *c)
{
    hd_record_step *s = &c->step;
    uint64_t how = take_lanes(c, c->last, c->addresses);
    c->last = c->addresses[__builtin_ctz(s->effective)];
    s->has_addresses = true;
    s->strided = how & 1;
    s->stride = s->strided ? (int64_t)unzigzag(how >> 1) : 0;
}

static void take_copies(hd_record_cursor *c)
{
    c->step.has_copies = true;
    (void)take_lanes(c, 0, c->copied_to);
    (void)take_lanes(c, 0, c->copied_bytes);
}

static void take_effect(hd_record_cursor *c)
{
    c->step.has_effect = true;
    c->effect.wrong = take_mask(c);
    c->effect.sensitive = take_mask(c);
    c->effect.lane = take_mask(c);
}

static void take_widths(hd_record_cursor *c)
{
    c->step.width_count = (uint32_t)take_varint(c);
    for (uint32_t i = 0; i < c->step.width_count; i++, c->at++)
        c->widths[i] = (hd_width){.written = *c->at & 15, .held = (uint8_t)(*c->at >> 4)};
}

/* Bytes of a trace begin where any object may. */
static void take_results(hd_record_cursor *c)
{
    size_t words = (size_t)take_varint(c) * 32;
    while ((uintptr_t)c->at % sizeof(uint32_t))
        c->at++;
    c->step.results = (const uint32_t *)(const void *)c->at;
    c->at += words * sizeof(uint32_t);
}

static void take_waits(hd_record_cursor *c, bool differ)
{
    c->step.waits = (uint32_t)take_varint(c);
    HD_EACH_BIT (warp, c->step.waits)
        c->arrivals[warp] = differ ? (int32_t)unzigzag(take_varint(c)) : 0;
}

static void take_landings(hd_record_cursor *c)
{
    c->step.landings = (uint32_t)take_varint(c);
    HD_EACH_BIT (warp, c->step.landings)
        c->landed[warp] = (uint32_t)take_varint(c);
}

static void take_sectors(hd_record_cursor *c)
{
    uint32_t count = (uint32_t)take_varint(c);
    c->step.sectors = (hd_record_sectors){.at = c->at, .left = count};
    for (uint32_t i = 0; i < count; i++)
        (void)take_varint(c);
}

/* A code that comes before an instruction. */
static void take_difference(hd_record_cursor *c)
{
    switch (*c->at++) {
    case HD_CODE_JUMP: c->next += (uint32_t)unzigzag(take_varint(c)); break;
    case HD_CODE_ACTIVE: c->step.effective = c->active = take_mask(c); break;
    case HD_CODE_EFFECTIVE: c->step.effective = take_mask(c); break;
    case HD_CODE_FRAME:
        c->frame = (uint32_t)take_varint(c);
        c->function = (uint32_t)take_varint(c);
        c->next = 0;
        break;
    case HD_CODE_WAIT:
    case HD_CODE_ARRIVALS: take_waits(c, c->at[-1] == HD_CODE_ARRIVALS); break;
    case HD_CODE_RETURN: c->step.returned = (uint32_t)take_varint(c); break;
    case HD_CODE_WIDTHS: take_widths(c); break;
    case HD_CODE_RESULTS: take_results(c); break;
    case HD_CODE_COPIES: take_copies(c); break;
    case HD_CODE_LANDINGS: take_landings(c); break;
    case HD_CODE_SECTORS: take_sectors(c); break;
    case HD_CODE_LANES: take_effect(c); break;
    default: assert(!"a code of records");
    }
}

static void take_segment(hd_record_cursor *c)
{
    memcpy(&c->step.segment, c->at, sizeof c->step.segment);
    c->at += sizeof c->step.segment;
}

static bool take_coded(hd_record_cursor *c)
{
    while (c->at<c->end && * c->at> HD_CODE_MEMORY && *c->at != HD_CODE_SEGMENT)
        take_difference(c);
    if (c->at == c->end)
        return false;
    uint8_t code = *c->at++;
    if (code == HD_CODE_MEMORY)
        take_addresses(c);
    else if (code == HD_CODE_SEGMENT)
        take_segment(c);
    else
        c->run = code;
    return true;
}

bool hd_record_next(hd_record_cursor *c)
{
    hd_record_step *s = &c->step;
    *s = (hd_record_step){.effective = c->active, .returned = HD_NONE};
    if (c->run)
        c->run--;
    else if (!take_coded(c))
        return false;
    s->frame = c->frame;
    s->function = c->function;
    s->instruction = c->next++;
    s->active = c->active;
    return true;
}
