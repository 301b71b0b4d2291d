// The pressure curve, the heat strips beneath it, and the chart of occupancy by block size.

const SVG = "http://www.w3.org/2000/svg";

function colour(name) {
  return getComputedStyle(document.documentElement)
    .getPropertyValue("--" + name)
    .trim();
}

// A round step so that there are four to eight of them.
function tickStep(most) {
  for (let scale = 1; ; scale *= 10) for (const step of [1, 2, 5]) if (most / (step * scale) <= 7) return step * scale;
}

// Live words over the instructions from..to of a kernel, drawn on a canvas; pick(instruction) is told of clicks and
// keys.
class Curve {
  constructor(canvas, { pick, point }) {
    this.canvas = canvas;
    this.pick = pick;
    this.kernel = null;
    this.selected = this.pointed = NONE;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "slider");
    canvas.setAttribute("aria-label", "Instruction on the pressure curve");
    canvas.addEventListener("click", (event) => this.kernel && pick(this.at(event)));
    canvas.addEventListener("mousemove", (event) => this.kernel && point(this.at(event)));
    canvas.addEventListener("mouseleave", () => point(NONE));
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(kernel) {
    this.kernel = kernel;
    this.from = 0;
    this.to = Math.max(0, kernel.count - 1);
    this.selected = this.pointed = NONE;
    this.canvas.setAttribute("aria-valuemin", 0);
    this.canvas.setAttribute("aria-valuemax", this.to);
    this.draw();
  }

  // By a factor, around what is selected.
  zoom(factor) {
    const k = this.kernel,
      all = k.count,
      span = Math.min(all, Math.max(24, Math.round((this.to - this.from + 1) * factor)));
    const middle = this.selected === NONE ? (this.from + this.to) / 2 : this.selected;
    this.from = Math.max(0, Math.min(all - span, Math.round(middle - span / 2)));
    this.to = Math.max(0, this.from + span - 1);
    this.draw();
  }

  mark(selected, pointed) {
    this.selected = selected;
    this.pointed = pointed;
    const k = this.kernel;
    if (selected !== NONE && (selected < this.from || selected > this.to)) {
      const span = this.to - this.from;
      this.from = Math.max(0, Math.min(k.count - 1 - span, Math.round(selected - span / 2)));
      this.to = this.from + span;
    }
    if (selected !== NONE) {
      this.canvas.setAttribute("aria-valuenow", selected);
      this.canvas.setAttribute("aria-valuetext", `instruction ${selected}: ${k.liveAt[selected]} live registers`);
    }
    this.draw();
  }

