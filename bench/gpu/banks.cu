// Register banks and the reuse cache of the GPU that it runs on: cycles per instruction of loops whose instructions
// read chosen registers, with chosen .reuse flags. No compiler gives that choice, so the machine code is patched: a
// loop of one opcode is assembled by the driver, and its operands and flags are overwritten (128-bit encoding, sm_70
// and later).
//
//   nvcc -O2 -arch=native -o banks banks.cu -lcuda && ./banks
//
// Prints a table for each opcode: cycles per instruction and sub-core, for the residues modulo 8 of the second and
// third source (the first has residue 0), with one and with four warps in a sub-core; then sequences with flags.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <string>
#include <vector>

#define CHECK(call)                                                      \
    do {                                                                 \
        CUresult result = (call);                                        \
        if (result != CUDA_SUCCESS) {                                    \
            const char *text = "?";                                      \
            cuGetErrorString(result, &text);                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text); \
            exit(1);                                                     \
        }                                                                \
    } while (0)

enum { BODY = 160, LOOPS = 200, SOURCES = 80, WARPS_LIMIT = 32 };

struct Opcode {
    const char *name, *text, *type; // PTX of the instruction, and the type of its registers
    uint32_t code, other;           // bits 0 to 11 of the machine instruction, of either pipeline
    int words, sources;             // registers of an operand, operands
};

static const Opcode opcodes[] = {
    {"FFMA", "fma.rn.f32 %%r%d, %%r%d, %%r%d, %%r%d;", "f32", 0x223, 0, 1, 3},
    {"FADD", "add.rn.f32 %%r%d, %%r%d, %%r%d;", "f32", 0x221, 0, 1, 2},
    {"FMUL", "mul.rn.f32 %%r%d, %%r%d, %%r%d;", "f32", 0x220, 0, 1, 2},
    {"FMNMX", "min.f32 %%r%d, %%r%d, %%r%d;", "f32", 0x209, 0, 1, 2},
    {"HFMA2", "fma.rn.f16x2 %%r%d, %%r%d, %%r%d, %%r%d;", "b32", 0x231, 0x235, 1, 3},
    {"IMAD", "mad.lo.u32 %%r%d, %%r%d, %%r%d, %%r%d;", "u32", 0x224, 0, 1, 3},
    {"LOP3", "lop3.b32 %%r%d, %%r%d, %%r%d, %%r%d, 0x3a;", "b32", 0x212, 0, 1, 3},
    {"SHF", "shf.l.wrap.b32 %%r%d, %%r%d, %%r%d, %%r%d;", "b32", 0x219, 0, 1, 3},
    {"DFMA", "fma.rn.f64 %%r%d, %%r%d, %%r%d, %%r%d;", "f64", 0x22b, 0, 2, 3},
};

struct Step {
    int source[3], reuse; // registers relative to the base, RZ; bit 0 to 2: .reuse of the first, second, third
    int result = -1;      // the same; -1: one that nothing reads
};
enum { RZ = 255 };

struct Code {
    std::vector<char> image;
    std::vector<uint64_t *> found; // the instructions to patch
    int base = 0, count = 0;       // registers that sources and results may use
};

// ---- the loop --------------------------------------------------------------------------------------------------------

