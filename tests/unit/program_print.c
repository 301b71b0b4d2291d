/* Prints random programs as PTX. Registers: %h %r %d %f %g %p by kind; %c counters, %t %u temporaries, %q a spare
 * predicate. */
#include "program.h"
#include "unit.h"

typedef struct printer {
    const program *p;
    char *text;
    size_t size, at;
    uint32_t labels;
    uint32_t loop_end, loop_next; /* labels of the innermost loop */
} printer;

static void put(printer *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(printer *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(o->text + o->at, o->size - o->at, format, arguments);
    va_end(arguments);
    o->at += n > 0 && (size_t)n < o->size - o->at ? (size_t)n : 0;
}

static const char letters[KINDS] = {0, 'h', 'r', 'd', 'f', 'g', 'p'};

static void put_guard(printer *o, const program_node *n)
{
    if (n->guard != NO_GUARD)
        put(o, "@%s%%p%d ", n->guard_not ? "!" : "", n->guard);
}

static void put_op(printer *o, const program_node *n)
{
    const program_op_info *op = &program_ops[n->op];
    put_guard(o, n);
    put(o, "%s %%%c%u", op->opcode, letters[op->d], n->d);
    for (uint32_t i = 0; i < 3 && op->kinds[i]; i++) {
        if (!(n->is_immediate >> i & 1))
            put(o, ", %%%c%u", letters[op->kinds[i]], n->s[i]);
        else if (op->kinds[i] == KIND_F)
            put(o, ", 0f%08x", (unsigned)n->immediate[i]);
        else if (op->kinds[i] == KIND_G)
            put(o, ", 0d%016llx", (unsigned long long)n->immediate[i]);
        else
            put(o, ", 0x%llx", (unsigned long long)n->immediate[i]);
    }
    put(o, "%s;\n", op->suffix);
}

static void put_list(printer *o, const program_list *list);

static void put_if(printer *o, const program_node *n)
{
    uint32_t label = o->labels++;
    put(o, "@!%%p%u bra ELSE%u;\n", n->s[0], label);
    put_list(o, &n->lists[0]);
    put(o, "bra END%u;\nELSE%u:\n", label, label);
    put_list(o, &n->lists[1]);
    put(o, "END%u:\n", label);
}

static void put_loop(printer *o, const program_node *n)
{
    uint32_t label = o->labels++, end = o->loop_end, next = o->loop_next;
    o->loop_end = o->loop_next = label;
    put(o, "and.b32 %%c%u, %%r%u, 7;\n", n->d, n->s[0]);
    if (n->op) { /* tail-tested: at least once */
        put(o, "HEAD%u:\n", label);
        put_list(o, &n->lists[0]);
        put(o, "NEXT%u: sub.u32 %%c%u, %%c%u, 1;\nsetp.gt.s32 %%q, %%c%u, 0;\n@%%q bra HEAD%u;\n", label, n->d, n->d,
            n->d, label);
    } else {
        put(o, "NEXT%u: setp.eq.u32 %%q, %%c%u, 0;\n@%%q bra END%u;\nsub.u32 %%c%u, %%c%u, 1;\n", label, n->d, label,
            n->d, n->d);
        put_list(o, &n->lists[0]);
        put(o, "bra NEXT%u;\n", label);
    }
    put(o, "END%u:\n", label);
    o->loop_end = end;
    o->loop_next = next;
}

static void put_switch(printer *o, const program_node *n)
{
    uint32_t label = o->labels++;
    put(o, "shr.u32 %%t, %%r%u, 5;\nand.b32 %%t, %%t, 3;\nTABLE%u: .branchtargets", n->s[0], label);
    for (uint32_t i = 0; i < 4; i++) {
        put(o, i ? ", " : " ");
        if (program_case(n, i) < 4)
            put(o, "CASE%u_%u", label, program_case(n, i));
        else
            put(o, "END%u", label);
    }
    put(o, ";\n");
    put_guard(o, n);
    put(o, "brx.idx %%t, TABLE%u;\n", label);
    for (uint32_t i = 0; i < 4; i++) {
        put(o, "CASE%u_%u:\n", label, i);
        put_list(o, &n->lists[i]);
        put(o, "bra END%u;\n", label);
    }
    put(o, "END%u:\n", label);
}

static void put_repeat(printer *o, const program_node *n)
{
    uint32_t label = o->labels++;
    put(o, "mov.u32 %%c%u, %u;\nREPEAT%u:\n", n->d, (unsigned)n->immediate[0], label);
    put_list(o, &n->lists[0]);
    put(o, "sub.u32 %%c%u, %%c%u, 1;\nsetp.ne.u32 %%q, %%c%u, 0;\n@%%q bra REPEAT%u;\n", n->d, n->d, n->d, label);
}

/* Each side exchanges among its own lanes, whose mask is in %m: a sum, a vote, and the lowest lane's value. */
static void put_side(printer *o, const program_node *n, const program_list *list)
{
    put_list(o, list);
    put(o,
        "redux.sync.add.u32 %%t, %%r%u, %%m;\nxor.b32 %%r%u, %%r%u, %%t;\nvote.sync.ballot.b32 %%t, %%p0, %%m;\n"
        "add.u32 %%r%u, %%r%u, %%t;\nbrev.b32 %%u, %%m;\nclz.b32 %%u, %%u;\nshfl.sync.idx.b32 %%t, %%r%u, %%u, 31, "
        "%%m;\n"
        "add.u32 %%r%u, %%r%u, %%t;\nbar.warp.sync %%m;\n",
        n->s[1], n->d, n->d, n->d, n->d, n->s[1], n->d, n->d);
}

static void put_partial(printer *o, const program_node *n)
{
    uint32_t label = o->labels++;
    put(o, "vote.sync.ballot.b32 %%m, %%p%u, -1;\n@%%p%u bra THEN%u;\nnot.b32 %%m, %%m;\n", n->s[0], n->s[0], label);
    put_side(o, n, &n->lists[1]);
    put(o, "bra END%u;\nTHEN%u:\n", label, label);
    put_side(o, n, &n->lists[0]);
    put(o, "END%u:\n", label);
}

static void put_together(printer *o, const program_node *n)
{
    static const char *const shuffles[] = {"up", "down", "bfly", "idx"},
                             *const votes[] = {"all", "any", "uni", "ballot"},
                             *const sums[] = {"add.u32", "min.s32", "max.u32", "xor.b32"};
    uint32_t at = (uint32_t)n->immediate[0];
    switch ((program_kind)n->kind) {
    case DO_SHUFFLE:
        put(o, "shfl.sync.%s.b32 %%r%u|%%p1, %%r%u, %u, %s, -1;\n", shuffles[n->op], n->d, n->s[0], at,
            n->op ? "31" : "0");
        break;
    case DO_VOTE:
        if (n->op == 3)
            put(o, "vote.sync.ballot.b32 %%r%u, %%p%u, -1;\n", n->d, at % PREDICATES);
        else
            put(o, "vote.sync.%s.pred %%p2, %%p%u, -1;\n", votes[n->op], at % PREDICATES);
        break;
    case DO_MATCH:
        put(o, "and.b32 %%t, %%r%u, 3;\n", n->s[0]);
        put(o, n->op & 1 ? "match.all.sync.b32 %%r%u|%%p3, %%t, -1;\n" : "match.any.sync.b32 %%r%u, %%t, -1;\n", n->d);
        break;
    case DO_REDUX: put(o, "redux.sync.%s %%r%u, %%r%u, -1;\n", sums[n->op], n->d, n->s[0]); break;
    case DO_SWAP: /* own slot after the cells; the one of another thread is read */
        put(o,
            "mov.u32 %%t, %%tid.x;\nmad.lo.u32 %%u, %%t, 4, %%base;\nst.shared.u32 [%%u+%u], %%r%u;\nbar.sync 0;\n"
            "mad.lo.u32 %%t, %%t, 5, %u;\nrem.u32 %%t, %%t, %u;\nmad.lo.u32 %%u, %%t, 4, %%base;\nld.shared.u32 %%r%u, "
            "[%%u+%u];\nbar.sync 0;\n",
            4 * CELLS, n->s[0], at, o->p->threads, n->d, 4 * CELLS);
        break;
    default: break;
    }
}

static void put_time(printer *o, const program_node *n)
{
    static const char *const clocks[] = {"%clock", "%clock_hi", "%globaltimer_lo", "%clock"};
    const char *clock = clocks[n->s[2] % 4];
    put(o,
        "and.b32 %%t, %%r%u, %u;\nmad.wide.u32 %%ad, %%t, 4, %%in;\nld.global.u32 %%t, [%%ad];\nmov.u32 %%u, "
        "%s;\nadd.u32 %%r%u, %%t, %%r%u;\n",
        n->s[0], INPUTS - 1, clock, n->d, n->s[1]);
    put(o, "mov.u32 %%t, %s;\nsub.u32 %%t, %%t, %%u;\nshr.u32 %%t, %%t, 31;\nadd.u32 %%r%u, %%r%u, %%t;\n", clock, n->d,
        n->d);
}

static void put_own(printer *o, const program_node *n)
{
    switch ((program_kind)n->kind) {
    case DO_LOAD:
        put(o, "and.b32 %%t, %%r%u, %u;\nmad.wide.u32 %%ad, %%t, 4, %%in;\nld.global.u32 %%r%u, [%%ad];\n", n->s[0],
            INPUTS - 1, n->d);
        break;
    case DO_TIME: put_time(o, n); break;
    case DO_LOCAL_STORE:
        put(o,
            "and.b32 %%t, %%r%u, %u;\nshl.b32 %%t, %%t, 2;\nmov.u32 %%u, local;\nadd.u32 %%u, %%u, %%t;\nst.local.u32 "
            "[%%u], %%r%u;\n",
            n->s[0], LOCALS - 1, n->s[1]);
        break;
    case DO_LOCAL_LOAD:
        put(o,
            "and.b32 %%t, %%r%u, %u;\nshl.b32 %%t, %%t, 2;\nmov.u32 %%u, local;\nadd.u32 %%u, %%u, %%t;\nld.local.u32 "
            "%%r%u, [%%u];\n",
            n->s[0], LOCALS - 1, n->d);
        break;
    case DO_CALL:
        put(o,
            "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %%r%u;\ncall (y), f, (x);\nld.param.b32 %%r%u, "
            "[y];\n}\n",
            n->s[0], n->d);
        break;
    case DO_ADD_CELL:
        put(o, "and.b32 %%t, %%r%u, %u;\nmad.lo.u32 %%t, %%t, 4, %%base;\nred.shared.add.u32 [%%t], %%r%u;\n", n->s[0],
            CELLS - 1, n->s[1]);
        break;
    default: break;
    }
}

static void put_node(printer *o, const program_node *n)
{
    switch ((program_kind)n->kind) {
    case DO_OP: put_op(o, n); break;
    case DO_IF: put_if(o, n); break;
    case DO_LOOP: put_loop(o, n); break;
    case DO_SWITCH: put_switch(o, n); break;
    case DO_REPEAT: put_repeat(o, n); break;
    case DO_PARTIAL: put_partial(o, n); break;
    case DO_BREAK:
        put_guard(o, n);
        put(o, "bra END%u;\n", o->loop_end);
        break;
    case DO_CONTINUE:
        put_guard(o, n);
        put(o, "bra NEXT%u;\n", o->loop_next);
        break;
    case DO_EXIT:
        put_guard(o, n);
        put(o, "exit;\n");
        break;
    default: put_together(o, n); put_own(o, n);
    }
}

static void put_list(printer *o, const program_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        put_node(o, &o->p->nodes[list->items[i]]);
}

/* First values: different in every register and thread. */
static void put_start(printer *o)
{
    put(o,
        "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\nmov.u32 %%base, cells;\nmov.u32 %%t, "
        "%%tid.x;\nmad.wide.u32 %%out, %%t, %u, %%out;\n",
        4 * RESULT_WORDS);
    for (uint32_t i = 0; i < CELLS; i++)
        put(o, "mov.u32 %%u, %u;\nsetp.eq.u32 %%q, %%t, 0;\n@%%q st.shared.u32 [cells+%u], %%u;\n", i, 4 * i);
    put(o, "bar.sync 0;\n");
    for (uint32_t i = 0; i < LOCALS; i++)
        put(o, "st.local.u32 [local+%u], %%t;\n", 4 * i);
    for (uint32_t i = 0; i < WORDS; i++)
        put(o,
            "mad.lo.u32 %%r%u, %%t, %u, %u;\nand.b32 %%u, %%r%u, %u;\nmad.wide.u32 %%ad, %%u, 4, %%in;\nld.global.u32 "
            "%%r%u, [%%ad];\n",
            i, 2 * i + 1, i * 37, i, INPUTS - 1, i);
    for (uint32_t i = 0; i < HALVES; i++)
        put(o, "cvt.u16.u32 %%h%u, %%r%u;\n", i, i);
    for (uint32_t i = 0; i < DOUBLES; i++)
        put(o, "mov.b64 %%d%u, {%%r%u, %%r%u};\nmov.b64 %%g%u, {%%r%u, %%r%u};\n", i, i, i + 1, i, i + 2, i + 3);
    for (uint32_t i = 0; i < FLOATS; i++)
        put(o, "mov.b32 %%f%u, %%r%u;\n", i, i);
    for (uint32_t i = 0; i < PREDICATES; i++)
        put(o, "and.b32 %%u, %%r%u, %u;\nsetp.ne.u32 %%p%u, %%u, 0;\n", i, 1u << i, i);
}

static void put_results(printer *o)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < HALVES; i++, at += 4)
        put(o, "cvt.u32.u16 %%u, %%h%u;\nst.global.u32 [%%out+%u], %%u;\n", i, at);
    for (uint32_t i = 0; i < WORDS; i++, at += 4)
        put(o, "st.global.u32 [%%out+%u], %%r%u;\n", at, i);
    for (uint32_t i = 0; i < FLOATS; i++, at += 4)
        put(o, "st.global.f32 [%%out+%u], %%f%u;\n", at, i);
    put(o, "mov.u32 %%u, 0;\n");
    for (uint32_t i = 0; i < PREDICATES; i++)
        put(o, "@%%p%u or.b32 %%u, %%u, %u;\n", i, 1u << i);
    put(o, "st.global.u32 [%%out+%u], %%u;\n", at);
    at += 4;
    for (uint32_t i = 0; i < DOUBLES; i++, at += 8)
        put(o, "mov.b64 {%%t, %%u}, %%d%u;\nst.global.u32 [%%out+%u], %%t;\nst.global.u32 [%%out+%u], %%u;\n", i, at,
            at + 4);
    for (uint32_t i = 0; i < WIDES; i++, at += 8)
        put(o, "mov.b64 {%%t, %%u}, %%g%u;\nst.global.u32 [%%out+%u], %%t;\nst.global.u32 [%%out+%u], %%u;\n", i, at,
            at + 4);
}

