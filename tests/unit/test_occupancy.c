/* target/occupancy: known points, the definition by trial, what must be monotone, cliffs by brute force, and tens of
 * thousands of random cases against cuda_occupancy.h where that is installed.
 *
 * The definition by trial shares no arithmetic with the library: it puts CTAs on an SM one after the other, warp by
 * warp, register unit by register unit. */
#include "tests/unit/unit.h"

#include "target/occupancy.h"
#include <unistd.h>

typedef struct gpus {
    hd_diagnostics diagnostics;
    hd_gpu *all[64];
    uint32_t count;
} gpus;

static int load_all(void **state)
{
    gpus *g = calloc(1, sizeof *g);
    hd_diagnostics_init(&g->diagnostics);
    for (uint32_t i = 0; i < hd_gpu_file_count && i < 64; i++)
        g->all[g->count++] = hd_gpu_load(hd_gpu_files[i].name, &g->diagnostics);
    *state = g;
    return g->diagnostics.error_count ? -1 : 0;
}

static int free_all(void **state)
{
    gpus *g = *state;
    for (uint32_t i = 0; i < g->count; i++)
        hd_gpu_free(g->all[i]);
    hd_diagnostics_free(&g->diagnostics);
    free(g);
    return 0;
}

static const hd_gpu *gpu_of(gpus *g, const char *name)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (!strcmp(g->all[i]->name, name))
            return g->all[i];
    fail_msg("no GPU %s", name);
    return NULL;
}

static uint32_t ctas(const hd_gpu *gpu, uint32_t threads, uint32_t registers, uint32_t shared, uint32_t barriers)
{
    return hd_occupancy_of(&gpu->limits, &(hd_occupancy_use){threads, registers, shared, barriers}).ctas;
}

/* ---- known points ------------------------------------------------------------------------------------------------ */

static void registers_of_compute_capability_12(void **state)
{
    static const uint32_t points[][2] = {{32, 6}, {40, 6}, {41, 5}, {64, 4}, {96, 2}, {128, 2}, {168, 1}, {255, 1}};
    for (uint32_t i = 0; i < sizeof points / sizeof *points; i++)
        assert_int_equal(ctas(gpu_of(*state, "sm_120"), 256, points[i][0], 0, 1), points[i][1]);
}

typedef struct fact {
    const char *gpu;
    uint32_t warps, ctas, shared_kib, cta_shared_kib, barriers;
} fact;

static void limits_of_every_capability(void **state)
{
    static const fact facts[] = {
        {"sm_35", 64, 16, 48, 48, 0},     {"sm_37", 64, 16, 112, 48, 0},    {"sm_60", 64, 32, 64, 48, 0},
        {"sm_101", 48, 24, 228, 227, 24}, {"sm_50", 64, 32, 64, 48, 0},     {"sm_52", 64, 32, 96, 48, 0},
        {"sm_53", 64, 32, 64, 48, 0},     {"sm_61", 64, 32, 96, 48, 0},     {"sm_62", 64, 32, 64, 48, 0},
        {"sm_70", 64, 32, 96, 96, 0},     {"sm_72", 64, 32, 96, 96, 0},     {"sm_75", 32, 16, 64, 64, 0},
        {"sm_80", 64, 32, 164, 163, 0},   {"sm_86", 48, 16, 100, 99, 0},    {"sm_87", 48, 16, 164, 163, 0},
        {"sm_88", 48, 16, 100, 99, 0},    {"sm_89", 48, 24, 100, 99, 0},    {"sm_90", 64, 32, 228, 227, 64},
        {"sm_100", 64, 32, 228, 227, 64}, {"sm_103", 64, 32, 228, 227, 64}, {"sm_110", 48, 24, 228, 227, 24},
        {"sm_120", 48, 24, 100, 99, 24},  {"sm_121", 48, 24, 100, 99, 24},
    };
    uint32_t capabilities = 0;
    for (uint32_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const hd_gpu_limits *l = &gpu_of(*state, facts[i].gpu)->limits;
        assert_int_equal(l->warps_per_sm, facts[i].warps);
        assert_int_equal(l->ctas_per_sm, facts[i].ctas);
        assert_int_equal(l->shared_bytes_per_sm, facts[i].shared_kib << 10);
        assert_int_equal(l->shared_bytes_per_cta, facts[i].cta_shared_kib << 10);
        assert_int_equal(l->barriers_per_sm, facts[i].barriers);
    }
    for (uint32_t i = 0; i < ((gpus *)*state)->count; i++)
        capabilities += strncmp(((gpus *)*state)->all[i]->name, "sm_", 3) == 0;
    assert_int_equal(capabilities, sizeof facts / sizeof *facts);
}

