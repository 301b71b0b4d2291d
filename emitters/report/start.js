// The start: the table of kernels gets its links and sorting, and the address says which kernel and instruction is
// shown.

document.addEventListener("DOMContentLoaded", () => {
  const module = readJson("module"),
    detail = document.getElementById("detail");
  let view = null;

  function asked() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const number = (name) => (/^\d+$/.test(parts.get(name) || "") ? Number(parts.get(name)) : NONE);
    return { kernel: Math.min(number("kernel"), module.kernels - 1), i: number("i") };
  }

  function show(kernel, i) {
    if (!view || view.kernel.index !== kernel) {
      detail.replaceChildren();
      view = new KernelView(detail, new Kernel(kernel), module);
      document.querySelectorAll("a[data-kernel]").forEach((link) => {
        const current = Number(link.dataset.kernel) === kernel;
        link.closest("tr").classList.toggle("current", current);
        if (current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
    }
    if (i !== NONE && i < view.kernel.count && i !== view.selected) view.select(i, false);
  }

  function followAddress() {
    const { kernel, i } = asked();
    if (module.kernels) show(kernel === NONE ? module.start : kernel, i);
  }

  function sortKey(cell) {
    const text = cell.dataset.sort || cell.textContent;
    return Number.isNaN(Number.parseFloat(text)) ? text : Number.parseFloat(text);
  }

  // The most important first: descending for numbers, ascending for names; again turns it round.
  function sortBy(head, column) {
    const body = head.closest("table").tBodies[0],
      rows = [...body.rows];
    const before = head.getAttribute("aria-sort"),
      text = column === 0;
    const down = before ? before === "ascending" : !text;
    const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? 1 : -1);
    rows.sort((a, b) => compare(sortKey(a.cells[column]), sortKey(b.cells[column])) * (down ? -1 : 1));
    head.parentNode.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  }

  document.querySelectorAll("table.kernels thead th").forEach((head) => {
    const column = head.cellIndex;
    if (column === 1) return;
    const text = head.textContent;
    head.replaceChildren(button(text, head.title || `Sort by ${text}`, () => sortBy(head, column)));
  });
  document.addEventListener("keydown", (event) => {
    if (
      !view ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
    )
      return;
    if (event.key === "p") view.toPeak();
    if (event.key === "+" || event.key === "=") view.curve.zoom(1 / 3);
    if (event.key === "-") view.curve.zoom(3);
  });
  const redraw = () => view && view.curve.draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", redraw);
  window.addEventListener("afterprint", redraw);
  window.addEventListener("hashchange", followAddress);
  followAddress();
});
