// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Verdicts have a mark and a word beside their colour.

const kMarks = {pass: "\u2713", fail: "\u2715", crash: "\u2620", hang: "\u29d6", open: "\u25d0", inconclusive: "\u25d0",
  skipped: "\u25cb", not_supported: "\u2013", measured: "\u25cf", survived: "\u2715", killed: "\u2713", equivalent: "\u2261", not_applicable: "\u2013"};
const kTones = {pass: "good", killed: "good", fail: "bad", crash: "bad", hang: "bad", survived: "bad", open: "fair", inconclusive: "fair",
  skipped: "fair"};

function wordOf(verdict) {
  return verdict.replace(/_/g, " ");
}

function badge(verdict, text) {
  return h("span", {class: "badge " + (kTones[verdict] || "plain")},
    h("span", {"aria-hidden": "true"}, kMarks[verdict] || "\u00b7"), " ", text || wordOf(verdict));
}

// The last runs as a strip of marks, each a link to the run.
function strip(runs) {
  return h("div", {class: "strip", role: "list", "aria-label": "Latest runs, newest last"}, runs.map((run) => {
    const verdict = verdictOf(run);
    return h("a", {role: "listitem", class: "mark " + (kTones[verdict] || "plain"), href: viewAddress("run", {run: run.id}),
      title: when(run.started) + ": " + outcomeText(run), "aria-label": when(run.started) + ": " + outcomeText(run)}, kMarks[verdict]);
  }));
}
