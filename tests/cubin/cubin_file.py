"""Makes cubins of listings: an ELF file with the code whose words a listing of `nvdisasm -hex` shows, written without any code
of heddle's. Layout: the ELF specification; names, flags and numbers of CUDA as ptxas 13.0 writes them."""
import re
import struct

SECTION = re.compile(r"^//-+ (\S+) +-+$", re.M)
FIRST = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/.*/\*\s*0x([0-9a-f]{16})\s*\*/$")
SECOND = re.compile(r"^\s+/\*\s*0x([0-9a-f]{16})\s*\*/$")
TYPE = re.compile(r"^\s*\.type\s+(\S+),@function$")
BINDING = re.compile(r"^\s*\.(weak|global)\s+(\S+)$")
ENTRY = re.compile(r"^\s*\.other\s+(\S+),@\"STO_CUDA_ENTRY")
REGISTERS = re.compile(r"SHI_REGISTERS=(\d+)")


def sections_of(text):
    """[(name, text)] of a listing, in its order."""
    marks = list(SECTION.finditer(text))
    ends = [m.start() for m in marks[1:]] + [len(text)]
    return [(m.group(1), text[m.start():end]) for m, end in zip(marks, ends)]


def code_of(text):
    """The bytes of a section of code, and its functions: (name, binding, is an entry, offset)."""
    code, functions, binding, entries, pending, low = bytearray(), [], {}, set(), [], None
    for line in text.splitlines():
        first, second = FIRST.match(line), SECOND.match(line)
        if first:
            for name in pending:
                functions.append((name, len(code)))
            pending, low = [], int(first.group(2), 16)
        elif second and low is not None:
            code += struct.pack("<QQ", low, int(second.group(1), 16))
            low = None
        elif TYPE.match(line):
            pending.append(TYPE.match(line).group(1))
        elif BINDING.match(line):
            binding[BINDING.match(line).group(2)] = BINDING.match(line).group(1)
        elif ENTRY.match(line):
            entries.add(ENTRY.match(line).group(1))
    registers = REGISTERS.search(text)
    return bytes(code), [(n, binding.get(n, "global"), n in entries, at) for n, at in functions], int(registers.group(1)) if registers else 0


def make(listing, arch, abi=8):
    """The cubin of all code of a listing. The symbols of functions that others call come first, as ptxas has them."""
    names, sections, symbols = bytearray(b"\0"), [], []
    for name, text in sections_of(listing):
        if not name.startswith(".text."):
            continue
        code, functions, registers = code_of(text)
        sections.append((name, code, registers))
        for function, binding, entry, at in functions:
            ends = [a for _, _, _, a in functions if a > at and not entry]
            symbols.append((function, binding, entry, len(sections), at, (min(ends) if ends else len(code)) - at))
    symbols.sort(key=lambda s: s[2])

    def name_of(text):
        names.extend(text.encode() + b"\0")
        return len(names) - len(text) - 1

    table = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for function, binding, entry, index, at, size in symbols:
        table += struct.pack("<IBBHQQ", name_of(function), (1 if binding == "global" else 2) << 4 | 2, 0x10 if entry else 0, index, at, size)
    body, headers, offset = b"", [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)], 64
    for name, code, registers in sections:
        headers.append(struct.pack("<IIQQQQIIQQ", name_of(name), 1, 6, 0, offset + len(body), len(code), 0, registers << 24, 128, 0))
        body += code
    strings = len(headers) + 1
    headers.append(struct.pack("<IIQQQQIIQQ", name_of(".symtab"), 2, 0, 0, offset + len(body), len(table), strings, 1, 8, 24))
    body += table
    last = name_of(".shstrtab")
    headers.append(struct.pack("<IIQQQQIIQQ", last, 3, 0, 0, offset + len(body), len(names), 0, 0, 1, 0))
    body += bytes(names)
    flags = arch << 8 | 0x04 if abi >= 8 else arch | arch << 16
    head = struct.pack("<4sBBBBB7sHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x41, abi, b"", 2, 190, 1, 0, 0, offset + len(body), flags, 64, 0, 0,
                       64, len(headers), strings)
    return head + body + b"".join(headers)


# ---- files that have cubins in them -----------------------------------------------------------------------------------------


def container(entries, header=16):
    """A fat binary of [(kind, architecture, contents)], as nvcc -fatbin --no-compress writes it; kind: 1 is PTX, 2 a cubin."""
    body = b""
    for kind, arch, data in entries:
        body += struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(data), 0, 0, 0, 8, arch, 0, 0, 0x11, 0, 0) + data
    return struct.pack("<IHHQ", 0xba55ed50, 1, header, len(body)) + bytes(header - 16) + body


def host_file(sections, kind=1):
    """An ELF file of the host with sections [(name, contents)]; kind: 1 is an object, 2 a program, 3 a shared library."""
    names, headers, body = b"\0", [bytes(64)], b""
    for name, data in [*sections, (".shstrtab", None)]:
        at = len(names)
        names += name.encode() + b"\0"
        data = names if data is None else data
        headers.append(struct.pack("<IIQQQQIIQQ", at, 3 if data is names else 1, 2, 0, 64 + len(body), len(data), 0, 0, 8, 0))
        body += data + bytes(-len(data) % 8)
    return struct.pack("<4sBBBBB7sHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, b"", kind, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                       len(headers), len(headers) - 1) + body + b"".join(headers)


def archive(members):
    """An archive of [(name, contents)]."""
    return b"!<arch>\n" + b"".join(b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name.encode(), 0, 0, 0, 0o644, len(data)) + data + b"\n" * (len(data) % 2)
                                   for name, data in members)
