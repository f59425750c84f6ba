// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A series over runs: points, the band of each level, changes of level, the limit.

function svgRoot(width, height, label) {
  return d3.create("svg").attr("viewBox", [0, 0, width, height]).attr("width", width).attr("height", height)
    .attr("role", "img").attr("aria-label", label);
}

function trendScales(trend, width, height, margin) {
  const lows = trend.levels.map((level) => level[2]), highs = trend.levels.map((level) => level[4]);
  let low = d3.min([...trend.values, ...lows]), high = d3.max([...trend.values, ...highs]);
  if (trend.limit !== null && trend.limit < 3 * high) high = Math.max(high, trend.limit);
  if (low === high) { low -= Math.abs(low) * 0.05 || 1; high += Math.abs(high) * 0.05 || 1; }
  const pad = (high - low) * 0.08;
  return {
    x: d3.scaleLinear().domain([0, Math.max(1, trend.values.length - 1)]).range([margin.left, width - margin.right]),
    y: d3.scaleLinear().domain([low >= 0 && low - pad < 0 ? 0 : low - pad, high + pad]).range([height - margin.bottom, margin.top]),
  };
}

function drawTrend(trend, width, height, margin) {
  const {x, y} = trendScales(trend, width, height, margin);
  const svg = svgRoot(width, height, trendSentence(trend)).attr("class", "trend");
  const edge = (i) => Math.max(margin.left, Math.min(width - margin.right, x(i)));
  for (const [begin, end, low, middle, high] of trend.levels || []) {
    svg.append("rect").attr("class", "band").attr("x", edge(begin - 0.5)).attr("width", Math.max(1, edge(end - 0.5) - edge(begin - 0.5)))
      .attr("y", y(high)).attr("height", Math.max(1, y(low) - y(high)));
    svg.append("line").attr("class", "level").attr("x1", edge(begin - 0.5)).attr("x2", edge(end - 0.5)).attr("y1", y(middle)).attr("y2", y(middle));
  }
  if (trend.limit !== null && trend.limit <= y.domain()[1])
    svg.append("line").attr("class", "limit").attr("x1", margin.left).attr("x2", width - margin.right).attr("y1", y(trend.limit)).attr("y2", y(trend.limit));
  for (const [begin] of trend.levels.slice(1)) drawChange(svg, edge(begin - 0.5), margin.top, height - margin.bottom);
  const commit = state().commit;
  trend.runs.forEach((run, i) => {
    if (commit && D.runs[run].commit === commit)
      svg.append("line").attr("class", "here").attr("x1", x(i)).attr("x2", x(i)).attr("y1", margin.top).attr("y2", height - margin.bottom);
  });
  svg.append("path").attr("class", "line").attr("d", d3.line().x((_, i) => x(i)).y((value) => y(value))(trend.values));
  const shown = trend.values.length <= 60 ? trend.values.map((_, i) => i) : [trend.values.length - 1];
  svg.append("g").attr("class", "points").selectAll("circle").data(shown).join("circle")
    .attr("cx", (i) => x(i)).attr("cy", (i) => y(trend.values[i])).attr("r", (i) => i === trend.values.length - 1 ? 3 : 2)
    .attr("class", (i) => i === trend.values.length - 1 ? "last" : null);
  return {svg, x, y};
}

// A dashed line with a diamond on it.
function drawChange(svg, x, top, bottom) {
  svg.append("line").attr("class", "change").attr("x1", x).attr("x2", x).attr("y1", top).attr("y2", bottom);
  svg.append("path").attr("class", "change-mark").attr("d", "M" + x + "," + (top - 1) + "l4,4l-4,4l-4,-4z");
}

function trendSentence(trend) {
  const unit = trend.what.unit, levels = trend.levels || [], last = trend.values[trend.values.length - 1];
  const changes = levels.length - 1;
  return trend.what.name + " of " + Object.values(trend.what.parts).join(", ") + ": " + count(trend.values.length, "run") + ", newest " +
    quantity(last, unit) + (changes > 0 ? ", " + count(changes, "change") + " of level" : "");
}

// With as many digits as tell the ticks apart.
function axisText(scale, unit, ticks) {
  if (unit === "B") return bytes;
  const text = scale.tickFormat(ticks || 6, unit ? "s" : "");
  return (value) => text(value).replace(/(-?[\d.,]+)(.*)/, "$1" + (unit ? "\u202f" : "") + "$2") + unit;
}

// The axes of a large one: values on the left, commits below.
function drawTrendAxes(svg, trend, x, y, width, height, margin) {
  svg.append("g").attr("class", "axis").attr("transform", "translate(" + margin.left + ",0)")
    .call(d3.axisLeft(y).ticks(6).tickSize(-(width - margin.left - margin.right)).tickFormat(axisText(y, trend.what.unit)));
  const every = Math.max(1, Math.ceil(trend.runs.length * 76 / (width - margin.left - margin.right)));
  const ticks = trend.runs.map((_, i) => i).filter((i) => i % every === 0);
  svg.append("g").attr("class", "axis bottom").attr("transform", "translate(0," + (height - margin.bottom) + ")")
    .call(d3.axisBottom(x).tickValues(ticks).tickSize(4).tickFormat((i) => when(D.runs[trend.runs[i]].started).replace(/ \d+:\d+/, "")));
}

// One that answers to a pointer and to arrow keys, with a line of text that says where one is.
function bigTrend(trend, width) {
  const height = Math.min(360, Math.max(240, width * 0.4)), margin = {left: 84, right: 30, top: 14, bottom: 28};
  const {svg, x, y} = drawTrend(trend, width, height, margin);
  drawTrendAxes(svg, trend, x, y, width, height, margin);
  svg.selectAll(".axis").lower();
  const cursor = svg.append("line").attr("class", "cursor").attr("y1", margin.top).attr("y2", height - margin.bottom).attr("visibility", "hidden");
  const said = h("p", {class: "readout", "aria-live": "polite"}, "Arrow keys, or a pointer, go from run to run.");
  let at = trend.values.length - 1;
  const say = (i) => {
    at = Math.max(0, Math.min(trend.values.length - 1, i));
    const run = D.runs[trend.runs[at]];
    cursor.attr("x1", x(at)).attr("x2", x(at)).attr("visibility", "visible");
    said.replaceChildren(h("b", {}, quantity(trend.values[at], trend.what.unit)), " at ", h("a", {href: viewAddress("run", {run: run.id})}, shortCommit(run.commit)),
      ", " + when(run.started) + levelText(trend, at));
  };
  const node = svg.node();
  node.setAttribute("tabindex", "0");
  node.addEventListener("pointermove", (event) => say(Math.round(x.invert(event.offsetX * width / node.clientWidth))));
  node.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9}[event.key];
    if (step === undefined) return;
    event.preventDefault();
    say(at + step);
  });
  return h("div", {class: "big"}, node, said);
}

function levelText(trend, i) {
  const level = trend.levels.find(([begin, end]) => i >= begin && i < end);
  if (!level) return "";
  const [, , low, middle, high] = level, value = trend.values[i], unit = trend.what.unit;
  const place = value < low ? "below the band" : value > high ? "above the band" : "in the band";
  return "; " + place + " " + quantity(low, unit) + " to " + quantity(high, unit) + ", level " + quantity(middle, unit);
}