static void limiters(void **state)
{
    static const struct {
        const char *gpu;
        hd_occupancy_use use;
        uint32_t ctas, warps;
        hd_limiter limiter;
        const char *impossible;
    } cases[] = {
        {"sm_90", {1024, 32, 0, 1}, 2, 64, HD_LIMITER_WARPS, NULL},
        {"sm_90", {1024, 33, 0, 1}, 1, 32, HD_LIMITER_REGISTERS, NULL},
        {"sm_90", {32, 16, 0, 1}, 32, 32, HD_LIMITER_CTAS, NULL},
        {"sm_90",
         {33, 16, 0, 1},
         32,
         64,
         HD_LIMITER_WARPS,
         NULL}, /* two warps; equal to the CTAs: the first is reported */
        {"sm_90", {128, 32, 64 << 10, 1}, 3, 12, HD_LIMITER_SHARED, NULL},
        {"sm_90", {128, 32, 227 << 10, 1}, 1, 4, HD_LIMITER_SHARED, NULL},
        {"sm_90", {64, 32, 0, 8}, 8, 16, HD_LIMITER_BARRIERS, NULL},
        {"sm_80", {64, 32, 0, 8}, 32, 64, HD_LIMITER_WARPS, NULL}, /* barriers are not counted below 9.0 */
        {"sm_90", {0, 32, 0, 1}, 0, 0, HD_LIMITER_IMPOSSIBLE, "a CTA without threads"},
        {"sm_90", {1025, 32, 0, 1}, 0, 0, HD_LIMITER_IMPOSSIBLE, "more threads than a CTA may have"},
        {"sm_90", {32, 256, 0, 1}, 0, 0, HD_LIMITER_IMPOSSIBLE, "more registers than a thread may have"},
        {"sm_90", {1024, 65, 0, 1}, 0, 0, HD_LIMITER_IMPOSSIBLE, "more registers than a CTA may have"},
        {"sm_90", {1024, 64, 0, 1}, 1, 32, HD_LIMITER_REGISTERS, NULL},
        {"sm_90", {32, 32, (227 << 10) + 1, 1}, 0, 0, HD_LIMITER_IMPOSSIBLE, "more shared memory than a CTA may have"},
        {"sm_90", {32, 32, 0, 65}, 0, 0, HD_LIMITER_IMPOSSIBLE, "more barriers than an SM has"},
        {"sm_90",
         {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
         0,
         0,
         HD_LIMITER_IMPOSSIBLE,
         "more threads than a CTA may have"},
        {"sm_90", {1024, 0, 0, 0}, 2, 64, HD_LIMITER_WARPS, NULL},
        /* though 18 x 3584 would fit */
        {"sm_60", {576, 112, 0, 1}, 0, 0, HD_LIMITER_IMPOSSIBLE, "more registers than a CTA may have"},
        {"pascal-titan-x", {256, 32, 0, 1}, 4, 32, HD_LIMITER_WARPS, NULL},
        {"turing-rtx2060", {256, 72, 0, 1}, 3, 24, HD_LIMITER_REGISTERS, NULL},
        {"maxwell-ltrf", {512, 40, 0, 1}, 3, 48, HD_LIMITER_REGISTERS, NULL},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hd_gpu *gpu = gpu_of(*state, cases[i].gpu);
        hd_occupancy o = hd_occupancy_of(&gpu->limits, &cases[i].use);
        assert_int_equal(o.ctas, cases[i].ctas);
        assert_int_equal(o.warps, cases[i].warps);
        assert_int_equal(o.limiter, cases[i].limiter);
        assert_true(o.fraction == (double)o.warps / gpu->limits.warps_per_sm);
        assert_true(!o.impossible == !cases[i].impossible);
        if (o.impossible)
            assert_string_equal(o.impossible, cases[i].impossible);
    }
}

/* Registers, threads and concurrent CTAs of kernels on a Fermi in table 2.1 of H. Jeon's dissertation on register file
 * virtualization; without the two rows that something else limits. */
static void concurrent_ctas_on_fermi(void **state)
{
    static const uint32_t rows[][3] = {{256, 14, 6}, {128, 18, 8}, {256, 17, 6}, {64, 22, 8},
                                       {169, 14, 8}, {256, 4, 6},  {512, 8, 3},  {64, 22, 8},
                                       {512, 9, 3},  {128, 17, 8}, {512, 29, 2}, {256, 19, 6}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(ctas(gpu_of(*state, "fermi-gtx480"), rows[i][0], rows[i][1], 0, 1), rows[i][2]);
}

/* ---- the definition by trial ------------------------------------------------------------------------------------- */

static hd_occupancy_use random_use(uint64_t *seed, const hd_gpu_limits *l)
{
    hd_occupancy_use use = {.threads = (uint32_t)(unit_random(seed) % (l->threads_per_cta + 40)),
                            .registers = (uint32_t)(unit_random(seed) % (l->registers_per_thread + 4)),
                            .barriers = (uint32_t)(unit_random(seed) % 18)};
    switch (unit_random(seed) % 4) {
    case 0: use.shared_bytes = (uint32_t)(unit_random(seed) % (l->shared_bytes_per_cta + 100)); break;
    case 1: use.shared_bytes = (uint32_t)(unit_random(seed) % 20000); break;
    case 2: use.shared_bytes = (uint32_t)(unit_random(seed) % 40) * 1024; break;
    default: break;
    }
    if (unit_random(seed) % 2)
        use.threads = (use.threads + 31) / 32 * 32;
    return use;
}

/* Whether so many register units of `unit` fit: unit by unit for each warp, warps dealt to the sub-cores in turn. */
static bool registers_hold(const hd_gpu_limits *l, uint32_t registers, uint32_t warps)
{
    uint32_t left[64];
    for (uint32_t p = 0; p < l->partitions; p++)
        left[p] = l->registers_per_sm / l->partitions;
    for (uint32_t w = 0; w < warps; w++)
        for (int64_t wanted = (int64_t)registers * 32; wanted > 0; wanted -= l->register_unit) {
            if (left[w % l->partitions] < l->register_unit)
                return false;
            left[w % l->partitions] -= l->register_unit;
        }
    return true;
}

static bool one_launches(const hd_gpu_limits *l, const hd_occupancy_use *use)
{
    uint32_t warps = 0, registers = 0, slots = 0;
    while (warps * 32 < use->threads)
        warps++;
    while (slots < warps)
        slots += l->launch_partitions ? l->launch_partitions : l->partitions;
    while (registers < use->registers * 32)
        registers += l->register_unit;
    return use->threads && use->threads <= l->threads_per_cta && use->registers <= l->registers_per_thread &&
           (uint64_t)registers * slots <= l->registers_per_cta && use->shared_bytes <= l->shared_bytes_per_cta;
}

static uint32_t by_trial(const hd_gpu_limits *l, const hd_occupancy_use *use)
{
    uint32_t warps = 0, count = 0;
    uint64_t shared = 0;
    if (!one_launches(l, use))
        return 0;
    while (warps * 32 < use->threads)
        warps++;
    while (shared < use->shared_bytes + l->shared_reserved_bytes_per_cta)
        shared += l->shared_unit_bytes;
    for (;; count++) {
        uint32_t all = count + 1;
        if (all > l->ctas_per_sm || all * warps > l->warps_per_sm || all * shared > l->shared_bytes_per_sm ||
            (l->barriers_per_sm && all * use->barriers > l->barriers_per_sm) ||
            !registers_hold(l, use->registers, all * warps))
            return count;
    }
}

static void as_many_as_fit_by_trial(void **state)
{
    gpus *g = *state;
    uint64_t seed = 4;
    uint32_t running = 0;
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t n = 0; n < 3000; n++) {
            const hd_gpu_limits *l = &g->all[i]->limits;
            hd_occupancy_use use = random_use(&seed, l);
            hd_occupancy o = hd_occupancy_of(l, &use);
            if (o.ctas != by_trial(l, &use))
                fail_msg("%s: %u threads, %u registers, %u bytes, %u barriers: %u CTAs, %u by trial", g->all[i]->name,
                         use.threads, use.registers, (unsigned)use.shared_bytes, use.barriers, o.ctas,
                         by_trial(l, &use));
            assert_true((o.ctas == 0) == (o.impossible != NULL));
            assert_true((o.ctas == 0) == (o.limiter == HD_LIMITER_IMPOSSIBLE));
            assert_int_equal(o.by[o.limiter], o.ctas);
            assert_true(o.fraction >= 0 && o.fraction <= 1);
            running += o.ctas > 0;
        }
    assert_true(running > g->count * 1000); /* enough of the cases can run at all */
}

/* The registers of one block are more than a limit of the description exactly where registers alone allow no block. */
static void registers_of_one_block(void **state)
{
    gpus *g = *state;
    uint64_t seed = 6;
    uint32_t block_bound = 0, sm_bound = 0;
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t n = 0; n < 2000; n++) {
            const hd_gpu_limits *l = &g->all[i]->limits;
            hd_occupancy_use use = random_use(&seed, l);
            uint32_t most;
            if (!use.threads || use.threads > l->threads_per_cta || use.registers > l->registers_per_thread)
                continue;
            use.shared_bytes = 0;
            use.barriers = 0;
            uint64_t taken = hd_occupancy_block_registers(l, &use, &most);
            assert_true(taken >= (uint64_t)use.registers * use.threads);
            assert_int_equal(taken > most, by_trial(l, &use) == 0);
            assert_true(most == l->registers_per_cta || most == l->registers_per_sm);
            block_bound += taken > most && most < l->registers_per_sm;
            sm_bound += taken > most && most == l->registers_per_sm;
        }
    assert_true(block_bound > 0 && sm_bound > 0);
    uint32_t most;
    hd_occupancy_use use = {.threads = 1024, .registers = 42};
    assert_int_equal(hd_occupancy_block_registers(&gpu_of(*state, "sm_53")->limits, &use, &most), 32 * 1536);
    assert_int_equal(most, 32768);
}

