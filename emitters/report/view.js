// One kernel's part of the page: numbers, curve, code and source side by side, and the panels beneath. What is selected
// is one instruction, or one source line with all of its instructions.

class KernelView {
  constructor(root, kernel, module) {
    this.kernel = kernel;
    this.module = module;
    this.selected = this.pointed = NONE;
    this.linked = new Set(); // instructions of the selected source line
    this.file = 0;
    this.go = (i) => this.select(i, true);
    this.files = [...new Set(kernel.sourceLines.map((line) => line.file))];
    root.replaceChildren(
      this.heading(),
      tiles(kernel),
      this.findingsPart(),
      this.curvePart(),
      this.codePart(),
      ...this.panels(),
    );
    this.makeLists();
    this.curve.show(kernel);
    if (this.files.length) this.showFile(this.startFile(), NONE);
    if (kernel.count) this.select(kernel.max_pressure_at === null ? 0 : kernel.max_pressure_at, false);
  }

  heading() {
    const k = this.kernel,
      link = document.querySelector(`a[data-kernel="${k.index}"] b`),
      full = k.demangled || k.name;
    const box = element("div", "heading", element("h2", "", link ? link.textContent : full));
    if (link) box.append(element("small", "", full));
    if (k.demangled && k.demangled !== k.name) box.append(element("code", "mangled", k.name));
    return box;
  }

  part(title, ...children) {
    const made = element("section", "", element("h3", "", title), ...children);
    made.setAttribute("aria-label", title);
    return made;
  }

  findingsPart() {
    const k = this.kernel;
    if (!k.findings.length && !k.failed_gates.length) return element("div");
    return this.part(
      "Findings",
      findings(k, this.module.files, this.go, (file, line) => this.pickSource(file, line)),
    );
  }

  curvePart() {
    this.canvas = element("canvas", "curve");
    this.canvas.id = "curve";
    this.curve = new Curve(this.canvas, { pick: this.go, point: (i) => this.point(i) });
    const tools = element(
      "span",
      "tools",
      button("Maximum", "Select the point of maximum pressure (p)", () => this.toPeak()),
      button("Zoom in", "Around the selection (+)", () => this.curve.zoom(1 / 3)),
      button("Zoom out", "(-)", () => this.curve.zoom(3)),
    );
    const legend = element(
      "p",
      "meta",
      "Live 32-bit registers by instruction. Shaded: inside loops, darker where nested. Strips: heat by " +
        "instruction and by block. Arrow keys move the selection.",
    );
    const made = this.part("Register pressure", this.canvas, legend);
    made.firstChild.append(tools);
    return made;
  }

  codePart() {
    this.listing = element("div");
    this.listing.id = "listing";
    this.source = element("div");
    this.source.id = "source";
    this.live = element("div", "live");
    this.live.id = "live";
    this.live.tabIndex = 0;
    this.live.setAttribute("role", "group");
    this.live.setAttribute("aria-label", "Live values");
    this.status = element("p", "status");
    this.status.setAttribute("aria-live", "polite");
    this.chooser = element("select");
    this.chooser.setAttribute("aria-label", "Source file");
    for (const file of this.files) {
      const option = titled(element("option", "", shortName(this.module.files[file - 1])), this.module.files[file - 1]);
      option.value = file;
      this.chooser.append(option);
    }
    this.chooser.addEventListener("change", () => this.showFile(Number(this.chooser.value), NONE));
    const ptx = element("div", "pane ptx", element("h3", "", this.codeName()), this.listing);
    const source = element("div", "pane", element("h3", "", "Source ", this.chooser), this.source);
    const side = this.files.length
      ? [source, element("div", "pane", this.live)]
      : [
          element(
            "div",
            "pane",
            element(
              "p",
              "hint",
              this.kernel.machine
                ? "The listing has no source lines: with nvcc -lineinfo and nvdisasm -g, they are here."
                : "The PTX has no .loc: with nvcc -lineinfo, source lines are here.",
            ),
            this.live,
          ),
        ];
    const box = element("section", "", element("div", "code", ptx, element("div", "side", ...side)), this.status);
    box.setAttribute("aria-label", "Code");
    return box;
  }

  codeName() {
    return this.kernel.machine ? "Machine code" : "PTX";
  }

