/* Trace segments: equal ones are one object, and what a segment says is what the events were, whether there is room for
 * it or not. */
#include "unit.h"

#include "hwmodel/record/segment.h"
#include "tests/unit/rf_bench.h"

enum { LENGTH = 4, FIRST = LENGTH, SECOND, MASKS };

typedef struct lanes { /* effective by instruction, and active in the first half of these and in the second */
    uint32_t masks[MASKS];
} lanes;

/* Draws from few masks, so that two are equal now and then. */
static lanes random_lanes(uint64_t *seed)
{
    lanes s;
    for (uint32_t m = MASKS; m-- > 0;) {
        uint32_t mask = (uint32_t[]){~0u, 1, 0xffff, 0}[unit_random(seed) % (m >= FIRST ? 2 : 4)];
        s.masks[m] = m >= FIRST ? mask : mask & s.masks[m < LENGTH / 2 ? FIRST : SECOND];
    }
    return s;
}

static bool writes(const lanes *s)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < LENGTH; i++)
        any |= s->masks[i];
    return any;
}

/* Equal masks, and those that are 0, are the same ones of both. */
static bool same_shape(const lanes *a, const lanes *b)
{
    for (uint32_t m = 0; m < MASKS; m++)
        for (uint32_t k = 0; k <= m; k++)
            if ((a->masks[m] == a->masks[k]) != (b->masks[m] == b->masks[k]) || !a->masks[m] != !b->masks[m])
                return false;
    return true;
}

static const hd_segment *segment_of(hd_segments *segments, const lanes *s, const hd_width *widths)
{
    hd_warp_event e;
    for (uint32_t i = 0; i < LENGTH; i++)
        hd_segments_add(segments, &(hd_event){.kind = HD_EVENT_ISSUE,
                                              .instruction = i < LENGTH / 2 ? i : i + 1,
                                              .active = s->masks[i < LENGTH / 2 ? FIRST : SECOND],
                                              .effective = s->masks[i],
                                              .widths = s->masks[i] ? widths : NULL,
                                              .width_words = 1});
    assert_true(hd_segments_end(segments, &e));
    return e.segment;
}

static void equal_segments_are_one(void **state)
{
    (void)state;
    static const hd_width narrow = {1, 1}, wide = {2, 4};
    rf_bench b;
    rf_bench_open_body(&b,
                       "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nmov.u32 %r2, 3;\nmov.u32 %r3, 4;\nmov.u32 %r4, 5;\nret;\n");
    hd_rf_module *code = hd_rf_module_new(b.module);
    hd_segments *segments = hd_segments_new(code);
    uint64_t seed = 1;
    uint32_t same = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        const lanes s[2] = {random_lanes(&seed), random_lanes(&seed)};
        bool equal = !memcmp(&s[0], &s[1], sizeof s[0]);
        const hd_segment *of[2] = {segment_of(segments, &s[0], NULL), segment_of(segments, &s[1], NULL)},
                         *with = segment_of(segments, &s[0], &narrow),
                         *other = segment_of(segments, &s[1], i % 2 ? &narrow : &wide);
        assert_int_equal(of[0] == of[1], equal);
        assert_int_equal(of[0]->shape == of[1]->shape, same_shape(&s[0], &s[1]));
        assert_int_equal(of[0]->wide_shape, of[0]->shape);
        assert_int_equal(with->shape, of[0]->shape);
        assert_int_equal(other->shape, of[1]->shape);
        assert_int_equal(with->wide_shape == other->wide_shape, same_shape(&s[0], &s[1]) && (i % 2 || !writes(&s[0])));
        assert_int_equal(with == of[0], !writes(&s[0]));
        assert_int_equal(with == other,
                         equal && (i % 2 || !writes(&s[0]))); /* where no lane writes, there is no width */
        same += equal;
    }
    assert_true(same > 100);
    hd_segments_free(segments);
    hd_rf_module_free(code);
    rf_bench_close(&b);
}

static hd_warp_event collect(hd_segments *segments, const hd_event *events, uint32_t count)
{
    hd_warp_event e;
    for (uint32_t i = 0; i < count; i++)
        hd_segments_add(segments, &events[i]);
    assert_true(hd_segments_end(segments, &e));
    return e;
}