/* ---- what more of anything does ---------------------------------------------------------------------------------- */

static void more_never_helps(void **state)
{
    gpus *g = *state;
    uint64_t seed = 5;
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t n = 0; n < 2000; n++) {
            const hd_gpu_limits *l = &g->all[i]->limits;
            hd_occupancy_use use = random_use(&seed, l), more = use;
            more.registers += (uint32_t)(unit_random(&seed) % 3);
            more.shared_bytes += (uint32_t)(unit_random(&seed) % 300);
            more.barriers += use.barriers ? (uint32_t)(unit_random(&seed) % 2) : 0;
            more.threads += use.threads ? (uint32_t)(unit_random(&seed) % 40) : 0;
            assert_true(hd_occupancy_of(l, &more).ctas <= hd_occupancy_of(l, &use).ctas);
        }
}

static void expect_cliff(const hd_gpu *gpu, const hd_occupancy_use *use, bool gain)
{
    hd_occupancy_cliff cliff = gain ? hd_occupancy_gain(&gpu->limits, use) : hd_occupancy_loss(&gpu->limits, use);
    uint32_t now = hd_occupancy_of(&gpu->limits, use).ctas, expected = 0;
    for (int64_t r = (int64_t)use->registers + (gain ? -1 : 1); !expected && r >= 1 && r <= 400; r += gain ? -1 : 1) {
        hd_occupancy_use other = *use;
        other.registers = (uint32_t)r;
        uint32_t then = hd_occupancy_of(&gpu->limits, &other).ctas;
        if (gain ? then > now : then < now)
            expected = (uint32_t)r;
    }
    if (cliff.exists != (expected != 0) || cliff.registers != expected)
        fail_msg("%s, %u threads, %u registers: %s at %u instead of %u", gpu->name, use->threads, use->registers,
                 gain ? "gain" : "loss", cliff.registers, expected);
    if (expected) {
        hd_occupancy_use other = *use;
        other.registers = expected;
        assert_int_equal(cliff.then.ctas, hd_occupancy_of(&gpu->limits, &other).ctas);
    }
}

