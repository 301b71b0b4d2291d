/* Events of an SM (hwmodel/sm/listener.h): recounted, they are the counts; each issue slot is covered once in each
 * cycle, and each resident warp; what is issued retires once; hand-derived accesses; and listening changes no cycle. */
#include "small_machine.h"
#include "timed_kernel.h"

enum { MOST_CYCLES = 1 << 16, SLOTS = 16, MOST_ISSUES = 1 << 15 };

typedef struct heard {
    const hd_machine *machine;
    uint32_t launches, ends, warps;
    uint64_t begin;
    hd_sm_counts counts;
    uint64_t requests, lines, sectors, least_passes, l1_sectors, l1_sector_hits, l2_reads, l2_hits;
    uint8_t covered[SLOTS][MOST_CYCLES];
    uint32_t issued, retired, first, place[MOST_ISSUES], instruction[MOST_ISSUES];
    bool open[MOST_ISSUES];
    uint64_t stalled[64][HD_SM_SLOTS_ALL], blamed_nobody; /* by instruction */
    uint64_t waited[HD_SM_WARPS], warp_waits, issue_cycles, waits[64][HD_SM_STATES];
} heard;

static void begin(void *context, uint32_t launch, uint32_t function, uint64_t cycle)
{
    heard *h = context;
    assert_int_equal(launch, 0);
    assert_int_equal(function, 0);
    h->launches++;
    h->begin = cycle;
}

static void cover(heard *h, uint32_t slot, uint64_t first, uint64_t end)
{
    assert_true(slot < SLOTS && end - h->begin < MOST_CYCLES);
    for (uint64_t c = first - h->begin; c < end - h->begin; c++)
        assert_int_equal(h->covered[slot][c]++, 0);
}

static void issue(void *context, const hd_sm_issue_event *e)
{
    heard *h = context;
    assert_int_equal(e->slot / h->machine->core.issue_width, e->subject.place % h->machine->core.schedulers);
    cover(h, e->slot, e->cycle, e->cycle + 1);
    h->counts.slots[HD_SM_SLOT_ISSUED]++;
    h->counts.warp_instructions++;
    h->counts.thread_instructions += (uint32_t)__builtin_popcount(e->subject.active);
    assert_int_equal(e->subject.effective & ~e->subject.active, 0);
    if (!h->issued)
        h->first = e->number;
    assert_int_equal(e->number, h->first + h->issued);
    assert_true(h->issued < MOST_ISSUES);
    h->open[h->issued] = true;
    h->place[h->issued] = e->subject.place;
    h->instruction[h->issued++] = e->subject.instruction;
}

static void stall(void *context, const hd_sm_stall_event *e)
{
    heard *h = context;
    for (uint32_t s = 0; s < e->slots; s++)
        cover(h, e->slot + s, e->begin, e->end);
    uint64_t lost = (e->end - e->begin) * e->slots;
    h->counts.slots[e->reason] += lost;
    assert_int_equal(e->reason == HD_SM_SLOT_NO_WARP, e->subject.warp == HD_NONE);
    if (e->subject.instruction == HD_NONE)
        h->blamed_nobody += lost;
    else
        h->stalled[e->subject.instruction][e->reason] += lost;
}

/* Each cycle of a resident warp is covered once. */
static void wait_of_warp(void *context, const hd_sm_wait_event *e)
{
    heard *h = context;
    assert_true(e->begin >= h->waited[e->subject.place] && e->end > e->begin);
    h->waited[e->subject.place] = e->end;
    h->warp_waits += e->end - e->begin;
    assert_true(e->state < HD_SM_STATES && e->state != HD_SM_SLOT_NO_WARP && e->subject.warp != HD_NONE);
    if (e->state == HD_SM_SLOT_ISSUED) {
        assert_int_equal(e->end, e->begin + 1);
        h->issue_cycles++;
    } else if (e->subject.instruction != HD_NONE) {
        h->waits[e->subject.instruction][e->state] += e->end - e->begin;
    }
}

static void access_memory(void *context, const hd_sm_access_event *e)
{
    heard *h = context;
    switch ((hd_sm_level)e->level) {
    case HD_SM_LEVEL_REQUEST:
        h->requests++;
        h->lines += e->lines;
        h->sectors += e->sectors;
        break;
    case HD_SM_LEVEL_SHARED:
        h->counts.shared_accesses++;
        h->counts.shared_passes += e->passes;
        h->least_passes += e->least_passes;
        break;
    case HD_SM_LEVEL_L1:
        h->counts.l1_reads++;
        h->counts.l1_hits += e->hits == e->sectors;
        h->l1_sectors += e->sectors;
        h->l1_sector_hits += e->hits;
        break;
    case HD_SM_LEVEL_L2:
        h->l2_reads++;
        h->l2_hits += e->hits == e->sectors;
        break;
    case HD_SM_LEVEL_CONSTANT:
    case HD_SM_LEVEL_TEXTURE: break;
    }
    assert_true(e->hits <= e->sectors && e->least_passes <= e->passes);
}

