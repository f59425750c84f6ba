// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The cases of the newest runs, to search.

function caseRows() {
  const rows = [], now = state(), words = (now.find || "").toLowerCase().split(/\s+/).filter(Boolean);
  for (const detail of D.details.filter((one) => runChosen(D.runs[one.run])))
    for (const test of detail.cases) {
      const {name, parts} = D.cases[test.case];
      if (!partsChosen(parts) || (now.verdict && test.verdict !== now.verdict) || !words.every((word) => name.toLowerCase().includes(word))) continue;
      const of = (i) => d3.max(test.tensors, (tensor) => tensor[i]);
      rows.push({detail, test, name, ratio: of(3), z: of(4), blind: of(5), seconds: test.seconds});
    }
  const sort = now.sort || "verdict", order = ["crash", "hang", "fail", "inconclusive", "skipped", "not_supported", "pass"];
  return rows.sort((a, b) => sort === "verdict" ? order.indexOf(a.test.verdict) - order.indexOf(b.test.verdict) : (b[sort] || 0) - (a[sort] || 0));
}

function viewCases() {
  const rows = caseRows(), now = state(), room = Number(now.shown || 100);
  const search = h("input", {type: "search", name: "find", value: now.find || "", placeholder: "words of a case: causal P4 bf16", "aria-label": "Find cases"});
  search.addEventListener("change", () => go({find: search.value, shown: ""}));
  return [card("Cases", count(rows.length, "case") + " of the newest run of each machine and branch",
    h("div", {class: "controls"}, h("label", {class: "choice"}, h("span", {}, "Find"), search),
      choice("Verdict", [["", "all"], ...["fail", "crash", "hang", "inconclusive", "skipped", "not_supported", "pass"].map((name) => [name, wordOf(name)])], now.verdict || "", (value) => go({verdict: value, shown: ""}), {name: "verdict"}),
      choice("First", [["verdict", "what did not pass"], ["ratio", "largest error"], ["blind", "most blind"], ["seconds", "longest"]], now.sort || "verdict", (value) => go({sort: value}), {name: "sort"})),
    rows.length ? table(["Verdict", "Case", "#Error / bound", "#Sigmas", "#Blind", "#Took"], rows.slice(0, room).map((row) => [badge(row.test.verdict),
      h("a", {class: "wrap", href: viewAddress("case", {case: row.test.case, run: D.runs[row.detail.run].id})}, row.name), quantity(row.ratio), quantity(row.z), quantity(row.blind), quantity(row.seconds, "s")]), {label: "Cases"})
      : empty(D.details.length ? "No case satisfies this." : "No whole result of verify among these runs:", D.details.length ? null : "ringcheck verify --json result.json && ringcheck report add history.db result.json"),
    rows.length > room ? h("p", {}, h("a", {class: "button", href: addressOf({shown: room + 200})}, "Show more")) : null)];
}
