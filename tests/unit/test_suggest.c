/* "Did you mean": distances against the recursive definition, and which names are near. */
#include "tests/unit/unit.h"

#include "base/suggest.h"

#include <stdbool.h>

static const char *nearest(const char *wanted, const char *const *known)
{
    hd_suggestion s = hd_suggest(wanted);
    while (*known)
        hd_suggest_from(&s, *known++);
    return s.best;
}

static void test_near_names(void **state)
{
    (void)state;
    static const char *const names[] = {"bow", "corf", "corf++", "demo", "ltrf", "regalloc", "release", NULL};
    static const char *const cases[][2] = {{"bwo", "bow"},
                                           {"BOW", "bow"},
                                           {"crf", "corf"},
                                           {"corf+", "corf"},
                                           {"lrtf", "ltrf"},
                                           {"regaloc", "regalloc"},
                                           {"relaese", "release"},
                                           {"realease", "release"},
                                           {"rgallc", "regalloc"},
                                           {"nosuch", NULL},
                                           {"x", NULL},
                                           {"", NULL},
                                           {"alloc", "regalloc"},
                                           {"LEA", "release"},
                                           {"al", NULL},
                                           {"deadbeefdemo", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *best = nearest(cases[i][0], names);
        if (!best != !cases[i][1] || (best && strcmp(best, cases[i][1]) != 0))
            fail_msg("'%s': '%s', not '%s'", cases[i][0], best ? best : "none", cases[i][1] ? cases[i][1] : "none");
    }
}

static void test_names_that_are_too_long(void **state)
{
    (void)state;
    char name[HD_SUGGEST_LENGTH + 2], phrase[HD_SUGGEST_PHRASE];
    for (size_t length = HD_SUGGEST_LENGTH - 2; length <= HD_SUGGEST_LENGTH; length++) {
        memset(name, 'a', length + 1);
        name[length] = '\0';
        hd_suggestion s = hd_suggest(name);
        hd_suggest_from(&s, name);
        assert_int_equal(s.best != NULL, length < HD_SUGGEST_LENGTH);
        assert_int_equal(strlen(hd_suggest_phrase(&s, phrase)), s.best ? strlen("; did you mean ''?") + length : 0);
    }
}

/* Of the first i and j characters, by the definition; `known`: results, UINT32_MAX where there is none yet. */
static uint32_t distance(const char *a, const char *b, uint32_t i, uint32_t j, uint32_t (*known)[9])
{
    if (!i || !j)
        return i + j;
    if (known[i][j] != UINT32_MAX)
        return known[i][j];
    uint32_t best = distance(a, b, i - 1, j - 1, known) + (a[i - 1] != b[j - 1]);
    uint32_t other = distance(a, b, i - 1, j, known) + 1;
    best = other < best ? other : best;
    other = distance(a, b, i, j - 1, known) + 1;
    best = other < best ? other : best;
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        other = distance(a, b, i - 2, j - 2, known) + 1;
        best = other < best ? other : best;
    }
    return known[i][j] = best;
}

static void test_distances(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int n = 0; n < 20000; n++) {
        char names[2][9] = {"", ""};
        for (int k = 0; k < 2; k++)
            for (uint32_t i = (uint32_t)(unit_random(&seed) % 8) + 1; i-- > 0;)
                names[k][i] = (char)('a' + unit_random(&seed) % 3);
        uint32_t known[9][9], lengths[2] = {(uint32_t)strlen(names[0]), (uint32_t)strlen(names[1])};
        memset(known, 0xff, sizeof known);
        uint32_t wanted = distance(names[0], names[1], lengths[0], lengths[1], known);
        uint32_t longest = lengths[0] > lengths[1] ? lengths[0] : lengths[1];
        hd_suggestion s = hd_suggest(names[0]);
        hd_suggest_from(&s, names[1]);
        bool near = wanted <= longest / 3, is_part = lengths[0] >= 3 && strstr(names[1], names[0]);
        if ((s.best != NULL) != (near || is_part) || (s.best && s.distance != (near ? wanted : 4)))
            fail_msg("'%s' and '%s': %u, not %u", names[0], names[1], s.distance, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_near_names),
                                       cmocka_unit_test(test_names_that_are_too_long),
                                       cmocka_unit_test(test_distances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
