"""Line tables (.debug_line) of the places that a listing of `nvdisasm -gi` shows, put into a cubin, written without any code of
heddle's. Layout: the DWARF standard, versions 2 to 5; opcode 0x90 as ptxas 13.0 writes it."""
import re
import struct

PLACE = re.compile(r'"([^"]+)", line (\d+)')
ADDRESS = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/")
SHT_PROGBITS, SHT_STRTAB, SHT_REL = 1, 3, 9


def rows_of(text):
    """[(address, [(file, line), ...])] of a section of code, each with the chain of its calls, the innermost first."""
    rows, chain = [], []
    for line in text.splitlines():
        if line.startswith("\t//## File"):
            places = [(name, int(number)) for name, number in PLACE.findall(line)]
            chain = chain or places[:1]
            chain += places[1:]
        elif ADDRESS.match(line) and chain:
            rows.append((int(ADDRESS.match(line).group(1), 16), chain))
            chain = []
    return rows


def leb(value):
    out = bytearray()
    while True:
        out.append(value & 0x7f | (0x80 if value > 0x7f else 0))
        value >>= 7
        if not value:
            return bytes(out)


def sleb(value):
    out = bytearray()
    while True:
        byte, value = value & 0x7f, value >> 7
        done = (value == 0 and not byte & 0x40) or (value == -1 and byte & 0x40)
        out.append(byte | (0 if done else 0x80))
        if done:
            return bytes(out)


def sequence(rows, files):
    """The program of one section of code. Its address is 8 bytes at offset 3."""
    out, now, where, count, context = bytearray(b"\0\x09\x02" + bytes(8)), (1, 1), 0, 0, 0
    for address, chain in rows:
        caller = 0
        for name, line in reversed(chain):
            if caller != context:
                operands = leb(caller) + leb(0)
                out += b"\0" + leb(1 + len(operands)) + b"\x90" + operands
                context = caller
            file = files.index(name) + 1
            if file != now[0]:
                out += b"\x04" + leb(file)
            step = (address - where) * 14 + line - now[1] + 5 + 10
            if address > where and 0 <= line - now[1] + 5 < 14 and step < 256:
                out += bytes([step])
            else:
                out += b"\x03" + sleb(line - now[1]) + (b"\x02" + leb(address - where) if address > where else b"") + b"\x01"
            now, where, count = (file, line), address, count + 1
            caller = count
    return bytes(out + b"\x02\x10\0\x01\x01")


def table(version, sections):
    """The bytes of .debug_line and, by section, where its address is. sections: [rows]."""
    files = sorted({name for rows in sections for _, chain in rows for name, _ in chain})
    folders = sorted({name.rsplit("/", 1)[0] for name in files})
    if version < 5:
        names = b"".join(f.encode() + b"\0" for f in folders) + b"\0"
        names += b"".join(f.rsplit("/", 1)[1].encode() + b"\0" + leb(folders.index(f.rsplit("/", 1)[0]) + 1) + leb(1700000000) + leb(300) for f in files) + b"\0"
    else:  # file 0 repeats file 1, as compilers write it
        names = b"\x01" + leb(1) + leb(8) + leb(len(folders)) + b"".join(f.encode() + b"\0" for f in folders)
        entries = files[:1] + files
        names += b"\x02" + leb(1) + leb(8) + leb(2) + leb(11) + leb(len(entries))
        names += b"".join(f.rsplit("/", 1)[1].encode() + b"\0" + bytes([folders.index(f.rsplit("/", 1)[0])]) for f in entries)
    head = b"\x01" + (b"\x01" if version >= 4 else b"") + b"\x01" + struct.pack("bBB", -5, 14, 10) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1]) + names
    before = struct.pack("<H", version) + (b"\x08\0" if version >= 5 else b"") + struct.pack("<I", len(head)) + head
    body, places = bytearray(), []
    for rows in sections:
        places.append(4 + len(before) + len(body) + 3)
        body += sequence(rows, files)
    return struct.pack("<I", len(before) + len(body)) + before + bytes(body), places


def add_sections(elf, added):
    """The file with more sections: [(name, type, bytes, link, info)]."""
    elf = bytearray(elf)
    at, count, names = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HH", elf, 0x3c)
    headers = [list(struct.unpack_from("<IIQQQQIIQQ", elf, at + 64 * i)) for i in range(count)]
    texts = bytearray(elf[headers[names][4]:headers[names][4] + headers[names][5]])
    for name, kind, data, link, info in added:
        headers.append([len(texts), kind, 0, 0, len(elf), len(data), link, info, 8, 16 if kind == SHT_REL else 0])
        texts += name.encode() + b"\0"
        elf += data
    headers[names][4:6] = [len(elf), len(texts)]
    elf += texts
    struct.pack_into("<Q", elf, 0x28, len(elf))
    struct.pack_into("<H", elf, 0x3c, len(headers))
    return bytes(elf + b"".join(struct.pack("<IIQQQQIIQQ", *h) for h in headers))


def symbols_of(elf):
    """The index of the table of symbols, and by name of a section the symbol of a function at its begin."""
    at, count, names = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HH", elf, 0x3c)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, at + 64 * i) for i in range(count)]
    name = lambda offset: elf[headers[names][4] + offset:].split(b"\0", 1)[0].decode()
    index = next(i for i, h in enumerate(headers) if h[1] == 2)
    found = {}
    for i in range(headers[index][5] // 24):
        _, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", elf, headers[index][4] + 24 * i)
        if info & 15 == 2 and value == 0:
            found[name(headers[section][0])] = i
    return index, found


def add(elf, version, sections):
    """A cubin with a line table. sections: {name of a section of code: rows}. Returns the file, and where its table is: offset, bytes."""
    index, symbols = symbols_of(elf)
    names = [name for name in sections if name in symbols and sections[name]]
    data, places = table(version, [sections[name] for name in names])
    moved = b"".join(struct.pack("<QQ", place, symbols[name] << 32 | 2) for name, place in zip(names, places))
    count = struct.unpack_from("<H", elf, 0x3c)[0]
    return add_sections(elf, [(".debug_line", SHT_PROGBITS, data, 0, 0), (".rel.debug_line", SHT_REL, moved, index, count)]), len(elf), len(data)
