// The panels next to a kernel's code: numbers, the live set, live ranges, values at the point of maximum pressure, occupancy,
// techniques, findings. Each function returns an element or fills one; go(instruction) selects an instruction.

function lineLink(kernel, i, go) {
  if (i === null || i === NONE || i === undefined) return element("span", "none", "none");
  const link = element("a", "", kernel.lineOf[i] ? String(kernel.lineOf[i]) : "#" + i);
  link.href = `#kernel=${kernel.index}&i=${i}`;
  link.title = kernel.text(i);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    go(i);
  });
  return link;
}

function widthOf(register) {
  return register.predicate ? "pred" : register.words ? String(32 * register.words) : "none";
}

function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

function tile(label, value, note, title) {
  return titled(
    element(
      "div",
      "tile",
      element("div", "label", label),
      element("div", "value", String(value)),
      element("div", "note", note || ""),
    ),
    title || "",
  );
}

// Where the registers per thread of machine code are from.
const registerSources = {
  option: "as --registers says",
  listing: "as the listing states",
  derived: "derived from those named",
};

// What machine code has instead of an allocation and an estimate.
function machineTiles(k) {
  const m = k.machine,
    box = element("div", "tiles"),
    [ctas, warps, fraction, limiter, impossible] = k.occupancy;
  box.append(
    tile(
      "Maximum pressure",
      k.max_pressure,
      `exact; ${counted(k.max_predicate_pressure, "predicate")}`,
      "Maximum register pressure, in live 32-bit registers",
    ),
    tile(
      "Registers",
      m.registers || "-",
      m.registers_unknown || `per thread, ${registerSources[m.registers_from]}`,
      "Registers per thread",
    ),
    tile(
      "Named",
      m.named,
      `${counted(m.predicates, "predicate")}, ${counted(m.uniform_registers, "uniform register")}`,
      "General registers up to the highest that the code names",
    ),
    tile(
      "Occupancy",
      impossible ? "none" : (m.bound ? "\u2264 " : "") + percent(fraction),
      impossible || `${ctas} CTAs, ${warps} warps; limited by ${limiter}`,
      m.bound ? "An upper bound: " + m.bound : "",
    ),
    tile(
      "Local memory",
      m.local_bytes,
      `bytes; ${counted(m.local_stores, "store")}, ${counted(m.local_loads, "load")}`,
      "Bytes stored and loaded, each access in the code once: spills and local variables",
    ),
    tile(
      "Reuse cache",
      m.sources ? percent(m.reuse_served / m.sources) : "-",
      m.banks_unknown || `serves ${m.reuse_served} of ${m.sources} source operands; ${m.reuse_flags} have .reuse; a bypass window of 3 would serve ${m.window_served}`,
    ),
  );
  return box;
}

function tiles(k) {
  if (k.machine) return machineTiles(k);
  const box = element("div", "tiles");
  const used = (from) => (k.use.from === from ? "used for occupancy" : "");
  box.append(
    tile(
      "Maximum pressure",
      k.max_pressure,
      `exact; ${counted(k.max_predicate_pressure, "predicate")}`,
      "Maximum register pressure, in live 32-bit registers of the PTX",
    ),
  );
  box.append(
    tile(
      "Allocated",
      k.allocated_unknown ? "-" : k.allocated,
      k.allocated_unknown || `by heddle; ${counted(k.allocated_predicates, "predicate")}`,
      "Registers that heddle's own allocation needs",
    ),
  );
  box.append(
    tile(
      "Estimate",
      `${k.estimate_low}\u2013${k.estimate_high}`,
      `likely ${k.estimate}${used("estimate") ? `; ${used("estimate")}` : ""}`,
      `Where a model expects the count of ptxas; it was there for ${k.estimate_coverage_percent} % of the kernels measured`,
    ),
  );
  box.append(
    tile(
      "ptxas",
      k.ptxas ? k.ptxas.registers : "-",
      k.ptxas ? used("ptxas") : k.ptxas_unknown || "unknown",
      "Its own count",
    ),
  );
  const [ctas, warps, fraction, limiter, impossible] = k.occupancy;
  box.append(
    tile(
      "Occupancy",
      impossible ? "none" : percent(fraction),
      impossible || `${ctas} CTAs, ${warps} warps; limited by ${limiter}`,
    ),
  );
  const predicted = k.predicted_spills ?? "?";
  const spilled = k.ptxas
    ? `ptxas ${k.ptxas.spill_stores} stored, ${k.ptxas.spill_loads} loaded; ${predicted} predicted`
    : "bytes, predicted";
  const bytes = k.ptxas ? k.ptxas.spill_stores + k.ptxas.spill_loads : predicted;
  box.append(tile("Spills", bytes, spilled, "Bytes stored and loaded, each access in the code once"));
  return box;
}

