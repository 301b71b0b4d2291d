// Graphs: captured from two streams, and built node by node; launched again, changed, updated.
#include "check.h"

__global__ void increase(int *p, int by) { p[threadIdx.x] += by; }
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }

static int called;
static void count(void *data) { called += *(int *)data; }

static void captured(int *device)
{
    int host[32] = {}, ten = 10;
    cudaStream_t one, two;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(device, 0, sizeof host, one));
    increase<<<1, 16, 0, one>>>(device, 3);
    CHECK(cudaEventRecord(fork, one));
    CHECK(cudaStreamWaitEvent(two, fork, 0));
    increase<<<1, 16, 0, two>>>(device + 16, 5);
    CHECK(cudaEventRecord(join, two));
    CHECK(cudaStreamWaitEvent(one, join, 0));
    twice<<<1, 32, 0, one>>>(device);
    CHECK(cudaLaunchHostFunc(one, count, &ten));
    CHECK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, one));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(two, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaStreamEndCapture(one, &graph));
    EXPECT(host[0] == 0 && called == 0);
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 1; i <= 3; i++) {
        CHECK(cudaGraphLaunch(executable, one));
        CHECK(cudaStreamSynchronize(one));
        EXPECT(host[0] == 6 && host[31] == 10 && called == 10 * i);
    }
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 6);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(two));
}

// What must not be done meanwhile ends a capture without a graph.
static void invalid()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    int *p;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusInvalidated);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaMalloc(&p, 4) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMalloc(&p, 4));
    EXPECT(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    CHECK(cudaFree(p));
    CHECK(cudaStreamDestroy(stream));
}

static void built(int *device)
{
    int host[32], by = 4, one = 1;
    cudaGraph_t graph, second;
    cudaGraphNode_t clear, add, back, unused;
    cudaGraphExec_t executable;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill = {device, 0, 7, 4, 32, 1};
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
    void *arguments[] = {&device, &by};
    cudaKernelNodeParams kernel = {(void *)increase, dim3(1), dim3(32), 0, arguments, nullptr};
    CHECK(cudaGraphAddKernelNode(&add, graph, &clear, 1, &kernel));
    CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &add, 1, host, device, sizeof host, cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {count, &one};
    CHECK(cudaGraphAddHostNode(&unused, graph, &back, 1, &call));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(host[5] == 11 && called == 31);
    by = 100;
    CHECK(cudaGraphExecKernelNodeSetParams(executable, add, &kernel));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(host[31] == 107 && called == 32);
    CHECK(cudaGraphClone(&second, graph));
    cudaGraphExecUpdateResultInfo result;
    CHECK(cudaGraphExecUpdate(executable, second, &result));
    EXPECT(result.result == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(host[31] == 11);
    CHECK(cudaGraphAddEmptyNode(&unused, second, nullptr, 0));
    EXPECT(cudaGraphExecUpdate(executable, second, &result) == cudaErrorGraphExecUpdateFailure);
    EXPECT(result.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaGetLastError();
}

int main()
{
    int *device;
    CHECK(cudaMalloc(&device, 32 * sizeof(int)));
    captured(device);
    built(device);
    invalid();
    return verdict("graphs");
}
