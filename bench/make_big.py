#!/usr/bin/env python3
"""Makes big PTX texts of real kernels, for the benchmarks.

  make_big.py many OUT MEGABYTES FILE...       the functions of the files again and again under new names
  make_big.py kernels OUT COUNT FILE...        the same, that many functions
  make_big.py one OUT INSTRUCTIONS FILE        one kernel: the body of the file's first kernel again and again, with fresh
                                               registers and labels

The texts are valid: `ptxas` takes them. FILEs are what nvcc made (one version, one target).
"""
import itertools
import re
import sys

NAME = r"[A-Za-z_$][\w$]*"


FILE_LINE = re.compile(r"^\s*\.file\s+(\d+)([^\n]*)", re.M)


def split(path, number=0):
    """Head (version, target, address size), what belongs at the end (.file lines, .debug_str), and the functions and
    variables without it and without other sections. File numbers and string labels are made distinct by the number."""
    text = open(path).read()
    at = text.index(".address_size")
    at = text.index("\n", at)
    head, rest = text[:at], text[at:]
    rest = FILE_LINE.sub(lambda m: "\t.file\t%d%s" % (100 * number + int(m.group(1)), m.group(2)), rest)
    rest = re.sub(r"(\.loc\s+|inlined_at )(\d+)", lambda m: m.group(1) + str(100 * number + int(m.group(2))), rest)
    rest = re.sub(r"(\$L__info_string\d+)\b", r"\1_%d" % number, rest)
    files = [m.group(0) for m in FILE_LINE.finditer(rest)]
    rest = FILE_LINE.sub("", rest)
    strings = re.findall(r"\.section\s+\.debug_str\s*\{([^}]*)\}", rest)
    rest = re.sub(r"\.section[^{]*\{[^}]*\}", "", rest)
    return head, (files, strings), rest


def own_names(rest):
    """What the text defines at module scope."""
    names = set(re.findall(r"\.(?:entry|func)\s*(?:\([^)]*\)\s*)?(%s)" % NAME, rest))
    depth = 0
    for line in rest.split("\n"):
        if depth == 0 and re.search(r"\.(global|const|shared)\b", line) and ".extern .func" not in line:
            names |= set(re.findall(r"(%s)(?:\[[^\]]*\])*\s*(?:=[^;]*)?;" % NAME, line))
        depth += line.count("{") - line.count("}")
    extern = set(re.findall(r"\.extern\s+\.func\s*(?:\([^)]*\)\s*)?(%s)" % NAME, rest))
    return names - extern, extern


def repeated(paths):
    """Endless copies of the files' texts, each under new names; what is .extern is declared by the first copy only."""
    modules = []
    for number, path in enumerate(paths):
        _, _, rest = split(path, number)
        own, extern = own_names(rest)
        rename = re.compile(r"(?<![\w$%%.:])(%s)(?![\w$])" % "|".join(sorted(map(re.escape, own), key=len, reverse=True))) if own else None
        modules.append((rest, rename, extern))
    declared = set()
    for copy in itertools.count():
        for number, (rest, rename, extern) in enumerate(modules):
            suffix = "_%d_%d" % (number, copy)
            text = rename.sub(lambda m: m.group(1) + suffix, rest) if rename else rest
            for name in extern & declared:
                text = re.sub(r"\.extern\s+\.func\s*(?:\([^)]*\)\s*)?%s\b[^;]*;" % re.escape(name), "", text)
            declared |= extern
            yield text


def first_kernel(path):
    """(header up to the body, declarations, code) of the first kernel; the code without its `ret`."""
    _, _, rest = split(path)
    match = re.search(r"(\.visible \.entry\s+%s\s*\([^)]*\)[^{]*)\{(.*?)\n\}" % NAME, rest, re.S)
    lines = match.group(2).split("\n")
    declared = [l for l in lines if re.match(r"\s*\.(reg|shared|local)\b", l)]
    code = [l for l in lines if l.strip() and not re.match(r"\s*(\.(reg|shared|local|loc|pragma)|//|ret;)", l)]
    return match.group(1), declared, code


def one(out, count, path):
    header, declared, code = first_kernel(path)
    registers = re.findall(r"\.reg\s+(\.\w+)\s+(%\w*?)<(\d+)>", "\n".join(declared))
    sizes = {stem: int(number) for _, stem, number in registers}
    instructions = sum(line.rstrip().endswith(";") for line in code)
    copies = max(1, -(-count // instructions))
    pattern = re.compile(r"(%[a-z]+)(\d+)\b|(\$L_\w+)")
    out.write(split(path)[0] + "\n" + header + "{\n")
    for kind, stem, number in registers:
        out.write("\t.reg %s \t%s<%d>;\n" % (kind, stem, sizes[stem] * copies))
    out.write("\n".join(l for l in declared if ".reg" not in l) + "\n")
    for copy in range(copies):
        def fresh(m):
            if m.group(3):
                return "%s_%d" % (m.group(3), copy)
            return "%s%d" % (m.group(1), int(m.group(2)) + copy * sizes[m.group(1)]) if m.group(1) in sizes else m.group(0)
        out.write("\n".join(pattern.sub(fresh, line) for line in code) + "\n")
    out.write("\tret;\n}\n")


def main():
    mode, path, amount, files = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
    if mode not in ("one", "many", "kernels") or not files:
        sys.exit(__doc__)
    with open(path, "w") as out:
        if mode == "one":
            one(out, int(amount), files[0])
            return
        parts = [split(f, number) for number, f in enumerate(files)]
        out.write(max((p[0] for p in parts), key=lambda head: float(re.search(r"\.version\s+([\d.]+)", head).group(1))) + "\n")
        size = functions = 0
        for text in repeated(files):
            out.write(text)
            size += len(text)
            functions += len(re.findall(r"\.(?:entry|func)\b", text))
            if (mode == "many" and size >= amount * 1e6) or (mode == "kernels" and functions >= amount):
                break
        out.write("\n".join(line for _, (lines, _), _ in parts for line in lines) + "\n")
        strings = [text for _, (_, sections), _ in parts for text in sections]
        if strings:
            out.write("\t.section\t.debug_str\n\t{\n%s\n\t}\n" % "\n".join(strings))


if __name__ == "__main__":
    main()