  key(event) {
    const k = this.kernel,
      page = Math.max(1, Math.round((this.to - this.from) / 20));
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1, PageUp: -page, PageDown: page };
    const ends = { Home: 0, End: k ? k.count - 1 : 0 };
    if (!k || !k.count || event.ctrlKey || event.metaKey || event.altKey || !(event.key in steps || event.key in ends))
      return;
    event.preventDefault();
    const now = this.selected === NONE ? 0 : this.selected + (steps[event.key] || 0);
    this.pick(event.key in ends ? ends[event.key] : Math.min(k.count - 1, Math.max(0, now)));
  }

  get plot() {
    const depth = 6,
      strip = 10;
    return { left: 40, right: 10, top: 20, bottom: this.height - 22 - 2 * strip - 8 - depth, strip, depth };
  }

  x(i) {
    const { left, right } = this.plot;
    return left + ((i - this.from) / (this.to - this.from + 1)) * (this.width - left - right);
  }

  // The instruction under the pointer; of several, the one that needs most.
  at(event) {
    const box = this.canvas.getBoundingClientRect(),
      { left, right } = this.plot,
      span = this.to - this.from + 1;
    const scale = span / (box.width - left - right),
      x = event.clientX - box.left - left;
    const clamp = (i) => Math.min(this.to, Math.max(this.from, i));
    const first = clamp(this.from + Math.floor(x * scale)),
      last = clamp(this.from + Math.ceil((x + 1) * scale) - 1);
    let best = first;
    for (let i = first; i <= last; i++) if (this.kernel.liveAt[i] > this.kernel.liveAt[best]) best = i;
    return best;
  }

  draw() {
    if (!this.kernel || !this.canvas.clientWidth) return;
    const ratio = Math.max(window.devicePixelRatio || 1, 1);
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const c = (this.context = this.canvas.getContext("2d"));
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    c.font = "11px system-ui, sans-serif";
    this.most = Math.max(1, this.kernel.max_pressure);
    this.gather();
    this.drawDepth();
    this.drawAxes();
    this.drawCurve();
    this.drawStrips();
    this.drawMarks();
  }

  // By pixel column: the most of live words and of loop depth, and the block that needs most.
  gather() {
    const k = this.kernel,
      { left, right } = this.plot,
      columns = Math.max(1, Math.floor(this.width - left - right));
    const span = this.to - this.from + 1,
      key = [k.index, this.from, this.to, columns].join();
    if (key === this.gathered) return;
    this.gathered = key;
    this.live = new Uint32Array(columns);
    this.depth = new Uint16Array(columns);
    this.block = new Uint32Array(columns);
    for (let x = 0; x < columns && k.count; x++) {
      const first = this.from + Math.floor((x * span) / columns);
      const end = Math.max(first + 1, this.from + Math.floor(((x + 1) * span) / columns));
      for (let i = first; i < end && i < k.count; i++) {
        this.live[x] = Math.max(this.live[x], k.liveAt[i]);
        this.depth[x] = Math.max(this.depth[x], k.depthOf[i]);
        this.block[x] = Math.max(this.block[x], k.blockPressure[k.blockOf[i]]);
      }
    }
  }

  y(words) {
    const { top, bottom } = this.plot;
    return bottom - (words / this.most) * (bottom - top);
  }

  // Each run of equal values as one rectangle.
  runs(values, draw) {
    for (let x = 0, end; x < values.length; x = end) {
      for (end = x + 1; end < values.length && values[end] === values[x];) end++;
      draw(this.plot.left + x, end - x, values[x]);
    }
  }

  drawDepth() {
    const { top, bottom, depth } = this.plot,
      c = this.context,
      most = Math.max(1, this.kernel.deepest);
    c.fillStyle = colour("loop");
    this.runs(this.depth, (x, width, level) => {
      c.globalAlpha = level ? 0.07 + (0.16 * level) / most : 0;
      c.fillRect(x, top, width, bottom - top);
      c.globalAlpha = level ? 0.35 + (0.65 * level) / most : 0;
      c.fillRect(x, bottom + 1, width, depth - 2);
    });
    c.globalAlpha = 1;
  }

  drawAxes() {
    const { left, right } = this.plot,
      c = this.context,
      k = this.kernel;
    c.fillStyle = colour("muted");
    c.strokeStyle = colour("grid");
    c.lineWidth = 1;
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (let words = 0, step = tickStep(this.most); words <= this.most; words += step) {
      const y = Math.round(this.y(words)) + 0.5;
      c.beginPath();
      c.moveTo(left, y);
      c.lineTo(this.width - right, y);
      c.stroke();
      c.fillText(String(words), left - 6, y);
    }
    c.textAlign = "left";
    c.textBaseline = "alphabetic";
    if (this.width >= 480) c.fillText("live registers", 4, 11); // else the maximum has the line
    const span = this.to - this.from + 1,
      step = Math.max(1, tickStep(span * (700 / Math.max(300, this.width))));
    c.textAlign = "center";
    for (let i = Math.ceil(this.from / step) * step; i <= this.to; i += step) {
      const x = this.x(i + 0.5);
      if (x < this.width - 28) c.fillText("line " + k.near(i), Math.max(x, left + 16), this.height - 4);
    }
  }

  drawCurve() {
    const { left, bottom } = this.plot,
      c = this.context;
    c.beginPath();
    c.moveTo(left, bottom);
    this.runs(this.live, (x, width, words) => {
      c.lineTo(x, this.y(words));
      c.lineTo(x + width, this.y(words));
    });
    c.lineTo(left + this.live.length, bottom);
    c.fillStyle = colour("area");
    c.fill();
    c.strokeStyle = colour("curve");
    c.lineWidth = 1.5;
    c.lineJoin = "round";
    c.stroke();
  }

  // Heat: the upper strip by instruction, the lower by block.
  drawStrips() {
    const { bottom, strip, depth } = this.plot,
      c = this.context;
    [this.live, this.block].forEach((values, row) => {
      const y = bottom + depth + 3 + row * (strip + 2);
      this.runs(values, (x, width, words) => {
        c.fillStyle = colour("strip");
        c.fillRect(x, y, width, strip);
        c.fillStyle = colour("heat");
        c.globalAlpha = heat(words, this.most);
        c.fillRect(x, y, width, strip);
        c.globalAlpha = 1;
      });
      c.fillStyle = colour("muted");
      c.textAlign = "right";
      c.textBaseline = "middle";
      c.fillText(row ? "block" : "instr", this.plot.left - 6, y + strip / 2 + 0.5);
    });
  }

  drawMarks() {
    const k = this.kernel,
      { top, bottom } = this.plot;
    if (this.pointed !== NONE && this.pointed !== this.selected) this.drawLine(this.pointed, colour("muted"), [3, 3]);
    if (this.selected !== NONE) this.drawLine(this.selected, colour("accent"), []);
    if (k.max_pressure_at !== null && k.max_pressure_at >= this.from && k.max_pressure_at <= this.to)
      this.drawPeak(this.x(k.max_pressure_at + 0.5), this.y(k.max_pressure));
    const shown = this.pointed !== NONE ? this.pointed : this.selected;
    if (shown !== NONE && top < bottom) this.drawReading(shown);
  }

  drawLine(i, ink, dash) {
    const { top, bottom, depth, strip } = this.plot,
      c = this.context,
      x = Math.round(this.x(i + 0.5)) + 0.5;
    c.strokeStyle = ink;
    c.lineWidth = 1;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(x, top - 4);
    c.lineTo(x, bottom + depth + 2 * strip + 5);
    c.stroke();
    c.setLineDash([]);
  }

  drawPeak(x, y) {
    const c = this.context,
      k = this.kernel,
      text = `maximum ${k.max_pressure} at ${k.title(k.max_pressure_at)}`;
    c.fillStyle = colour("peak");
    c.beginPath();
    c.arc(x, y, 4, 0, 2 * Math.PI);
    c.fill();
    c.strokeStyle = colour("paper");
    c.lineWidth = 1.5;
    c.stroke();
    c.fillStyle = colour("ink");
    c.font = "600 11px system-ui, sans-serif";
    c.textBaseline = "alphabetic";
    const wide = c.measureText(text).width,
      fits = x + wide + 10 < this.width - this.plot.right;
    c.textAlign = "left";
    c.fillText(text, fits ? x + 8 : Math.max(4, x - 8 - wide), 13, this.width - 8);
    c.font = "11px system-ui, sans-serif";
  }

  drawReading(i) {
    const k = this.kernel,
      depth = k.depthOf[i];
    const text =
      `${k.title(i)}: ${counted(k.liveAt[i], "register")}, ${counted(k.predicatesAt[i], "predicate")}` +
      (depth ? `, loop depth ${depth}` : "");
    this.canvas.title = text;
  }
}

