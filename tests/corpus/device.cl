// For clang's OpenCL front end, without a library: identifiers of work items come from the target's builtins.
#define ID (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef int int2_ __attribute__((ext_vector_type(2)));
__constant int table[4] = {1, 2, 4, 8};

__kernel void scale(__global float4_ *data, __global const int2_ *index, float factor, int n)
{
    int i = ID;
    if (i >= n)
        return;
    int2_ at = index[i];
    data[at.x] = data[at.y].wzyx * factor + (float4_)(1.0f, 2.0f, 3.0f, (float)table[i & 3]);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void exchange(__global int *data, __local int *scratch)
{
    int t = __nvvm_read_ptx_sreg_tid_x();
    scratch[t] = data[ID];
    __nvvm_bar_sync(0);
    long sum = 0;
    for (int k = 0; k < 64; k += 3)
        sum += scratch[(t + k) & 63] * (long)k;
    data[ID] = (int)(sum % 1000003);
}
