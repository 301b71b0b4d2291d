/* regmutex(es=N, paired, liveness=..): a base and an extended register set for each kernel. Khorasani et al.,
 * "RegMutex: Inter-Warp GPU Register Time-Sharing", ISCA 2018.
 *
 * The registers of an allocated kernel are divided: the base set R0 .. R(|Bs|-1) is the warp's own; the extended set,
 * all registers above, is acquired from a pool that the SM's warps share, and released. Steps of section 4.3.1 of the
 * dissertation: liveness (at warp level), the sizes (regmutex_size.c), register slots (webs are renamed such that the
 * set is needed at few points, regmutex_compact.c), acquires and releases (regmutex_state.c). An independent analysis
 * then checks the new code; where it violates a rule, or where no slots are found, a larger base set is tried, and
 * finally the kernel is left unchanged.
 *
 * Unchanged, byte for byte, are kernels whose registers do not limit occupancy, or whose gain would be too small;
 * kernels that need no set of that size at any point; device functions, whose frames are in the base set; and kernels
 * with asynchronous matrix instructions, which access registers while the warp continues.
 *
 * Complexity: near-linear for each |Bs| tried, at most HD_ATTEMPTS. Deterministic. */
#include "passes/technique/regmutex_work.h"

#include "ir/asynchronous.h"
#include "ir/machine.h"
#include "passes/check/regalloc.h"
#include "passes/technique/regmutex.h"
#include "passes/analysis/analyses.h"
#include "target/gpu.h"

enum { HD_ATTEMPTS = 8, HD_SPARE = 2 /* how many more registers than before the new slots may use */ };

typedef struct regmutex_pass {
    hd_pass_context *context;
    hd_function *function;
    hd_architected numbers;
    hd_occupancy_use use;
    const hd_gpu_limits *limits;
    uint32_t forced; /* |Es| that the user requests; 0: the rule's */
    bool paired;
    hd_regmutex_marks marks;
    hd_compaction compaction;
} regmutex_pass;

/* ---- the kernel and the machine ---------------------------------------------------------------------------------- */

/* Bytes of the shared variables that the kernel uses. */
static uint32_t shared_bytes(const hd_function *f, hd_arena *arena)
{
    const hd_module *module = f->module;
    hd_bitset seen = hd_bitset_new(arena, module->symbols.count + 1u);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->operands.count; i++) {
        const hd_operand *o = &f->operands.items[i];
        if (o->kind != HD_OPERAND_SYMBOL || hd_bitset_has(&seen, o->value))
            continue;
        const hd_symbol *s = &module->symbols.items[o->value];
        hd_bitset_add(&seen, o->value);
        uint32_t align = s->align ? s->align : 1;
        if (s->kind == HD_SYMBOL_VARIABLE && s->space == HD_SPACE_SHARED && !s->is_unsized)
            bytes = (bytes + align - 1) / align * align + s->size_bytes;
    }
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static bool has_asynchronous_matrices(const hd_function *f)
{
    const uint32_t both = HD_BEHAVE_WARP | HD_BEHAVE_ASYNC;
    if (f->machine)
        return hd_function_has_async(f);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if ((hd_insn_form(f, &f->instructions.items[i])->behaviour & both) == both)
            return true;
    return false;
}

static bool is_supported(hd_pass_context *context, hd_architected *numbers)
{
    const hd_function *f = context->function;
    if (hd_architected_of(f, numbers))
        return f->is_entry && !has_asynchronous_matrices(f) && !(f->machine && f->machine->calls_out);
    if (f->is_entry)
        hd_report(
            context->diagnostics, HD_DIAG_NOT_ALLOCATED, f->module->source, f->header_span,
            "'%s' has virtual registers: regmutex divides those that regalloc has given places (-p regalloc,regmutex)",
            hd_names_text(&f->module->names, f->name));
    return false;
}

static uint32_t resident_warps(const regmutex_pass *p, uint32_t registers)
{
    hd_occupancy_use use = p->use;
    use.registers = registers;
    return hd_occupancy_of(p->limits, &use).warps;
}

/* ---- one attempt ------------------------------------------------------------------------------------------------- */

/* Frames of callees are above the registers that the kernel holds during calls; they, too, must be in the base set. */
static bool callees_fit(regmutex_pass *p, uint32_t base)
{
    hd_arena arena = {0};
    const hd_module *module = p->function->module;
    hd_architected numbers;
    bool fits = true;
    for (uint32_t i = 0; hd_architected_of(p->function, &numbers) && i < module->functions.count; i++)
        if (module->functions.items[i] == p->function)
            fits = hd_regalloc_frames(module, &arena)[i].callees <= base;
    hd_arena_free(&arena);
    return fits;
}

static bool proves(regmutex_pass *p, hd_function *before)
{
    return !before || hd_check_allocation(before, p->function, p->context->diagnostics);
}