static std::string loop_text(const Opcode &op, int architecture)
{
    char line[256];
    int count = SOURCES / op.words, bytes = 4 * op.words;
    std::string text = ".version 8.0\n.target sm_" + std::to_string(architecture) +
                       "\n.address_size 64\n.visible .entry k(.param .u64 data, .param .u64 cycles)\n{\n"
                       ".reg .b64 %a<8>; .reg .b32 %n<4>; .reg .pred %p;\n";
    snprintf(line, sizeof line, ".reg .%s %%r<%d>;\n", op.type, count + 1);
    text += line;
    text += "ld.param.u64 %a0, [data]; ld.param.u64 %a1, [cycles]; mov.u32 %n0, 0;\n";
    for (int i = 0; i < count; i++) {
        snprintf(line, sizeof line, "ld.volatile.global.%s %%r%d, [%%a0+%d];\n", op.type, i, bytes * i);
        text += line;
    }
    text += "bar.sync 0; mov.u64 %a2, %clock64;\nL:\n";
    for (int i = 0; i < BODY; i++) { // each result is read again, and nothing is invariant
        snprintf(line, sizeof line, op.text, i % count, i % count, (i + 7) % count, (i + 13) % count);
        text += line + std::string("\n");
    }
    text += "add.u32 %n0, %n0, 1; setp.lt.u32 %p, %n0, " + std::to_string(int(LOOPS)) + "; @%p bra L;\n"
            "mov.u64 %a3, %clock64; sub.s64 %a3, %a3, %a2;\n";
    for (int i = 0; i < count; i++) {
        snprintf(line, sizeof line, "st.volatile.global.%s [%%a0+%d], %%r%d;\n", op.type, bytes * i, i);
        text += line;
    }
    return text + "mov.u32 %n1, %tid.x; mul.wide.u32 %a4, %n1, 8; add.u64 %a1, %a1, %a4; st.global.u64 [%a1], %a3; ret;\n}\n";
}

static int field(const uint64_t *insn, int from, int bits)
{
    return int(insn[from / 64] >> from % 64 & ((1ull << bits) - 1));
}

static void set_field(uint64_t *insn, int from, int bits, uint64_t value)
{
    uint64_t mask = ((1ull << bits) - 1) << from % 64;
    insn[from / 64] = (insn[from / 64] & ~mask) | (value << from % 64 & mask);
}

enum { RD = 16, RA = 24, RB = 32, RC = 64, STALL = 105, YIELD = 109, REUSE = 122 };

static Code assemble(const Opcode &op, int architecture)
{
    Code code;
    std::string text = loop_text(op, architecture);
    CUlinkState link;
    void *image;
    size_t size;
    CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)text.c_str(), text.size() + 1, "k", 0, nullptr, nullptr));
    CHECK(cuLinkComplete(link, &image, &size));
    code.image.assign((char *)image, (char *)image + size);
    CHECK(cuLinkDestroy(link));
    bool used[256] = {false};
    for (size_t at = 0; at + 16 <= size; at += 16) {
        uint64_t *insn = (uint64_t *)&code.image[at];
        if ((field(insn, 0, 12) != int(op.code) && field(insn, 0, 12) != int(op.other)) || field(insn, 12, 4) != 7 || insn[1] >> 62)
            continue;
        code.found.push_back(insn);
        for (int w = 0; w < op.words; w++)
            used[field(insn, RD, 8) + w] = true;
    }
    if (code.found.size() < BODY)
        fprintf(stderr, "%s: only %zu instructions of the loop were found\n", op.name, code.found.size());
    // The longest run of registers that only the loop's instructions use, from a multiple of 8 on.
    int best = 0;
    for (int base = 0; base < 256; base += 8) {
        int n = 0;
        while (base + n < 256 && used[base + n])
            n++;
        if (n > best) {
            best = n;
            code.base = base;
        }
    }
    code.count = best;
    return code;
}

// ---- measuring -------------------------------------------------------------------------------------------------------

static CUdeviceptr data, cycles;

// Cycles per instruction and sub-core.
static double run(const Code &code, const Opcode &op, const std::vector<Step> &steps, int warps, int yield)
{
    const int results = 24; // from here on
    int free_results = (code.count - results) / op.words;
    if (code.found.size() < BODY || free_results < 1)
        return 0;
    for (size_t i = 0; i < code.found.size(); i++) {
        uint64_t *insn = code.found[i];
        const Step &s = steps[i % steps.size()];
        const int places[] = {RA, RB, RC};
        set_field(insn, RD, 8, code.base + (s.result >= 0 ? s.result : results + op.words * (int(i) % free_results)));
        for (int k = 0; k < op.sources; k++)
            set_field(insn, places[k], 8, s.source[k] == RZ ? RZ : code.base + s.source[k]);
        if (yield >= 0) {
            set_field(insn, STALL, 4, 1);
            set_field(insn, YIELD, 1, yield);
        }
        set_field(insn, REUSE, 4, s.reuse);
    }
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoadData(&module, code.image.data()));
    CHECK(cuModuleGetFunction(&function, module, "k"));
    void *arguments[] = {&data, &cycles};
    std::vector<long long> out(32 * WARPS_LIMIT);
    long long best = -1;
    for (int i = 0; i < 3; i++) {
        CHECK(cuLaunchKernel(function, 1, 1, 1, 32 * warps, 1, 1, 0, nullptr, arguments, nullptr));
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyDtoH(out.data(), cycles, 8 * 32 * warps));
        long long most = 0;
        for (int t = 0; t < 32 * warps; t++)
            most = out[t] > most ? out[t] : most;
        best = best < 0 || most < best ? most : best;
    }
    CHECK(cuModuleUnload(module));
    int each = warps > 4 ? warps / 4 : 1;
    return double(best) / (double(code.found.size()) * LOOPS * each);
}

