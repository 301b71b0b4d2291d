#include "texture_run.h"

float coordinates[THREADS][4];
uint32_t results[THREADS][4];
float texels[MOST_TEXELS][4];
static uint64_t seed = 1;

uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % n;
}

void fill_texels(void)
{
    for (uint32_t i = 0; i < MOST_TEXELS; i++)
        for (uint32_t c = 0; c < 4; c++)
            texels[i][c] = (float)((int)random_below(2048) - 1024) / 16;
}

kernel_run run_on(const hd_texture *textures, uint32_t count, const char *instruction)
{
    static char text[8192], body[4096];
    snprintf(
        body, sizeof body,
        "mad.wide.u32 %%rd2, %%r0, 16, %%rd0;\nmad.wide.u32 %%rd3, %%r0, 16, %%rd1;\n"
        "ld.global.v4.f32 {%%f1, %%f2, %%f3, %%f4}, [%%rd2];\nld.global.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%rd2];\n"
        "mov.u64 %%rd4, 0x%llx;\nmov.u64 %%rd5, 0x%llx;\nmov.u32 %%r10, 7;\nmov.u32 %%r11, 7;\nmov.u32 %%r12, 7;\n"
        "mov.u32 %%r13, 7;\n%s\nst.global.v4.u32 [%%rd3], {%%r10, %%r11, %%r12, %%r13};",
        (unsigned long long)HANDLE(0), (unsigned long long)HANDLE(1), instruction);
    memset(results, 0, sizeof results);
    kernel_run run = {.text = kernel_text(text, sizeof text, body),
                      .in = coordinates,
                      .in_bytes = sizeof coordinates,
                      .out = results,
                      .out_bytes = sizeof results,
                      .block = THREADS,
                      .textures = {textures, count}};
    run_kernel(&run);
    return run;
}

void run_good(const hd_texture *textures, uint32_t count, const char *instruction)
{
    kernel_run run = run_on(textures, count, instruction);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %s", instruction, run.message);
}

hd_texture texture(hd_texture_kind kind, uint32_t width, uint32_t height, uint32_t depth, uint32_t layers)
{
    bool cube = kind == HD_TEXTURE_CUBE || kind == HD_TEXTURE_ACUBE;
    return (hd_texture){.name = "T",
                        .kind = (uint8_t)kind,
                        .type = HD_TYPE_F32,
                        .channels = 4,
                        .width = width,
                        .height = cube ? width : height,
                        .depth = cube ? 6 : depth,
                        .layers = layers,
                        .address = {HD_TEXTURE_CLAMP, HD_TEXTURE_CLAMP, HD_TEXTURE_CLAMP},
                        .bytes = (unsigned char *)texels};
}