function machineRows(k) {
  const m = k.machine,
    known = (text) => (m.info_unknown ? "not known: " + m.info_unknown : text);
  return [
    [
      "Instructions",
      `${k.count}${m.code_bytes ? ` (${m.code_bytes} bytes)` : ""}, ` +
        `${counted(k.blockPressure.length, "block")}, ${counted(k.loops, "loop")}, ${counted(m.calls, "call")}`,
    ],
    ["Shared memory", known(`${k.static_shared_bytes} bytes static of a CTA; ${k.use.shared_bytes} counted for occupancy`)],
    ["Stack", known(`${k.local_bytes} bytes of a thread`)],
    ["Parameters", known(`${k.parameter_bytes} bytes`)],
    ["Barriers", known(`${k.barriers}`)],
    [
      "Bank conflicts",
      m.banks_unknown
        ? "not known: " + m.banks_unknown
        : `${counted(k.bank_conflicts, "instruction")} in conflict for one of ${k.banks} register banks; ` +
          `${k.bank_conflicts_weighted} weighted by loops`,
    ],
    ["Single-use loads", `${k.single_use_loads} of ${k.loads} loads are read by one instruction only`],
  ];
}

function facts(k) {
  const rows = k.machine ? machineRows(k) : ptxRows(k);
  const list = element("dl", "facts");
  for (const [name, text] of rows) list.append(element("dt", "", name), element("dd", "", text));
  return list;
}

function ptxRows(k) {
  return [
    [
      "Instructions",
      `${k.count} (${k.input_instructions} before simplification), ` +
        `${counted(k.blockPressure.length, "block")}, ${counted(k.loops, "loop")}`,
    ],
    ["Shared memory", `${k.static_shared_bytes} bytes static of a CTA; ${k.use.shared_bytes} counted for occupancy`],
    ["Local memory", `${k.local_bytes} bytes of a thread`],
    ["Parameters, constants", `${k.parameter_bytes} and ${k.constant_bytes} bytes`],
    ["Barriers", `${k.barriers}`],
    [
      "Bank conflicts",
      k.left_virtual
        ? "not known: its registers are not allocated"
        : k.banks
        ? `${counted(k.bank_conflicts, "instruction")} with two sources in one of ${k.banks} register banks; ` +
          `${k.bank_conflicts_weighted} weighted by loops`
        : "the register banks of this GPU are not known",
    ],
    ["Single-use loads", `${k.single_use_loads} of ${k.loads} loads are read by one instruction only`],
  ];
}

// Bars of the distances from an access of a value to its next read.
function reuse(k) {
  const most = Math.max(1, ...k.reuse.map(([, count]) => count));
  return table(
    "bars",
    ["Instructions to the next read", "Reads"],
    k.reuse.map(([name, count]) => {
      const bar = element("span", "bar");
      bar.style.width = (100 * count) / most + "%";
      return tableRow([name.replace("_", " "), element("span", "measure", bar, element("span", "", String(count)))]);
    }),
  );
}

// ---- what lives at an instruction -----------------------------------------------------------------------------------

const symbols = [":", "^", "v", "x"]; // by access, as nvdisasm's live ranges

function liveSet(kernel, i, pointed, go) {
  const box = document.createDocumentFragment();
  if (i === NONE) {
    box.append(element("p", "hint", "Point at or select an instruction to see which values are live there."));
    return box;
  }
  const ranges = kernel.rangesIn(i, i),
    title = element("h3", "", "Live at ", kernel.title(i));
  if (pointed) title.append(element("small", "", " (pointed at)"));
  const need = element(
    "p",
    "meta",
    `needs ${counted(kernel.liveAt[i], "register")} and ${counted(kernel.predicatesAt[i], "predicate")}` +
      (kernel.depthOf[i] ? `; loop depth ${kernel.depthOf[i]}` : ""),
  );
  box.append(title, need);
  const values = ranges.map((r) => ({ reg: kernel.rangeRegister[r], last: kernel.rangeLast[r] }));
  const width = (v) => kernel.registerList[v.reg].words;
  values.sort((a, b) => width(b) - width(a) || b.last - a.last || a.reg - b.reg);
  box.append(
    table(
      "values",
      ["Access", "Value", "Bits", "Defined", "Last use", "Uses", "Depth"],
      values.map(({ reg }) => {
        const register = kernel.registerList[reg],
          value = kernel.valueAt(reg, i),
          access = kernel.accessOf(i, reg);
        return tableRow([
          titled(
            element("span", "symbol s" + access, symbols[access]),
            ["live", "written", "read", "read and written"][access],
          ),
          element("code", "", register.name),
          widthOf(register),
          lineLink(kernel, value.definition, go),
          lineLink(kernel, value.lastUse, go),
          value.reads,
          value.definition === NONE ? "" : kernel.depthOf[value.definition],
        ]);
      }),
    ),
  );
  return box;
}

