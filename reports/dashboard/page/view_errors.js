// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// How far errors stay below what rounding allows.

function tensorRows() {
  const rows = [];
  for (const detail of D.details.filter((one) => runChosen(D.runs[one.run])))
    for (const test of detail.cases) {
      const parts = D.cases[test.case].parts;
      if (partsChosen(parts)) for (const [oracle, tensor, verdict, ratio, z, blind] of test.tensors)
        if (oracle === "parity" && ratio !== null) rows.push({detail, test, tensor, verdict, ratio, z, blind, parts});
    }
  return rows;
}

function errorsOverTime(width) {
  const list = D.errors.filter((one) => runChosen(D.runs[one.run]));
  if (list.length < 2) return empty("One run with cases so far: with a second one, this shows how the distribution moves.");
  const height = 200, margin = {left: 44, right: 12, top: 18, bottom: 26};
  const x = d3.scalePoint().domain(list.map((_, i) => i)).range([margin.left, width - margin.right]).padding(0.6), most = Math.min(2, Math.max(1.1, d3.max(list, (one) => one.margin[5]))), y = d3.scaleLinear().domain([0, most]).range([height - margin.bottom, margin.top]).clamp(true);
  const svg = svgRoot(width, height, "Errors over their bound, run by run").attr("class", "boxes");
  svg.append("g").attr("class", "axis").attr("transform", "translate(" + margin.left + ",0)").call(d3.axisLeft(y).ticks(5).tickSize(-(width - margin.left - margin.right)));
  svg.append("line").attr("class", "limit").attr("x1", margin.left).attr("x2", width - margin.right).attr("y1", y(1)).attr("y2", y(1));
  const box = Math.min(22, x.step() * 0.6), groups = svg.append("g").selectAll("g").data(list).join("g").attr("transform", (_, i) => "translate(" + x(i) + ",0)");
  groups.append("line").attr("class", "whisker").attr("y1", (one) => y(one.margin[0])).attr("y2", (one) => y(one.margin[5]));
  groups.append("rect").attr("class", "box").attr("x", -box / 2).attr("width", box).attr("y", (one) => y(one.margin[3])).attr("height", (one) => Math.max(1, y(one.margin[1]) - y(one.margin[3])));
  groups.append("line").attr("class", "middle").attr("x1", -box / 2).attr("x2", box / 2).attr("y1", (one) => y(one.margin[2])).attr("y2", (one) => y(one.margin[2]));
  groups.filter((one) => one.margin[5] > most).append("text").attr("class", "small beyond").attr("y", margin.top - 5).attr("text-anchor", "middle").text((one) => "\u25b2 " + plain(one.margin[5]));
  groups.append("title").text((one) => when(D.runs[one.run].started) + ": median " + plain(one.margin[2]) + ", largest " + plain(one.margin[5]));
  const every = Math.ceil(list.length * 62 / width);
  svg.append("g").attr("class", "axis bottom").attr("transform", "translate(0," + (height - margin.bottom) + ")")
    .call(d3.axisBottom(x).tickValues(list.map((_, i) => i).filter((i) => i % every === 0)).tickFormat((i) => shortCommit(D.runs[list[i].run].commit).slice(0, 7)));
  return svg.node();
}

function viewErrors() {
  const rows = tensorRows(), width = room();
  if (!rows.length) return [empty("No case with errors satisfies the filters. Whole results of verify have them:", "ringcheck verify --json result.json && ringcheck report add history.db result.json")];
  const groups = d3.nest().key((row) => row.tensor + "\n" + row.parts.dtype).entries(rows).map(({key, values}) => ({tensor: key.split("\n")[0], dtype: key.split("\n")[1], values}));
  const tensors = ["o", "lse", "dq", "dk", "dv"], dtypes = ["bf16", "fp16", "float32", "float64"];
  groups.sort((a, b) => dtypes.indexOf(a.dtype) - dtypes.indexOf(b.dtype) || tensors.indexOf(a.tensor) - tensors.indexOf(b.tensor));
  const worst = rows.slice().sort((a, b) => b.ratio - a.ratio).slice(0, 12);
  return [
    card("Errors over their bounds", "of the newest run of each machine and branch: the largest of each case; above 1.001 a case fails. " + count(rows.length, "tensor"),
      h("div", {class: "multiples"}, groups.map(({tensor, dtype, values}) => h("figure", {class: "small-multiple", "data-tensor": tensor, "data-dtype": dtype},
        h("span", {class: "what"}, tensor, h("span", {class: "quiet"}, " " + dtype)), histogram(values.map((row) => row.ratio), 250, tensor + " " + dtype),
        h("span", {class: "now"}, h("b", {}, plain(d3.max(values, (row) => row.ratio))), h("span", {class: "quiet"}, " largest of " + values.length + ", " + plain(d3.max(values, (row) => row.z)) + " sigmas")))))),
    card("Over time", "largest error over bound of each case: smallest, quartiles, largest, \u25b2 where that is beyond the chart; the newest " + D.errors.length + " runs with cases", errorsOverTime(width)),
    card("Closest to the bound", null, table(["#Error / bound", "Tensor", "Case", "#Sigmas", "#Blind"], worst.map((row) => [plain(row.ratio), row.tensor, h("a", {class: "wrap", href: viewAddress("case", {case: row.test.case, run: D.runs[row.detail.run].id})}, D.cases[row.test.case].name), plain(row.z), plain(row.blind)]), {label: "Closest to the bound"}))];
}
