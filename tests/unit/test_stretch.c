/* Texts of stretches: two have the same one, and split lanes in the same way, exactly where they differ in nothing but
 * which lanes they are. And what a stretch says is what was told, whether there is room for it or not. */
#include "unit.h"

#include "hwmodel/count/memo/lanes.h"
#include "hwmodel/count/segment.h"
#include "tests/unit/rf_bench.h"

enum { LENGTH = 4, FIRST = LENGTH, SECOND, MASKS };

typedef struct lanes { /* effective by instruction, and active in the first half of these and in the second */
    uint32_t masks[MASKS];
} lanes;

static uint32_t random_column(uint64_t *seed, bool in_both)
{
    uint32_t column = (uint32_t)(unit_random(seed) % (1u << MASKS)) | (in_both ? 1u << FIRST | 1u << SECOND : 0);
    column &= column >> FIRST & 1 ? ~0u : ~3u;
    return column >> SECOND & 1 ? column : column & ~12u;
}

/* Few different ways in which lanes differ, so that stretches are alike now and then. */
static lanes random_lanes(uint64_t *seed)
{
    lanes s = {{0}};
    uint32_t kinds = 1 + (uint32_t)(unit_random(seed) % 3), columns[3];
    bool both = unit_random(seed) % 2; /* the same lanes all the time */
    for (uint32_t k = 0; k < 3; k++)
        columns[k] = !k || unit_random(seed) % 4 ? random_column(seed, !k || both) : 0;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t column = l ? columns[unit_random(seed) % kinds] : columns[0];
        for (uint32_t m = 0; m < MASKS; m++)
            s.masks[m] |= (column >> m & 1) << l;
    }
    return s;
}

static lanes turned(const lanes *s, uint32_t by)
{
    lanes t;
    for (uint32_t m = 0; m < MASKS; m++)
        t.masks[m] = s->masks[m] << by | s->masks[m] >> (32 - by);
    return t;
}

static uint64_t columns_of(const lanes *s)
{
    uint64_t columns = 0;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t column = 0;
        for (uint32_t m = 0; m < MASKS; m++)
            column |= (s->masks[m] >> l & 1) << m;
        columns |= 1ull << column;
    }
    return columns;
}

static bool writes(const lanes *s)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < LENGTH; i++)
        any |= s->masks[i];
    return any;
}

static hd_rf_stretch told(hd_rf_stretches *stretches, const lanes *s, const hd_width *widths)
{
    hd_rf_passage p;
    for (uint32_t i = 0; i < LENGTH; i++)
        hd_rf_stretches_add(stretches, &(hd_event){.kind = HD_EVENT_ISSUE,
                                                   .instruction = i < LENGTH / 2 ? i : i + 1,
                                                   .active = s->masks[i < LENGTH / 2 ? FIRST : SECOND],
                                                   .effective = s->masks[i],
                                                   .widths = s->masks[i] ? widths : NULL,
                                                   .width_words = 1});
    assert_true(hd_rf_stretches_end(stretches, &p));
    return *p.stretch;
}

static uint32_t split_by(hd_rf_splits *splits, const hd_rf_stretch *s)
{
    hd_rf_classes whole, parts;
    hd_rf_classes_whole(&whole);
    return hd_rf_split(splits, &whole, s->masks, s->mask_count, &parts);
}

static void stretches_with_the_same_columns_are_alike(void **state)
{
    (void)state;
    static const hd_width narrow = {1, 1}, wide = {2, 4};
    rf_bench b;
    rf_bench_open_body(&b,
                       "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nmov.u32 %r2, 3;\nmov.u32 %r3, 4;\nmov.u32 %r4, 5;\nret;\n");
    hd_rf_module *code = hd_rf_module_new(b.module);
    hd_rf_stretches *stretches = hd_rf_stretches_new(code);
    hd_rf_splits splits = {0};
    uint64_t seed = 1;
    uint32_t same = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        lanes s[2] = {random_lanes(&seed), random_lanes(&seed)};
        s[1] = i % 4 > 1 ? turned(&s[0], 1 + i % 31) : s[1];
        if (i % 16 == 1) { /* only one of them has guards in its second half */
            s[1] = s[0];
            s[1].masks[SECOND] = s[0].masks[FIRST];
        }
        bool alike = columns_of(&s[0]) == columns_of(&s[1]);
        hd_rf_stretch of[2] = {told(stretches, &s[0], NULL), told(stretches, &s[1], NULL)};
        bool found = of[0].text == of[1].text && split_by(&splits, &of[0]) == split_by(&splits, &of[1]);
        assert_int_equal(of[0].number == of[1].number, !memcmp(&s[0], &s[1], sizeof s[0]));
        assert_true(of[0].text != HD_NONE);
        assert_int_equal(found, alike);
        hd_rf_stretch with = told(stretches, &s[0], &narrow), other = told(stretches, &s[1], i % 2 ? &narrow : &wide);
        assert_int_equal(with.shape, of[0].text);
        assert_int_equal(other.shape, of[1].text);
        if (alike)
            /* where no lane writes, no width is told */
            assert_int_equal(with.text == other.text, i % 2 || !writes(&s[0]));
        same += alike && memcmp(&s[0], &s[1], sizeof s[0]);
    }
    assert_true(same > 1000);
    hd_rf_splits_free(&splits);
    hd_rf_stretches_free(stretches);
    hd_rf_module_free(code);
    rf_bench_close(&b);
}

