// The data of the page: JSON in script elements, long columns as strings of base-64 digits (see
// emitters/report/report_page.h). A kernel is read when it is first shown. Nothing here knows the document but through
// readJson.

const NONE = -1;
const WRITE = 1,
  READ = 2;
const CHUNK = 256; // instructions between two lists of the ranges that are open

function readJson(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

const digitValues = (() => {
  const values = new Uint8Array(128);
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let i = 0; i < digits.length; i++) values[digits.charCodeAt(i)] = i;
  return values;
})();

class Column {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }
  more() {
    return this.at < this.text.length;
  }
  next() {
    let value = 0,
      scale = 1,
      digit;
    do {
      digit = digitValues[this.text.charCodeAt(this.at++)];
      value += (digit & 31) * scale;
      scale *= 32;
    } while (digit & 32);
    return value;
  }
  signed() {
    return unsign(this.next());
  }
}

function unsign(value) {
  return value % 2 ? -(value - 1) / 2 : value / 2;
}

// ---- a kernel -------------------------------------------------------------------------------------------------------

class Kernel {
  constructor(index) {
    Object.assign(this, readJson("kernel" + index));
    this.index = index;
    this.readInstructions();
    this.readRegisters();
    this.readTouches();
    this.readRanges();
    this.readSource();
    this.makeRows();
    this.linkSource();
  }

  readInstructions() {
    const n = this.count,
      lines = new Column(this.line),
      live = new Column(this.live),
      preds = new Column(this.predicates);
    this.lineOf = new Uint32Array(n);
    this.liveAt = new Uint32Array(n);
    this.predicatesAt = new Uint32Array(n);
    let line = this.first,
      l = 0,
      p = 0;
    for (let i = 0; i < n; i++) {
      this.lineOf[i] = line += lines.signed();
      this.liveAt[i] = l += live.signed();
      this.predicatesAt[i] = p += preds.signed();
    }
    this.readBlocks();
    this.readPlaces();
    this.ownText = new Map();
    for (let i = 0; i < this.texts.length; i += 2) this.ownText.set(this.texts[i], this.texts[i + 1]);
    this.singleUse = new Set(sums(this.single_use));
    this.removedLines = new Set(sums(this.removed));
  }

  readBlocks() {
    const column = new Column(this.blocks),
      peaks = new Column(this.block_pressure);
    this.blockOf = new Uint32Array(this.count);
    this.depthOf = new Uint16Array(this.count);
    this.reached = new Uint8Array(this.count);
    this.blockPressure = [];
    while (peaks.more()) this.blockPressure.push(peaks.next());
    this.deepest = 0;
    for (let i = 0, block = 0; column.more();) {
      const end = i + column.next();
      block += column.signed();
      const rest = column.next(),
        depth = rest >> 1;
      this.deepest = Math.max(this.deepest, depth);
      for (; i < end; i++) {
        this.blockOf[i] = block;
        this.depthOf[i] = depth;
        this.reached[i] = rest & 1;
      }
    }
  }

  readPlaces() {
    const column = new Column(this.positions);
    const parts = ["fileOf", "sourceLineOf", "inlinedFileOf", "inlinedLineOf"];
    for (const part of parts) this[part] = new Uint32Array(this.count); // files from 1; 0: none
    const now = [0, 0, 0, 0];
    for (let i = 0; column.more();) {
      const end = i + column.next();
      for (let c = 0; c < 4; c++) now[c] += column.signed();
      for (let c = 0; c < 4; c++) this[parts[c]].fill(now[c], i, end);
      i = end;
    }
  }

  readRegisters() {
    const column = new Column(this.registers),
      numbers = this.stems.map(() => 0);
    this.registerList = [];
    while (column.more()) {
      const stem = column.next(),
        [text, numbered] = this.stems[stem];
      if (numbered) numbers[stem] += column.signed();
      const rest = column.next();
      this.registerList.push({
        name: numbered ? text + numbers[stem] : text,
        words: rest >> 1,
        predicate: (rest & 1) === 1,
      });
    }
  }

  // Touches in the order of instructions, and again by register.
  readTouches() {
    const column = new Column(this.touches),
      registers = [],
      accesses = [];
    this.touchStart = new Uint32Array(this.count + 1);
    let reg = 0;
    for (let i = 0; i < this.count; i++) {
      this.touchStart[i] = registers.length;
      for (let left = column.next(); left > 0; left--) {
        const value = column.next();
        reg += unsign(Math.floor(value / 4));
        registers.push(reg);
        accesses.push(value % 4);
      }
    }
    this.touchStart[this.count] = registers.length;
    this.touchRegister = Uint32Array.from(registers);
    this.touchAccess = Uint8Array.from(accesses);
    this.touchesByRegister = null;
  }

  readRanges() {
    const column = new Column(this.ranges),
      first = [],
      last = [],
      regs = [];
    let at = 0,
      reg = 0;
    while (column.more()) {
      first.push((at += column.next()));
      last.push(at + column.next());
      regs.push((reg += column.signed()));
    }
    this.rangeFirst = Uint32Array.from(first);
    this.rangeLast = Uint32Array.from(last);
    this.rangeRegister = Uint32Array.from(regs);
    this.openAt = []; // by chunk: ranges that began before it and reach into it
    this.beginAt = []; // by chunk: the first range that begins in it or later
    let open = [];
    for (let chunk = 0, r = 0; chunk * CHUNK < Math.max(this.count, 1); chunk++) {
      open = open.filter((x) => this.rangeLast[x] >= chunk * CHUNK);
      this.openAt.push(open);
      this.beginAt.push(r);
      open = open.slice();
      for (; r < first.length && first[r] < (chunk + 1) * CHUNK; r++) if (last[r] >= (chunk + 1) * CHUNK) open.push(r);
    }
  }