/* Between the two parts every thread takes in what the cells hold. */
void program_print(const program *p, char *text, size_t size)
{
    printer o = {.p = p, .text = text, .size = size};
    put(&o,
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".func (.param .b32 y) f(.param .b32 x)\n{\n.reg .b32 %%r<3>;\n.reg .pred %%p;\nld.param.b32 %%r1, [x];\n"
        "and.b32 %%r2, %%r1, 16;\nsetp.eq.u32 %%p, %%r2, 0;\n@%%p bra ELSE;\nmad.lo.u32 %%r1, %%r1, 5, "
        "3;\nst.param.b32 [y], %%r1;\nret;\n"
        "ELSE: xor.b32 %%r1, %%r1, 0x1234567;\nst.param.b32 [y], %%r1;\nret;\n}\n"
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.shared .align 4 .b8 cells[%u];\n.local .align 4 .b8 "
        "local[%u];\n"
        ".reg .b16 %%h<%u>;\n.reg .b32 %%r<%u>, %%c<8>, %%t, %%u, %%m, %%base;\n.reg .b64 %%d<%u>, %%ad, %%in, "
        "%%out;\n.reg .f32 %%f<%u>;\n"
        ".reg .f64 %%g<%u>;\n.reg .pred %%p<%u>, %%q;\n",
        4 * (CELLS + p->threads), 4 * LOCALS, HALVES, WORDS, DOUBLES, FLOATS, WIDES, PREDICATES);
    put_start(&o);
    put_list(&o, &p->top);
    put(&o, "bar.sync 0;\nmov.u32 %%t, %%tid.x;\nmov.u32 %%u, 0;\n");
    for (uint32_t i = 0; i < CELLS; i++)
        put(&o, "ld.shared.u32 %%m, [cells+%u];\nmad.lo.u32 %%u, %%u, 31, %%m;\n", 4 * i);
    put(&o, "xor.b32 %%r0, %%r0, %%u;\nbar.sync 0;\n");
    put_list(&o, &p->tail);
    put_list(&o, &p->late);
    put_results(&o);
    put(&o, "ret;\n}\n");
}
