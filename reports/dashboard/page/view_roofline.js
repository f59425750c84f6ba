// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Is a pass held up by arithmetic, or by links?

function roofPoints() {
  const points = [];
  for (const detail of D.details.filter((one) => runChosen(D.runs[one.run])))
    for (const test of detail.cases) {
      if (!partsChosen(D.cases[test.case].parts)) continue;
      test.ranks.forEach((rank, i) => ["forward", "backward"].forEach((pass) => {
        const {attention, communication, exposed, flops, received} = rank[pass];
        if (!(attention > 0) || !(flops > 0) || !(received > 0) || !(communication > 0)) return;
        points.push({rate: flops / (attention + (exposed || 0)), intensity: flops / received, link: received / communication, pass, gpu: D.runs[detail.run].gpu, rank: i, number: test.case, run: D.runs[detail.run].id, name: D.cases[test.case].name});
      }));
    }
  return points;
}

function viewRoofline() {
  const points = roofPoints();
  if (!points.length) return [empty("No pass with seconds, FLOPs and messages satisfies the filters. Results of verify in worlds of several ranks have them:", "ringcheck verify --world 4 --seq 8192 --json result.json && ringcheck report add history.db result.json")];
  return d3.nest().key((p) => p.gpu).entries(points).map(({key, values}) => roofCard(key, values));
}

function roofCard(gpu, points) {
  const top = d3.max(points, (p) => p.rate), link = d3.max(points, (p) => p.link), shown = points.slice().sort((a, b) => b.rate - a.rate).slice(0, 1500);
  return card("Roofline of " + gpu, "a mark is a pass of a rank: FLOPs in the time of attention and exposed communication. The roof is what was seen, not what is promised: the fastest pass, " + quantity(top, "FLOP/s") + ", and the fastest link, " + quantity(link, "B/s") + ", of these runs",
    legend([["dot forward", "\u25cf forward"], ["dot backward", "\u25b2 backward"], ["roof-line", "roof"]]), h("div", {class: "scroll"}, roofline(shown, Math.max(300, room()))),
    h("p", {class: "quiet"}, shown.length < points.length ? "the fastest " + shown.length + " of " + points.length + " passes" : count(points.length, "pass", "passes")));
}