static void cliffs_by_brute_force(void **state)
{
    gpus *g = *state;
    uint64_t seed = 6;
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t n = 0; n < 1000; n++) {
            hd_occupancy_use use = random_use(&seed, &g->all[i]->limits);
            expect_cliff(g->all[i], &use, true);
            expect_cliff(g->all[i], &use, false);
        }
}

static void known_cliffs(void **state)
{
    const hd_gpu_limits *l = &gpu_of(*state, "sm_120")->limits;
    hd_occupancy_use use = {256, 43, 0, 1};
    hd_occupancy_cliff gain = hd_occupancy_gain(l, &use), loss = hd_occupancy_loss(l, &use);
    assert_true(gain.exists && gain.registers == 40 && gain.then.ctas == 6 && gain.then.fraction == 1.0);
    assert_true(loss.exists && loss.registers == 49 && loss.then.ctas == 4);
    use.registers = 255;
    loss = hd_occupancy_loss(l, &use);
    assert_true(loss.exists && loss.registers == 256 && loss.then.ctas == 0);
    assert_string_equal(loss.then.impossible, "more registers than a thread may have");
    use = (hd_occupancy_use){256, 300, 0, 1};
    gain = hd_occupancy_gain(l, &use);
    assert_true(gain.exists && gain.registers == 255 && !hd_occupancy_loss(l, &use).exists);
    use = (hd_occupancy_use){256, 32, 0, 1};
    assert_false(hd_occupancy_gain(l, &use).exists);
}

