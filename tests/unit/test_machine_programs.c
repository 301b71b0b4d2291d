/* Random programs by two routes to one memory: the interpreter of PTX, and ptxas, the decoder of cubins and the
 * interpreter of machine code. Structured and unstructured divergence, early exits, exchanges, barriers, local memory
 * and arithmetic of all types (program.h), on six architectures in turn, with ptxas' optimization and without.
 *
 * MACHINE_COUNT=N runs N programs (default 300), MACHINE_SEED=N starts at seed N, without single instructions; `make
 * campaign-machine` runs 100,000. MACHINE_PRINT=1 writes the program of MACHINE_SEED to standard output and ends;
 * with MACHINE_OP=1, that of the instruction of this number. MACHINE_REASONS=1 says why programs do not run.
 * Programs of one call of ptxas are kernels of one module. What is not decoded or not executed is counted by its
 * reason. */
#include "driver/report/tool.h"
#include "hwmodel/machine/machine.h"
#include "kernel.h"
#include "parser/cubin.h"
#include "program.h"

#include <unistd.h>

enum { TEXT_BYTES = 1 << 19, BATCH = 10, SINGLES = 32, MOST_REASONS = 40 };

static const uint32_t architectures[] = {80, 90, 75, 120, 86, 100};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

typedef struct reason { /* why programs did not run */
    char text[96];
    uint64_t programs;
} reason;

typedef struct campaign {
    char folder[64], *ptxas;
    uint64_t ran, left, wrong;
    reason reasons[MOST_REASONS];
    bool single; /* programs are of one instruction, whose number is the seed */
    program programs[SINGLES];
    char *text, *module; /* of TEXT_BYTES, and of all of a batch */
} campaign;

/* With sanitizers, a part. */
#ifdef __SANITIZE_ADDRESS__
enum { SLOW = 1, PROGRAMS = 40 };
#else
enum { SLOW = 0, PROGRAMS = 300 };
#endif

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

/* Batches have architectures in turn. */
static uint32_t architecture_of(uint64_t seed) { return architectures[seed / BATCH % ARCHITECTURES]; }

static void make(const campaign *c, program *p, uint64_t seed, uint32_t sm)
{
    if (c->single)
        program_make_op(p, seed, (program_op)seed);
    else
        program_make_for(p, seed, sm < 80 ? PROGRAM_OLD_MACHINE : PROGRAM_MACHINE);
}

/* ---- a batch of programs as one module --------------------------------------------------------------------------- */

/* Appends a program as kernel k<index>; the head and the device function come once. */
static char *append(char *to, const char *text, uint32_t index, uint32_t sm)
{
    static const char entry[] = ".visible .entry k(", target[] = ".target sm_80";
    const char *body = strstr(text, entry), *head = strstr(text, target);
    assert_true(body && head && head < body);
    if (!index)
        to += sprintf(to, "%.*s.target sm_%u%.*s", (int)(head - text), text, sm < 80 ? sm : 80,
                      (int)(body - head - (long)strlen(target)), head + strlen(target));
    return to + sprintf(to, ".visible .entry k%u(%s", index, body + strlen(entry));
}

static void assemble(campaign *c, uint32_t sm, uint32_t level, hd_source *cubin)
{
    char path[128], command[1024], *bytes = malloc(1 << 24);
    snprintf(path, sizeof path, "%s/k.ptx", c->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(c->module, file) >= 0 && !fclose(file));
    snprintf(command, sizeof command, "'%s' -arch=sm_%u -O%u -o %s/k.cubin %s", c->ptxas, sm, level, c->folder, path);
    if (system(command) != 0)
        fail_msg("%s", command);
    snprintf(path, sizeof path, "%s/k.cubin", c->folder);
    file = fopen(path, "r");
    assert_non_null(file);
    hd_source_from_memory(cubin, "k.cubin", bytes, fread(bytes, 1, 1 << 24, file));
    fclose(file);
    free(bytes);
}

/* ---- a program --------------------------------------------------------------------------------------------------- */

static void tell_reason(campaign *c, const hd_diagnostics *d, uint32_t index)
{
    if (getenv("MACHINE_REASONS"))
        printf("%u %s: %s\n", index, c->single ? program_ops[c->programs[index].nodes[0].op].opcode : "",
               d->first ? d->first->message : "?");

    char text[96] = "?";
    const char *begin = d->first ? strchr(d->first->message, '\'') : NULL;
    if (begin)
        snprintf(text, sizeof text, "%.*s", (int)strcspn(begin + 1, " ;'"), begin + 1);
    uint32_t i = 0;
    while (i + 1 < MOST_REASONS && c->reasons[i].programs && strcmp(c->reasons[i].text, text) != 0)
        i++;
    memcpy(c->reasons[i].text, text, sizeof text);
    c->reasons[i].programs++;
    c->left++;
}

