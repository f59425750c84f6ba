// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What the ranks of one case did: time, links, memory.

function timeRows(test, pass) {
  return test.ranks.map((rank, i) => {
    const {attention, exposed, overlapped} = rank[pass];
    return {name: "rank " + i, parts: [{kind: "attend", value: attention === null ? 0 : Math.max(0, attention - (overlapped || 0)), text: "attention alone"},
      {kind: "overlap", value: overlapped, text: "attention over communication"}, {kind: "exposed", value: exposed, text: "exposed communication"}]};
  });
}

function timeCard(test, width) {
  if (test.ranks.every((rank) => rank.forward.attention === null)) return card("Time of each rank", null, empty("This result has no seconds: the subject is not ours, or the result is from before they were recorded."));
  return card("Time of each rank", "from its ledger: when attention kernels were at work, and messages to this rank under way",
    legend([["attend", "attention"], ["overlap", "attention over communication"], ["exposed", "exposed communication"]]),
    h("div", {class: "halves"}, ["forward", "backward"].map((pass) => h("div", {}, h("h3", {}, pass[0].toUpperCase() + pass.slice(1) + ", " + test.ranks[0][pass].steps + " blocks attended, " + test.ranks[0][pass].merges + " merged"),
      stackedBars({rows: timeRows(test, pass), unit: "s", width, label: pass + " pass, time of each rank"})))));
}

function eventTable(ranks) {
  const body = h("div", {});
  const details = h("details", {}, h("summary", {}, "All " + count(d3.sum(ranks, (events) => events.length), "event") + " as a table"), body);
  details.addEventListener("toggle", () => {
    if (details.open && !body.childNodes.length)
      body.append(table(["#Rank", "What", "#Begin", "#End", "Of"], ranks.flatMap((events, rank) => events.map((event) =>
        [rank, event.what, quantity(event.begin, "s"), quantity(event.end, "s"), ofEvent(event)])), {label: "Events"}));
  });
  return details;
}

function exposedText(events) {
  const exposed = exposedOf(events);
  return exposed ? quantity(d3.sum(exposed, ([begin, end]) => end - begin), "s") : "unknown";
}

function unknownText(ranks) {
  const unknown = d3.sum(ranks, (events) => events.filter((event) => !known(event)).length);
  return unknown ? "; nobody knows when " + count(unknown, "event") + " happened, which the table has alone" : "";
}

function hasEvents(test) {
  return test.ranks.some((rank) => rank.forward.events);
}

function timelineCard(test, name, width) {
  if (!hasEvents(test))
    return test.ranks.every((rank) => rank.forward.attention === null) ? null :
      card("What each rank did when", null, empty("This page has no events of it. A run that keeps them:", reproduce({name}) + " --timeline --json result.json && ringcheck report html result.json -o result.html"));
  return card("What each rank did when", "a lane a rank, from its ledger; times from the first event of the pass",
    legend([["attend", "attend"], ["exposed", "exposed communication: a message to the rank is under way, and it does not attend"], ["diamond", "\u25c6 merged"], ["overlap", "receive"], ["rest", "send"]]),
    ["forward", "backward"].map((pass) => {
      const ranks = test.ranks.map((rank) => rank[pass].events || []);
      return h("div", {class: "pass"}, h("h3", {}, pass[0].toUpperCase() + pass.slice(1)),
        timeline({ranks, width, label: pass + " pass, what each rank did when"}),
        h("p", {class: "quiet"}, "exposed communication: " + ranks.map((events, rank) => "rank " + rank + " " + exposedText(events)).join(", ") + unknownText(ranks)), eventTable(ranks));
    }));
}

function linkCard(test) {
  const names = test.ranks.map((_, i) => String(i)), most = d3.max(test.ranks, (rank) => d3.max(rank.sent)) || 0;
  if (test.ranks.length < 2 || !most) return card("Links", null, empty(test.ranks.length < 2 ? "One rank: nothing travels." : "No rank sent a byte."));
  return card("Links", "bytes from rank (row) to rank (column), both passes; the most is " + bytes(most),
    heatMap({label: "Bytes from rank to rank", rows: names.map((name) => "from " + name), columns: names.map((name) => "to " + name), rowWidth: 64, columnHeight: 44, size: 30,
      cellOf: (row, column, i, j) => { const sent = test.ranks[i].sent[j]; return i === j ? null : {tone: "bytes", weight: sent / most, mark: sent ? short(sent) : "", text: bytes(sent)}; }}));
}

