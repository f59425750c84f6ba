// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Histograms, and bars of parts.

// How values lie below a limit of 1: a column for each twentieth, those above it apart.
function histogram(values, width, label) {
  const height = 120, margin = {left: 4, right: 4, top: 14, bottom: 20}, bins = 25, most = 1.25;
  const counts = Array(bins).fill(0);
  for (const value of values) ++counts[Math.min(bins - 1, Math.floor(value / most * bins))];
  const x = d3.scaleLinear().domain([0, most]).range([margin.left, width - margin.right]);
  const y = d3.scaleLinear().domain([0, d3.max(counts) || 1]).range([height - margin.bottom, margin.top]);
  const svg = svgRoot(width, height, label).attr("class", "histogram");
  svg.append("g").selectAll("rect").data(counts).join("rect").attr("class", (_, i) => i / bins * most >= 1 ? "over" : "under")
    .attr("x", (_, i) => x(i / bins * most) + 0.5).attr("width", Math.max(1, x(most / bins) - x(0) - 1))
    .attr("y", (n) => n ? Math.min(y(n), y(0) - 2) : y(0)).attr("height", (n) => n ? Math.max(2, y(0) - y(n)) : 0)
    .append("title").text((n, i) => n + " between " + (i / bins * most).toFixed(2) + " and " + ((i + 1) / bins * most).toFixed(2));
  svg.append("line").attr("class", "base").attr("x1", margin.left).attr("x2", width - margin.right).attr("y1", y(0)).attr("y2", y(0));
  svg.append("line").attr("class", "limit").attr("x1", x(1)).attr("x2", x(1)).attr("y1", margin.top - 8).attr("y2", y(0));
  svg.append("text").attr("class", "small").attr("x", x(1) - 4).attr("y", margin.top - 4).attr("text-anchor", "end").text("bound");
  for (const tick of [0, 0.5, 1])
    svg.append("text").attr("class", "small").attr("x", x(tick)).attr("y", height - 6).attr("text-anchor", tick ? "middle" : "start").text(tick);
  return svg.node();
}

// rows of {name, parts: [{kind, value, text}], mark: {value, text}}; kinds have a fill and a pattern each.
function stackedBars({rows, unit, width, label, left}) {
  const bar = 18, gap = 8, space = left || 70, right = 86, height = rows.length * (bar + gap) + 6;
  const total = (row) => d3.sum(row.parts, (part) => part.value || 0);
  const most = d3.max(rows, (row) => Math.max(total(row), ...(row.marks || []).map((mark) => mark.value))) || 1;
  const x = d3.scaleLinear().domain([0, most]).range([space, Math.max(space + 40, width - right)]);
  const svg = svgRoot(width, height, label).attr("class", "bars");
  rows.forEach((row, i) => {
    const y = i * (bar + gap) + 3;
    svg.append("text").attr("class", "name").attr("x", space - 8).attr("y", y + bar / 2).attr("dy", "0.35em").attr("text-anchor", "end").text(row.name);
    let begin = 0;
    for (const part of row.parts) {
      const rect = svg.append("rect").attr("class", "part " + part.kind).attr("x", x(begin)).attr("width", Math.max(0, x(begin + (part.value || 0)) - x(begin)))
        .attr("y", y).attr("height", bar);
      rect.append("title").text(row.name + ", " + part.text + ": " + quantity(part.value, unit));
      begin += part.value || 0;
    }
    for (const mark of row.marks || [])
      svg.append("line").attr("class", "model").attr("x1", x(mark.value)).attr("x2", x(mark.value)).attr("y1", y - 3).attr("y2", y + bar + 3)
        .append("title").text(mark.text);
    svg.append("text").attr("class", "value").attr("x", x(begin) + 8).attr("y", y + bar / 2).attr("dy", "0.35em").text(quantity(total(row), unit));
  });
  return svg.node();
}

function legend(kinds) {
  return h("ul", {class: "legend"}, kinds.map(([kind, text]) => h("li", {}, h("span", {class: "swatch " + kind, "aria-hidden": "true"}), text)));
}