// Columns of live ranges for the instructions around one: '^' written, 'v' read, 'x' both, ':' live. What is touched
// there stands first, then what only lives through; predicates last.
function lifeRanges(kernel, i, go) {
  const around = 14,
    from = Math.max(0, i - around),
    to = Math.min(kernel.count - 1, i + around);
  const rows = new Map(),
    touched = new Set(),
    regs = new Set();
  for (let at = from; at <= to; at++) rows.set(at, new Map());
  for (const r of kernel.rangesIn(from, to)) {
    regs.add(kernel.rangeRegister[r]);
    for (let at = Math.max(from, kernel.rangeFirst[r]); at <= Math.min(to, kernel.rangeLast[r]); at++)
      rows.get(at).set(kernel.rangeRegister[r], 0);
  }
  for (let at = from; at <= to; at++)
    for (let t = kernel.touchStart[at]; t < kernel.touchStart[at + 1]; t++) {
      rows.get(at).set(kernel.touchRegister[t], kernel.touchAccess[t]);
      touched.add(kernel.touchRegister[t]);
      regs.add(kernel.touchRegister[t]);
    }
  const group = (reg) =>
    (kernel.registerList[reg].predicate ? 2 : kernel.registerList[reg].words ? 0 : 1) * 2 + (touched.has(reg) ? 0 : 1);
  const order = [...regs].map((reg) => ({ reg, group: group(reg) })).sort((a, b) => a.group - b.group);
  order.forEach((column, at) => {
    column.border = at > 0 && order[at - 1].group !== column.group ? " border" : "";
  });
  const head = element(
    "tr",
    "",
    element("th", "", "Line"),
    element("th", "what", "Instruction"),
    element("th", "", "Live"),
  );
  for (const { reg, border } of order) {
    const cell = element(
      "th",
      "reg" + (kernel.registerList[reg].predicate ? " predicate" : "") + border,
      element("span", "", kernel.registerList[reg].name),
    );
    cell.scope = "col";
    head.append(cell);
  }
  const body = [...rows].map(([at, cells]) => lifeRow(kernel, at, at === i, order, cells, go));
  return element("table", "life", element("thead", "", head), element("tbody", "", ...body));
}

function lifeRow(kernel, at, selected, order, cells, go) {
  const row = element(
    "tr",
    selected ? "selected" : "",
    element("td", "num", lineLink(kernel, at, go)),
    titled(element("td", "what", kernel.text(at)), kernel.text(at)),
    element("td", "num", String(kernel.liveAt[at])),
  );
  order.forEach(({ reg, border }, column) => {
    const access = cells.get(reg),
      known = access !== undefined;
    row.append(
      element("td", (known ? "s" + access : "") + border + (column % 2 ? "" : " even"), known ? symbols[access] : ""),
    );
  });
  return row;
}

// ---- values at the point of maximum pressure ---------------------------------------------------------------------------------------------

function advice(value) {
  const through = value.live_through ? "live-through" : "";
  if (value.remedy === "rematerialize") return [through, "could be rematerialized where it is used"];
  if (value.remedy === "reload") return [through, "could be reloaded where it is used"];
  return [through, value.remedy || ""];
}

function peakValues(kernel, go) {
  return table(
    "values",
    ["Value", "Bits", "Defined", "Last use", "Uses", "In the loop", "Depth", "Advice", "In the program"],
    kernel.values.map((v) => {
      const register = kernel.registerList[v.reg],
        [through, remedy] = advice(v);
      const row = tableRow([
        element("code", "", register.name),
        v.packed === null
          ? widthOf(register)
          : titled(element("span", "", "16"), `packed with ${kernel.registerList[v.packed].name}`),
        lineLink(kernel, v.definition, go),
        lineLink(kernel, v.last_use, go),
        v.uses,
        v.uses_in_loop,
        v.loop_depth,
        element("span", "", through ? element("b", "", through) : "", through && remedy ? ": " : "", remedy),
        v.source || "",
      ]);
      if (v.live_through) row.className = "through";
      return row;
    }),
  );
}

// ---- occupancy, techniques, findings --------------------------------------------------------------------------------

// What would make a thread block fit, of which none does.
function whatFits(k) {
  const block = k.fitting_block ? `The largest block that fits has ${k.fitting_block} threads.` : "No block size fits.";
  const registers = k.fitting_registers
    ? ` ${k.use.threads} threads fit with at most ${counted(k.fitting_registers, "register")}.`
    : "";
  return element("p", "loss", block + registers);
}

