// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// How things stand: a tile for each kind of GPU and branch, what asks for attention, the newest runs.

function tiles() {
  const groups = d3.nest().key((run) => run.gpu + "\n" + run.branch).entries(D.runs.filter(runChosen));
  return groups.map(({key, values}) => ({gpu: key.split("\n")[0], branch: key.split("\n")[1], runs: values}))
    .sort((a, b) => d3.descending(a.runs[a.runs.length - 1].started, b.runs[b.runs.length - 1].started));
}

function killsOf(runs) {
  const known = new Set(runs.map((run) => D.runs.indexOf(run)));
  const matrix = D.matrices.find((one) => known.has(one.run));
  return matrix ? matrix.score.killed + " of " + (matrix.score.killed + matrix.score.survived) : null;
}

function fact(name, value) {
  return value === null ? null : h("div", {}, h("dt", {}, name), h("dd", {}, value));
}

function tile({gpu, branch, runs}) {
  const judged = runs.filter((run) => run.cases > 0), newest = judged[judged.length - 1] || runs[runs.length - 1];
  const verdict = verdictOf(newest), commits = new Set(runs.map((run) => run.commit)).size;
  const bad = judged.filter((run) => kTones[verdictOf(run)] === "bad").length;
  return h("article", {class: "tile " + (kTones[verdict] || "plain"), "data-gpu": gpu, "data-branch": branch},
    h("header", {}, h("h3", {}, gpu), h("span", {class: "branch"}, branch)),
    h("p", {class: "verdict"}, h("span", {class: "sign", "aria-hidden": "true"}, kMarks[verdict]),
      h("a", {href: viewAddress("run", {run: newest.id})}, verdict.toUpperCase()), " ", h("span", {class: "quiet"}, outcomeText(newest))),
    h("p", {class: "quiet"}, "newest run that judged, " + when(newest.started) + ", ", h("code", {}, shortCommit(newest.commit))),
    strip(judged.slice(-24)),
    h("dl", {class: "facts"}, fact("runs", runs.length.toLocaleString("en-GB")), fact("commits", commits),
      fact("cases judged", d3.sum(judged, (run) => run.cases).toLocaleString("en-GB")), fact("runs with a failure", bad), fact("planted bugs killed", killsOf(runs))));
}

function attention() {
  const rows = [];
  const shown = D.runs.filter(runChosen);
  for (const run of shown.slice().reverse())
    for (const [test, verdict, finding] of (run.verdicts || {not_passed: []}).not_passed) {
      if (verdict === "not_supported" || !partsChosen(D.cases[test].parts)) continue;
      rows.push({started: run.started, cells: [badge(verdict), h("a", {class: "wrap", href: viewAddress("case", {case: test, run: run.id})}, D.cases[test].name), finding || wordOf(verdict),
        when(run.started), commandLine(reproduce(D.cases[test]))]});
    }
  for (const run of shown.slice().reverse())
    if (kTones[verdictOf(run)] && verdictOf(run) !== "pass" && !run.verdicts)
      rows.push({started: run.started, cells: [badge(verdictOf(run)), h("a", {class: "wrap", href: viewAddress("run", {run: run.id})}, run.command), outcomeText(run), when(run.started), ""]});
  return rows.sort((a, b) => d3.descending(a.started, b.started)).map((row) => row.cells);
}

// What a table of so many rows leaves out is said.
function ofWhich(all, room) {
  return all.length > room ? "; " + room + " of " + all.length.toLocaleString("en-GB") + " are shown" : "";
}

function survivorsOf(matrix) {
  return matrix.cells.filter((cell) => cell.result === "survived");
}

function changesOfLevel() {
  const found = [];
  for (const trend of D.trends.filter(trendChosen))
    for (let i = 1; i < trend.levels.length; ++i) found.push({trend, i, run: D.runs[trend.runs[trend.levels[i][0]]]});
  return found.sort((a, b) => d3.descending(a.run.started, b.run.started));
}

function changeRow({trend, i, run}) {
  const before = trend.levels[i - 1][3], after = trend.levels[i][3];
  const worse = trend.what.better === "smaller" ? after > before : trend.what.better === "larger" ? after < before : null;
  return [worse === null ? badge("measured", "moved") : badge(worse ? "fail" : "pass", worse ? "worse" : "better"),
    h("a", {href: viewAddress("trends", {trend: D.trends.indexOf(trend)})}, trend.what.name), seriesText(trend.what), trend.gpu,
    quantity(before, trend.what.unit) + " \u2192 " + quantity(after, trend.what.unit), before ? percent(after / before) : "", h("code", {}, shortCommit(run.commit)), when(run.started)];
}

function runRow(run) {
  return [when(run.started), badge(verdictOf(run)), h("a", {href: viewAddress("run", {run: run.id})}, outcomeText(run)), run.kind, run.gpu, run.branch,
    h("code", {}, shortCommit(run.commit)), run.seconds ? quantity(run.seconds, "s") : ""];
}

function viewOverview() {
  const runs = D.runs.filter(runChosen);
  if (!runs.length) return [empty("No run satisfies the filters.")];
  const open = attention(), changes = changesOfLevel(), survivors = D.matrices.filter((matrix) => runChosen(D.runs[matrix.run])).flatMap((matrix) => survivorsOf(matrix).map((cell) => ({cell, matrix})));
  return [
    h("div", {class: "tiles"}, tiles().map(tile)),
    D.unreadable.length ? h("p", {class: "warning"}, "\u25d0 What these runs hold is not as their kind should be, and is not shown: " + D.unreadable.map((id) => id.slice(0, 8)).join(", ")) : null,
    card("Needs a look", count(open.length, "case or run", "cases and runs") + " without a pass, newest first; what is not supported is not among them" + ofWhich(open, 12),
      open.length ? table(["Verdict", "What", "Finding", "When (UTC)", "Reproduce"], open.slice(0, 12), {label: "Cases without a pass"}) : empty("Everything that was judged passed.")),
    survivors.length ? card("Planted bugs that survived", "in the newest matrices" + ofWhich(survivors, 8), table(["Bug", "Dtype", "When"],
      survivors.slice(0, 8).map(({cell, matrix}) => [h("a", {href: viewAddress("bugs", {matrix: D.matrices.indexOf(matrix)})}, cell.fault), cell.dtype, when(D.runs[matrix.run].started)]))) : null,
    card("Changes of level", "Series whose level moved for good, newest first" + ofWhich(changes, 10),
      changes.length ? table(["", "Series", "Of", "GPU", "Level", "#By", "From commit", "When (UTC)"], changes.slice(0, 10).map(changeRow), {label: "Changes of level"})
        : empty("No series changed its level; one needs about a dozen runs on either side for a change to be told from noise.")),
    card("Newest runs", count(runs.length, "run") + (D.all_runs > D.runs.length ? "; the page has the newest " + D.runs.length.toLocaleString("en-GB") + " of " + D.all_runs.toLocaleString("en-GB") + " (--last shows more)" : ""),
      table(["When (UTC)", "Verdict", "Outcome", "Kind", "GPU", "Branch", "Commit", "#Took"], runs.slice(-15).reverse().map(runRow), {label: "Newest runs"})),
  ];
}
