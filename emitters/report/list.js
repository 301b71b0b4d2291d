// A list of which only the rows in view are elements: 100,000 rows cost no more than fifty. Keys move the selection:
// arrows, Page Up and Down, Home, End.

class RowList {
  // render(index, element) fills a row; pick(index) is told of clicks and keys, point(index or NONE) of the pointer.
  constructor(container, label, { render, pick, point }) {
    this.container = container;
    this.render = render;
    this.pick = pick;
    this.point = point;
    this.count = 0;
    this.selected = NONE;
    this.rows = new Map(); // by index
    this.rowHeight = 18;
    this.canvas = element("div", "list-canvas");
    container.className += " list";
    container.tabIndex = 0;
    container.setAttribute("role", "listbox");
    container.setAttribute("aria-label", label);
    container.append(this.canvas);
    container.addEventListener("scroll", () => this.draw());
    container.addEventListener("keydown", (event) => this.key(event));
    container.addEventListener("click", (event) => this.told(event, pick));
    container.addEventListener("mouseover", (event) => point && this.told(event, point));
    container.addEventListener("mouseleave", () => point && point(NONE));
    new ResizeObserver(() => this.draw()).observe(container);
  }

  told(event, listener) {
    const row = event.target.closest(".row");
    if (row) listener(Number(row.dataset.index));
  }

  // Of so many rows, `width` characters wide, whose line numbers go up to `last`.
  reset(count, width, last) {
    this.container.style.setProperty("--digits", String(last || 0).length);
    this.count = count;
    this.selected = NONE;
    this.canvas.style.height = count * this.rowHeight + "px";
    this.canvas.style.minWidth = width ? width + "ch" : "";
    this.container.scrollTop = 0;
    this.refresh();
  }

  refresh() {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.draw();
  }

  draw() {
    const top = this.container.scrollTop,
      height = this.container.clientHeight;
    const first = Math.max(0, Math.floor(top / this.rowHeight) - 6);
    const last = Math.min(this.count - 1, Math.ceil((top + height) / this.rowHeight) + 6);
    for (const [index, row] of this.rows)
      if (index < first || index > last) {
        row.remove();
        this.rows.delete(index);
      }
    for (let index = first; index <= last; index++) if (!this.rows.has(index)) this.make(index);
  }

  make(index) {
    const row = element("div", "row");
    row.id = this.container.id + "-" + index;
    row.dataset.index = index;
    row.style.top = index * this.rowHeight + "px";
    row.setAttribute("role", "option");
    row.setAttribute("aria-setsize", this.count);
    row.setAttribute("aria-posinset", index + 1);
    row.setAttribute("aria-selected", index === this.selected);
    this.render(index, row);
    this.rows.set(index, row);
    this.canvas.append(row);
  }

  select(index, show) {
    this.selected = index;
    if (show && index !== NONE) this.show(index);
    this.refresh();
    if (index === NONE) this.container.removeAttribute("aria-activedescendant");
    else this.container.setAttribute("aria-activedescendant", this.container.id + "-" + index);
  }

  // Into the middle, where it is not in view already.
  show(index) {
    const top = index * this.rowHeight,
      height = this.container.clientHeight;
    if (top < this.container.scrollTop + this.rowHeight || top > this.container.scrollTop + height - 2 * this.rowHeight)
      this.container.scrollTop = Math.max(0, top - height / 2);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.container.clientHeight / this.rowHeight) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count };
    const step = steps[event.key];
    if (!step || !this.count || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const from = this.selected === NONE ? (step > 0 ? -1 : this.count) : this.selected;
    this.pick(Math.min(this.count - 1, Math.max(0, from + step)), step);
  }
}

// ---- elements -------------------------------------------------------------------------------------------------------

// Texts of the user go into the document as text nodes only, never as markup.
function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function titled(made, title) {
  made.title = title;
  return made;
}

function button(text, title, action) {
  const made = titled(element("button", "", text), title);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

function table(className, heads, rows) {
  const head = element(
    "tr",
    "",
    ...heads.map((text) => {
      const cell = element("th", "", text);
      cell.scope = "col";
      return cell;
    }),
  );
  return element("table", className, element("thead", "", head), element("tbody", "", ...rows));
}

function tableRow(cells) {
  return element(
    "tr",
    "",
    ...cells.map((cell) => {
      const made = element("td", typeof cell === "number" ? "num" : "");
      made.append(typeof cell === "number" ? String(cell) : cell === null ? "" : cell);
      return made;
    }),
  );
}
