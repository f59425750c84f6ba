// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Two runs beside each other: what fails now, then what is slower.

function comparable() {
  return D.runs.filter((run) => runChosen(run) && (run.verdicts || seriesOf(run).size));
}

function runLabel(run) {
  return when(run.started) + " \u00b7 " + shortCommit(run.commit) + " \u00b7 " + run.kind + " \u00b7 " + run.gpu + (run.cases ? " \u00b7 " + run.passed + "/" + run.cases : "");
}

function seriesOf(run) {
  const all = seriesOf.all || (seriesOf.all = d3.nest().key(([number]) => number).rollup((pairs) => new Set(pairs.map(([, series]) => series)))
    .object(D.trends.flatMap((trend) => trend.runs.map((number) => [number, trend.series]))));
  return all[D.runs.indexOf(run)] || new Set();
}

function casesOf(run) {
  const all = casesOf.all || (casesOf.all = new Map()), set = run.verdicts.set;
  if (!all.has(set)) all.set(set, new Set(expanded(D.sets[set])));
  return all.get(set);
}

function shareSomething(a, b) {
  return (a.verdicts && b.verdicts && a.command === b.command && [...casesOf(a)].some((test) => casesOf(b).has(test))) || [...seriesOf(a)].some((series) => seriesOf(b).has(series));
}

function chosenRuns() {
  const runs = comparable(), now = state();
  const before = (run) => runs.slice(0, runs.indexOf(run)).reverse().find((other) => other.kind === run.kind && other.machine === run.machine && shareSomething(other, run));
  const named = runs.find((run) => run.id === now.new);
  const new_ = named || runs.slice().reverse().find(before) || runs[runs.length - 1];
  return {runs, new_, base: runs.find((run) => run.id === now.base) || before(new_) || runs[0]};
}

function verdictsIn(run) {
  const verdicts = new Map(expanded(D.sets[run.verdicts.set]).map((test) => [test, ["pass", ""]]));
  for (const [test, verdict, finding] of run.verdicts.not_passed) verdicts.set(test, [verdict, finding]);
  return verdicts;
}

function changedCases(base, new_) {
  const before = verdictsIn(base), after = verdictsIn(new_), rows = [];
  for (const [test, [verdict, finding]] of after) {
    if (!partsChosen(D.cases[test].parts)) continue;
    const [was] = before.get(test) || ["absent"];
    if (was !== verdict && !(was === "absent" && verdict === "pass")) rows.push({test, was, verdict, finding});
  }
  for (const [test, [was]] of before) if (!after.has(test) && partsChosen(D.cases[test].parts)) rows.push({test, was, verdict: "vanished", finding: ""});
  const order = ["crash", "hang", "fail", "inconclusive", "skipped", "vanished", "not_supported", "pass"];
  return {rows: rows.sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict)),
    common: [...after.keys()].filter((test) => before.has(test)).length, added: [...after.keys()].filter((test) => !before.has(test)).length};
}

// Slowdowns: above 1 the new one is worse, whichever way is better.
function ratios(base, new_) {
  const from = D.runs.indexOf(base), to = D.runs.indexOf(new_), values = new Map(), rows = [];
  for (const trend of D.trends) { const i = trend.runs.indexOf(from); if (i >= 0) values.set(trend.series, trend.values[i]); }
  for (const trend of D.trends.filter(trendChosen)) {
    const i = trend.runs.indexOf(to), was = values.get(trend.series);
    if (i < 0 || !trend.what.better || !(was > 0) || !(trend.values[i] > 0)) continue;
    const slowdown = trend.what.better === "smaller" ? trend.values[i] / was : was / trend.values[i];
    const level = trend.levels.find(([begin, end]) => i >= begin && i < end);
    const noise = level && level[3] ? (level[4] - level[2]) / 2 / Math.abs(level[3]) : null;
    rows.push({trend, was, is: trend.values[i], slowdown, noise});
  }
  return rows.sort((a, b) => b.slowdown - a.slowdown);
}

