// The filters of the page hide table rows, table cells and chart marks that do not match.
// Each of these names what it shows in data-test_case, data-density, data-disk_type, data-verdict (of a
// trial) and data-claim (a finding's verdict). A chart without visible marks is hidden as a whole.
"use strict";
window.pageFilters = () => {
  const KEYS = ["test_case", "density", "disk_type"];
  const form = document.getElementById("filters");
  const selects = Object.fromEntries([...KEYS, "verdict"].map((key) => [key, document.getElementById(`filter-${key}`)]));
  const MARKED = ["test_case", "density", "disk_type", "verdict", "claim"].map((key) => `#charts [data-${key}]`).join(", ");

  function wanted() {
    const [key, name] = selects.verdict.value.split(":");
    const found = Object.fromEntries(KEYS.map((one) => [one, selects[one].value]));
    return { ...found, ...(name ? { [key]: name } : {}) };
  }

  const fits = (has, want) =>
    Object.entries(want).every(([key, value]) => !value || has[key] === undefined || has[key] === value);

  function apply() {
    const want = wanted();
    for (const one of document.querySelectorAll(MARKED)) one.toggleAttribute("hidden", !fits(one.dataset, want));
    for (const chart of document.querySelectorAll('#charts [data-state="static"]')) {
      const marks = [...chart.querySelectorAll("[data-test_case]")];
      chart.closest(".panel").hidden = marks.length > 0 && marks.every((one) => one.hasAttribute("hidden"));
    }
    for (const figure of document.querySelectorAll("#charts figure")) {
      figure.hidden = [...figure.querySelectorAll(".panel")].every((panel) => panel.hidden);
    }
    const rows = [...document.querySelectorAll("#trial-table tbody tr")];
    document.getElementById("filter-count").value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} trials`;
    document.documentElement.dataset.filtered = String(Object.values(want).some(Boolean));
    document.documentElement.dataset.filters = `${Number(document.documentElement.dataset.filters ?? 0) + 1}`;
  }

  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));  // the selects change after this event
  form.hidden = false;
  if (Object.values(wanted()).some(Boolean)) apply();  // a reloaded page keeps its selects
};
