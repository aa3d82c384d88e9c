// Draws every chart over its pre-rendered picture, and makes the table of trials sort and filter.
// What happened is told in attributes that a test reads: <html data-charts data-errors>, and
// data-state and data-marks of each chart. Views are kept in window.reportViews, by chart.
"use strict";
(() => {
  const root = document.documentElement;
  window.reportViews = {};

  const count = () => { root.dataset.errors = String(Number(root.dataset.errors) + 1); };
  window.addEventListener("error", count);
  window.addEventListener("unhandledrejection", count);

  const marks = (chart) =>
    [...chart.querySelectorAll(".role-mark *")].filter((mark) => mark.__data__?.datum?.ref).length;

  async function draw(chart, { config, specs }) {
    const spec = specs[chart.dataset.chart];
    const options = { renderer: "svg", actions: false, config, tooltip: { theme: "report" } };
    const { view } = await vegaEmbed(chart, spec, options);
    window.reportViews[chart.dataset.chart] = view;
    chart.dataset.marks = String(marks(chart));
    chart.dataset.state = "drawn";
  }

  // One at a time, with a breath between: the page answers to scrolling and keys meanwhile.
  async function drawAll() {
    const charts = JSON.parse(document.getElementById("charts-data").textContent);
    for (const chart of document.querySelectorAll("[data-chart]")) {
      try {
        await draw(chart, charts);
      } catch (error) {
        chart.dataset.state = "failed";
        count();
        console.error(chart.dataset.chart, error);
      }
      await new Promise((resume) => setTimeout(resume));
    }
    root.dataset.charts = "drawn";
  }

  function sortable(table) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const compare = comparison(head.dataset.sort, column);
        body.append(...[...body.rows].sort((a, b) => (up ? compare(a, b) : compare(b, a))));
      });
    });
  }

  function comparison(kind, column) {
    if (kind === "number") {
      const value = (row) => Number(row.cells[column].dataset.value);
      return (a, b) => value(a) - value(b);
    }
    return (a, b) => a.cells[column].textContent.localeCompare(b.cells[column].textContent);
  }

  function filterable(table) {
    const selects = ["workload", "verdict"].map((name) => document.getElementById(`filter-${name}`));
    const shown = document.getElementById("filter-count");
    const apply = () => {
      const [workload, verdict] = selects.map((select) => select.value);
      let visible = 0;
      for (const row of table.tBodies[0].rows) {
        const fits = (!workload || row.dataset.workload === workload)
          && (!verdict || row.dataset.verdict === verdict);
        row.hidden = !fits;
        visible += Number(fits);
      }
      shown.value = `${visible} of ${table.tBodies[0].rows.length} trials`;
    };
    selects.forEach((select) => select.addEventListener("change", apply));
    document.querySelector(".filters").hidden = false;
    apply(); // a reloaded page keeps its selects
  }

  const table = document.getElementById("trial-table");
  sortable(table);
  filterable(table);
  drawAll();
})();
