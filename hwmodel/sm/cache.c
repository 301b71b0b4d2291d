/* Tags of a cache: see cache.h. */
#include "hwmodel/sm/cache.h"

#include "base/array.h"

void hd_cache_open(hd_cache *c, uint32_t bytes, uint32_t line_bytes, uint32_t ways)
{
    *c = (hd_cache){.sets = bytes / (line_bytes * ways), .ways = ways};
}

void hd_cache_close(hd_cache *c) { free(c->lines); }

/* NULL: it is not there. */
static hd_cache_line *find(const hd_cache *c, uint64_t line)
{
    hd_cache_line *set = c->lines + line % c->sets * c->ways;
    for (uint32_t w = 0; w < c->ways; w++)
        if (set[w].used && set[w].line == line)
            return &set[w];
    return NULL;
}

static hd_cache_line *least_recently_used(const hd_cache *c, uint64_t line)
{
    hd_cache_line *set = c->lines + line % c->sets * c->ways, *oldest = set;
    for (uint32_t w = 1; w < c->ways; w++)
        if (set[w].used < oldest->used)
            oldest = &set[w];
    return oldest;
}

uint32_t hd_cache_read(hd_cache *c, uint64_t line, uint32_t sectors)
{
    hd_cache_line *found = c->lines ? find(c, line) : NULL;
    if (!found)
        return 0;
    found->used = ++c->accesses;
    return found->valid & sectors;
}

hd_cache_victim hd_cache_fill(hd_cache *c, uint64_t line, uint32_t sectors, bool dirty)
{
    hd_cache_victim victim = {0};
    if (!c->sets)
        return victim;
    if (!c->lines)
        c->lines = hd_calloc((size_t)c->sets * c->ways, sizeof *c->lines);
    hd_cache_line *to = find(c, line);
    if (!to) {
        to = least_recently_used(c, line);
        victim = (hd_cache_victim){to->line, to->dirty};
        *to = (hd_cache_line){.line = line};
    }
    to->used = ++c->accesses;
    to->valid |= sectors;
    to->dirty |= dirty ? sectors : 0;
    return victim;
}
