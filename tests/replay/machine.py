"""What the machine model does with registers, memory and launches: allocation, calls, a full register file, shared
memory, several steps."""
import os

from program import case, EXAMPLES, heddle, LAUNCH, launch_file, PLAIN, plain_module, replay_json, sums_hold, TICKETS

RECURSION = """.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) fact(.param .b32 n)
{
    .reg .b32 %r<8>;
    .reg .pred %p<2>;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 1;
    setp.lt.u32 %p1, %r1, 2;
    @%p1 bra DONE;
    sub.u32 %r3, %r1, 1;
    {
    .param .b32 a0;
    .param .b32 r0;
    st.param.b32 [a0], %r3;
    call (r0), fact, (a0);
    ld.param.b32 %r4, [r0];
    }
    mul.lo.u32 %r2, %r4, %r1;
DONE:
    st.param.b32 [result], %r2;
    ret;
}
.entry k(.param .u64 a)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<8>;
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.x;
    mov.u32 %r6, 5;
    {
    .param .b32 a0;
    .param .b32 r0;
    st.param.b32 [a0], %r1;
    call (r0), fact, (a0);
    ld.param.b32 %r3, [r0];
    }
    add.u32 %r3, %r3, %r6;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""


def shared_memory(folder):
    """A block has as much shared memory as the GPU that --gpu names gives it; where none is named, as much as any GPU does."""
    body = "bar.sync 0;\nst.global.u32 [%rd0], 1;"
    with open(os.path.join(folder, "m.ptx"), "w", encoding="ascii") as file:
        file.write(PLAIN % ("", "", ".shared .align 4 .b8 own[1000];\nst.shared.u32 [own], 1;\n" + body))
    path = os.path.join(folder, "m.yaml")
    for given, options, most in ((69000, ["--gpu=sm_70"], 0), (69000, ["--gpu=sm_75"], 65536), (64536, ["--gpu=sm_75"], 0), (64537, ["--gpu=sm_75"], 65536),
                                 (69000, [], 0), (231449, [], 232448)):
        with open(path, "w", encoding="ascii") as file:
            file.write((LAUNCH % "").replace(", expect: {values: []}", "").replace("params", "shared: %d, params" % given))
        status, out, errors = heddle("replay", "--technique=none", *options, path)
        refusal = "needs %d bytes of shared memory, 1000 of them its own, and may have %d on %s" % (
            given + 1000, most, options[0][6:] if options else "any GPU")
        case("%d bytes of shared memory beside the kernel's own %s" % (given, options), (status == 1 and refusal in errors) if most else status == 0,
             "%d %s" % (status, errors))


def shared_memory_of_many_bits(folder):
    """The bytes that a message names do not wrap or saturate."""
    path = os.path.join(folder, "m.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write((LAUNCH % "").replace(", expect: {values: []}", ""))
    for own in (1 << 30, (1 << 30) + 4, 1 << 31, 1 << 32, (1 << 32) + 4):
        with open(os.path.join(folder, "m.ptx"), "w", encoding="ascii") as file:
            file.write(PLAIN % ("", "", ".shared .align 4 .b8 own[%d];\nst.shared.u32 [own], 1;\n" % own))
        status, out, errors = heddle("replay", "--technique=none", path)
        case("%d bytes of shared memory" % own, status == 1 and "needs %d bytes of shared memory, %d of them its own" % (own, own) in errors, errors)
        status, out, errors = heddle("report", "--ptxas=no", "--format=json", os.path.join(folder, "m.ptx"))
        case("%d bytes of shared memory in a report" % own, status == 0 and '"shared_bytes": %d' % own in out, out[:400] + errors)


def recursion(folder):
    """Frames: a divergent recursive function, whose registers are others in each call."""
    with open(os.path.join(folder, "m.ptx"), "w", encoding="ascii") as file:
        file.write(RECURSION)
    path = os.path.join(folder, "m.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write((LAUNCH % "6, 6, 7, 11, 29, 125, 725, 5045").replace("count: 4", "count: 8").replace("block: [32", "block: [8"))
    status, report, errors = replay_json(path)
    wrong = [w for w in map(sums_hold, report["kernels"]) if w] if report else ["no report"]
    case("a divergent recursion is proved under every model", status == 0 and not wrong, errors + ", ".join(wrong))


TINY = """name: tiny
summary: a register file for 64 warp registers
compute: "8.0"
limits: {sms: 1, warps_per_sm: 48, ctas_per_sm: 8, threads_per_cta: 1024, registers_per_sm: 2048, registers_per_cta: 2048,
         registers_per_thread: 255, register_unit: 32, partitions: 1, shared_bytes_per_sm: 49152, shared_bytes_per_cta: 49152, shared_unit_bytes: 128}
