/* base/intern: names. */
#include "tests/unit/unit.h"

#include "base/intern.h"
#include <stdbool.h>

/* The i-th text: all lengths from 1 to 40, distinct, many with a common beginning or end. */
static size_t text_of(uint32_t i, char *text)
{
    switch (i % 4) {
    case 0: return (size_t)sprintf(text, "%%r%u", i);
    case 1: return (size_t)sprintf(text, "$L__BB%u_%u", i / 7, i);
    case 2: return (size_t)sprintf(text, "%u_ZN3cub17_aVeryLongCommonEndOfAName", i);
    default: return (size_t)sprintf(text, "_ZN3cub17_aVeryLongCommonPrefix%u", i);
    }
}

static void many_names_are_found_again(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    hd_names names;
    hd_names_init(&names);
    char text[64 + 16] = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        size_t length = text_of(i, text);
        assert_int_equal(hd_names_find(&names, text, length), HD_NO_NAME);
        assert_int_equal(hd_names_add(&names, text, length), i + 1); /* dense, from 1 */
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        size_t length = text_of(i, text);
        memset(text + length, 'z', 16); /* what comes after a name does not matter */
        assert_int_equal(hd_names_find(&names, text, length), i + 1);
        assert_int_equal(hd_names_add_padded(&names, text, length), i + 1);
        assert_int_equal(hd_names_add(&names, text, length), i + 1);
        assert_int_equal(hd_names_length(&names, i + 1), length);
        assert_memory_equal(hd_names_text(&names, i + 1), text, length);
        assert_int_equal(hd_names_text(&names, i + 1)[length], 0);
    }
    assert_int_equal(names.entries.count, COUNT + 1);
    hd_names_free(&names);
}

/* Texts that differ only in length or in NUL bytes, at every length around the 8 and 16 byte limits. */
static void near_texts_are_told_apart(void **state)
{
    (void)state;
    static const char zeros[64] = {0};
    char text[64];
    hd_names names;
    hd_names_init(&names);
    hd_name last = 0;
    for (size_t length = 1; length <= 40; length++)
        assert_int_equal(hd_names_add_padded(&names, zeros, length), ++last);
    for (size_t length = 1; length <= 40; length++) {
        for (size_t place = 0; place < length; place++) {
            memset(text, 'a', sizeof text);
            text[place] = 'b';
            assert_int_equal(hd_names_add_padded(&names, text, length), ++last);
            assert_int_equal(hd_names_find(&names, text, length), last);
        }
    }
    for (size_t length = 1; length <= 40; length++)
        assert_int_equal(hd_names_add(&names, zeros, length), length);
    hd_names_free(&names);
}

static void the_empty_text_is_no_name(void **state)
{
    (void)state;
    hd_names names;
    hd_names_init(&names);
    char none[16] = {0};
    assert_int_equal(hd_names_add(&names, none, 0), HD_NO_NAME);
    assert_int_equal(hd_names_add_padded(&names, none, 0), HD_NO_NAME);
    assert_int_equal(hd_names_add_string(&names, ""), HD_NO_NAME);
    assert_int_equal(hd_names_find(&names, "", 0), HD_NO_NAME);
    assert_string_equal(hd_names_text(&names, HD_NO_NAME), "");
    assert_int_equal(hd_names_add_string(&names, "add.s32"), 1);
    hd_names_free(&names);
}

/* A copy knows what the table knew, and each grows for itself. */
static void copies_go_their_own_way(void **state)
{
    (void)state;
    hd_names names, copy;
    hd_names_init(&names);
    hd_name old = hd_names_add_string(&names, "add.s32"),
            older = hd_names_add_string(&names, "a name of more than sixteen bytes");
    hd_names_copy(&copy, &names);
    hd_name in_copy = hd_names_add_string(&copy, "copy"), in_names = hd_names_add_string(&names, "names");
    assert_int_equal(in_copy, in_names);
    assert_string_equal(hd_names_text(&copy, in_copy), "copy");
    assert_string_equal(hd_names_text(&names, in_names), "names");
    assert_int_equal(hd_names_find(&copy, "names", 5), HD_NO_NAME);
    assert_int_equal(hd_names_find(&names, "copy", 4), HD_NO_NAME);
    char text[16];
    for (uint32_t i = 0; i < 1000; i++)
        hd_names_add(&copy, text, (size_t)sprintf(text, "%%r%u", i));
    assert_int_equal(hd_names_add_string(&copy, "add.s32"), old);
    assert_int_equal(hd_names_add_string(&copy, "a name of more than sixteen bytes"), older);
    assert_int_equal(names.entries.count, in_names + 1);
    hd_names_free(&copy);
    assert_string_equal(hd_names_text(&names, old), "add.s32");
    hd_names_free(&names);
}

/* A megabyte is a name too. */
static void long_names(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES);
    memset(text, 'n', BYTES);
    hd_names names;
    hd_names_init(&names);
    assert_int_equal(hd_names_add(&names, text, BYTES), 1);
    text[BYTES / 2] = 'm';
    assert_int_equal(hd_names_add(&names, text, BYTES), 2);
    text[BYTES / 2] = 'n';
    assert_int_equal(hd_names_find(&names, text, BYTES), 1);
    /* Equal hashes are not enough: a name whose text was changed unnoticed by the table is not found. */
    ((char *)(uintptr_t)hd_names_text(&names, 1))[5] = 'x';
    assert_int_equal(hd_names_find(&names, text, BYTES), HD_NO_NAME);
    hd_names_free(&names);
    free(text);
}

/* The table stays fast: over names as PTX has them, a probe for an absent text meets a free slot soon. */
static void hash_spreads(void **state)
{
    (void)state;
    hd_names names;
    hd_names_init(&names);
    char text[64];
    for (uint32_t i = 0; i < 60000; i++)
        hd_names_add(&names, text, (size_t)sprintf(text, "%%%s%u", i % 3 ? "rd" : "f", i / 2));
    uint32_t longest = 0, run = 0;
    for (uint32_t i = 0; i <= names.slot_mask; i++) {
        run = names.slots[i].name != HD_NO_NAME ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    assert_true(longest < 64);
    hd_names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_names_are_found_again),
        cmocka_unit_test(near_texts_are_told_apart),
        cmocka_unit_test(the_empty_text_is_no_name),
        cmocka_unit_test(copies_go_their_own_way),
        cmocka_unit_test(long_names),
        cmocka_unit_test(hash_spreads),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