static void expect_events(const hd_segment *s, const hd_event *events, uint32_t count)
{
    const hd_width *widths = s->widths;
    assert_int_equal(s->count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(hd_segment_instruction(s, i), events[i].instruction);
        assert_int_equal(s->masks[hd_segment_part_at(s->parts, s->part_count, i)->active], events[i].active);
        assert_int_equal(s->masks[s->effective[i]], events[i].effective);
        if (events[i].effective)
            assert_memory_equal(widths++, events[i].widths, sizeof *widths);
    }
}

/* Also of a copy, after the segment itself is freed. */
static void what_finds_no_room_is_kept_until_it_is_handed_over(void **state)
{
    (void)state;
    static const hd_width widths[] = {{1, 2}, {3, 4}};
    rf_bench b;
    rf_bench_open_body(&b, "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nmov.u32 %r2, 3;\nret;\n");
    hd_rf_module *code = hd_rf_module_new(b.module);
    hd_segments *segments = hd_segments_new(code);
    uint32_t loose_ones = 0;
    for (uint32_t i = 0; loose_ones < 3; i++) {
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
        assert_true(i < HD_SEGMENTS + 3);
        hd_warp_event e = collect(segments, events, 3);
        bool room = !e.segment->loose;
        assert_int_equal(e.segment->shape, 0); /* only its masks are its own */
        loose_ones += !room;
        if (room && i % 4096 > 3)
            continue;
        expect_events(e.segment, events, 3);
        if (room)
            assert_ptr_equal(collect(segments, events, 3).segment, e.segment);
        size_t bytes = 0;
        hd_segment *copy = room ? NULL : hd_segment_copy(e.segment, &bytes);
        hd_loose_segments loose = {0};
        hd_segments_hand_over(segments, &loose);
        assert_int_equal(loose.count, room ? 0 : 1);
        hd_loose_segments_clear(&loose);
        hd_array_free(&loose);
        if (copy)
            assert_in_range((uintptr_t)copy->parts, (uintptr_t)copy, (uintptr_t)copy + bytes);
        expect_events(copy ? copy : e.segment, events, 3);
        free(copy);
    }
    hd_segments_free(segments);
    hd_rf_module_free(code);
    rf_bench_close(&b);
}

/* Addresses and results are of one instruction. A copy has columns of its own. */
static void a_single_event_keeps_its_columns(void **state)
{
    (void)state;
    static const uint64_t addresses[32] = {7, [31] = 9};
    static const uint32_t results[32] = {8, [31] = 10};
    static const hd_lane_effect effect = {1, 2, 3, 4};
    rf_bench b;
    rf_bench_open_body(&b, "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nret;\n");
    hd_rf_module *code = hd_rf_module_new(b.module);
    hd_segments *segments = hd_segments_new(code);
    hd_loose_segments loose = {0};
    const hd_event events[] = {{.kind = HD_EVENT_ISSUE, .active = ~0u},
                               {.kind = HD_EVENT_ISSUE,
                                .instruction = 1,
                                .active = 3,
                                .addresses = addresses,
                                .results = results,
                                .result_words = 1,
                                .effect = &effect}};
    hd_segments_add(segments, &events[0]);
    const hd_segment *single = hd_segments_single(segments, &events[1]).segment;
    expect_events(single, &events[1], 1);
    assert_ptr_equal(single->addresses, addresses);
    assert_ptr_equal(single->results, results);
    assert_ptr_equal(single->effect, &effect);
    size_t bytes = 0;
    hd_segment *copy = hd_segment_copy(single, &bytes);
    expect_events(copy, &events[1], 1);
    assert_memory_equal(copy->addresses, addresses, sizeof addresses);
    assert_memory_equal(copy->results, results, sizeof results);
    assert_memory_equal(copy->effect, &effect, sizeof effect);
    assert_in_range((uintptr_t)copy->effect, (uintptr_t)(copy + 1), (uintptr_t)copy + bytes - sizeof effect);
    free(copy);
    expect_events(collect(segments, NULL, 0).segment, events, 1); /* the open one is as it was */
    hd_segments_hand_over(segments, &loose);
    assert_int_equal(loose.count, 1);
    hd_loose_segments_clear(&loose);
    hd_array_free(&loose);
    hd_segments_free(segments);
    hd_rf_module_free(code);
    rf_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_segments_are_one),
        cmocka_unit_test(what_finds_no_room_is_kept_until_it_is_handed_over),
        cmocka_unit_test(a_single_event_keeps_its_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