/* The fault of ptxas 13.0 (docs/machine.md has the PTX of each) for which a program differs or ends in a fault;
 * NULL: it may not. MACHINE_COUNT=1 shows what such programs do. */
static const char *fault_of_ptxas(const campaign *c, uint64_t seed)
{
    static const char predicate[] = "a predicate from before a loop", sum[] = "mad.hi in a loop",
                      amount[] = "a shift by cnot", uniform[] = "uniform registers of two sides";
    static const struct {
        uint64_t seed;
        const char *fault;
    } known[] = {{94, predicate},    {288, predicate},   {292, predicate},  {301, predicate},  {831, uniform},
                 {844, predicate},   {883, sum},         {1042, predicate}, {1063, predicate}, {1098, amount},
                 {20208, predicate}, {20213, predicate}, {21052, predicate}};
    for (uint32_t i = 0; !c->single && number_from("MACHINE_COUNT", PROGRAMS) > 1 && i < sizeof known / sizeof *known;
         i++)
        if (known[i].seed == seed)
            return known[i].fault;
    return NULL;
}

/* false: it does not run. */
static bool run_machine(campaign *c, hd_module *module, uint32_t index, uint64_t seed, uint32_t *out, size_t bytes)
{
    const program *p = &c->programs[index];
    char name[16];
    hd_memory memory;
    hd_image image;
    hd_diagnostics said;
    hd_diagnostics_init(&said);
    hd_memory_init(&memory, 64);
    assert_true(hd_image_load(&image, module, &memory, &said) && hd_machine_image_load(&image, &said));
    uint32_t in = hd_memory_allocate(&memory, "in", HD_SPACE_GLOBAL, sizeof p->inputs, 0, false);
    uint32_t to = hd_memory_allocate(&memory, "out", HD_SPACE_GLOBAL, bytes, 0, false);
    uint64_t parameters[2] = {memory.allocations.items[in].base, memory.allocations.items[to].base};
    memcpy(memory.allocations.items[in].bytes, p->inputs, sizeof p->inputs);
    snprintf(name, sizeof name, "k%u", index);
    hd_function *function = hd_module_find_function(module, name);
    assert_non_null(function);
    hd_machine_kernel kernel = hd_machine_kernel_of(function, &image);
    hd_program *code = hd_machine_program_new(module, function, &kernel, &image, &said);
    hd_exec_status status = HD_EXEC_UNSUPPORTED;
    hd_exec_statistics statistics = {0};
    if (code) {
        hd_grid grid = {.grid = {1, 1, 1}, .block = {p->threads, 1, 1}, .parameters = (unsigned char *)parameters};
        hd_exec_options options = {.instruction_limit = 10000000};
        status = hd_program_run(code, &grid, &options, NULL, 0, &statistics, &said);
        memcpy(out, memory.allocations.items[to].bytes, bytes);
    }
    if (!code)
        tell_reason(c, &said, index);
    else if (status != HD_EXEC_DONE) {
        c->wrong += !fault_of_ptxas(c, seed);
        print_error("seed %llu: %s\n", (unsigned long long)seed, said.first ? said.first->message : "?");
    }
    hd_program_free(code);
    hd_image_free(&image);
    hd_memory_free(&memory);
    hd_diagnostics_free(&said);
    return status == HD_EXEC_DONE;
}

static void compare(campaign *c, hd_module *module, uint32_t index, uint64_t seed, uint32_t sm, uint32_t level)
{
    static uint32_t got[96 * RESULT_WORDS], want[96 * RESULT_WORDS];
    const program *p = &c->programs[index];
    size_t bytes = sizeof *got * RESULT_WORDS * p->threads;
    kernel_run run = {.text = c->text,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = want,
                      .out_bytes = bytes,
                      .block = p->threads,
                      .options.instruction_limit = 10000000};
    memset(got, 0, bytes);
    memset(want, 0, bytes);
    if (!run_machine(c, module, index, seed, got, bytes))
        return;
    program_print(p, c->text, TEXT_BYTES);
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    program_plain(p, got);
    program_plain(p, want);
    uint32_t i = 0;
    while (i < p->threads * RESULT_WORDS && got[i] == want[i])
        i++;
    c->ran++;
    if (i == p->threads * RESULT_WORDS)
        return;
    const char *fault = fault_of_ptxas(c, seed);
    if (fault) {
        printf("# seed %llu differs: a fault of ptxas, %s\n", (unsigned long long)seed, fault);
        return;
    }
    c->wrong++;
    if (c->single)
        print_error("%s: ", program_ops[seed].opcode);
    print_error("seed %llu, sm_%u, -O%u, thread %u, word %u: machine code 0x%08x, PTX 0x%08x "
                "(MACHINE_SEED=%llu MACHINE_PRINT=1 shows it)\n",
                (unsigned long long)seed, sm, level, i / RESULT_WORDS, i % RESULT_WORDS, got[i], want[i],
                (unsigned long long)seed);
}

