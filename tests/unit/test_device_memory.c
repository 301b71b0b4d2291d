/* Allocations that a caller places, and released ones (hwmodel/memory/memory.h). */
#include "hwmodel/memory/memory.h"
#include "tests/unit/unit.h"

enum { BYTES = 1000 };

static void placed_memory_is_found_and_skipped(void **state)
{
    hd_memory m;
    unsigned char own[BYTES] = {7};
    (void)state;
    hd_memory_init(&m, 64);
    uint64_t next = hd_memory_next_address(&m, BYTES, 0);
    assert_int_equal(next, HD_MEMORY_BASE);
    uint32_t placed = hd_memory_place(&m, "placed", next, BYTES, own);
    assert_true(m.allocations.items[placed].bytes == own);
    assert_int_equal(hd_memory_place(&m, "over it", next + BYTES - 1, 1, NULL), HD_NONE);
    assert_int_equal(hd_memory_place(&m, "before it", next - 1, 2, NULL), HD_NONE);
    assert_int_equal(hd_memory_place(&m, "null", 0, 1, NULL), HD_NONE);
    uint32_t after = hd_memory_allocate(&m, "after", HD_SPACE_GLOBAL, BYTES, 0, false);
    assert_true(m.allocations.items[after].base >= next + BYTES + HD_GUARD_BYTES);
    uint32_t below = hd_memory_place(&m, "below", 0x10000, 16, NULL);
    assert_int_equal(m.allocations.items[below].bytes[0], 0);
    assert_int_equal(hd_memory_find(&m, next + 5, 1)->index, placed);
    assert_int_equal(hd_memory_find(&m, 0x1000f, 1)->index, below);
    assert_null(hd_memory_find(&m, 0x10010, 1));
    hd_memory_free(&m);
}

static void a_gap_between_placed_ones_is_used(void **state)
{
    hd_memory m;
    (void)state;
    hd_memory_init(&m, 64);
    hd_memory_place(&m, "first", HD_MEMORY_BASE, 512, NULL);
    hd_memory_place(&m, "second", HD_MEMORY_BASE + 65536, 512, NULL);
    uint32_t small = hd_memory_allocate(&m, "small", HD_SPACE_GLOBAL, 512, 0, false);
    assert_int_equal(m.allocations.items[small].base, HD_MEMORY_BASE + 512 + HD_GUARD_BYTES);
    uint32_t wide = hd_memory_allocate(&m, "wide", HD_SPACE_GLOBAL, 65536, 0, false);
    assert_true(m.allocations.items[wide].base >= HD_MEMORY_BASE + 65536 + 512 + HD_GUARD_BYTES);
    hd_memory_free(&m);
}

static void released_memory_is_gone_and_its_entry_used_again(void **state)
{
    hd_memory m;
    (void)state;
    hd_memory_init(&m, 64);
    uint32_t first = hd_memory_allocate(&m, "first", HD_SPACE_GLOBAL, BYTES, 0, false);
    uint32_t second = hd_memory_allocate(&m, "second", HD_SPACE_GLOBAL, BYTES, 0, false);
    uint64_t base = m.allocations.items[first].base;
    uint32_t pages = m.pages;
    hd_memory_release(&m, first);
    assert_null(hd_memory_find(&m, base, 1));
    uint32_t third = hd_memory_allocate(&m, "third", HD_SPACE_GLOBAL, BYTES, 0, false);
    assert_int_equal(third, first);
    assert_int_equal(m.pages, pages);
    assert_true(m.allocations.items[third].base > m.allocations.items[second].base); /* a use after release is found */
    uint32_t fourth = hd_memory_allocate(&m, "fourth", HD_SPACE_GLOBAL, 3 * HD_PAGE_BYTES, 0, false);
    assert_int_equal(fourth, 2);
    hd_memory_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(placed_memory_is_found_and_skipped),
                                       cmocka_unit_test(a_gap_between_placed_ones_is_used),
                                       cmocka_unit_test(released_memory_is_gone_and_its_entry_used_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
