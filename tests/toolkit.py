"""What the build under test is, and the CUDA toolkit, for tests that compile or assemble where there is one."""
import glob
import os
import re
import shutil
import subprocess
import threading
import zlib


class Failed(Exception):
    pass


def is_slow(build):
    """Whether the build folder's program has sanitizers or counters. Its tests take a part of their cases, and leave to
    the plain build what needs only the output: ptxas on the PTX, for one."""
    path = os.path.join(build, ".flags")
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        flags = file.read()
    return "-fsanitize" in flags or "--coverage" in flags


def through(heddle, paths, to, *arguments):
    """What a command of the program writes for files of different names: files of these names in a new folder. It is started
    once for all, since a start takes longer than a small file."""
    done = subprocess.run([heddle, *arguments, "-o", to + "/", *paths], capture_output=True, timeout=600, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().split("\n")
        raise Failed("heddle %s: exit %d: %s" % (" ".join(arguments), done.returncode, " ".join(lines[:3])[:300]))
    return [os.path.join(to, os.path.basename(path)) for path in paths]


def in_groups(command, paths, size=200, names=lambda path: path, fine=(0, 1)):
    """{path: (exit status, what it says on standard error)} for a command that takes many files and names each in what it says,
    by names(path). A group of files has one exit status; one of several files that ends by none of the `fine` ones is halved
    until the files that do it are alone."""
    found = {}
    for at in range(0, len(paths), size):
        group = paths[at:at + size]
        done = subprocess.run([*command, *group], capture_output=True, timeout=60 + len(group), check=False)
        if done.returncode not in fine and len(group) > 1:
            found.update(in_groups(command, group, (len(group) + 1) // 2, names, fine))
            continue
        path_of = {name: path for path in group for name in {path, names(path)}}
        said = {path: [] for path in group}
        about = group[0]
        for line in done.stderr.decode("utf-8", "replace").splitlines():
            named = re.match(r"(\S+?):\d+:", line)
            about = path_of.get(named and named.group(1), about)
            said[about].append(line)
        found.update({path: (done.returncode, "\n".join(lines)) for path, lines in said.items()})
    return found


def drawn(cases, every, program):
    """One of `every` cases; which ones follows from the program's bytes, so that each change of it tries others. FULL=1: all."""
    if os.environ.get("FULL") == "1":
        return list(cases)
    with open(program, "rb") as file:
        first = zlib.crc32(file.read()) % every
    return list(cases)[first::every]


def groups_of(groups, program):
    """All groups of a suite's cases; of a slow build (is_slow) every second one, since starts of its program take most of the time.
    Which half follows from the program's bytes, FULL=1 takes both."""
    return drawn(groups, 2, program) if is_slow(os.path.dirname(program)) else list(groups)


def find_tool(name):
    """Its path, or None."""
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    inside = [os.path.join(home, "bin", name) for home in homes if home]
    return shutil.which(name) or next((path for path in inside if os.access(path, os.X_OK)), None)


def has_cub(nvcc):
    root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    places = ("include", "include/cccl", "targets/*/include", "targets/*/include/cccl")
    return any(glob.glob(os.path.join(root, place, "cub/device/device_radix_sort.cuh")) for place in places)


# Other compilations of the examples: name, options of nvcc, and those that ptxas takes with them. Several suites use them, and
# share the PTX: by default the k-th example has the k-th one, in turn.
VARIANTS = [
    ("sm_90", ["-O3", "-arch=sm_90"], []),
    ("sm_80-G", ["-G", "-arch=sm_80"], ["-g", "--dont-merge-basicblocks", "--return-at-end"]),
    ("sm_75", ["-O3", "-arch=sm_75"], []),
    ("sm_80-O0", ["-O3", "-Xcicc", "-O0", "-arch=sm_80"], []),
    ("sm_120", ["-O3", "-arch=sm_120"], []),
    ("sm_120-G", ["-G", "-arch=sm_120"], ["-g", "--dont-merge-basicblocks", "--return-at-end"]),
    ("sm_90-O0", ["-O3", "-Xcicc", "-O0", "-arch=sm_90"], []),
    ("sm_75-lineinfo", ["-O3", "-lineinfo", "-arch=sm_75"], ["--generate-line-info"]),
]


def make_variant(nvcc, source, folder, variant, flags):
    """The PTX of that compilation of a source, without contraction, in the folder."""
    name = os.path.splitext(os.path.basename(source))[0]
    return make_ptx(nvcc, source, os.path.join(folder, "%s.%s.ptx" % (name, variant)), [*flags, "-fmad=false"])


def make_ptx(nvcc, source, out, options):
    """`out`, compiled from the source; made again when the source is newer. Several may do so at a time."""
    if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(source):
        part = "%s.%d-%d.part.ptx" % (out[:-4], os.getpid(), threading.get_ident())
        done = subprocess.run([nvcc, *options, "-ptx", "-o", part, source], capture_output=True, text=True,
                              timeout=600, check=False)
        if done.returncode:
            raise Failed("nvcc: exit %d: %s" % (done.returncode, (done.stdout + done.stderr).strip()[:200]))
        os.replace(part, out)
    return out