static void sweeps(void **state)
{
    const hd_gpu_limits *l = &gpu_of(*state, "sm_86")->limits;
    hd_occupancy_use use = {77, 50, 5000, 1};
    hd_occupancy rows[64];
    assert_int_equal(hd_occupancy_sweep(l, &use, rows, 64), 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(rows[i].ctas, by_trial(l, &(hd_occupancy_use){32 * (i + 1), 50, 5000, 1}));
    assert_int_equal(hd_occupancy_sweep(l, &use, rows, 5), 5);
}

/* ---- cuda_occupancy.h -------------------------------------------------------------------------------------------- */

/* Reads cases from standard input, one a line, writes the CTAs that each limit allows, one a line. */
static const char oracle_text[] =
    "#include <cuda_occupancy.h>\n"
    "#include <stdio.h>\n"
    "int main(void) {\n"
    "    cudaOccDeviceProp p = {0}; cudaOccFuncAttributes a = {0}; cudaOccDeviceState s = {0}; cudaOccResult r;\n"
    "    int threads; unsigned long per_cta, optin, per_sm, reserved, shared;\n"
    "    p.warpSize = 32; p.numSms = 1; s.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;\n"
    "    while (scanf(\"%d %d %d %d %d %d %lu %lu %lu %lu %d %d %lu %d\", &p.computeMajor, &p.computeMinor, "
    "&p.maxThreadsPerBlock,\n"
    "                 &p.maxThreadsPerMultiprocessor, &p.regsPerBlock, &p.regsPerMultiprocessor, &per_cta, &optin, "
    "&per_sm,\n"
    "                 &reserved, &threads, &a.numRegs, &shared, &a.numBlockBarriers) == 14) {\n"
    "        p.sharedMemPerBlock = per_cta; p.sharedMemPerBlockOptin = optin; p.sharedMemPerMultiprocessor = per_sm;\n"
    "        p.reservedSharedMemPerBlock = reserved; a.maxThreadsPerBlock = p.maxThreadsPerBlock;\n"
    "        a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; a.maxDynamicSharedSizeBytes = shared;\n"
    "        if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, shared) != CUDA_OCC_SUCCESS) return "
    "1;\n"
    "        printf(\"%d %d %d %d %d %d\\n\", r.activeBlocksPerMultiprocessor, r.blockLimitWarps, r.blockLimitBlocks, "
    "r.blockLimitRegs,\n"
    "               r.blockLimitSharedMem, r.blockLimitBarriers);\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

static void run(const char *format, const char *folder, const char *include)
{
    char command[4096];
    int length = snprintf(command, sizeof command, format, folder, folder, include);
    if (length >= (int)sizeof command || system(command) != 0)
        fail_msg("failed: %s", command);
}

static bool installed(const char *include)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/cuda_occupancy.h", include);
    return length < (int)sizeof path && access(path, R_OK) == 0;
}