static void table(const Opcode &op, const Code &code, int warps)
{
    printf("\n%s R0, Rb, Rc with %d warp%s a sub-core: rows Rb, columns Rc modulo 8\n", op.name, warps > 4 ? warps / 4 : 1, warps > 4 ? "s" : "");
    for (int b = 0; b < 8; b += op.words) {
        printf("  %d", b);
        for (int c = 0; c < (op.sources > 2 ? 8 : 1); c += op.words)
            printf(" %5.2f", run(code, op, {{{0, 8 + b, 16 + c}, 0}}, warps, 1));
        printf("\n");
    }
}

struct Sequence {
    const char *what;
    std::vector<Step> steps;
};

// All registers are of one bank, which delivers one a cycle: the cycles of a sequence are the registers that it reads
// and the reuse cache does not serve. "!" is .reuse.
static const std::vector<Sequence> sequences = {
    {"0 2 4", {{{0, 2, 4}, 0}}},
    {"0 0 0", {{{0, 0, 0}, 0}}},
    {"0 0 2", {{{0, 0, 2}, 0}}},
    {"0 2 2", {{{0, 2, 2}, 0}}},
    {"0 2 RZ", {{{0, 2, RZ}, 0}}},
    {"0 RZ RZ", {{{0, RZ, RZ}, 0}}},
    {"0! 2 4", {{{0, 2, 4}, 1}}},
    {"0 2! 4", {{{0, 2, 4}, 2}}},
    {"0 2 4!", {{{0, 2, 4}, 4}}},
    {"0! 2! 4!", {{{0, 2, 4}, 7}}},
    {"0! 2 4, 0 6 8", {{{0, 2, 4}, 1}, {{0, 6, 8}, 0}}},
    {"0! 2 4, 6 0 8: in the second slot", {{{0, 2, 4}, 1}, {{6, 0, 8}, 0}}},
    {"2 0! 4, 6 0 8", {{{2, 0, 4}, 2}, {{6, 0, 8}, 0}}},
    {"2 0! 4, 0 6 8: in the first slot", {{{2, 0, 4}, 2}, {{0, 6, 8}, 0}}},
    {"2 4 0!, 6 8 0", {{{2, 4, 0}, 4}, {{6, 8, 0}, 0}}},
    {"0! 2 4, RZ 6 8, 0 10 12", {{{0, 2, 4}, 1}, {{RZ, 6, 8}, 0}, {{0, 10, 12}, 0}}},
    {"0! 2 4, 1 6 8, 0 10 12: another bank between", {{{0, 2, 4}, 1}, {{1, 6, 8}, 0}, {{0, 10, 12}, 0}}},
    {"0! 2 4, 1! 6 8, 0 10 12: another bank between", {{{0, 2, 4}, 1}, {{1, 6, 8}, 1}, {{0, 10, 12}, 0}}},
    {"0! 2 4, 14 6 8, 0 10 12: the same bank between", {{{0, 2, 4}, 1}, {{14, 6, 8}, 0}, {{0, 10, 12}, 0}}},
    {"0! 2 4, 14! 6 8, 0 10 12: the same bank between", {{{0, 2, 4}, 1}, {{14, 6, 8}, 1}, {{0, 10, 12}, 0}}},
    {"0! 2 4, 0 6 8, 0 10 12: read without a flag between", {{{0, 2, 4}, 1}, {{0, 6, 8}, 0}, {{0, 10, 12}, 0}}},
    {"0! 2 4, 0! 6 8, 0 10 12: read with a flag between", {{{0, 2, 4}, 1}, {{0, 6, 8}, 1}, {{0, 10, 12}, 0}}},
    {"0! 2 4, RZ 6 8 writes 0, 0 10 12", {{{0, 2, 4}, 1}, {{RZ, 6, 8}, 0, 0}, {{0, 10, 12}, 0}}},
    {"0! 2 4 writes 0, 0 6 8", {{{0, 2, 4}, 1, 0}, {{0, 6, 8}, 0}}},
    {"pairs 0! 2 4, 0! 6 8: one pair is always kept", {{{0, 2, 4}, 1}, {{0, 6, 8}, 1}}},
    {"2 0! 4, 6 0! 8", {{{2, 0, 4}, 2}, {{6, 0, 8}, 2}}},
    {"2 4 0!, 6 8 0!", {{{2, 4, 0}, 4}, {{6, 8, 0}, 4}}},
};

