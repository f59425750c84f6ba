// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// One case: what was found, how it went before, and what its ranks did.

function detailOf(number, id) {
  const all = D.details.flatMap((detail) => detail.cases.filter((test) => test.case === number).map((test) => ({run: D.runs[detail.run], test})));
  return all.find(({run}) => run.id === id) || all[0];
}

function tensorTable(test) {
  return table(["Oracle", "Tensor", "Verdict", "#Error / bound", "#Sigmas", "#Blind"], test.tensors.map(([oracle, tensor, verdict, ratio, z, blind]) =>
    [oracle, tensor, badge(verdict), quantity(ratio), quantity(z), quantity(blind)]), {label: "Tensors"});
}

function pastOf(number) {
  const past = historyOf(number);
  if (!past.length) return null;
  return card("In earlier runs", count(past.length, "run"), h("div", {class: "strip", role: "list"}, past.slice(-80).map(({run, verdict}) =>
    h("a", {role: "listitem", class: "mark " + (kTones[verdict] || "plain"), href: viewAddress("run", {run: run.id}), title: when(run.started) + ", " + shortCommit(run.commit) + ": " + wordOf(verdict), "aria-label": when(run.started) + ": " + wordOf(verdict)}, kMarks[verdict] || "\u00b7"))));
}

function viewCase() {
  const number = Number(state().case), test = D.cases[number];
  if (!test) return [empty("No such case on this page.")];
  const found = detailOf(number, state().run), past = historyOf(number).filter(({verdict}) => verdict !== "pass").reverse()[0];
  const verdict = found ? found.test.verdict : past ? past.verdict : "pass";
  const findings = found ? [...(found.test.found || []), ...(found.test.findings || []).map(([oracle, text]) => oracle + ": " + text)] : past ? [past.finding] : [];
  return [
    card(h("span", {class: "wrap"}, test.name), null,
      h("p", {}, badge(verdict), found ? " in the run of " + when(found.run.started) + ", " + shortCommit(found.run.commit) + (found.test.seconds ? ", " + quantity(found.test.seconds, "s") : "") : " when it ran last", found && found.test.reason ? "; " + found.test.reason : ""),
      commandLine(reproduce(test)),
      findings.length ? h("ul", {class: "findings"}, findings.map((text) => h("li", {}, text))) : null,
      found && found.test.log ? h("pre", {}, found.test.log) : null,
      h("details", {}, h("summary", {}, "Parts of the case"), h("dl", {class: "facts"}, Object.entries(test.parts).map(([name, value]) => fact(name, value))))),
    ...(found ? ranksOf(found.test, test.name) : [empty("This page has no ranks and tensors of it: only of the newest run of each machine and branch.")]),
    found && found.test.tensors.length ? card("Tensors", "above 1.001 of its bound, or 8 sigmas, a tensor fails; from 0.02 blind it shows nothing", tensorTable(found.test)) : null,
    pastOf(number)];
}