static void retire(void *context, const hd_sm_retire_event *e)
{
    heard *h = context;
    uint32_t at = e->number - h->first;
    assert_true(at < h->issued && h->open[at]);
    assert_int_equal(h->place[at], e->subject.place);
    assert_int_equal(h->instruction[at], e->subject.instruction);
    h->open[at] = false;
    h->retired++;
}

static void end_warp(void *context, const hd_sm_warp_event *e)
{
    heard *h = context;
    h->warps++;
    h->counts.warp_cycles += e->end - e->begin;
}

static void end(void *context, uint64_t cycle)
{
    heard *h = context;
    h->ends++;
    if (!h->warps) /* of an SM that is not there */
        return;
    for (uint32_t s = 0; s < h->machine->core.schedulers * h->machine->core.issue_width; s++)
        for (uint64_t c = 0; c < cycle - h->begin; c++)
            assert_int_equal(h->covered[s][c], 1);
}

static const hd_sm_listener_ops recount = {.launch_begin = begin,
                                           .issue = issue,
                                           .stall = stall,
                                           .wait = wait_of_warp,
                                           .access = access_memory,
                                           .retire = retire,
                                           .warp_end = end_warp,
                                           .launch_end = end};

static void expect_counts(const heard *h, const timed *t)
{
    const hd_sm_counts *a = &h->counts, *b = &t->counts.sm;
    for (uint32_t s = 0; s < HD_SM_SLOTS_ALL; s++)
        assert_true(a->slots[s] == b->slots[s]);
    assert_true(a->warp_instructions == b->warp_instructions && a->thread_instructions == b->thread_instructions);
    assert_true(a->l1_reads == b->l1_reads && a->l1_hits == b->l1_hits);
    assert_true(a->shared_accesses == b->shared_accesses && a->shared_passes == b->shared_passes);
    assert_true(h->l2_reads == t->counts.memory.l2_reads);
    assert_int_equal(h->launches, 1);
    assert_int_equal(h->ends, 1);
    assert_int_equal(h->issued, h->retired);
    assert_true(h->warp_waits == b->warp_cycles);
    assert_true(h->issue_cycles <= h->issued && h->issue_cycles * h->machine->core.issue_width >= h->issued);
}

/* With a listener, without one, and with one of another SM: the same cycles. */
static heard *listen_to(hd_machine machine, const char *body, uint32_t grid, uint32_t block, timed *t)
{
    heard *h = test_calloc(1, sizeof *h), *other = test_calloc(1, sizeof *other);
    hd_sm_listener listener = {&recount, h, 0}, elsewhere = {&recount, other, 7};
    machine.fetch.bytes = 0; /* code is not fetched from the memory system */
    *t = (timed){.machine = machine, .declarations = ".shared .align 16 .b8 s[8192];\n"};
    other->machine = h->machine = &t->machine;
    timed alone = *t, apart = *t;
    t->listener = &listener;
    apart.listener = &elsewhere;
    time_body(t, body, grid, block);
    time_body(&alone, body, grid, block);
    time_body(&apart, body, grid, block);
    assert_memory_equal(&t->counts, &alone.counts, sizeof t->counts);
    assert_memory_equal(&t->counts, &apart.counts, sizeof t->counts);
    assert_int_equal(other->issued + other->warps, 0);
    expect_counts(h, t);
    test_free(other);
    return h;
}

/* ---- recounted --------------------------------------------------------------------------------------------------- */

#define OFFSETS(bytes) "mul.wide.u32 %rd2, %r0, " bytes ";\nadd.u64 %rd3, %rd1, %rd2;\n"
#define SHARED(bytes) "mov.u32 %r1, s;\nmad.lo.u32 %r1, %r0, " bytes ", %r1;\n"

/* Divergent branches, barriers, loads that miss and hit, bank conflicts, special functions, stores. */
static const char mixed[] = OFFSETS("4") SHARED("8") "ld.global.u32 %r4, [%rd3];\n"
                                                     "setp.lt.u32 %p1, %r0, 20;\n@%p1 bra A;\n"
                                                     "add.u32 %r5, %r4, 1;\nrcp.approx.f32 %f1, %f0;\nbra B;\n"
                                                     "A:\nmul.lo.u32 %r5, %r4, 3;\nld.global.u32 %r6, [%rd3+128];\n"
                                                     "@!%p1 add.u32 %r5, %r5, %r6;\nB:\n"
                                                     "st.shared.u32 [%r1], %r5;\nbar.sync 0;\n"
                                                     "ld.shared.u32 %r7, [%r1];\nld.global.u32 %r8, [%rd3];\n"
                                                     "add.u32 %r7, %r7, %r8;\nst.global.u32 [%rd3], %r7;\n";

static void events_are_the_counts(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (uint32_t i = 0; i < UNIT_CASES(12); i++) {
        timed t;
        heard *h = listen_to(i == 0   ? small_machine()
                             : i == 1 ? small_subcore_machine()
                                      : random_machine(&seed),
                             mixed, 5, 96, &t);
        assert_int_equal(h->warps, 5 * 3);
        test_free(h);
    }
}

/* ---- derived by hand --------------------------------------------------------------------------------------------- */

enum { BODY = 3 /* instructions of the kernel before its body */ };

