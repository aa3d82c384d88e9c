// Inside a trial: fills the specs of analysis/report/charts/inside.py with the chosen trial's numbers.
// Every row keeps `ref`, its place in summary.json. `load` promises { summary, charts }, and Vega with them: all
// three are large, so nothing is loaded before a reader comes near the section or chooses a trial.
"use strict";
window.drillDown = (load, draw) => {
  const NEAR_PX = 600;
  const MOST = 6;  // looks of series in palette.py
  const ALIGNED_PX = 110;  // of a chart in one column; all have the same axis of time
  let summary, charts;
  const PARTS = ["user", "system", "iowait", "steal", "idle"];
  const SCOPES = { "host": "the whole machine", "node": "its own processes", "client": "load generator", "monitor": "samplers" };
  const NAMES = { "host": (name) => `host ${name}`, "client": () => "the client", "monitor": () => "the monitors" };
  const RATES = {
    operations: "successful operations", requested: "requested operations", transferred: "TestDFSIO, all maps",
    longest_operation: "longest operation", disk_read: "read by the disks", disk_write: "written by the disks",
  };
  const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const quantity = (value, unit) => (value == null ? "not known" : `${digits.format(value)}\u00a0${unit}`);
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  function cpuChart(one, ref, step) {
    const rows = PARTS.flatMap((kind, stack) => (one[kind] ?? []).map((value, place) => ({
      ref: `${ref}/${kind}/${place}`, at: one.at_s[place], end: one.at_s[place] + step, kind, stack, value,
      tip: `second ${one.at_s[place]}, ${kind}: ${quantity(value, "%")}`,
    }))).filter((row) => row.value != null);
    const known = PARTS.filter((part) => one[part]);
    const [kind, name] = one.scope.split(":");
    return {
      shape: "cpu", rows, title: `CPU of ${NAMES[kind]?.(name) ?? name ?? kind}`, subtitle: SCOPES[kind] ?? one.scope,
      head: ["Second", ...known],
      body: one.at_s.map((at, place) => [at, ...known.map((part) => quantity(one[part][place], "%"))]),
    };
  }

  function rateChart(names, title, rates, ref, step) {
    const chosen = rates.map((rate, place) => [rate, place]).filter(([rate]) => names.includes(rate.name));
    if (!chosen.length) return null;
    return {
      shape: "rate", title, unit: chosen[0][0].unit,
      rows: chosen.flatMap(([rate, at]) =>
        points(rate, rate.rate, `${ref}/${at}/rate`, rate.name, RATES[rate.name], step)),
      subtitle: chosen.length > 1 ? "" : RATES[chosen[0][0].name],  // a legend names several
      series: chosen.map(([rate]) => [RATES[rate.name], rate.name]),
      ...numbers(chosen.map(([rate]) => [RATES[rate.name], rate, rate.rate])),
    };
  }

  // The rows of a line: one per second; a null row breaks it at a gap.
  const points = (one, values, ref, series, words, step) => one.at_s.flatMap((second, place) => {
    const row = {
      ref: `${ref}/${place}`, at: second + step / 2, series, value: values[place],
      tip: `second ${second}, ${words}: ${quantity(values[place], one.unit)}`,
    };
    const gap = one.at_s[place + 1] > second + step ? [{ at: second + step, series, value: null }] : [];
    return [row, ...gap];
  });

  // The same lines as a table. lines: words, series, values.
  function numbers(lines) {
    const seconds = [...new Set(lines.flatMap(([, one]) => one.at_s))].sort((a, b) => a - b);
    const cell = ([, one, values], second) => quantity(values[one.at_s.indexOf(second)], one.unit);
    return {
      head: ["Second", ...lines.map(([words]) => words)],
      body: seconds.map((second) => [second, ...lines.map((line) => cell(line, second))]),
    };
  }

  // A panel for each chart of the devices; more than MOST series are split, for a panel has that many looks.
  function deviceCharts(series, ref, step) {
    const charts = new Map();
    const labelsOf = (chart) => new Set(series.filter((one) => one.chart === chart).map((one) => one.label));
    series.forEach((one, at) => {
      // either several metrics of one source, or one metric of several sources
      const key = JSON.stringify([one.chart, one.unit, ...labelsOf(one.chart).size > 1 ? [one.host, one.source] : []]);
      charts.set(key, [...(charts.get(key) ?? []), [one, at]]);
    });
    const parts = [...charts.values()].flatMap((all) =>
      Array.from({ length: Math.ceil(all.length / MOST) }, (_, part) => all.slice(part * MOST, (part + 1) * MOST)));
    return parts.map((chosen) => {
      const sources = new Set(chosen.map(([one]) => `${one.host} ${one.source}`));
      const labels = new Set(chosen.map(([one]) => one.label));
      const where = (one) => (one.source === "host" ? one.host : one.source);
      const name = (one) => (sources.size > 1 ? where(one) : one.label);
      const [first] = chosen[0];
      return {
        shape: "device", unit: first.unit === "percent" ? "%" : first.unit, title: first.chart,
        subtitle: sources.size === 1 ? where(first) : labels.size === 1 ? first.label : "",
        rows: chosen.flatMap(([one, at], place) => points(one, one.value, `${ref}/${at}/value`, String(place), name(one), step)),
        series: chosen.map(([one], place) => [name(one), String(place)]),
        ...numbers(chosen.map(([one]) => [name(one), one, one.value])),
      };
    });
  }

  function latencyChart(curves, ref) {
    if (!curves.length) return null;
    const name = (curve) => `${curve.operation}, ${curve.latency_kind}`;
    const rows = curves.flatMap((curve, at) => curve.percentile.map((percentile, place) => ({
      ref: `${ref}/${at}/ms/${place}`, percentile, part: 100 / (100 - percentile), series: String(at),
      value: curve.ms[place], tip: `${name(curve)}: ${percentile} % within ${quantity(curve.ms[place], "ms")}`,
    }))).filter((row) => row.value > 0);
    const all = [...new Set(curves.flatMap((curve) => curve.percentile))].sort((a, b) => a - b);
    return {
      shape: "latency", rows, title: "Latency by percentile", subtitle: "of merged histograms",
      series: curves.map((curve, at) => [name(curve), String(at)]),
      head: ["Percentile", ...curves.map(name)],
      body: all.map((one) => [`${one} %`, ...curves.map((c) => quantity(c.ms[c.percentile.indexOf(one)], "ms"))]),
    };
  }

  function chartsOf(place) {
    const one = summary.series[place];
    const ref = `/series/${place}`;
    const rates = one.rates ?? [];
    return [
      rateChart(["operations", "requested"], "Throughput by second", rates, `${ref}/rates`, one.step_s),
      rateChart(["transferred"], "Throughput by second", rates, `${ref}/rates`, one.step_s),
      rateChart(["longest_operation"], "Latency by second", rates, `${ref}/rates`, one.step_s),
      rateChart(["disk_read", "disk_write"], "Disks by second", rates, `${ref}/rates`, one.step_s),
      latencyChart(one.latency ?? [], `${ref}/latency`),
      ...(one.cpu ?? []).map((cpu, at) => [cpu, at]).sort(([a], [b]) => a.scope.localeCompare(b.scope))
        .sort(([a], [b]) => Number(b.scope.startsWith("host:")) - Number(a.scope.startsWith("host:")))
        .map(([cpu, at]) => cpuChart(cpu, `${ref}/cpu/${at}`, one.step_s)),
      ...deviceCharts(one.devices ?? [], `${ref}/devices`, one.step_s),
    ].filter((chart) => chart?.rows.length);
  }

  // The workload's window: 0 to measure_s, and the end of its ramp-up.
  function windowRows(trial) {
    const rows = [{ at: 0, label: "" }];  // the axis title names the start
    if (trial.warm_up_s) rows.push({ at: trial.warm_up_s, label: "ramp-up ends" });
    if (trial.measure_s != null) rows.push({ at: trial.measure_s, label: "end" });
    return rows;
  }

  // Slow seconds, and the events of daemons, as spans of time.
  const markRows = (one) => [
    ...(one.slow ?? []).map((spell) => ({ at: spell.first, end: spell.last + 1, kind: "slow", tip: spell.sentence })),
    ...(one.events ?? []).map((event) => ({
      at: event.start_s, end: event.end_s, kind: "event", tip: `${event.source}: ${event.kind}, ${event.what}`,
    })),
  ];

  // The same events as a table; null: there is none.
  function eventTable(one) {
    if (!(one.events ?? []).length) return null;
    const body = one.events.map((event) =>
      [digits.format(event.start_s), quantity(1000 * (event.end_s - event.start_s), "ms"), event.source, event.kind, event.what]);
    const head = ["Second", "Lasted", "Daemon", "Event", "What"];
    return numbersOf({ title: "Pauses, flushes and compactions", subtitle: "the longest", head, body });
  }

  // The seconds that the charts of a trial with devices have in common; null: each chart has its own.
  function timeAxis(one) {
    if (![...one.devices ?? [], ...one.events ?? []].length) return null;
    const all = [...one.cpu ?? [], ...one.rates ?? [], ...one.devices ?? []].flatMap((series) => series.at_s);
    const [low, high] = all.reduce(([low, high], at) => [Math.min(low, at), Math.max(high, at)], [0, 0]);
    return [low, high + one.step_s];
  }

  function spec(chart, trial, axis, marks) {
    const made = structuredClone(charts.shapes[chart.shape]);
    if (axis) {
      made.height = ALIGNED_PX;
      made.layer.forEach(({ encoding }) => {
        if (encoding?.y?.axis) Object.assign(encoding.y.axis, { minExtent: 48, maxExtent: 48 });
        if (chart.shape !== "latency") encoding.x.scale = { domain: axis, nice: false };
      });
    }
    made.datasets[charts.data] = chart.rows;
    if ("window" in made.datasets) {
      Object.assign(made.datasets, { window: windowRows(trial), marks });
      if (!marks.length) made.layer.shift();  // Vega warns of a layer without rows
    }
    if (chart.unit) made.layer.forEach((layer) => {
      if (layer.encoding?.y?.axis) layer.encoding.y.axis.title = chart.unit;
    });
    return made;
  }

  function table(chart) {
    const head = element("tr", {}, ...chart.head.map((text, place) =>
      element("th", { scope: "col", class: place ? "num" : "" }, text)));
    const rows = chart.body.map((cells) => element("tr", {}, ...cells.map((text, place) =>
      element(place ? "td" : "th", place ? { class: "num" } : { scope: "row" }, String(text)))));
    const caption = element("caption", {}, [chart.title, chart.subtitle, "numbers"].filter(Boolean).join(", "));
    return element("table", {}, caption, element("thead", {}, head), element("tbody", {}, ...rows));
  }

  function panel(chart, id, trial, axis) {
    const values = chart.rows.map((row) => row.value).filter((value) => value != null);
    const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => digits.format(value));
    const amount = values.length === 1 ? `1 value, ${low}` : `${values.length} values from ${low} to ${high}`;
    const label = `${[chart.title, chart.subtitle].filter(Boolean).join(", ")}, trial ${trial.trial}: ${amount}. `
      + "The numbers are in the table below.";
    const named = chart.series ?? [];
    const legend = (named.length === 1 && named[0][0] === chart.subtitle ? [] : named).map(([words, key]) =>
      element("li", {}, symbol(chart.shape, key), ` ${words}`));
    const height = axis ? ALIGNED_PX : charts.shapes[chart.shape].height;
    const box = element("div", {
      class: "chart", role: "img", "data-chart": id, "data-state": "empty", "aria-label": label,
      style: `height: ${height}px`,
    });
    const title = element("h3", {}, chart.title, element("span", {}, chart.subtitle));
    return element("div", { class: "panel" }, title, element("ul", { class: "legend" }, ...legend), box, numbersOf(chart));
  }

  const numbersOf = (chart) => element("details", { class: "data" },
    element("summary", {}, chart.shape ? "Numbers" : chart.title),
    element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": `${chart.title}, numbers` },
      table(chart)));

  // Copies a legend symbol that the page's template has drawn.
  function symbol(shape, key) {
    return document.getElementById(`symbol-${shape}-${key}`)?.firstElementChild.cloneNode(true) ?? "";
  }

  const room = document.getElementById("inside-charts");

  async function show(place) {
    near.disconnect();
    room.dataset.state = "drawing";
    ({ summary, charts } = await load());
    if (place !== Number(chooser.value)) return;  // another trial was chosen meanwhile
    const trial = summary.trials.find((one) => one.trial === summary.series[place].trial);
    const found = chartsOf(place);
    for (const name of Object.keys(window.reportViews).filter((name) => name.startsWith("inside-"))) {
      window.reportViews[name].finalize();
      delete window.reportViews[name];
    }
    room.dataset.trial = trial.trial;
    room.dataset.state = "drawing";
    const marks = markRows(summary.series[place]);
    const axis = timeAxis(summary.series[place]);
    room.classList.toggle("aligned", axis !== null);
    room.replaceChildren(...found.map((chart, at) => panel(chart, `inside-${at}`, trial, axis)),
      ...[eventTable(summary.series[place])].filter(Boolean));
    const boxes = [...room.querySelectorAll("[data-chart]")];
    for (const [at, chart] of found.entries()) {
      if (room.dataset.trial !== trial.trial || !boxes[at].isConnected) return;  // another trial was chosen meanwhile
      await draw(boxes[at], spec(chart, trial, axis, marks));
    }
    const facts = document.getElementById("inside-facts");
    const step = summary.series[place].step_s;
    facts.value = `${trial.verdict}, ${trial.state}; each point is ${step === 1 ? "one second" : `the mean of ${step} seconds`}.`;
    room.dataset.state = "drawn";
  }

  const chooser = document.getElementById("inside-trial");
  if (!chooser) return;
  const near = new IntersectionObserver(
    (seen) => { if (seen.some((one) => one.isIntersecting)) show(Number(chooser.value)); },
    { rootMargin: `${NEAR_PX}px` },
  );
  chooser.addEventListener("change", () => show(Number(chooser.value)));
  document.getElementById("trial-table").addEventListener("click", (event) => {
    const button = event.target.closest("[data-inside]");
    if (!button) return;
    chooser.value = button.dataset.inside;
    show(Number(chooser.value));
    document.getElementById("inside").scrollIntoView();
    chooser.focus({ preventScroll: true });
  });
  document.querySelectorAll("[data-inside], #inside form").forEach((one) => { one.hidden = false; });
  near.observe(document.getElementById("inside"));
};