static hd_rf_passage pass(hd_rf_stretches *stretches, const hd_event *events, uint32_t count)
{
    hd_rf_passage p;
    for (uint32_t i = 0; i < count; i++)
        hd_rf_stretches_add(stretches, &events[i]);
    assert_true(hd_rf_stretches_end(stretches, &p));
    return p;
}

static void expect_events(const hd_rf_passage *p, const hd_rf_module *code, const hd_event *events, uint32_t count)
{
    const hd_width *widths = hd_rf_stretch_widths(p->stretch, code, 0);
    assert_int_equal(p->stretch->count, count);
    for (uint32_t i = 0; i < count; i++) {
        hd_event e = hd_rf_passage_event(p, i);
        assert_int_equal(e.instruction, events[i].instruction);
        assert_int_equal(e.active, events[i].active);
        assert_int_equal(e.effective, events[i].effective);
        assert_ptr_equal(hd_rf_stretch_widths(p->stretch, code, i), widths);
        if (events[i].effective)
            assert_memory_equal(widths++, events[i].widths, sizeof *widths);
    }
}

/* Also of a copy, when it has gone itself. */
static void what_finds_no_room_is_kept_until_it_is_forgotten(void **state)
{
    (void)state;
    static const hd_width widths[] = {{1, 2}, {3, 4}};
    rf_bench b;
    rf_bench_open_body(&b, "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nmov.u32 %r2, 3;\nret;\n");
    hd_rf_module *code = hd_rf_module_new(b.module);
    hd_rf_stretches *stretches = hd_rf_stretches_new(code);
    uint32_t text = HD_NONE;
    for (uint32_t i = 0; i <= HD_RF_STRETCHES + 2; i++) {
        uint32_t some = 2 * i + 1;
        const hd_event events[] = {
            {.kind = HD_EVENT_ISSUE,
             .instruction = 0,
             .active = ~0u,
             .effective = some,
             .widths = &widths[0],
             .width_words = 1},
            {.kind = HD_EVENT_ISSUE, .instruction = 1, .active = ~0u},
            {.kind = HD_EVENT_ISSUE,
             .instruction = 2,
             .active = some,
             .effective = some,
             .widths = &widths[1],
             .width_words = 1},
        };
        hd_rf_passage p = pass(stretches, events, 3);
        bool room = i < HD_RF_STRETCHES;
        text = i ? text : p.stretch->text;
        assert_int_equal(p.stretch->number, room ? i : HD_NONE);
        assert_int_equal(p.stretch->text, room ? text : HD_NONE);
        if (i % 4096 > 3)
            continue;
        expect_events(&p, code, events, 3);
        if (room)
            assert_ptr_equal(pass(stretches, events, 3).stretch, p.stretch);
        size_t bytes = 0;
        hd_rf_stretch *copy = room ? NULL : hd_rf_stretch_copy(p.stretch, &bytes);
        hd_rf_loose loose = {0};
        hd_rf_stretches_hand_over(stretches, &loose);
        assert_int_equal(loose.count, room ? 0 : 1);
        hd_rf_loose_forget(&loose);
        hd_array_free(&loose);
        if (copy) {
            assert_in_range((uintptr_t)copy->parts, (uintptr_t)copy, (uintptr_t)copy + bytes);
            p.stretch = copy;
        }
        expect_events(&p, code, events, 3);
        free(copy);
    }
    hd_rf_stretches_free(stretches);
    hd_rf_module_free(code);
    rf_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_with_the_same_columns_are_alike),
        cmocka_unit_test(what_finds_no_room_is_kept_until_it_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
