// Long mangled names, many instances, deeply inlined code.
namespace a_rather_long_namespace_name { namespace and_another_one_inside {

template <int N> struct Tag {};
template <typename... T> struct List {};

template <typename T, int N, typename... Rest> __device__ __noinline__ T keep(T x, Tag<N>, List<Rest...>)
{
    return x * N + (T)sizeof...(Rest);
}

template <int N> struct Loop {
    static __device__ __forceinline__ float step(float x) { return Loop<N - 1>::step(x * 1.25f + N); }
};
template <> struct Loop<0> {
    static __device__ __forceinline__ float step(float x) { return x; }
};

template <typename T, typename Op, int N> __global__ void apply(T *data, Op op)
{
    T x = data[threadIdx.x];
    x = op(x, N);
    x += (T)Loop<N>::step((float)x);
    data[threadIdx.x] = keep(x, Tag<N>(), List<T, Op, Tag<N>, Tag<N + 1>, List<T, T>, List<int, char, unsigned long>>());
}

template <typename T> struct Scale {
    T by;
    __device__ T operator()(T x, int n) const { return x * by + n; }
};
struct Clamp {
    int low, high;
    __device__ int operator()(int x, int n) const { return min(max(x + n, low), high); }
};

template __global__ void apply<float, Scale<float>, 3>(float *, Scale<float>);
template __global__ void apply<double, Scale<double>, 8>(double *, Scale<double>);
template __global__ void apply<int, Clamp, 5>(int *, Clamp);

}}
