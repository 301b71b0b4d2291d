/* hwmodel/rf/identity: claims against an oracle that keeps, for each structure and lane, which write it holds. */
#include "tests/unit/unit.h"

#include "hwmodel/rf/identity.h"

enum { REGISTERS = 3, STRUCTURES = 4, LANES = 32 };

/* What a structure really holds: for each lane the serial of the write whose value is there, or nothing. */
typedef struct holding {
    hd_claim claim;
    int64_t serial[LANES]; /* -1: nothing; 0: as before the first write */
    uint32_t index;
} holding;

typedef struct world {
    hd_identity_warp identity;
    uint32_t last[REGISTERS][LANES]; /* serial of each lane's last write; 0 = never */
    holding held[STRUCTURES];
    uint64_t seed;
} world;

static uint32_t random_lanes(world *w)
{
    switch (unit_random(&w->seed) % 4) {
    case 0: return UINT32_MAX;
    case 1: return 1u << (unit_random(&w->seed) % 32);
    case 2: return 0xffffu << (unit_random(&w->seed) % 2 * 16);
    default: return (uint32_t)unit_random(&w->seed) | 1u;
    }
}

/* Lanes that were written and whose held value is not the one a read finds now. */
static uint32_t truly_wrong(const world *w, const holding *h, uint32_t index, uint32_t lanes)
{
    uint32_t wrong = 0;
    for (uint32_t l = 0; l < LANES; l++)
        if (lanes >> l & 1 && w->last[index][l] && (h->index != index || h->serial[l] != w->last[index][l]))
            wrong |= 1u << l;
    return wrong;
}

static void compare(const world *w)
{
    for (uint32_t s = 0; s < STRUCTURES; s++)
        for (uint32_t r = 0; r < REGISTERS; r++) {
            hd_owner owner = {7, 0, w->held[s].index};
            assert_int_equal(hd_identity_unproved(&w->identity, r, owner, w->held[s].claim, UINT32_MAX),
                             truly_wrong(w, &w->held[s], r, UINT32_MAX));
        }
}

static void write_register(world *w, uint32_t index)
{
    uint32_t lanes = random_lanes(w), serial = w->identity.serial + 1;
    for (uint32_t s = 0; s < STRUCTURES; s++) { /* some structures take part in the write */
        holding *h = &w->held[s];
        if (h->index != index || unit_random(&w->seed) % 2)
            continue;
        h->claim = hd_identity_merge(&w->identity, index, h->claim, serial, lanes);
        for (uint32_t l = 0; l < LANES; l++)
            if (lanes >> l & 1)
                h->serial[l] = serial;
    }
    hd_identity_write(&w->identity, index, lanes);
    for (uint32_t l = 0; l < LANES; l++)
        if (lanes >> l & 1)
            w->last[index][l] = serial;
}

static void copy_lanes(world *w)
{
    holding *from = &w->held[unit_random(&w->seed) % STRUCTURES], *to = &w->held[unit_random(&w->seed) % STRUCTURES];
    if (from == to || from->index != to->index)
        return;
    uint32_t lanes = random_lanes(w);
    to->claim = hd_identity_copy(&w->identity, to->index, to->claim, from->claim, lanes);
    for (uint32_t l = 0; l < LANES; l++)
        if (lanes >> l & 1)
            to->serial[l] = from->serial[l];
}

static void reallocate(world *w)
{
    holding *h = &w->held[unit_random(&w->seed) % STRUCTURES];
    h->index = (uint32_t)(unit_random(&w->seed) % REGISTERS);
    h->claim = (hd_claim){0, 0};
    for (uint32_t l = 0; l < LANES; l++)
        h->serial[l] = -1;
}

/* Exact: no wrong operand is let through, no right one is refused. A lane whose held value went stale may become right
 * again only by a new write or copy, so the oracle's serials decide both ways. */
