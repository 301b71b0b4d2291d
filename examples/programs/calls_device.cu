// The functions that calls.cu calls.
extern __device__ int odd(int n);
__device__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