// "0! 2 4, RZ 6 8, fillers that read nothing, 0 10 12"; the second one writes `result`.
static std::vector<Step> written(int fillers, int result, int reuse)
{
    std::vector<Step> steps = {{{0, 2, 4}, reuse}, {{RZ, 6, 8}, 0, result}};
    for (int i = 0; i < fillers; i++)
        steps.push_back({{RZ, RZ, RZ}, 0, 15});
    steps.push_back({{0, 10, 12}, 0, 15});
    steps[0].result = 15;
    return steps;
}

// What an odd register cannot be part of where operands are pairs.
static bool fits(const Opcode &op, const std::vector<Step> &steps)
{
    for (const Step &s : steps)
        for (int source : s.source)
            if (op.words > 1 && source != RZ && source % 2)
                return false;
    return op.sources == 3;
}

int main()
{
    CUdevice device;
    CUcontext context;
    int major, minor;
    char name[128];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    CHECK(cuMemAlloc(&data, 4096));
    CHECK(cuMemsetD8(data, 0, 4096));
    CHECK(cuMemAlloc(&cycles, 8 * 32 * WARPS_LIMIT));
    printf("%s, sm_%d%d: cycles per instruction and sub-core\n", name, major, minor);
    for (const Opcode &op : opcodes) {
        Code code = assemble(op, 10 * major + minor);
        printf("\n%s: %zu instructions, registers R%d to R%d\n", op.name, code.found.size(), code.base, code.base + code.count - 1);
        if (code.count < 30)
            continue;
        table(op, code, 4);
        table(op, code, 16);
        printf("\nsequences: with 1, 2 and 4 warps a sub-core; with 1 and 4, and the yield hint\n");
        for (const Sequence &s : sequences)
            if (fits(op, s.steps))
                printf("  %5.2f %5.2f %5.2f  %5.2f %5.2f  %s %s\n", run(code, op, s.steps, 4, 1), run(code, op, s.steps, 8, 1), run(code, op, s.steps, 16, 1),
                       run(code, op, s.steps, 4, 0), run(code, op, s.steps, 16, 0), op.name, s.what);
        if (op.sources == 3 && op.words == 1)
            printf("\nwrites of a sequence that keeps R0, all results but one in R15: cycles of the sequence with that one in R0, R14, R15, and in R0 and R15 when "
                   "nothing is kept; with 1 and 4 warps\n");
        for (int fillers = 0; op.sources == 3 && op.words == 1 && fillers <= 6; fillers++) {
            printf("  %d fillers:", fillers);
            for (int warps = 4; warps <= 16; warps += 12)
                for (const std::vector<Step> &steps : {written(fillers, 0, 1), written(fillers, 14, 1), written(fillers, 15, 1), written(fillers, 0, 0), written(fillers, 15, 0)})
                    printf(" %5.2f", run(code, op, steps, warps, 1) * double(steps.size()));
            printf("  %s\n", op.name);
        }
        fflush(stdout);
    }
    return 0;
}