/* The function is rewritten and annotated; false: it must be discarded. */
static bool attempt(regmutex_pass *p, uint32_t extended, hd_function *before)
{
    uint32_t base = p->numbers.registers - extended;
    p->compaction = (hd_compaction){.base = base, .most = p->numbers.registers + HD_SPARE};
    if (p->compaction.most > HD_GENERAL_REGISTERS)
        p->compaction.most = HD_GENERAL_REGISTERS;
    if (p->function->machine) /* its registers keep their names: what is above the base is the extended set */
        return hd_regmutex_annotate(p->context, base, extended, &p->marks);
    hd_architected numbers;
    hd_pass_context inner;
    hd_pass_context_init(&inner, p->function, p->context->diagnostics);
    hd_regmutex_make_webs(&inner);
    hd_pass_context_free(&inner);
    if (!hd_regmutex_compact(p->context, &p->numbers, &p->compaction) || !hd_architected_of(p->function, &numbers) ||
        !proves(p, before))
        return false;
    if (numbers.registers > base + extended)
        extended = (numbers.registers - base + 1) / 2 * 2;
    return callees_fit(p, base) && hd_regmutex_annotate(p->context, base, extended, &p->marks);
}

static void count_result(regmutex_pass *p, uint32_t base, uint32_t extended)
{
    hd_statistic_add(p->context, "kernels with an extended set", 1);
    hd_statistic_add(p->context, "base-set registers", base);
    hd_statistic_add(p->context, "extended-set registers", extended);
    hd_statistic_add(p->context, "acquires and releases", p->marks.acquires + p->marks.releases);
    hd_statistic_add(p->context, "moves into base sets", p->compaction.moves);
}

/* A set that is never acquired does not count. */
static bool try_sizes(regmutex_pass *p, const uint32_t *sizes, uint32_t count)
{
    hd_function *before = p->context->verify ? hd_function_copy(p->function) : NULL;
    bool done = false, needed = true;
    for (uint32_t i = 0; i < count && !done && needed; i++) {
        hd_function *saved = hd_function_copy(p->function);
        done = attempt(p, sizes[i], before);
        needed = !done || p->marks.acquires;
        if (done && needed)
            hd_function_copy_free(saved);
        else
            hd_function_restore(p->function, saved);
        if (done && needed)
            count_result(p, p->compaction.base, sizes[i]);
    }
    hd_function_copy_free(before);
    if (!done)
        hd_statistic_add(p->context, "not applied: no feasible extended-set size", 1);
    return done && needed;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* The sizes to try, best first: the rule's, then smaller extended sets, as long as they raise the resident warps. */
static uint32_t list_sizes(const regmutex_pass *p, uint32_t sizes[HD_ATTEMPTS])
{
    hd_regmutex_sizes candidates[HD_REGMUTEX_CANDIDATES];
    uint32_t count = 0, registers = p->numbers.registers, extended = p->forced;
    if (!extended) {
        uint32_t known = hd_regmutex_candidates(p->limits, &p->use, registers, p->paired, candidates);
        const hd_regmutex_sizes *chosen = hd_regmutex_choose(p->limits, &p->use, registers, candidates, known);
        extended = chosen ? chosen->extended : 0;
    }
    for (; extended && extended < registers && count<HD_ATTEMPTS; extended = extended> 2 ? extended - 2 : 0) {
        hd_regmutex_sizes s = hd_regmutex_sizes_of(p->limits, &p->use, registers - extended, extended, p->paired);
        if (p->forced || (s.sections && s.warps > resident_warps(p, registers)))
            sizes[count++] = extended;
    }
    return count;
}

static bool divide(regmutex_pass *p)
{
    uint32_t sizes[HD_ATTEMPTS], count = list_sizes(p, sizes);
    return count && try_sizes(p, sizes, count);
}

bool hd_pass_regmutex(hd_pass_context *context)
{
    hd_function *f = context->function;
    regmutex_pass p = {.context = context, .function = f, .paired = hd_option_text(context, "paired") != NULL};
    const hd_gpu *gpu = hd_pass_gpu(context);
    bool had = false;
    p.forced = hd_option_number(context, "es", 0);
    if (!is_supported(context, &p.numbers))
        return false;
    for (uint32_t a = 0; a < f->annotations.count; a++)
        had = had || f->annotations.items[a].kind == HD_ANNOTATION_REGMUTEX;
    if (!gpu || !gpu->valid) {
        hd_report(context->diagnostics, HD_DIAG_ASSUMED_GPU, f->module->source, f->header_span,
                  "'%s' keeps its registers as they are: no GPU is named, and none described for its target",
                  hd_names_text(&f->module->names, f->name));
        return false;
    }
    p.limits = &gpu->limits;
    p.use = (hd_occupancy_use){.threads = hd_pass_block(context), .shared_bytes = shared_bytes(f, &context->scratch)};
    hd_annotations_remove(f, "regmutex");
    return divide(&p) || had;
}