register_file: {banks: 4}
"""
# Eight loaded values and an address of two words, all live together: ten registers of each of eight warps, in a file of 64.
WAITING = "".join("ld.global.u32 %%r%d, [%%rd0+%d];\n" % (n, 4 * n) for n in range(8)) + "HERE" + "".join(
    "add.u32 %%r0, %%r0, %%r%d;\n" % n for n in range(1, 8)) + "st.global.u32 [%rd0+32], %r0;"


def full_file(folder):
    """A register file that is full: no block more than fits, a warp waits for a free register, and what can never go on is refused."""
    gpu = os.path.join(folder, "tiny.yaml")
    with open(gpu, "w", encoding="ascii") as file:
        file.write(TINY)
    path = launch_file("reduction")
    status, report, errors = replay_json("--gpu=" + gpu, "--technique=release,corf,corf++", path)
    models = [r for k in report["kernels"] for r in k["results"] if r["technique"] and not r["not_applied"]] if report else []
    case("as many blocks as the register file has room for", status == 0 and len(models) > 8 and all(r["verified"] for r in models) and
         64 >= max(r["allocated_registers"]["peak"] for r in models) > 50 and all(r["register_waits"] == 0 for r in models), errors)
    one = "--technique=release(),release-nocache"
    status, kernel, errors = plain_module(folder, WAITING.replace("HERE", ""), "--virtual", "--gpu=" + gpu, one, block=256, count=9)
    waited = [r for r in kernel["results"] if r["technique"]] if kernel else []
    case("a warp waits for a free register", status == 0 and len(waited) == 2 and all(
        r["verified"] and r["register_waits"] > 0 and r["allocated_registers"]["peak"] <= r["physical_registers"] == 64 for r in waited), errors + str(waited)[:300])
    status, kernel, errors = plain_module(folder, WAITING.replace("HERE", "bar.sync 0;\n"), "--virtual", "--gpu=" + gpu, one, block=256, count=9)
    case("warps that all wait for one are refused", status == 6 and "none of the resident warps can go on: they wait for a free physical register" in errors, errors)
    status, kernel, errors = plain_module(folder, WAITING.replace("HERE", ""), "--gpu=" + gpu, one, block=256, count=9)
    case("a block that does not fit in the register file is refused", status == 6 and not kernel and "does not fit in the register file of tiny" in errors and
         "256 threads with 10 registers take 2560 registers, and an SM has 2048" in errors and "--max-registers=8" in errors, errors)
    with open(os.path.join(folder, "m.ptx"), "w", encoding="ascii") as file:
        file.write(RECURSION)
    with open(os.path.join(folder, "m.yaml"), "w", encoding="ascii") as file:
        file.write((LAUNCH % "6, 6, 7, 11, 29, 125, 725, 5045").replace("count: 4", "count: 8").replace("block: [32", "block: [8"))
    status, report, errors = replay_json("--technique=release,corf,corf++,regmutex", os.path.join(folder, "m.yaml"))
    kernel = report["kernels"][0]
    most = {r["model"]: r["allocated_registers"]["peak"] for r in kernel["results"] if r["allocated_registers"]}
    case("frames of a recursion take no more registers than the kernel has", status == 0 and len(most) > 8 and
         max(most.values()) <= kernel["general_registers"], errors + str(kernel["general_registers"]) + str(most))
    status, report, errors = replay_json("--technique=release", os.path.join(folder, "m.yaml"))
    case("its calls save registers", status == 0 and all(r["registers_saved_by_calls"] > 0 for r in report["kernels"][0]["results"][1:]), errors)


STEPS = """module: s.ptx
buffers:
  A: {type: u32, count: 4, expect: {values: [5450, 0, 0, 0]}}
launches:
  - steps:
      - {kernel: add, grid: 1, block: 1, params: [A, {u32: {iota: [0, 1]}}]}
      - {kernel: twice, grid: 1, block: 1, params: [A], repeat: 5}
    repeat: 100
"""
STEPS_PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 n)
{
.reg .b64 %rd1;
.reg .b32 %r<3>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
red.global.add.u32 [%rd1], %r1;
ret;
}
.visible .entry twice(.param .u64 p)
{
.reg .b64 %rd1;
ld.param.u64 %rd1, [p];
red.global.add.u32 [%rd1], 1;
ret;
}
"""