  panels() {
    const k = this.kernel;
    this.life = element("div", "scroll");
    this.life.tabIndex = 0;
    this.life.setAttribute("role", "group");
    this.life.setAttribute("aria-label", "Live ranges");
    this.life.id = "life";
    const values =
      "Values at the point of maximum pressure" +
      (k.max_pressure_at === null ? "" : ` (${k.title(k.max_pressure_at)})`);
    return [
      this.part("Live ranges", this.life, element("p", "meta", "^ written, v read, x both, : live")),
      this.part(values, element("div", "scroll tall", peakValues(k, this.go))),
      element(
        "div",
        "columns",
        this.part("Occupancy", occupancy(k)),
        ...(k.techniques.length ? [this.part("Techniques", element("div", "scroll", techniques(k)))] : []),
      ),
      element("div", "columns", this.part("Kernel", facts(k)), this.part("Reuse distances", reuse(k))),
    ];
  }

  // ---- lists ----

  makeLists() {
    const k = this.kernel;
    this.ptxList = new RowList(this.listing, this.codeName(), {
      render: (index, row) => this.renderPtx(index, row),
      pick: (index, step) => this.pickRow(index, step),
      point: (index) => this.point(index === NONE ? NONE : k.rowInstruction[index]),
    });
    this.ptxList.reset(
      k.rowLine.length,
      this.longestRow() + 16,
      k.rowLine.reduce((a, b) => Math.max(a, b), 0),
    );
    this.sourceList = new RowList(this.source, "Source", {
      render: (index, row) => this.renderSource(index, row),
      pick: (index) => this.pickSource(this.file, this.sourceRows[index]),
    });
  }

  // Characters of the longest row, as far as it is sensible to scroll.
  longestRow() {
    const k = this.kernel;
    let longest = 0;
    k.rowInstruction.forEach((i, row) => {
      const line = k.rowLine[row] ? k.ptx[k.rowLine[row] - k.first].length : 0,
        own = i === NONE ? undefined : k.ownText.get(i);
      longest = Math.max(longest, line + (own ? own.length + 4 : 0));
    });
    return Math.min(longest + 8, 400);
  }

  heatCell(words) {
    const cell = element("span", "heat", String(words));
    cell.style.setProperty("--share", heat(words, this.kernel.max_pressure).toFixed(2));
    return cell;
  }

  renderPtx(index, row) {
    const k = this.kernel,
      line = k.rowLine[index],
      i = k.rowInstruction[index];
    row.append(element("span", "line", line ? String(line) : ""));
    if (i === NONE) {
      const gone = k.removedLines.has(line),
        text = k.ptx[line - k.first];
      row.append(element("span", "heat empty"), element("span", "loop"), ...highlight(text));
      if (gone) titled(row, "removed by simplification").classList.add("gone");
      return;
    }
    const own = k.ownText.get(i),
      depth = element("span", "loop");
    depth.style.setProperty("--depth", Math.min(k.depthOf[i], 6));
    row.append(this.heatCell(k.liveAt[i]), depth, ...highlight(line ? k.ptx[line - k.first] : own || ""));
    if (line && own !== undefined)
      titled(row, "after simplification: " + own).append(element("span", "cleaned", "\u2192 " + own));
    row.classList.add("insn");
    if (!k.reached[i]) row.classList.add("unreached");
    if (i === k.max_pressure_at) row.classList.add("at-peak");
    if (this.linked.has(i)) row.classList.add("linked");
    if (k.singleUse.has(i)) row.append(titled(element("span", "mark", "1\u00d7"), "a load that one instruction reads"));
  }

  startFile() {
    const k = this.kernel,
      peak = k.max_pressure_at === null ? 0 : k.fileOf[k.max_pressure_at];
    return this.files.includes(peak) ? peak : this.files[0];
  }

  // A file's rows: all lines of its text, or those with code where there is no text.
  showFile(file, line) {
    if (file !== this.file) {
      this.file = file;
      this.chooser.value = file;
      this.sourceText = readSourceText(file);
      this.sourceOf = new Map(this.kernel.sourceLines.filter((l) => l.file === file).map((l) => [l.line, l]));
      const all = new Set(this.sourceText ? this.sourceText.keys() : []);
      for (const known of this.sourceOf.keys()) all.add(known);
      this.sourceRows = [...all].sort((a, b) => a - b);
      let longest = 0;
      if (this.sourceText) for (const text of this.sourceText.values()) longest = Math.max(longest, text.length);
      this.sourceList.reset(this.sourceRows.length, Math.min(longest, 400) + 14, this.sourceRows[this.sourceRows.length - 1]);
    }
    const row = this.sourceRows.indexOf(line === NONE ? this.sourceOf.keys().next().value : line);
    if (line !== NONE) this.sourceList.select(row, true);
    else if (row > 0) this.sourceList.show(row);
  }

