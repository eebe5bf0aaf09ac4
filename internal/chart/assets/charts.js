"use strict";
// A figure of class "chart" holds a picture and the chart's data. This script replaces
// the picture by an interactive chart: it shows the values under the pointer, a drag
// zooms in, and a double click zooms out. Without scripts the picture stays.
const charts = (() => {
  const drawn = new Map(); // figure -> its chart
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const scaled = (v, by, unit) => +(v * by).toPrecision(3) + unit;
  const label = (v, unit) => {
    if (v == null) return "–";
    const size = Math.abs(v);
    if (unit === "ms") return label(v / 1e3, "s");
    if (unit === "s" && size > 0 && size < 1e-3) return scaled(v, 1e6, " µs");
    if (unit === "s" && size > 0 && size < 1) return scaled(v, 1e3, " ms");
    if (unit === "s") return scaled(v, 1, " s");
    if (unit === "%") return scaled(v, 1, "%");
    if (size >= 1e6) return scaled(v, 1e-6, "M");
    return size >= 1e4 ? scaled(v, 1e-3, "k") : scaled(v, 1, "");
  };
  const clock = (at) => new Date(at * 1e3).toISOString().slice(11, 16);
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * 60);
  const marks = (data) => (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = 11 * devicePixelRatio + "px system-ui, sans-serif";
    const gap = 4 * devicePixelRatio, high = 13 * devicePixelRatio, taken = [];
    // write puts a label on the first place that no other label takes, over a halo that keeps it
    // readable on lines. A place is the middle of the left edge. Without a free place there is no label.
    const write = (text, places) => {
      const wide = ctx.measureText(text).width;
      const place = places(wide).find(([x, y]) => x >= bbox.left && x + wide <= bbox.left + bbox.width && y > bbox.top &&
        !taken.some(([tx, ty, tw]) => x < tx + tw + gap && tx < x + wide + gap && Math.abs(y - ty) < high));
      if (!place) return;
      taken.push([...place, wide]);
      ctx.setLineDash([]);
      ctx.strokeStyle = colour("paper");
      ctx.lineWidth = 3 * devicePixelRatio;
      ctx.strokeText(text, ...place);
      ctx.fillText(text, ...place);
    };
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    const lines = data.marks.map((m) => ({ m, at: m.x == null ? u.valToPos(m.y, "y", true) : u.valToPos(m.x, "x", true) }));
    for (const { m, at } of lines) {
      ctx.strokeStyle = ctx.fillStyle = colour(m.x == null ? "mark" : m.color);
      ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(m.x == null ? bbox.left : at, m.x == null ? at : bbox.top);
      ctx.lineTo(m.x == null ? bbox.left + bbox.width : at, m.x == null ? at : bbox.top + bbox.height);
      ctx.stroke();
      ctx.globalAlpha = 0.07;
      if (m.limit) ctx.fillRect(bbox.left, bbox.top, bbox.width, Math.max(0, at - bbox.top));
      ctx.globalAlpha = 1;
    }
    const rows = [...Array(8).keys()].map((i) => bbox.top + high * (i + 0.6));
    for (const { m, at } of lines) {
      ctx.fillStyle = colour(m.x == null ? "mark" : m.color);
      write(m.text, (wide) => m.x == null
        ? [at - high / 2, at + high / 2].flatMap((y) => [[bbox.left + gap, y], [bbox.left + bbox.width - wide - gap, y], [bbox.left + (bbox.width - wide) / 2, y]])
        : rows.flatMap((y) => [[at + gap, y], [at - wide - gap, y]]));
    }
    ctx.restore();
  };
  // current formats the value under the pointer. Without a pointer it formats the value at the end of a chart over
  // time, if there is one.
  const current = (data, format) => (u, v, i, at) => {
    if (at != null || data.x.unit !== "time" || !u.data?.[i]) return format(v);
    return format(u.data[i].at(-1));
  };
  // upperEnd extends the Y axis to the limits, except those far above the values.
  const upperEnd = (data, high) => Math.max(high, ...data.marks.map((m) => (m.y <= 3 * high ? 1.05 * m.y : 0)));
  const options = (data, wide) => {
    const axis = (of, size) => ({
      stroke: colour("muted"), size, grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1 },
      ...(of.unit === "time" ? { values: (_, all) => all.map((v) => clock(v)), incrs: steps } : { values: (_, all) => all.map((v) => (v == null ? "" : label(v, of.unit))), label: of.label || undefined, labelSize: 18 }),
    });
    const series = [{ label: data.x.label || "time", value: current(data, (v) => (data.x.unit === "time" && v != null ? clock(v) : label(v, data.x.unit))) }];
    const bands = [];
    for (const s of data.series) {
      const stroke = colour(s.color);
      series.push({
        label: s.name, stroke, width: 1.6, dash: [[], [6, 3], [2, 3]][s.dash], points: { show: s.points, size: 5 },
        value: current(data, (v) => label(v, data.y.unit)),
      });
      if (s.band) {
        bands.push({ series: [series.length, series.length + 1], fill: stroke + "2e" });
        const edge = { stroke: "transparent", points: { show: false }, value: current(data, (v) => label(v, data.y.unit)) };
        series.push({ ...edge, label: s.bandName ?? "", legend: !!s.bandName, shade: stroke + "2e" }, { ...edge, label: "", legend: false });
      }
    }
    return {
      title: data.title, width: wide, height: 230, series, bands, hooks: { draw: [marks(data)] },
      legend: { markers: { dash: (u, i) => (u.series[i].dash?.length ? "dashed" : "solid"), fill: (u, i) => u.series[i].shade ?? null } },
      cursor: { sync: { key: data.x.unit === "time" ? "time" : null }, focus: { prox: 30 } },
      scales: {
        x: { time: data.x.unit === "time" },
        y: { range: (_, low, high) => [Math.min(0, low ?? 0), upperEnd(data, high ?? 0) * 1.08 || 1] },
      },
      axes: [axis(data.x, data.x.label && data.x.unit !== "time" ? 46 : 28), axis(data.y, data.y.label ? 76 : 60)],
    };
  };
  // hideBandEdges removes the edges of bands from the legend.
  const hideBandEdges = (u) => u.series.forEach((s, i) => {
    if (s.legend === false) u.root.querySelectorAll(".u-legend .u-series")[i].style.display = "none";
  });
  const draw = (figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const place = document.createElement("div");
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", data.title + ". " + data.desc);
    figure.querySelectorAll("svg, [role=img]").forEach((e) => e.remove());
    figure.prepend(place);
    const u = new uPlot(options(data, figure.clientWidth || 420), uPlot.join(data.tables), place);
    hideBandEdges(u);
    drawn.set(figure, { u });
  };
  // enhance draws the new charts, and frees those that are no longer on the page.
  const enhance = (root) => {
    for (const [f, { u }] of [...drawn]) {
      if (f.isConnected) continue;
      u.destroy();
      drawn.delete(f);
    }
    root.querySelectorAll("figure.chart").forEach((f) => drawn.has(f) || draw(f));
  };
  const redrawAll = () => {
    for (const [f, { u }] of [...drawn]) { // a copy, because draw adds to drawn
      u.destroy();
      drawn.delete(f);
      if (f.isConnected) draw(f);
    }
  };
  addEventListener("resize", () => drawn.forEach(({ u }, f) => u.setSize({ width: f.clientWidth, height: 230 })));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  return { enhance };
})();
charts.enhance(document);
