// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// FLOP/s over FLOPs for a byte that came from another rank, both by powers of ten.

function roofline(points, width) {
  const height = Math.max(320, Math.min(480, width * 0.5)), margin = {left: 84, right: 20, top: 20, bottom: 46};
  const top = d3.max(points, (p) => p.rate), link = d3.max(points, (p) => p.link);
  const x = d3.scaleLog().domain([d3.min(points, (p) => p.intensity) / 2, d3.max(points, (p) => p.intensity) * 2]).range([margin.left, width - margin.right]);
  const y = d3.scaleLog().domain([d3.min(points, (p) => p.rate) / 3, top * 3]).range([height - margin.bottom, margin.top]);
  const svg = svgRoot(width, height, count(points.length, "pass", "passes") + " of ranks below their roof").attr("class", "roof");
  const powers = (scale) => scale.ticks().filter((tick) => Number.isInteger(Math.round(Math.log10(tick) * 1e6) / 1e6));
  svg.append("g").attr("class", "axis").attr("transform", "translate(" + margin.left + ",0)")
    .call(d3.axisLeft(y).tickValues(powers(y)).tickSize(-(width - margin.left - margin.right)).tickFormat((value) => quantity(value, "FLOP/s")));
  svg.append("g").attr("class", "axis bottom").attr("transform", "translate(0," + (height - margin.bottom) + ")")
    .call(d3.axisBottom(x).tickValues(powers(x)).tickFormat((value) => quantity(value, "")));
  svg.append("text").attr("class", "small").attr("x", width - margin.right).attr("y", height - 8).attr("text-anchor", "end").text("FLOPs for each byte received");
  const ridge = top / link, [low, high] = x.domain();
  const roof = ridge > low ? [[low, link * low], [Math.min(ridge, high), Math.min(top, link * high)], [high, Math.min(top, link * high)]] : [[low, top], [high, top]];
  svg.append("path").attr("class", "roof-line").attr("d", d3.line().x((p) => x(p[0])).y((p) => y(Math.max(p[1], y.domain()[0])))(roof));
  svg.append("g").selectAll("path").data(points).join("path")
    .attr("class", (p) => "dot " + p.pass)
    .attr("d", (p) => d3.symbol().type(p.pass === "forward" ? d3.symbolCircle : d3.symbolTriangle).size(34)())
    .attr("transform", (p) => "translate(" + x(p.intensity) + "," + y(p.rate) + ")")
    .on("pointerenter", function (p) { showTip(d3.event, [quantity(p.rate, "FLOP/s") + ", " + p.pass + ", rank " + p.rank, p.name]); })
    .on("pointerleave", hideTip)
    .on("click", (p) => go({view: "case", case: String(p.number), run: p.run}));
  return svg.node();
}