/* One warp: the add waits for the load; what is left at the end are the last instructions. */
static void stalls_name_their_instruction(void **state)
{
    timed t;
    heard *h = listen_to(small_machine(), OFFSETS("4") "ld.global.u32 %r4, [%rd3];\nadd.u32 %r5, %r4, 1;\n", 1, 32, &t);
    (void)state;
    assert_true(h->stalled[BODY + 3][HD_SM_SLOT_MEMORY] > 100);
    assert_int_equal(h->stalled[BODY + 3][HD_SM_SLOT_MEMORY], t.counts.sm.slots[HD_SM_SLOT_MEMORY]);
    assert_true(h->stalled[BODY + 4][HD_SM_SLOT_END] > 0);
    assert_int_equal(h->stalled[BODY + 4][HD_SM_SLOT_END], t.counts.sm.slots[HD_SM_SLOT_END]);
    assert_int_equal(h->blamed_nobody, t.counts.sm.slots[HD_SM_SLOT_NO_WARP]);
    assert_int_equal(h->waits[BODY + 3][HD_SM_SLOT_MEMORY], t.counts.sm.slots[HD_SM_SLOT_MEMORY]); /* the only warp */
    test_free(h);
}

/* Warps of one scheduler that could all issue: all but one of them wait for their turn. */
static void warps_wait_for_their_turn(void **state)
{
    timed t;
    heard *h =
        listen_to(small_machine(), "add.u32 %r4, %r0, 1;\nadd.u32 %r5, %r0, 2;\nadd.u32 %r6, %r0, 3;\n", 1, 256, &t);
    uint64_t turns = 0;
    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        turns += h->waits[i][HD_SM_NOT_SELECTED];
    assert_true(turns > 0);
    test_free(h);
}

/* Lanes side by side need one line of four sectors, lanes that are a line apart a line each: a line of four sectors
 * where the cache has no sectors, else one of them. The second load of the same addresses hits. */
static void requests_and_the_l1_cache(void **state)
{
    static const struct {
        const char *body;
        uint32_t sector_bytes, lines, sectors, l1_sectors;
    } cases[] = {
#define TWICE "ld.global.u32 %r4, [%rd3];\nadd.u32 %r5, %r4, 1;\nld.global.u32 %r6, [%rd3];\n"
        {OFFSETS("4") TWICE, 128, 1, 4, 1},
        {OFFSETS("4") TWICE, 32, 1, 4, 4},
        {OFFSETS("128") TWICE, 128, 32, 128, 32},
        {OFFSETS("128") TWICE, 32, 32, 32, 32},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        timed t;
        hd_machine machine = small_machine();
        machine.l1.sector_bytes = cases[i].sector_bytes;
        heard *h = listen_to(machine, cases[i].body, 1, 32, &t);
        assert_int_equal(h->requests, 2);
        assert_int_equal(h->lines, 2 * cases[i].lines);
        assert_int_equal(h->sectors, 2 * cases[i].sectors);
        assert_int_equal(h->l1_sectors, 2 * cases[i].l1_sectors);
        assert_int_equal(h->l1_sector_hits, cases[i].l1_sectors);
        assert_int_equal(h->l2_reads, cases[i].lines);
        assert_int_equal(h->l2_hits, 0);
        test_free(h);
    }
}

/* Past the L1 cache: the second load finds what the first one has left in the L2 cache; a store is a request only. */
static void the_l2_cache(void **state)
{
    timed t;
    heard *h = listen_to(small_machine(),
                         OFFSETS("4") "ld.global.cg.u32 %r4, [%rd3];\nadd.u32 %r5, %r4, 1;\n"
                                      "ld.global.cg.u32 %r6, [%rd3];\nst.global.u32 [%rd3+128], %r5;\n",
                         1, 32, &t);
    (void)state;
    assert_int_equal(h->requests, 3);
    assert_int_equal(h->sectors, 3 * 4);
    assert_int_equal(h->counts.l1_reads, 0);
    assert_int_equal(h->l2_reads, 2);
    assert_int_equal(h->l2_hits, 1);
    test_free(h);
}

/* Eight bytes apart, two lanes meet at each bank; vectors of 16 bytes are served for 8 lanes at a time. */
static void bank_conflicts(void **state)
{
    timed t;
    (void)state;
    heard *h = listen_to(small_machine(), SHARED("8") "ld.shared.u32 %r4, [%r1];\n", 1, 32, &t);
    assert_int_equal(h->counts.shared_passes, 2);
    assert_int_equal(h->least_passes, 1);
    test_free(h);
    h = listen_to(small_machine(), SHARED("16") "ld.shared.v4.u32 {%r4,%r5,%r6,%r7}, [%r1];\n", 1, 32, &t);
    assert_int_equal(h->counts.shared_passes, 4);
    assert_int_equal(h->least_passes, 4);
    test_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_the_counts),
        cmocka_unit_test(stalls_name_their_instruction),
        cmocka_unit_test(warps_wait_for_their_turn),
        cmocka_unit_test(requests_and_the_l1_cache),
        cmocka_unit_test(the_l2_cache),
        cmocka_unit_test(bank_conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