// How strong the heat colour is, for words of the most: pale up to a third, so that what is high stands out.
function heat(words, most) {
  const share = most ? words / most : 0;
  return Math.min(1, 0.06 + 0.94 * share * share);
}

// ---- occupancy ------------------------------------------------------------------------------------------------------

function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Occupancy for CTAs of 32, 64 .. threads, with the kernel's own size marked.
function sweepChart(kernel) {
  const width = Math.max(280, Math.min(560, window.innerWidth - 60)), // so that its labels are not scaled down
    height = 190,
    left = 40,
    top = 12,
    bottom = height - 30,
    n = kernel.sweep.length;
  const step = (width - left - 8) / Math.max(1, n),
    y = (share) => bottom - share * (bottom - top);
  const chart = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "sweep",
    role: "img",
    "aria-label": "Occupancy by block size",
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    chart.append(svg("line", { x1: left, x2: width - 8, y1: y(share), y2: y(share), class: "grid" }));
    chart.append(svg("text", { x: left - 6, y: y(share) + 4, class: "tick end" }, `${share * 100} %`));
  }
  kernel.sweep.forEach(([ctas, warps, fraction, limiter, impossible], i) => {
    const threads = 32 * (i + 1),
      own = threads === Math.ceil(kernel.use.threads / 32) * 32;
    const bar = svg("rect", {
      x: left + i * step + 1,
      width: Math.max(1, step - 2),
      y: y(fraction),
      height: Math.max(bottom - y(fraction), 1),
      class: own ? "bar own" : "bar",
    });
    const why = impossible
      ? `cannot run: ${impossible}`
      : `${percent(fraction)}, ${ctas} CTAs, ${warps} warps, limited by ${limiter}`;
    bar.append(svg("title", {}, `${threads} threads: ${why}`));
    chart.append(bar);
    if ((i + 1) % (width < 480 ? 8 : 4) === 0)
      chart.append(svg("text", { x: left + (i + 0.5) * step, y: bottom + 14, class: "tick mid" }, String(threads)));
  });
  chart.append(svg("text", { x: (left + width) / 2, y: height - 2, class: "tick mid" }, "threads of a CTA"));
  return chart;
}

function percent(fraction) {
  return `${Number((100 * fraction).toPrecision(3))} %`;
}
