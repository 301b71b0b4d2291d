/* See async_kernel.h: the kernels. */
#include "tests/unit/async_kernel.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct printer {
    char *text;
    uint32_t size, length;
    uint64_t state;
    bool tensor;
} printer;

static uint32_t draw(printer *p, uint32_t below)
{
    p->state = p->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->state >> 33) % below;
}

static void put(printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(printer *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    p->length += (uint32_t)vsnprintf(p->text + p->length, p->size - p->length, format, arguments);
    va_end(arguments);
}

/* %g are never in flight; %a may be: accumulators or results 0 to 3, fragments or stored values 4 to 11. */
static void put_plain(printer *p)
{
    static const char *const forms[] = {"add.u32 %%g%u, %%g%u, %%g%u;\n", "xor.b32 %%g%u, %%g%u, %%g%u;\n"};
    uint32_t to = draw(p, 10), a = draw(p, 12), b = draw(p, 12);
    switch (draw(p, 7)) {
    case 0: put(p, "mov.u32 %%g%u, %%g%u;\n", to, a); break;
    case 1: put(p, "mov.u32 %%g%u, %u;\n", to, draw(p, 100)); break;
    case 2: put(p, "ld.global.u32 %%g%u, [%%d0+%u];\n", to, 4 * draw(p, 8)); break;
    case 3: put(p, "st.global.u32 [%%d0+%u], %%g%u;\n", 4 * draw(p, 8), a); break;
    case 4: put(p, "setp.lt.u32 %%p0, %%g%u, %%g%u;\n", a, b); break;
    case 5: put(p, "@%%p0 add.u32 %%g%u, %%g%u, 3;\n", to, a); break;
    default: put(p, forms[draw(p, 2)], to, a, b); break;
    }
}

static void put_data(printer *p)
{
    uint32_t r = draw(p, 12), g = draw(p, 12);
    switch (draw(p, 5)) {
    case 0: put(p, "mov.u32 %%a%u, %%g%u;\n", r, g); break;
    case 1: put(p, "mov.u32 %%g%u, %%a%u;\n", g % 10, r); break;
    case 2: put(p, "ld.global.u32 %%a%u, [%%d0+%u];\n", r, 4 * draw(p, 8)); break;
    case 3: put(p, "ld.param.u32 %%a%u, [n];\n", r); break;
    default: put(p, "st.global.u32 [%%d0+%u], %%a%u;\n", 4 * draw(p, 8), r); break;
    }
}

static void put_asynchronous(printer *p)
{
    uint32_t to = 2 * draw(p, 2), from = 4 + 4 * draw(p, 2);
    if (!p->tensor && draw(p, 3))
        put(p,
            "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%%a%u,%%a%u}, {%%a%u,%%a%u,%%a%u,%%a%u}, %%d1, %%p1, "
            "1, 1, 0;\n",
            to, to + 1, from, from + 1, from + 2, from + 3);
    else if (!p->tensor)
        put(p, draw(p, 2) ? "wgmma.commit_group.sync.aligned;\n" : "wgmma.wait_group.sync.aligned %u;\n", draw(p, 3));
    else if (draw(p, 2))
        put(p, "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%%a%u,%%a%u}, [%%g10];\n", to, to + 1);
    else if (draw(p, 3))
        put(p, "tcgen05.st.sync.aligned.32x32b.x2.b32 [%%g10], {%%a%u,%%a%u};\n", from, from + 1);
    else
        put(p, draw(p, 2) ? "tcgen05.wait::st.sync.aligned;\n" : "tcgen05.wait::ld.sync.aligned;\n");
}

static void put_waits(printer *p)
{
    if (p->tensor)
        put(p, "tcgen05.wait::ld.sync.aligned;\ntcgen05.wait::st.sync.aligned;\n");
    else
        put(p, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
}

static void put_block(printer *p, uint32_t block, uint32_t blocks)
{
    put(p, "L%u:\n", block);
    for (uint32_t i = draw(p, 3); i > 0; i--)
        put_plain(p);
    if (!block || draw(p, 2)) {
        put_waits(p);
        for (uint32_t i = 1 + draw(p, 5); i > 0; i--)
            put_data(p);
    }
    put(p, "%s", p->tensor ? "" : "wgmma.fence.sync.aligned;\n");
    for (uint32_t i = draw(p, 8); i > 0; i--)
        if (draw(p, 2))
            put_asynchronous(p);
        else
            put_plain(p);
    put(p, "add.u32 %%g11, %%g11, 1;\n");
    if (block && !draw(p, 3)) {
        put(p, "setp.lt.u32 %%p2, %%g11, %u;\n@%%p2 bra L%u;\n", 4 + draw(p, 30), draw(p, block + 1));
    } else if (draw(p, 2)) {
        put(p, "setp.eq.u32 %%p2, %%g%u, %%g%u;\n@%%p2 bra L%u;\n", draw(p, 12), draw(p, 12),
            block + 1 + draw(p, blocks - block));
    }
}

uint32_t async_kernel_print(uint64_t seed, char *text, uint32_t size)
{
    printer p = {.text = text, .size = size, .state = seed * 0x9e3779b97f4a7c15u + 1, .tensor = seed % 2};
    uint32_t blocks = 2 + draw(&p, 6);
    put(&p,
        ".version 8.6\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 desc, .param .u32 "
        "n)\n{\n"
        ".reg .b32 %%a<12>; .reg .b32 %%g<12>; .reg .b64 %%d<2>; .reg .pred %%p<3>;\nld.param.u64 %%d0, [out]; "
        "ld.param.u64 %%d1, [desc];\n",
        p.tensor ? "sm_100a" : "sm_90a");
    for (uint32_t i = 0; i < 12; i++)
        put(&p, "ld.global.u32 %%a%u, [%%d0+%u]; ld.global.u32 %%g%u, [%%d0+%u];\n", i, 64 + 8 * i, i, 68 + 8 * i);
    put(&p, "mov.u32 %%g11, 0; setp.ne.u32 %%p0, %%g0, 0; setp.eq.u32 %%p1, %%g1, 0;\n");
    for (uint32_t b = 0; b < blocks; b++)
        put_block(&p, b, blocks);
    put(&p, "L%u:\n", blocks);
    put_waits(&p);
    for (uint32_t i = 0; i < 12; i++)
        put(&p, "st.global.u32 [%%d0+%u], %%a%u; st.global.u32 [%%d0+%u], %%g%u;\n", 8 * i, i, 8 * i + 4, i);
    put(&p, "ret;\n}\n");
    return p.length;
}
