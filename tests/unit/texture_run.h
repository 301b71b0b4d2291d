/* Runs small kernels that read and write textures, on data of the test. */
#ifndef HD_TESTS_TEXTURE_RUN_H
#define HD_TESTS_TEXTURE_RUN_H

#include "kernel.h"

enum { THREADS = 512, MOST_TEXELS = 4096 };
#define HANDLE(i) (HD_TEXTURE_FIRST_HANDLE + (i))

extern float coordinates[THREADS][4];
extern uint32_t results[THREADS][4];
extern float texels[MOST_TEXELS][4]; /* the texels of every texture of texture() */

uint32_t random_below(uint32_t n);
/* Multiples of 1/16 below 64 in magnitude. */
void fill_texels(void);

/* A texture of four floats, point filter, clamped. */
hd_texture texture(hd_texture_kind kind, uint32_t width, uint32_t height, uint32_t depth, uint32_t layers);

/* Executes `instruction`, which computes {%r10, %r11, %r12, %r13} from {%f1, %f2, %f3, %f4} (their bits: %r1 to %r4).
 * The first texture's handle is in %rd4, the second's in %rd5. */
kernel_run run_on(const hd_texture *textures, uint32_t count, const char *instruction);
void run_good(const hd_texture *textures, uint32_t count, const char *instruction);

#endif
