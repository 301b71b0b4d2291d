/* The grid of the program, row by row, with a border that stays. */
#ifndef GRID_H
#define GRID_H

#define WIDTH 64
#define HEIGHT 48
#define SWEEPS 40

/* relax.cu: the mean of a cell's neighbours. Linked as relocatable device code. */
__device__ float relaxed(const float *grid, int x, int y);

/* sweep.cu: one Jacobi sweep. */
__global__ void sweep(const float *from, float *to);

/* change.cu: the sum of squared differences, into *sum, by one thread block. */
__global__ void change(const float *a, const float *b, float *sum);

#define CHANGE_THREADS 256

#endif