  renderSource(index, row) {
    const line = this.sourceRows[index],
      known = this.sourceOf.get(line),
      text = this.sourceText && this.sourceText.get(line);
    row.append(element("span", "line", String(line)));
    if (known) {
      row.append(
        titled(
          this.heatCell(known.pressure),
          `maximum pressure ${counted(known.pressure, "register")}, ${counted(known.instructions, "instruction")}`,
        ),
      );
      row.classList.add("insn");
    } else {
      row.append(element("span", "heat empty"));
    }
    if (text !== null && text !== undefined) row.append(element("span", "text", text.replaceAll("\t", "    ")));
    else if (known)
      row.append(
        element("span", "none", counted(known.instructions, "instruction") + (known.inlined ? ", inlined" : "")),
      );
  }

  // ---- selection ----

  // A row without an instruction gives way to the next one in that direction, or else to the one before.
  pickRow(index, step) {
    const rows = this.kernel.rowInstruction,
      way = step < 0 ? -1 : 1;
    for (const direction of [way, -way])
      for (let at = index; at >= 0 && at < rows.length; at += direction)
        if (rows[at] !== NONE) return this.select(rows[at], true);
  }

  select(i, byHand) {
    const k = this.kernel;
    this.linked = new Set(k.sourceLineOf[i] ? k.instructionsOf(k.fileOf[i], k.sourceLineOf[i]) : []);
    this.mark(i, byHand);
    if (k.sourceLineOf[i]) this.showFile(k.fileOf[i], k.sourceLineOf[i]);
  }

  pickSource(file, line) {
    const instructions = this.kernel.instructionsOf(file, line);
    this.linked = new Set(instructions);
    this.showFile(file, line);
    if (instructions.length) this.mark(this.kernel.peakOf(instructions), true);
    else this.ptxList.refresh();
  }

  mark(i, byHand) {
    const k = this.kernel;
    this.selected = i;
    this.ptxList.select(k.rowOfInstruction[i], true);
    this.curve.mark(i, this.pointed);
    this.live.replaceChildren(liveSet(k, i, false, this.go));
    clearTimeout(this.lifeTimer); // while a key is held down, once at its end
    this.lifeTimer = setTimeout(() => this.life.replaceChildren(lifeRanges(k, i, this.go)), 50);
    this.status.textContent = this.describe(i);
    if (byHand) history.replaceState(null, "", `#kernel=${k.index}&i=${i}`);
  }

  describe(i) {
    const k = this.kernel,
      files = this.module.files;
    let text = `${k.title(i)}, block ${k.blockOf[i]}: ${counted(k.liveAt[i], "live register")}`;
    if (k.sourceLineOf[i]) text += `; ${files[k.fileOf[i] - 1]}:${k.sourceLineOf[i]}`;
    if (k.inlinedLineOf[i]) text += `, inlined at ${files[k.inlinedFileOf[i] - 1]}:${k.inlinedLineOf[i]}`;
    return text;
  }

  // The live set follows the pointer, a moment after it.
  point(i) {
    if (i === this.pointed) return;
    this.pointed = i;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.curve.mark(this.selected, i);
      const shown = i === NONE ? this.selected : i;
      this.live.replaceChildren(liveSet(this.kernel, shown, i !== NONE, this.go));
    }, 60);
  }

  toPeak() {
    if (this.kernel.max_pressure_at !== null) this.select(this.kernel.max_pressure_at, true);
  }
}

// A PTX line in pieces: label, guard, opcode, the rest, comment.
function highlight(text) {
  const comment = text.indexOf("//"),
    code = comment < 0 ? text : text.slice(0, comment);
  const parts = /^(@!?\S+\s+)?([A-Za-z][\w.:]*)(\s[^]*|;[^]*)?$/.exec(code);
  const box = element("span", /^[^\s"]+:$/.test(code) || !parts ? "text label" : "text");
  if (parts) box.append(element("span", "guard", parts[1] || ""), element("span", "opcode", parts[2]), parts[3] || "");
  else box.append(code);
  if (comment >= 0) box.append(element("span", "comment", text.slice(comment)));
  return [box];
}