function short(value) {
  return bytes(value).replace(/(\d+)\.\d+/, "$1").replace(/\u202f/, "").replace("iB", "").replace(/B$/, "");
}

// A finding of the oracle `counters` has what its closed form expects; where it passes, that is what was counted.
function modelOf(test, i, what, counted) {
  for (const [oracle, finding] of test.findings || []) {
    const found = oracle === "counters" && new RegExp("^rank " + i + " " + what + ": \\d+, expected (?:exactly|at most) (\\d+)").exec(finding);
    if (found) return Number(found[1]);
  }
  return test.counters === "pass" || test.counters === "fail" ? counted : null;
}

function memoryCard(test, width) {
  const rows = test.ranks.map((rank, i) => {
    const kv = modelOf(test, i, "K and V bytes held", rank.kv), traveller = modelOf(test, i, "bytes held of the dK and dV that travel home", rank.traveller);
    return {name: "rank " + i, parts: [{kind: "attend", value: rank.kv, text: "K and V"}, {kind: "overlap", value: rank.traveller, text: "dK and dV that travel"},
      {kind: "rest", value: Math.max(0, rank.peak - rank.kv - rank.traveller), text: "the rest of the peak"}],
      marks: [kv === null ? null : {value: kv, text: "model of K and V: " + bytes(kv)}, traveller === null ? null : {value: kv + traveller, text: "and of what travels: " + bytes(traveller)}].filter(Boolean)};
  });
  const verdict = {pass: "K, V and what travels are what the closed form says, to the byte, and the peak is within its limit", fail: "not what the closed form says: see the findings"}[test.counters] || "no oracle compared it with a model";
  return card("Memory of each rank", "the most held at a time, beside its model (|): " + verdict,
    legend([["attend", "K and V"], ["overlap", "dK and dV that travel"], ["rest", "the rest of the peak"], ["model", "| model"]]),
    stackedBars({rows, unit: "B", width, label: "Memory of each rank"}));
}

function ranksOf(test, name) {
  if (!test.ranks.length) return [empty("Nothing of the ranks of this case is on this page: its result has none, or there was no room left. A page of the result alone has them:", "ringcheck report html result.json -o result.html")];
  const width = room(), half = width < 700 ? width : (width - 28) / 2;
  const when = timelineCard(test, name, width), sums = [timeCard(test, half), h("div", {class: "pair"}, linkCard(test), memoryCard(test, half - 20))];
  return hasEvents(test) ? [when, ...sums] : [...sums, when];
}

// The one to begin with: events show more than sums, four ranks more than two, and long passes more than short ones.
function weightOf(test) {
  return (hasEvents(test) ? 1e17 : 0) + Math.min(4, test.ranks.length) * 1e15 + test.ranks[0].forward.flops;
}

function viewRanks() {
  const all = D.details.filter((one) => runChosen(D.runs[one.run])).flatMap((detail) => detail.cases.filter((test) => test.ranks.length > 1 && partsChosen(D.cases[test.case].parts)).map((test) => ({detail, test})));
  if (!all.length) return [empty("No case with several ranks satisfies the filters. Results of verify have what ranks did:", "ringcheck verify --world 4 --json result.json && ringcheck report add history.db result.json")];
  const now = state(), chosen = all.find(({test}) => String(test.case) === now.case) || all.slice().sort((a, b) => weightOf(b.test) - weightOf(a.test))[0];
  const options = all.slice().sort((a, b) => d3.ascending(D.cases[a.test.case].name, D.cases[b.test.case].name)).map(({test}) => [String(test.case), D.cases[test.case].name]);
  return [card("Ranks of a case", count(all.length, "case") + " with several ranks", h("div", {class: "controls wide"}, choice("Case", options, String(chosen.test.case), (value) => go({case: value}), {name: "case"})),
    h("p", {}, badge(chosen.test.verdict), " ", h("a", {href: viewAddress("case", {case: chosen.test.case, run: D.runs[chosen.detail.run].id})}, "everything of this case"))), ...ranksOf(chosen.test, D.cases[chosen.test.case].name)];
}
