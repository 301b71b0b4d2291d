/* Coalescing and bank conflicts: see coalesce.h. O(lanes * lines). */
#include "hwmodel/sm/coalesce.h"

static uint32_t add_line(hd_line_access *lines, uint32_t count, uint64_t address, uint32_t sectors)
{
    uint32_t i = 0;
    while (i < count && lines[i].address != address)
        i++;
    if (i == count)
        lines[count++] = (hd_line_access){address, 0, 1};
    lines[i].sectors |= sectors;
    return count;
}

/* Lines and sectors are powers of two. */
typedef struct grid {
    uint64_t line_bytes;
    uint32_t sector_shift;
} grid;

static grid grid_of(uint32_t line_bytes, uint32_t sector_bytes)
{
    return (grid){line_bytes, (uint32_t)__builtin_ctz(sector_bytes)};
}

/* Sectors of the bytes [first, end) of a line, at least one. */
static uint32_t sectors_of(uint64_t first, uint64_t end, uint32_t shift)
{
    uint32_t from = (uint32_t)(first >> shift), to = (uint32_t)((end - 1) >> shift) + 1;
    return (uint32_t)((((uint64_t)1 << to) - 1) & ~(((uint64_t)1 << from) - 1));
}

/* Addresses are modulo 2^64: line 0 follows the last one. */
static uint32_t add_lane(hd_line_access *lines, uint32_t count, uint64_t first, uint64_t bytes, grid g)
{
    uint64_t line = first & ~(g.line_bytes - 1), offset = first - line, room = g.line_bytes - offset;
    uint64_t here = bytes < room ? bytes : room;
    count = add_line(lines, count, line, sectors_of(offset, offset + here, g.sector_shift));
    return here < bytes ? add_line(lines, count, line + g.line_bytes, sectors_of(0, bytes - here, g.sector_shift))
                        : count;
}

static uint32_t most_at_one_address(const uint64_t *addresses, uint32_t lanes, uint64_t line, uint32_t line_bytes)
{
    uint32_t most = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t address = addresses[__builtin_ctz(rest)];
        uint32_t same = 0;
        if ((address & ~(uint64_t)(line_bytes - 1)) != line)
            continue;
        for (uint32_t other = lanes; other; other &= other - 1)
            same += addresses[__builtin_ctz(other)] == address;
        most = same > most ? same : most;
    }
    return most;
}

uint32_t hd_coalesce(const uint64_t addresses[32], uint32_t lanes, uint32_t bytes, uint32_t line_bytes,
                     uint32_t sector_bytes, hd_line_access lines[HD_LINE_ACCESSES])
{
    const grid g = grid_of(line_bytes, sector_bytes);
    uint32_t count = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        count = add_lane(lines, count, addresses[__builtin_ctz(rest)], bytes, g);
    return count;
}

void hd_coalesce_lanes(const uint64_t addresses[32], uint32_t lanes, uint32_t line_bytes, hd_line_access *lines,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        lines[i].lanes = most_at_one_address(addresses, lanes, lines[i].address, line_bytes);
}

uint32_t hd_coalesce_sizes(const uint64_t addresses[32], uint32_t lanes, const uint64_t bytes[32], uint32_t line_bytes,
                           uint32_t sector_bytes, hd_line_access lines[HD_LINE_ACCESSES])
{
    const grid g = grid_of(line_bytes, sector_bytes);
    uint32_t count = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (bytes[lane])
            count = add_lane(lines, count, addresses[lane], bytes[lane], g);
    }
    return count;
}

/* The passes that lanes which are served at the same time need. */
static uint32_t passes_of(const uint64_t *addresses, uint32_t lanes, uint32_t bytes, uint32_t banks)
{
    enum { MOST = 32 * 4 };
    uint64_t words[MOST];
    uint32_t count = 0, most = 0, of_bank[64] = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t first = addresses[__builtin_ctz(rest)] / 4;
        for (uint64_t word = first; word < first + (bytes + 3) / 4; word++) {
            uint32_t i = 0;
            while (i < count && words[i] != word)
                i++;
            if (i < count || count == MOST)
                continue;
            words[count++] = word;
            uint32_t passes = ++of_bank[word % banks];
            most = passes > most ? passes : most;
        }
    }
    return most;
}

/* Lanes that are served together. */
static uint32_t group_of(uint32_t bytes) { return bytes > 8 ? 8 : bytes > 4 ? 16 : 32; }

uint32_t hd_shared_least_passes(uint32_t lanes, uint32_t bytes)
{
    uint32_t together = group_of(bytes), passes = 0;
    for (uint32_t first = 0; first < 32; first += together)
        passes += (lanes >> first & (uint32_t)(((uint64_t)1 << together) - 1)) != 0;
    return passes;
}

uint32_t hd_shared_passes(const uint64_t addresses[32], uint32_t lanes, uint32_t bytes, uint32_t banks)
{
    uint32_t together = group_of(bytes), passes = 0;
    for (uint32_t first = 0; first < 32; first += together) {
        uint32_t group = (uint32_t)((((uint64_t)1 << together) - 1) << first);
        if (lanes & group)
            passes += passes_of(addresses, lanes & group, bytes, banks);
    }
    return passes;
}

uint32_t hd_shared_atomic_passes(const uint64_t addresses[32], uint32_t lanes, uint32_t banks)
{
    uint8_t served[64] = {0}, most = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t bank = (uint32_t)(addresses[__builtin_ctz(lanes)] / 4 % banks);
        most = ++served[bank] > most ? served[bank] : most;
    }
    return most;
}
