// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// One run: its machine, what became of its cases, and the commands that go on from here.

function groupsOf(detail) {
  const by = d3.nest().key((test) => [D.cases[test.case].parts.world_kind, D.cases[test.case].parts.strategy || D.cases[test.case].parts.subject, D.cases[test.case].parts.balance].join(" ")).sortKeys(d3.ascending).entries(detail.cases);
  const worst = (tests, i) => d3.max(tests, (test) => d3.max(test.tensors, (tensor) => tensor[i]));
  return by.map(({key, values}) => {
    const failed = values.filter((test) => ["fail", "hang", "crash"].includes(test.verdict)).length, open = values.filter((test) => !["pass", "fail", "hang", "crash"].includes(test.verdict)).length;
    return [badge(failed ? "fail" : open ? "open" : "pass"), key, values.length, failed || "\u2013", open || "\u2013", quantity(worst(values, 3)), quantity(worst(values, 4))];
  });
}

function viewRun() {
  const run = D.runs.find((one) => one.id === state().run);
  if (!run) return [empty("No such run on this page.")];
  const number = D.runs.indexOf(run), detail = D.details.find((one) => one.run === number), verdict = verdictOf(run);
  const others = run.verdicts ? run.verdicts.not_passed : [], trends = D.trends.filter((trend) => trend.runs.includes(number));
  return [
    card(outcomeText(run), run.command, h("p", {class: "verdict"}, badge(verdict, verdict.toUpperCase())),
      h("dl", {class: "facts"}, fact("started", when(run.started) + " UTC"), fact("commit", run.commit), fact("branch", run.branch), fact("kind", run.kind), fact("machine", machineText(D.machines[run.machine])), fact("host", run.host),
        fact("took", run.seconds ? quantity(run.seconds, "s") : null), fact("version", run.version), run.tensors ? fact("tensors of ranks judged by nobody", run.unjudged + " of " + run.tensors.toLocaleString("en-GB")) : null),
      D.of_history ? commandLine("ringcheck report show " + shellWord(D.name) + " " + run.id.slice(0, 8)) : run.cases ? commandLine("ringcheck report " + shellWord(D.name)) : null),
    others.length ? card("Not passed", count(others.length, "case"), table(["Verdict", "Case", "Finding", "Reproduce"], others.map(([test, word, finding]) => [badge(word), h("a", {class: "wrap", href: viewAddress("case", {case: test, run: run.id})}, D.cases[test].name), finding, commandLine(reproduce(D.cases[test]))]), {label: "Cases without a pass"})) : null,
    detail ? card("By group", count(detail.cases.length, "case"), table(["", "World, strategy, balance", "#Cases", "#Failed", "#Open", "#Error / bound", "#Sigmas"], groupsOf(detail), {label: "By group"}), h("p", {}, h("a", {href: viewAddress("cases")}, "All cases"))) : null,
    trends.length ? card("Measurements", count(trends.length, "series", "series"), table(["Metric", "Of", "#Value"], trends.slice(0, 60).map((trend) => [h("a", {href: viewAddress("trends", {trend: D.trends.indexOf(trend)})}, trend.what.name), seriesText(trend.what), quantity(trend.values[trend.runs.indexOf(number)], trend.what.unit)]), {label: "Measurements"})) : null];
}