def steps(folder):
    """A launch that is run again and again is one row, the sum of its runs."""
    for name, text in ("s.ptx", STEPS_PTX), ("s.yaml", STEPS), ("one.yaml", STEPS.replace("repeat: 100", "repeat: 1")):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    status, report, errors = replay_json(os.path.join(folder, "s.yaml"))
    single_status, single, _ = replay_json(os.path.join(folder, "one.yaml"))
    case("steps give the right outputs", status == 0 and single_status == 3, errors)
    rows = [(k["name"], k["launch"]["index"], k["launch"]["runs"], k["warp_instructions"]) for k in report["kernels"]]
    case("a launch in a group is one row", rows == [("add", 0, 100, 400), ("twice", 1, 500, 1500)], str(rows))
    extreme = lambda key: key.endswith("est") or key.startswith("resident_warps")
    same = all(a[key] == 100 * b[key] for k, s in zip(report["kernels"], single["kernels"]) for a, b in zip(k["results"], s["results"])
               for key in a if isinstance(a[key], int) and not isinstance(a[key], bool) and key != "storage_bits" and not extreme(key))
    extremes = all(a[key] == b[key] for k, s in zip(report["kernels"], single["kernels"]) for a, b in zip(k["results"], s["results"])
                   for key in a if extreme(key))
    energy = all(abs(a["energy_pj"] - 100 * b["energy_pj"]) < 1e-6 * a["energy_pj"] for k, s in zip(report["kernels"], single["kernels"])
                 for a, b in zip(k["results"], s["results"]) if a["energy_pj"] is not None)
    case("a row is the sum of its runs", same and extremes and energy and all(r["verified"] for k in report["kernels"] for r in k["results"] if not r["not_applied"]))
    _, text, _ = heddle("replay", os.path.join(folder, "s.yaml"))
    case("the table says how often", ", 500 runs together; " in text, text[:300])


MANY = "".join("xor.b32 %%r%d, %%r0, %d;\n" % (i, i * 3) for i in range(1, 24)) + "".join(
    "mad.lo.u32 %%r0, %%r%d, %%r0, %d;\n" % (i, i) for i in range(1, 24))


def allocation(folder):
    for example in EXAMPLES:
        _, report, _ = replay_json("--technique=baseline", launch_file(example))
        good = report["registers"] == "allocated" and all(
            k["registers"] == "allocated" and k["general_registers"] > 3 and k["output_identical"] is True for k in report["kernels"])
        case(example + " is allocated, and leaves the original's memory", good, str(report)[:300])
        _, report, _ = replay_json("--virtual", "--technique=baseline", launch_file(example))
        good = report["registers"] == "virtual" and all(
            k["registers"] == "virtual" and k["general_registers"] is None and k["output_identical"] is None for k in report["kernels"])
        case(example + " is as PTX has it where that is asked", good, str(report)[:300])
    many = "mov.u32 %r0, %tid.x;\n" + MANY + "st.global.u32 [%rd0], %r0;"
    free = plain_module(folder, many)
    few = plain_module(folder, many, "--max-registers=12")
    told = plain_module(folder, many, header=".maxnreg 12")
    case("many registers are allocated", free[0] == 0 and free[1]["general_registers"] > 20, str(free)[:300])
    for name, run in ("--max-registers", few), (".maxnreg", told):
        good = run[0] == 0 and run[1]["general_registers"] <= 12 and run[1]["output_identical"] and all(r["verified"] for r in run[1]["results"])
        case(name + " is kept", good and run[1]["warp_instructions"] > free[1]["warp_instructions"], str(run)[:300])
    status, kernel, errors = plain_module(folder, many, "--max-registers=1")
    case("too few registers exit 1", status == 1 and not kernel and "out-of-registers" in errors, errors)
    status, kernel, errors = plain_module(folder, TICKETS, count=65, block=64)
    case("memory that differs from the original's exits 3", status == 3 and kernel["output_identical"] is False and
         "differs from what the original kernel leaves" in errors, errors)
    status, kernel, errors = plain_module(folder, TICKETS, "--virtual", count=65, block=64)
    case("the original alone is not compared", status == 0 and kernel["output_identical"] is None, errors)
    status, kernel, errors = plain_module(folder, "mov.u32 %r0, %clock;\nst.global.u32 [%rd0], %r0;")
    case("what reads a clock is compared", status == 0 and kernel["output_identical"] is True and kernel["registers"] == "allocated", errors)
    status, kernel, errors = plain_module(folder, "mov.u32 %r1, 3;\nadd.u32 %r1, %r1, 1;\nmov.u32 %r0, %clock;\nst.global.u32 [%rd0], %r0;")
    case("a clock that differs is no failure", status == 0 and kernel["output_identical"] is None and "[clock-dependent]" in errors and
         all(r["verified"] for r in kernel["results"]), errors)
    call = "mov.u32 %r1, 7;\ncall (%r2), f, (%r1);\nst.global.u32 [%rd0], %r2;"
    callee = ".func (.reg .u32 %o) f(.reg .u32 %i) { add.u32 %o, %i, 1; ret; }\n"
    status, kernel, errors = plain_module(folder, call, before=callee)
    case("a function that cannot be allocated stays virtual", status == 0 and "not-allocated" in errors and kernel["registers"] == "allocated" and
         all(r["verified"] for r in kernel["results"]) and kernel["output_identical"], errors)
    status, kernel, errors = plain_module(folder, "add.u32 %r1, %r1, 1; st.global.u32 [%rd0], %r1;", "--uninitialized")
    case("--uninitialized looks at the original", status == 5 and "kernel-fault" in errors, errors)