  readSource() {
    const column = new Column(this.source);
    this.sourceLines = []; // {file (from 1), line, instructions, pressure, inlined}
    for (let file = 0, line = 0; column.more();) {
      file += column.signed();
      line += column.signed();
      const instructions = column.next(),
        rest = column.next();
      this.sourceLines.push({ file, line, instructions, pressure: Math.floor(rest / 2), inlined: rest % 2 === 1 });
    }
  }

  // Rows of the listing: PTX lines in order, each with its instruction where it has one; a line's second instruction,
  // and one that stands before its line, have a row of their own without a line.
  makeRows() {
    const lines = [],
      instructions = [];
    this.rowOfInstruction = new Uint32Array(this.count);
    let cursor = this.first;
    const plain = (end) => {
      for (; cursor < end; cursor++)
        if (this.ptx[cursor - this.first]) {
          lines.push(cursor);
          instructions.push(NONE);
        }
    };
    for (let i = 0; i < this.count; i++) {
      const line = this.lineOf[i],
        own = this.first > 0 && line >= cursor;
      if (own) plain(line);
      this.rowOfInstruction[i] = lines.length;
      lines.push(own ? line : 0);
      instructions.push(i);
      if (own) cursor = line + 1;
    }
    plain(this.first + this.ptx.length);
    this.rowLine = Uint32Array.from(lines);
    this.rowInstruction = Int32Array.from(instructions);
  }

  linkSource() {
    this.bySource = new Map();
    const add = (key, i) => {
      const list = this.bySource.get(key);
      if (!list) this.bySource.set(key, [i]);
      else if (list[list.length - 1] !== i) list.push(i);
    };
    for (let i = 0; i < this.count; i++) {
      if (this.sourceLineOf[i]) add(sourceKey(this.fileOf[i], this.sourceLineOf[i]), i);
      if (this.inlinedLineOf[i]) add(sourceKey(this.inlinedFileOf[i], this.inlinedLineOf[i]), i);
    }
  }

  // ---- what is asked ----

  text(i) {
    const own = this.ownText.get(i);
    return own !== undefined ? own : this.ptx[this.lineOf[i] - this.first] || "";
  }

  // The PTX line that an instruction is at or after.
  near(i) {
    for (let row = this.rowOfInstruction[i]; row >= 0; row--) if (this.rowLine[row]) return this.rowLine[row];
    return this.lineOf[i];
  }

  // Clean-up may have moved an instruction away from its line.
  title(i) {
    if (!this.lineOf[i]) return "instruction " + i;
    const moved = this.rowLine[this.rowOfInstruction[i]] === 0 && this.near(i) !== this.lineOf[i];
    return `line ${this.lineOf[i]}` + (moved ? ` (moved after line ${this.near(i)})` : "");
  }

  instructionsOf(file, line) {
    return this.bySource.get(sourceKey(file, line)) || [];
  }

  // The ranges that have a row between the two instructions, in order.
  rangesIn(from, to) {
    const chunk = Math.floor(from / CHUNK),
      found = [];
    for (const r of this.openAt[chunk] || []) if (this.rangeLast[r] >= from) found.push(r);
    for (let r = this.beginAt[chunk]; r < this.rangeFirst.length && this.rangeFirst[r] <= to; r++)
      if (this.rangeLast[r] >= from) found.push(r);
    return found;
  }

  accessOf(i, reg) {
    for (let t = this.touchStart[i]; t < this.touchStart[i + 1]; t++)
      if (this.touchRegister[t] === reg) return this.touchAccess[t];
    return 0;
  }

  // [instruction, access] pairs of a register, in order.
  touchesOf(reg) {
    if (!this.touchesByRegister) {
      this.touchesByRegister = this.registerList.map(() => []);
      for (let i = 0; i < this.count; i++)
        for (let t = this.touchStart[i]; t < this.touchStart[i + 1]; t++)
          this.touchesByRegister[this.touchRegister[t]].push([i, this.touchAccess[t]]);
    }
    return this.touchesByRegister[reg];
  }

  // Of the value that a register holds at an instruction, in layout order: the write before it (its own, where it only
  // writes), and the last read up to the next write; how many instructions write and read the register at all.
  valueAt(reg, i) {
    const value = { definition: NONE, lastUse: NONE, writes: 0, reads: 0 };
    let passed = false;
    for (const [at, access] of this.touchesOf(reg)) {
      value.writes += access & WRITE ? 1 : 0;
      value.reads += access & READ ? 1 : 0;
      const before = at < i || (at === i && !(access & READ));
      if (access & WRITE && before) {
        value.definition = at;
        value.lastUse = NONE;
      }
      if (access & READ && !passed) value.lastUse = at;
      if (access & WRITE && !before) passed = true;
    }
    return value;
  }

  peakOf(instructions) {
    let best = NONE;
    for (const i of instructions) if (best === NONE || this.liveAt[i] > this.liveAt[best]) best = i;
    return best;
  }
}

function sourceKey(file, line) {
  return file * 0x1000000 + line;
}

function sums(text) {
  const column = new Column(text),
    values = [];
  for (let at = 0; column.more();) values.push((at += column.next()));
  return values;
}

// ---- source texts ---------------------------------------------------------------------------------------------------

// The text of a file (from 1) as a Map of line to text, or null.
function readSourceText(file) {
  const data = readJson("source" + (file - 1));
  if (!data) return null;
  const lines = new Map();
  for (const [first, text] of data.segments) text.split(/\r\n|\r|\n/).forEach((line, i) => lines.set(first + i, line));
  return lines;
}
