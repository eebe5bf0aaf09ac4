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
    let row = 0;
    for (const m of data.marks) {
      ctx.strokeStyle = ctx.fillStyle = colour(m.x == null ? "mark" : m.color);
      ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      if (m.x != null) {
        const x = u.valToPos(m.x, "x", true), y = bbox.top + 11 * devicePixelRatio * (1 + row++ % 3);
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        const left = x > bbox.left + bbox.width * 0.7;
        ctx.textAlign = left ? "right" : "left";
        ctx.fillText(m.text, x + (left ? -4 : 4) * devicePixelRatio, y);
      } else {
        const y = u.valToPos(m.y, "y", true);
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.globalAlpha = 0.07;
        if (m.limit) ctx.fillRect(bbox.left, bbox.top, bbox.width, Math.max(0, y - bbox.top));
        ctx.globalAlpha = 1;
        ctx.textAlign = "left";
        ctx.fillText(m.text, bbox.left + 4 * devicePixelRatio, y - 3 * devicePixelRatio);
      }
      ctx.stroke();
    }
    ctx.restore();
  };
  // upperEnd extends the Y axis to the limits, except those far above the values.
  const upperEnd = (data, high) => Math.max(high, ...data.marks.map((m) => (m.y <= 3 * high ? 1.05 * m.y : 0)));
  const options = (data, wide) => {
    const axis = (of, size) => ({
      stroke: colour("muted"), size, grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1 },
      ...(of.unit === "time" ? { values: (_, all) => all.map((v) => clock(v)), incrs: steps } : { values: (_, all) => all.map((v) => (v == null ? "" : label(v, of.unit))), label: of.label || undefined, labelSize: 18 }),
    });
    const series = [{ label: data.x.label || "time", value: (_, v) => (data.x.unit === "time" && v != null ? clock(v) : label(v, data.x.unit)) }];
    const bands = [];
    for (const s of data.series) {
      const stroke = colour(s.color);
      series.push({
        label: s.name, stroke, width: 1.6, dash: [[], [6, 3], [2, 3]][s.dash], points: { show: s.points, size: 5 },
        value: (_, v) => label(v, data.y.unit),
      });
      if (s.band) {
        bands.push({ series: [series.length, series.length + 1], fill: stroke + "2e" });
        for (let i = 0; i < 2; i++) series.push({ label: "", stroke: "transparent", points: { show: false }, legend: false });
      }
    }
    return {
      title: data.title, width: wide, height: 230, series, bands, hooks: { draw: [marks(data)] },
      legend: { markers: { dash: (u, i) => (u.series[i].dash?.length ? "dashed" : "solid") } },
      cursor: { sync: { key: data.x.unit === "time" ? "time" : null }, focus: { prox: 30 } },
      scales: {
        x: { time: data.x.unit === "time" },
        y: data.y.log
          ? { distr: 3, range: (_, low, high) => (low == null ? [null, null] : uPlot.rangeLog(low, upperEnd(data, high), 10, false)) }
          : { range: (_, low, high) => [Math.min(0, low ?? 0), upperEnd(data, high ?? 0) * 1.08 || 1] },
      },
      axes: [axis(data.x, data.x.label && data.x.unit !== "time" ? 46 : 28), axis(data.y, data.y.label ? 76 : 60)],
    };
  };
  // hideBandEdges removes the edges of bands from the legend.
  const hideBandEdges = (u) => u.series.forEach((s, i) => {
    if (s.legend === false) u.root.querySelectorAll(".u-legend .u-series")[i].style.display = "none";
  });
  const draw = (figure) => {
    const text = figure.querySelector("script").textContent;
    const data = JSON.parse(text);
    const place = document.createElement("div");
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", data.title + ". " + data.desc);
    figure.querySelectorAll("svg, [role=img]").forEach((e) => e.remove());
    figure.prepend(place);
    const u = new uPlot(options(data, figure.clientWidth || 420), uPlot.join(data.tables), place);
    hideBandEdges(u);
    drawn.set(figure, { u, text });
  };
  // update gives a figure on the page the data of a new one, and keeps the zoom. It
  // returns false if the figure has no interactive chart yet.
  const update = (figure, fresh) => {
    const old = drawn.get(figure), text = fresh.querySelector("script").textContent;
    if (!old) return false;
    if (old.text === text) return true;
    const data = JSON.parse(text), previous = JSON.parse(old.text), { u } = old;
    const layout = (d) => JSON.stringify([d.title, d.series, d.y]);
    figure.querySelector("script").textContent = text;
    if (layout(data) !== layout(previous)) {
      u.destroy();
      draw(figure);
      return true;
    }
    const all = u.data[0], zoomed = u.scales.x.min > all[0] || u.scales.x.max < all[all.length - 1];
    u.hooks.draw = [marks(data)];
    u.setData(uPlot.join(data.tables), !zoomed);
    old.text = text;
    return true;
  };
  const enhance = (root) => root.querySelectorAll("figure.chart").forEach((f) => drawn.has(f) || draw(f));
  const redrawAll = () => {
    for (const [f, { u }] of drawn) {
      u.destroy();
      drawn.delete(f);
      if (f.isConnected) draw(f);
    }
  };
  addEventListener("resize", () => drawn.forEach(({ u }, f) => u.setSize({ width: f.clientWidth, height: 230 })));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  return { enhance, update };
})();
charts.enhance(document);
