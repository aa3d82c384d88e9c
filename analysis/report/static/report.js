// Draws the charts inside a trial, and makes the table of trials sortable. All other charts are SVG.
// Attributes report the outcome, for tests: <html data-ready data-errors>, and data-state and
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
    chart.querySelector("svg").setAttribute("aria-hidden", "true");  // the chart's description says it
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

  // Vega is 0.9 MB of script, packed as data. The page's policy allows this text by its hash.
  async function runVega() {
    const script = document.createElement("script");
    script.textContent = await embedded("vega");
    document.head.append(script);
  }

  let loaded;
  const load = () => (loaded ??= Promise.all([embedded("summary"), embedded("charts-data"), runVega()])
    .then(([summary, charts]) => ({ summary, charts })));

  window.sortable(document.getElementById("trial-table"));
  window.reportData = embedded;
  pageFilters();
  drillDown(load, async (chart, spec) => drawOrReport(chart, spec, (await load()).charts.config));
  // ready: drawn once with everything above in place, and free for the reader's input
  requestAnimationFrame(() => setTimeout(() => {
    performance.mark("ready");
    root.dataset.ready = "true";
  }));
})();
