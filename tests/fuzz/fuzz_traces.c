/* Fuzz target of traces under every model, counted and in cycles. The first byte chooses the GPU and the technique, one
 * of them or all: with all, an input takes ten times as long. The others are the trace; what is missing of it is no
 * error. */
#include "ir/techniques.h"
#include "tests/fuzz/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const gpus[] = {"fermi-hrf",   "volta-v100",     "turing-tu106", "ampere-a100",
                                       "hopper-h100", "pascal-titan-x", "maxwell-ltrf", "fermi-warped-dmr"};
    enum { GPUS = sizeof gpus / sizeof *gpus };
    if (!size)
        return 0;
    uint32_t technique = *data / GPUS % (HD_TECHNIQUE_COUNT + 1);
    job_enter();
    job_write("k.traceg", (const char *)data + 1, size - 1);
    hd_replay_options options = {.gpu = gpus[*data % GPUS],
                                 .techniques =
                                     technique < HD_TECHNIQUE_COUNT ? hd_techniques[technique].spelling : "all",
                                 .all_models = true,
                                 .time = true,
                                 .partial = true};
    job_replay(&options, "k.traceg", true);
    return 0;
}
