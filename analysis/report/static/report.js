// Draws the charts inside a trial, and makes the table of trials sortable. All other charts are SVG.
// Attributes report the outcome, for tests: <html data-charts data-errors>, and data-state and
// data-marks of each chart drawn. window.reportViews holds the views by chart.
"use strict";
(() => {
  const root = document.documentElement;
  window.reportViews = {};

  const count = () => { root.dataset.errors = String(Number(root.dataset.errors) + 1); };
  window.addEventListener("error", count);
  window.addEventListener("unhandledrejection", count);

  const marks = (chart) =>
    [...chart.querySelectorAll(".role-mark *")].filter((mark) => mark.__data__?.datum?.ref).length;

  // JSON embedded in the page, decompressed if it was compressed for its length.
  async function embedded(id) {
    const { textContent, dataset } = document.getElementById(id);
    if (dataset.encoding === "none") return JSON.parse(textContent);
    const bytes = Uint8Array.from(atob(textContent), (sign) => sign.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(dataset.encoding));
    return JSON.parse(await new Response(unpacked).text());
  }

  async function draw(chart, spec, config) {
    const options = { renderer: "svg", actions: false, config, tooltip: { theme: "report" } };
    // Vega would replace the chart's description and role with its own.
    const description = chart.getAttribute("aria-label");
    const { view } = await vegaEmbed(chart, { ...spec, description }, options);
    chart.setAttribute("role", "img");
    window.reportViews[chart.dataset.chart] = view;
    chart.dataset.marks = String(marks(chart));
    chart.dataset.state = "drawn";
  }

  async function drawOrReport(chart, spec, config) {
    try {
      await draw(chart, spec, config);
    } catch (error) {
      chart.dataset.state = "failed";
      count();
      console.error(chart.dataset.chart, error);
    }
    await new Promise((resume) => setTimeout(resume));
  }

  // One chart at a time, yielding in between, so that the page stays responsive.
  async function drawAll() {
    pageFilters();
    const charts = await embedded("charts-data");
    const drawInside = (chart, spec) => drawOrReport(chart, spec, charts.config);
    await drillDown(await embedded("summary"), charts, drawInside);
    root.dataset.charts = "drawn";
  }

  window.sortable(document.getElementById("trial-table"));
  window.reportData = embedded;
  drawAll();
})();
