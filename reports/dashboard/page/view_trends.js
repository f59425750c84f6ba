// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Every series over runs: small ones side by side, one of them large.

const kTrendsAtATime = 48;

function seriesText(series) {
  const {benchmark, ...parts} = series.parts;
  const dull = new Set(["batch", "data", "scale", "seed", "rope", "dim_v", "devices", "subject", "rotation", "device", "kv_heads", "selection"]);
  const words = benchmark ? [benchmark] : Object.entries(parts).filter(([name]) => !dull.has(name))
    .map(([name, value]) => ({world: "P", seq: "s", heads: "hq", dim: "d"}[name] || "") + value);
  return words.join(" ");
}

// Changes first, then what left its band, then the longest.
function trendRank(trend) {
  const level = trend.levels[trend.levels.length - 1], last = trend.values[trend.values.length - 1];
  const outside = level && (last < level[2] || last > level[4]);
  return [trend.levels.length > 1 ? 1 : 0, outside ? 1 : 0, trend.values.length];
}

function compareRanks(a, b) {
  const x = trendRank(a), y = trendRank(b);
  for (let i = 0; i < x.length; ++i) if (x[i] !== y[i]) return y[i] - x[i];
  return 0;
}

function outsideTone(trend, above) {
  if (!trend.what.better) return "fair";
  return above === (trend.what.better === "smaller") ? "bad" : "good";
}

function trendCard(trend) {
  const last = trend.values[trend.values.length - 1], unit = trend.what.unit, level = trend.levels[trend.levels.length - 1];
  const changed = trend.levels.length > 1, outside = level && (last < level[2] || last > level[4]);
  const {svg} = drawTrend(trend, 250, 74, {left: 4, right: 6, top: 8, bottom: 4});
  return h("a", {class: "small-multiple", href: addressOf({trend: D.trends.indexOf(trend)}), "data-trend": D.trends.indexOf(trend), "aria-label": trendSentence(trend)},
    h("span", {class: "what"}, seriesText(trend.what)),
    h("span", {class: "quiet"}, [trend.gpu, trend.what.parts.selection, trend.branch].filter(Boolean).join(", ")),
    svg.node(),
    h("span", {class: "now"}, h("b", {}, quantity(last, unit)), h("span", {class: "quiet"}, " " + count(trend.values.length, "run")),
      changed ? h("span", {class: "tag fair"}, "\u25c6 changed") : null, outside ? h("span", {class: "tag " + outsideTone(trend, last > level[4])}, last > level[4] ? "\u25b2 above" : "\u25bc below") : null));
}

function oneTrend(trend) {
  const width = Math.min(1160, room()), machine = D.machines[trend.machine];
  const rows = trend.runs.map((run, i) => [when(D.runs[run].started), h("a", {href: viewAddress("run", {run: D.runs[run].id})}, shortCommit(D.runs[run].commit)), h("data", {value: trend.values[i]}, quantity(trend.values[i], trend.what.unit)), levelText(trend, i).replace(/^; /, "")]).reverse();
  return card(trend.what.name + " of " + seriesText(trend.what), machineText(machine) + "; branch " + trend.branch + (trend.what.better ? "; " + trend.what.better + " is better" : ""),
    h("p", {}, h("a", {href: addressOf({trend: ""})}, "\u2190 all series")), bigTrend(trend, width),
    legend([["band", "band of the level: median \u00b1 3 scaled median absolute deviations"], ["change", "\u25c6 change of level"], ["limit", "limit"]]),
    h("dl", {class: "facts"}, Object.entries(trend.what.parts).map(([name, value]) => fact(name, value))),
    table(["When (UTC)", "Commit", "#Value", "Place"], rows.slice(0, 40), {label: "Values, newest first"}));
}

function viewTrends() {
  const now = state();
  if (now.trend !== undefined && D.trends[now.trend]) return [oneTrend(D.trends[now.trend])];
  const chosen = D.trends.filter(trendChosen), names = [...new Set(chosen.map((trend) => trend.what.name))];
  if (!chosen.length) return [empty(D.trends.length ? "No series satisfies the filters. Benchmarks name a strategy, kernel or dtype only where they have one." : "No measurements in these runs yet. Record some, and add them:",
    D.trends.length ? null : "ringcheck_bench --json bench.json && ringcheck report add history.db bench.json")];
  const metric = names.includes(now.metric) ? now.metric : names[0];
  const shown = chosen.filter((trend) => trend.what.name === metric).sort(compareRanks), room = Number(now.shown || kTrendsAtATime);
  return [card("Trends", "each on one machine and branch, oldest run left; those that changed first",
    h("div", {class: "controls"}, choice("Metric", names.map((name) => [name, name]), metric, (value) => go({metric: value, shown: ""}), {name: "metric"}),
      h("span", {class: "quiet"}, count(shown.length, "series", "series"))),
    h("div", {class: "multiples"}, shown.slice(0, room).map(trendCard)),
    shown.length > room ? h("p", {}, h("a", {class: "button", href: addressOf({shown: room + kTrendsAtATime})}, "Show " + Math.min(kTrendsAtATime, shown.length - room) + " more")) : null,
    legend([["band", "band of the level: median \u00b1 3 scaled median absolute deviations"], ["change", "\u25c6 change of level (Pettitt's test)"], ["limit", "limit"]]))];
}
