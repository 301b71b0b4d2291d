"""The JSON of nvdisasm, from a listing of nvdisasm in text: an independent route to what heddle reads of both."""
import json
import re

BRANCHES = re.compile(r"`\(([^)]*)\)")


def sections(text):
    """[(name, [(address, guard, opcode, operands)], {label: address}, {names of functions})] of the code sections."""
    found, rows = [], None
    for line in text.split("\n"):
        if line.startswith("\t.section\t"):
            rows = None
            if line.startswith("\t.section\t.text."):
                rows, labels, waiting, functions = [], {}, [], set()
                found.append((line.split(",")[0][len("\t.section\t.text."):], rows, labels, functions))
        if rows is None:
            continue
        typed = re.match(r"\s*\.type\s+([^\s,]+),@function", line)
        label = re.match(r"([.$A-Za-z_][^\s:]*):", line)
        row = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.:]*)\s*(.*?)\s*;", line)
        if typed:
            functions.add(typed.group(1))
        elif label:
            waiting.append(label.group(1))
        elif row:
            address = int(row.group(1), 16)
            labels.update((name, address) for name in waiting)
            waiting = []
            rows.append((address, (row.group(2) or "").strip(), row.group(3), row.group(4)))
        if label and rows:
            labels.setdefault(label.group(1), rows[-1][0] + 16) # perhaps the end
    return found


def operands_of(operands, labels, functions):
    """As nvdisasm writes them in JSON: without blanks, labels as addresses, some commas left out."""
    def target(match):
        name = match.group(1)
        return name if name in functions or name not in labels else "0x%x" % labels[name]
    operands = re.sub(r"(\w) `\(", r"\1,`(", operands)
    operands = re.sub(r"\s*,\s*", ",", BRANCHES.sub(target, operands))
    return re.sub(r"\b(R\d+|RZ),\[", r"\1[", operands)


def instruction(guard, opcode, operands):
    item = {}
    if guard:
        item["predicate"] = guard
    item["opcode"] = opcode
    if operands:
        item["operands"] = operands
    if re.match(r"BRA|CALL|RET|EXIT|BRX", opcode):
        item["other-attributes"] = {"control-flow": "True"}
    return item


def convert(text, names=True):
    """The JSON; None: branches go where only a table says. names=False: labels within functions stay names."""
    chip = int(re.search(r"\.target\s+sm_(\d+)", text).group(1))
    functions = []
    for name, rows, labels, known in sections(text):
        if any("BRX" in row[2] or "(*" in row[3] for row in rows):
            return None
        starts = sorted((labels[f], f) for f in known | {name} if f in labels)
        for i, (start, function) in enumerate(starts):
            end = starts[i + 1][0] if i + 1 < len(starts) else rows[-1][0] + 16
            items = [instruction(g, o, operands_of(p, labels if names else {}, known)) for a, g, o, p in rows if start <= a < end]
            functions.append({"function-name": function, "start": start, "length": end - start, "other-attributes": [], "sass-instructions": items})
    metadata = {"ELF": {"layout-id": 4, "ei_osabi": 65, "ei_abiversion": 8}, "SM": {"version": {"major": chip // 10, "minor": chip % 10}},
                "SchemaVersion": {"major": 12, "minor": 8, "revision": 0}, "Producer": "a test", "Description": "{ \"function-name\": [ // /* # "}
    return json.dumps([metadata, functions], separators=(",", ":"))