static FILE *open_in(const char *folder, const char *name, const char *mode)
{
    char path[4096];
    assert_true(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    return file;
}

enum { ORACLE_CASES = 3000 }; /* of each capability */

static void write_case(FILE *file, const hd_gpu *gpu, const hd_occupancy_use *use)
{
    const hd_gpu_limits *l = &gpu->limits;
    fprintf(file, "%u %u %u %u %u %u %u %u %u %u %u %u %u %u\n", gpu->compute_major, gpu->compute_minor,
            l->threads_per_cta, l->warps_per_sm * 32, l->registers_per_cta, l->registers_per_sm, 49152,
            l->shared_bytes_per_cta, l->shared_bytes_per_sm, l->shared_reserved_bytes_per_cta, use->threads,
            use->registers, (unsigned)use->shared_bytes, use->barriers);
}

/* The header takes 256 registers a thread from 7.0 on, where 255 are all that an instruction can name; and no CTA of 0
 * threads. */
static hd_occupancy_use oracle_use(uint64_t *seed, const hd_gpu_limits *l)
{
    hd_occupancy_use use;
    do
        use = random_use(seed, l);
    while (!use.threads || use.registers == 256);
    return use;
}

static void compare(const hd_gpu *gpu, const hd_occupancy_use *use, FILE *file)
{
    static const hd_limiter order[] = {HD_LIMITER_WARPS, HD_LIMITER_CTAS, HD_LIMITER_REGISTERS, HD_LIMITER_SHARED,
                                       HD_LIMITER_BARRIERS};
    hd_occupancy o = hd_occupancy_of(&gpu->limits, use);
    int got, active;
    assert_int_equal(fscanf(file, "%d", &active), 1);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(fscanf(file, "%d", &got), 1);
        uint32_t expected = got == INT32_MAX ? UINT32_MAX : (uint32_t)got;
        if (o.by[order[i]] != expected)
            fail_msg("%s, %u threads, %u registers, %u bytes, %u barriers: by %s %u, cuda_occupancy.h says %u",
                     gpu->name, use->threads, use->registers, (unsigned)use->shared_bytes, use->barriers,
                     hd_limiter_names[order[i]], o.by[order[i]], expected);
    }
    assert_int_equal(o.ctas, active);
}

static void as_cuda_occupancy_says(void **state)
{
    gpus *g = *state;
    const char *home = getenv("CUDA_HOME"), *include = "/usr/local/cuda/include";
    char own[4096], folder[] = "/tmp/heddle-occupancy-XXXXXX";
    if (home && snprintf(own, sizeof own, "%s/include", home) < (int)sizeof own && installed(own))
        include = own;
    if (!installed(include)) {
        print_message("cuda_occupancy.h is not installed: nothing to compare with\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    FILE *file = open_in(folder, "oracle.c", "w");
    fputs(oracle_text, file);
    fclose(file);
    run("${CC:-cc} -w -O1 -o %s/oracle %s/oracle.c -I'%s'", folder, include);
    file = open_in(folder, "cases", "w");
    uint64_t seed = 7;
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t n = 0; n < ORACLE_CASES && !strncmp(g->all[i]->name, "sm_", 3); n++) {
            hd_occupancy_use use = oracle_use(&seed, &g->all[i]->limits);
            write_case(file, g->all[i], &use);
        }
    fclose(file);
    run("cd %s && ./oracle <cases >answers || exit 1; : %s %s", folder, include);
    file = open_in(folder, "answers", "r");
    seed = 7;
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t n = 0; n < ORACLE_CASES && !strncmp(g->all[i]->name, "sm_", 3); n++) {
            hd_occupancy_use use = oracle_use(&seed, &g->all[i]->limits);
            compare(g->all[i], &use, file);
        }
    fclose(file);
    run("rm -r %s; : %s %s", folder, include);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_of_compute_capability_12),
        cmocka_unit_test(limits_of_every_capability),
        cmocka_unit_test(limiters),
        cmocka_unit_test(concurrent_ctas_on_fermi),
        cmocka_unit_test(as_many_as_fit_by_trial),
        cmocka_unit_test(registers_of_one_block),
        cmocka_unit_test(more_never_helps),
        cmocka_unit_test(cliffs_by_brute_force),
        cmocka_unit_test(known_cliffs),
        cmocka_unit_test(sweeps),
        cmocka_unit_test(as_cuda_occupancy_says),
    };
    return cmocka_run_group_tests(tests, load_all, free_all);
}