// What setmaxnreg can give to warp groups.
function budget({ groups, initial, least, most, granted, ignored }) {
  if (ignored) return element("p", "loss", "ptxas ignores setmaxnreg: warp groups keep the registers that they start with.");
  if (!initial) return element("p", "", "setmaxnreg: what a warp group starts with is not known.");
  return element(
    "p",
    granted ? "" : "loss",
    `setmaxnreg: ${counted(groups, "warp group")} of 128 threads with ${initial} registers per thread at launch; ` +
      `at most ${granted} can have ${most} while all others have ${least}.`,
  );
}

// What ptxas made of other register caps, after what it makes of the code as it is.
function trials(k) {
  const now = { ...k.ptxas, given: "the code as it is", cap: "", then: k.occupancy };
  const headings = ["Given to ptxas", "Cap", "Registers", "Spills stored", "Spills loaded", "Stack", "Occupancy"];
  return table(
    "trials",
    headings,
    [now, ...k.trials].map((t) =>
      tableRow(
        t.unknown
          ? [t.given, t.cap, t.unknown, "", "", "", ""]
          : [t.given, t.cap, t.registers, t.spill_stores, t.spill_loads, t.stack_bytes, percent(t.then[2])],
      ),
    ),
  );
}

function occupancy(k) {
  const box = document.createDocumentFragment(),
    use = k.use;
  box.append(
    element(
      "p",
      "",
      `On ${k.arch}: CTAs of ${use.threads} threads${use.block_from === "assumed" ? " (assumed)" : ""} with ` +
        `${use.registers} registers of a thread (${use.from}), ${use.shared_bytes} bytes of shared memory, ` +
        `${counted(use.barriers, "barrier")}.`,
    ),
  );
  if (use.dynamic_unknown)
    box.append(
      element("p", "loss", "Launches decide on dynamic shared memory, which is not counted: this is an upper bound."),
    );
  const cliff = (name, step) => {
    if (!step) return;
    const [, warps, fraction, , impossible] = step.then,
      change = step.registers - use.registers;
    const then = impossible ? `cannot run: ${impossible}` : `${percent(fraction)} (${warps} warps)`;
    box.append(
      element(
        "p",
        name,
        `${counted(Math.abs(change), "register")} ${change < 0 ? "fewer" : "more"} ` + `(${step.registers}): ${then}`,
      ),
    );
  };
  if (!k.occupancy[0]) box.append(whatFits(k));
  if (k.budget) box.append(budget(k.budget));
  cliff("gain", k.gain);
  cliff("loss", k.loss);
  if (k.trials.length) box.append(trials(k));
  box.append(sweepChart(k));
  box.append(
    element(
      "p",
      "meta",
      "CTAs that each limit alone would allow: " + k.limits.map(([name, ctas]) => `${name} ${ctas}`).join(", "),
    ),
  );
  return box;
}

function techniques(k) {
  const allocated = k.techniques.some((t) => t.allocated);
  return table(
    "techniques",
    ["Technique", `Finds in the code with ${allocated ? "allocated" : "virtual"} registers`],
    k.techniques.map(({ name, refusal, rewrites, statistics }) => {
      const list = element("span", refusal ? "none" : "");
      if (refusal) list.append(refusal);
      statistics.forEach(([what, count]) =>
        list.append(element("span", "statistic", element("b", "", String(count)), " " + what.replaceAll("_", " "))),
      );
      const cell = element("span", "", element("code", "", name));
      if (rewrites) cell.append(element("span", "none", " rewrites the code"));
      return tableRow([cell, list]);
    }),
  );
}

function findings(k, files, go, goSource) {
  const list = element("ul", "findings");
  for (const gate of k.failed_gates) list.append(element("li", "error", element("b", "", "not met"), " " + gate));
  for (const f of k.findings) {
    const item = element(
      "li",
      f.severity,
      element("b", "", f.severity),
      " " + f.message + " ",
      element("code", "", "[" + f.rule + "]"),
      " ",
    );
    if (f.instruction !== null) item.append(element("span", "", "line ", lineLink(k, f.instruction, go), " "));
    else if (f.position.ptx_line) item.append(element("span", "meta", "line " + f.position.ptx_line));
    if (f.position.file !== null && f.position.line)
      item.append(
        button(`${shortName(files[f.position.file])}:${f.position.line}`, files[f.position.file], () =>
          goSource(f.position.file + 1, f.position.line),
        ),
      );
    list.append(item);
  }
  if (!list.children.length) list.append(element("li", "none", "none"));
  return list;
}

function shortName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}