static void run_batch(campaign *c, uint64_t seed, uint32_t count, uint32_t sm, uint32_t level)
{
    char *end = c->module;
    hd_source cubin, listing;
    hd_diagnostics said;
    hd_writer writer;
    uint32_t generation;
    for (uint32_t i = 0; i < count; i++) {
        make(c, &c->programs[i], seed + i, sm);
        program_print(&c->programs[i], c->text, TEXT_BYTES);
        end = append(end, c->text, i, sm);
    }
    assemble(c, sm, level, &cubin);
    hd_diagnostics_init(&said);
    hd_writer_to_memory(&writer);
    hd_cubin_outcome outcome = hd_cubin_list(&cubin, HD_LISTING_HEX, &writer, &generation, &said);
    assert_true(outcome == HD_CUBIN_LISTED || outcome == HD_CUBIN_IN_PART);
    hd_source_from_memory(&listing, "k.sass", writer.buffer.items, writer.buffer.count);
    hd_module *module = hd_parse_ptx(&listing, &(hd_parse_options){.takes_listings = true}, &said);
    for (uint32_t i = 0; i < count; i++)
        compare(c, module, i, seed + i, sm, level);
    hd_module_free(module);
    hd_writer_free(&writer);
    hd_source_free(&listing);
    hd_source_free(&cubin);
    hd_diagnostics_free(&said);
}

static void remove_folder(const campaign *c)
{
    static const char *const files[] = {"k.ptx", "k.cubin"};
    char path[128];
    for (uint32_t i = 0; c->ptxas && i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", c->folder, files[i]);
        remove(path);
    }
    if (c->ptxas)
        rmdir(c->folder);
}

static void report(const campaign *c)
{
    for (uint32_t i = 0; i < MOST_REASONS && c->reasons[i].programs; i++)
        printf("# %llu programs not run: %s\n", (unsigned long long)c->reasons[i].programs, c->reasons[i].text);
    printf("# %llu programs run, of which %llu differ; %llu not run\n", (unsigned long long)c->ran,
           (unsigned long long)c->wrong, (unsigned long long)c->left);
    assert_int_equal(c->wrong, 0);
}

static void instructions_agree(void **state)
{
    campaign *c = *state;
    if (!c || getenv("MACHINE_SEED")) /* a look at some of the programs */
        return;
    c->single = true;
    for (uint32_t a = 0; a < (SLOW ? 1 : ARCHITECTURES); a++)
        for (uint32_t op = 0; op < PROGRAM_OPS; op += SINGLES)
            run_batch(c, op, PROGRAM_OPS - op < SINGLES ? PROGRAM_OPS - op : SINGLES, architectures[a], a % 2 ? 1 : 3);
    c->single = false;
    report(c);
}

static void routes_agree(void **state)
{
    campaign *c = *state;
    uint64_t count = number_from("MACHINE_COUNT", PROGRAMS), first = number_from("MACHINE_SEED", 1);
    if (!c) {
        puts("skip machine programs: no ptxas");
        return;
    }
    uint64_t singles = c->left; /* instructions that do not run alone */
    assert_true(singles <= ARCHITECTURES * 3);
    for (uint64_t seed = first, next; seed < first + count; seed = next) {
        next = (seed / BATCH + 1) * BATCH;
        next = next < first + count ? next : first + count;
        run_batch(c, seed, (uint32_t)(next - seed), architecture_of(seed), seed / BATCH / ARCHITECTURES % 4 ? 3 : 1);
    }
    report(c);
    assert_true(c->left - singles <= 1 + count / 50);
}

int main(void)
{
    static campaign c;
    c.text = malloc(TEXT_BYTES);
    c.module = malloc((size_t)SINGLES * TEXT_BYTES);
    assert_true(c.text && c.module);
    if (getenv("MACHINE_PRINT")) {
        uint64_t seed = number_from("MACHINE_SEED", 1);
        c.single = getenv("MACHINE_OP");
        make(&c, &c.programs[0], seed, architecture_of(seed));
        program_print(&c.programs[0], c.text, TEXT_BYTES);
        return puts(c.text) < 0;
    }
    c.ptxas = hd_tool_find("ptxas");
    snprintf(c.folder, sizeof c.folder, "%s/heddle-machine-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_true(!c.ptxas || mkdtemp(c.folder));
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(instructions_agree, c.ptxas ? &c : NULL),
                                       cmocka_unit_test_prestate(routes_agree, c.ptxas ? &c : NULL)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder(&c);
    free(c.ptxas);
    free(c.module);
    free(c.text);
    return failed;
}
