// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The smallest relative error that is still seen, by tensor, place and dtype.

function viewLimits() {
  const list = D.limits.filter((one) => runChosen(D.runs[one.run]));
  if (!list.length) return [empty("No limits of detection among these runs. They take some minutes to measure:", "ringcheck faults --sensitivity --json limits.json && ringcheck report add history.db limits.json")];
  const series = new Map(), now = state();
  for (const one of list)
    for (const [dtype, what, scope, , epsilon] of one.limits) {
      if (epsilon === null || (now.dtype && dtype !== now.dtype) || (now.kernel && one.kernel !== now.kernel)) continue;
      const key = [one.kernel, dtype, what, scope].join(" ").trim();
      if (!series.has(key)) series.set(key, {runs: [], values: [], levels: [], limit: null, gpu: D.runs[one.run].gpu, branch: D.runs[one.run].branch, what: {name: "limit of detection", unit: "", better: "smaller", parts: {of: key}}});
      series.get(key).runs.push(one.run);
      series.get(key).values.push(epsilon);
    }
  const newest = [...series.values()].sort((a, b) => b.values[b.values.length - 1] - a.values[a.values.length - 1]);
  return [card("Limits of detection over time", "smallest relative error that is seen in 95 % of trials, by parity; largest first; " + count(list.length, "run"),
    h("div", {class: "multiples"}, newest.slice(0, 200).map((trend) => h("figure", {class: "small-multiple"}, h("span", {class: "what"}, trend.what.parts.of), drawTrend(trend, 250, 74, {left: 4, right: 6, top: 8, bottom: 4}).svg.node(),
      h("span", {class: "now"}, h("b", {}, h("data", {value: trend.values[trend.values.length - 1]}, plain(trend.values[trend.values.length - 1]))), h("span", {class: "quiet"}, " " + count(trend.values.length, "run")))))))];
}
