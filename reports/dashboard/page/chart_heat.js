// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A matrix of marks: one cell has the focus, arrow keys move it, and a line of text says what it is.

// rows and columns are names; cellOf(row, column) gives {tone, mark, text} or null.
function heatMap({label, rows, columns, cellOf, onchoose, rowWidth, size, columnHeight}) {
  const cell = size || 17, left = rowWidth || 150, top = columnHeight === undefined ? 118 : columnHeight;
  const slanted = d3.max(columns, (name, i) => (i + 1) * cell + name.length * 3.5) || 0;  // the names of columns lean to the right
  const width = left + Math.max(columns.length * cell, slanted) + 12, height = top + rows.length * cell + 4;
  const svg = svgRoot(width, height, label).attr("class", "heat").attr("role", "grid").attr("tabindex", 0)
    .style("min-width", width + "px");
  svg.append("g").attr("class", "names").selectAll("text").data(rows).join("text")
    .attr("x", left - 8).attr("y", (_, i) => top + i * cell + cell / 2).attr("dy", "0.35em").attr("text-anchor", "end").text((name) => name.length * 6.5 > left - 10 ? name.slice(0, Math.floor((left - 20) / 6.7)) + "\u2026" : name);
  svg.append("g").attr("class", "names").selectAll("text").data(columns).join("text")
    .attr("transform", (_, i) => "translate(" + (left + i * cell + cell / 2 + 3) + "," + (top - 6) + ") rotate(-60)").text((name) => name);
  const cells = [];
  rows.forEach((row, i) => columns.forEach((column, j) => {
    const value = cellOf(row, column, i, j);
    if (value) cells.push({...value, row, column, i, j});
  }));
  const groups = svg.append("g").selectAll("g").data(cells).join("g").attr("class", (c) => "cell " + c.tone)
    .attr("transform", (c) => "translate(" + (left + c.j * cell) + "," + (top + c.i * cell) + ")");
  groups.append("rect").attr("width", cell - 2).attr("height", cell - 2).attr("rx", 3)
    .attr("style", (c) => c.weight === undefined ? null : "--weight:" + c.weight);
  groups.filter((c) => c.mark).append("text").attr("x", cell / 2 - 1).attr("y", cell / 2 - 1).attr("dy", "0.36em").attr("text-anchor", "middle").text((c) => c.mark);
  const said = h("p", {class: "readout", "aria-live": "polite"}, "Arrow keys, or a pointer, go from cell to cell" + (onchoose ? "; Enter opens one." : "."));
  const frame = svg.append("rect").attr("class", "focus").attr("width", cell + 1).attr("height", cell + 1).attr("rx", 4).attr("visibility", "hidden");
  moveInHeat(svg.node(), {cells, rows, columns, frame, said, left, top, cell, onchoose});
  return h("div", {class: "heat-box"}, said, h("div", {class: "scroll"}, svg.node()));
}

function moveInHeat(node, {cells, rows, columns, frame, said, left, top, cell, onchoose}) {
  const at = {i: 0, j: 0};
  const find = () => cells.find((c) => c.i === at.i && c.j === at.j);
  const say = () => {
    frame.attr("x", left + at.j * cell - 1.5).attr("y", top + at.i * cell - 1.5).attr("visibility", "visible");
    const here = find();
    said.replaceChildren(h("b", {}, rows[at.i] + " \u00d7 " + columns[at.j]), ": " + (here ? here.text : "nothing"));
  };
  node.addEventListener("keydown", (event) => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e9], End: [0, 1e9]}[event.key];
    if (event.key === "Enter" && onchoose && find()) {
      event.preventDefault();  // else it presses what has the focus next
      onchoose(find());
    }
    if (!step) return;
    event.preventDefault();
    at.i = Math.max(0, Math.min(rows.length - 1, at.i + step[0]));
    at.j = Math.max(0, Math.min(columns.length - 1, at.j + step[1]));
    say();
  });
  const under = (event) => {
    const box = node.getBoundingClientRect();
    return {i: Math.floor((event.clientY - box.top - top) / cell), j: Math.floor((event.clientX - box.left - left) / cell)};
  };
  node.addEventListener("pointermove", (event) => {
    const {i, j} = under(event);
    if (i < 0 || j < 0 || i >= rows.length || j >= columns.length) return;
    Object.assign(at, {i, j});
    say();
  });
  node.addEventListener("click", () => { if (onchoose && find()) onchoose(find()); });
}