static void claims_agree_with_full_lane_ids(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        world w = {.seed = seed};
        hd_identity_start(&w.identity, 7);
        hd_identity_push(&w.identity, 0, REGISTERS);
        for (uint32_t s = 0; s < STRUCTURES; s++)
            reallocate(&w);
        for (uint32_t step = 0; step < 60; step++) {
            switch (unit_random(&w.seed) % 8) {
            case 0: reallocate(&w); break;
            case 1:
            case 2:
            case 3: copy_lanes(&w); break;
            default: write_register(&w, (uint32_t)(unit_random(&w.seed) % REGISTERS));
            }
            compare(&w);
        }
        hd_identity_free(&w.identity);
    }
}

static void another_owner_proves_nothing(void **state)
{
    (void)state;
    hd_identity_warp identity = {0};
    hd_identity_start(&identity, 3);
    hd_identity_push(&identity, 0, 4);
    hd_identity_write(&identity, 2, 0xff);
    hd_claim claim = {1, UINT32_MAX};
    assert_int_equal(hd_identity_unproved(&identity, 2, (hd_owner){3, 0, 2}, claim, UINT32_MAX), 0);
    assert_int_equal(hd_identity_unproved(&identity, 2, (hd_owner){3, 0, 1}, claim, UINT32_MAX), 0xff);
    assert_int_equal(hd_identity_unproved(&identity, 2, (hd_owner){4, 0, 2}, claim, UINT32_MAX), 0xff);
    assert_int_equal(hd_identity_unproved(&identity, 2, (hd_owner){3, 1, 2}, claim, 0xf), 0xf);
    /* never written: don't care */
    assert_int_equal(hd_identity_unproved(&identity, 1, (hd_owner){9, 9, 9}, claim, UINT32_MAX), 0);
    hd_identity_free(&identity);
}

/* A warp that takes the place of one that was stopped in the middle of a call. */
static void a_start_leaves_nothing(void **state)
{
    (void)state;
    hd_identity_warp identity = {0};
    hd_identity_start(&identity, 3);
    hd_identity_push(&identity, 0, 4);
    hd_identity_write(&identity, 2, 0xff);
    hd_identity_write(&identity, 2, 0xf);
    hd_identity_push(&identity, 5, 4);
    hd_identity_start(&identity, 9);
    assert_int_equal(identity.warp, 9);
    assert_int_equal(identity.serial + identity.frame + identity.base, 0);
    assert_int_equal(identity.registers.count + identity.frames.count + identity.history.count, 0);
    hd_identity_free(&identity);
}

/* A call's frame uses indices above the caller's, starts unwritten, and leaves the caller's serials as they were. */
static void frames_stack(void **state)
{
    (void)state;
    hd_identity_warp identity = {0};
    hd_identity_start(&identity, 0);
    hd_identity_push(&identity, 0, 2);
    hd_identity_write(&identity, 1, UINT32_MAX);
    hd_identity_write(&identity, 1, 1);
    for (uint32_t call = 1; call < 50; call++) {
        hd_identity_push(&identity, call, 3);
        assert_int_equal(identity.base, 2);
        assert_int_equal(identity.registers.items[2].ever, 0);
        hd_identity_write(&identity, 2, UINT32_MAX);
        hd_identity_write(&identity, 2, 0xf0);
        hd_identity_pop(&identity);
    }
    assert_int_equal(identity.base, 0);
    assert_int_equal(identity.history.count, 32); /* blocks of ended frames are used again */
    assert_int_equal(hd_identity_fresh(&identity, 1, (hd_claim){1, UINT32_MAX}), UINT32_MAX - 1);
    assert_int_equal(hd_identity_fresh(&identity, 1, (hd_claim){2, 1}), 1);
    hd_identity_free(&identity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_agree_with_full_lane_ids),
        cmocka_unit_test(another_owner_proves_nothing),
        cmocka_unit_test(a_start_leaves_nothing),
        cmocka_unit_test(frames_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