function ratioWord({slowdown, noise}) {
  if (noise === null) return badge("open", "noise unknown");
  return Math.abs(slowdown - 1) <= Math.max(noise, 0.02) ? badge("measured", "within noise") : slowdown > 1 ? badge("fail", "worse") : badge("pass", "better");
}

function ratioDot(row, most) {
  const width = 150, x = d3.scaleLog().domain([1 / most, most]).range([6, width - 6]).clamp(true), svg = svgRoot(width, 18, percent(row.slowdown)).attr("class", "ratio");
  if (row.noise) svg.append("rect").attr("class", "band").attr("x", x(Math.max(1 / most, 1 - Math.min(row.noise, 0.9)))).attr("width", x(Math.min(most, 1 + row.noise)) - x(Math.max(1 / most, 1 - Math.min(row.noise, 0.9)))).attr("y", 2).attr("height", 14);
  svg.append("line").attr("class", "base").attr("x1", x(1)).attr("x2", x(1)).attr("y1", 1).attr("y2", 17);
  svg.append("circle").attr("cx", x(row.slowdown)).attr("cy", 9).attr("r", 4);
  return svg.node();
}

function viewCompare() {
  if (!comparable().length) return [empty("No run satisfies the filters.")];
  const {runs, new_, base} = chosenRuns(), options = runs.slice().reverse().map((run) => [run.id, runLabel(run)]);
  const head = (...rest) => card("What changed between two commits", "A first look; whether a difference is one, with an interval, says the command",
    h("div", {class: "controls wide"}, choice("Base", options, base.id, (value) => go({base: value}), {name: "base"}), choice("New", options, new_.id, (value) => go({new: value}), {name: "new"})), ...rest);
  if (base === new_) return [head(empty("These are the same run: choose another one, or add one that can be set beside it."))];
  const alike = base.machine === new_.machine;
  const rows = ratios(base, new_), errors = (row) => row.trend.what.name.startsWith("largest ");
  return [head(commandLine("ringcheck compare " + base.id.slice(0, 8) + " " + new_.id.slice(0, 8) + " --history " + shellWord(D.name) + (alike ? "" : " --across-machines")),
    alike ? null : h("p", {class: "warning"}, "\u25d0 Different machines: " + machineText(D.machines[base.machine]) + " against " + machineText(D.machines[new_.machine]) + ".")),
    casesCompared(base, new_), measuredCompared("Speed and other measurements", rows.filter((row) => !errors(row)), 80),
    measuredCompared("Largest errors of what passed", rows.filter(errors), 15)];
}

function casesCompared(base, new_) {
  if (!base.verdicts || !new_.verdicts) return card("Cases", null, empty("One of these runs has no cases on this page: it only measured, is a summary, or is older than what there is room for."));
  const {rows, common, added} = changedCases(base, new_);
  return card("Cases", count(common, "case") + " in both, " + added + " new",
    rows.length ? table(["Was", "Is", "Case", "Finding"], rows.slice(0, 60).map((row) => [badge(row.was), badge(row.verdict), h("a", {class: "wrap", href: viewAddress("case", {case: row.test, run: new_.id})}, D.cases[row.test].name), row.finding]), {label: "Cases that changed"})
      : empty("No case says anything else than before."));
}

function measuredCompared(title, rows, room) {
  if (!rows.length) return card(title, null, empty("These runs have no such series in common."));
  const most = Math.min(4, Math.max(1.2, ...rows.map((row) => Math.max(row.slowdown, 1 / row.slowdown))));
  return card(title, count(rows.length, "series", "series") + (rows.length > room ? ", of which " + room : "") + ", worst first; to the right of the line the new one is worse; the bar is the noise of the series where enough runs tell it",
    table(["", "Metric", "Of", "#Base", "#New", "#Worse by", "1/" + most.toPrecision(2) + " \u2026 " + most.toPrecision(2)], rows.slice(0, room).map((row) =>
      [ratioWord(row), h("a", {href: viewAddress("trends", {trend: D.trends.indexOf(row.trend)})}, row.trend.what.name), seriesText(row.trend.what), quantity(row.was, row.trend.what.unit), quantity(row.is, row.trend.what.unit), percent(row.slowdown), ratioDot(row, most)]), {label: title}));
}
