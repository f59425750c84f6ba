// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What each rank did in a pass, in order of time: a lane a rank, with a row for each kind of event.

function known(event) {
  return event.begin !== null && event.end !== null;
}

// Stretches, joined where they touch.
function united(stretches) {
  const all = [];
  for (const [begin, end] of stretches.slice().sort((a, b) => a[0] - b[0]))
    if (all.length && begin <= all[all.length - 1][1]) all[all.length - 1][1] = Math.max(all[all.length - 1][1], end);
    else all.push([begin, end]);
  return all;
}

// When a message to the rank was under way and none of its kernels at work; null where a time is missing.
function exposedOf(events) {
  const of = (what) => events.filter((event) => event.what === what);
  if (![...of("attend"), ...of("receive")].every(known)) return null;
  const busy = united(of("attend").map((event) => [event.begin, event.end])), exposed = [];
  for (const [begin, end] of united(of("receive").map((event) => [event.begin, event.end]))) {
    let from = begin;
    for (const [b, e] of busy) {
      if (e <= from || b >= end) continue;
      if (b > from) exposed.push([from, b]);
      from = Math.max(from, e);
    }
    if (from < end) exposed.push([from, end]);
  }
  return exposed;
}

// Events that overlap go into tracks of their own.
function intoTracks(events) {
  const ends = [];
  for (const event of events) {
    const free = ends.findIndex((end) => end <= event.begin), track = free < 0 ? ends.length : free;
    ends[track] = event.end;
    event.track = track;
  }
  return ends.length;
}

// What it was about, in words.
function ofEvent(event) {
  if (event.what === "merge") return "";
  if (event.what === "attend") return count(event.pairs, "pair");
  return bytes(event.bytes) + (event.what === "send" ? " to " : " from ") + (event.peer < 0 ? "an unknown rank" : "rank " + event.peer) +
    ", " + event.operation + (event.step < 0 ? "" : ", step " + event.step);
}

function eventText(event) {
  const length = () => quantity(event.begin, "s") + " to " + quantity(event.end, "s") + ", " + quantity(event.end - event.begin, "s") + " long";
  const time = !known(event) ? "nobody knows when" : event.what === "merge" ? "at " + quantity(event.end, "s") : length();
  return [event.what + " " + ofEvent(event), time].map((text) => text.trim()).join("; ");
}

// Of a pass: which rows its lanes have, how high each is, and where.
function laneRows(ranks) {
  const rows = [], has = (what) => ranks.some((events) => events.some((event) => event.what === what && known(event)));
  let top = 0;
  for (const [what, height] of [["merge", 10], ["attend", 14], ["receive", 9], ["send", 9]]) {
    if (!has(what)) continue;
    const tracks = d3.max(ranks, (events) => intoTracks(events.filter((event) => event.what === what && known(event)))) || 1;
    const high = what === "receive" || what === "send" ? Math.min(30, Math.max(height, 5 * tracks)) : height;
    rows.push({what, top, height: high, tracks: what === "merge" ? 1 : tracks});
    top += high + 3;
  }
  return {rows, height: top};
}

function drawEvent(lane, event, row, x) {
  if (event.what === "merge") {
    const at = x(event.end), middle = row.top + row.height / 2;
    return lane.append("path").attr("class", "event merge").attr("d", "M" + at + "," + (middle - 5) + "l4,5l-4,5l-4,-5z");
  }
  const high = row.height / row.tracks;
  return lane.append("rect").attr("class", "event " + event.what).attr("x", x(event.begin)).attr("width", Math.max(1, x(event.end) - x(event.begin)))
    .attr("y", row.top + event.track * high).attr("height", Math.max(0.5, high - (row.tracks > 1 ? 1 : 0)));
}

function drawLane(svg, events, rank, {rows, y, x, left}) {
  const lane = svg.append("g").attr("class", "lane").attr("transform", "translate(0," + y + ")").attr("data-rank", rank);
  lane.append("text").attr("class", "name").attr("x", 0).attr("y", (rows.find((row) => row.what === "attend") || rows[0]).top + 11).text("rank " + rank);
  for (const row of rows) {
    lane.append("line").attr("class", "base").attr("x1", left).attr("x2", x.range()[1]).attr("y1", row.top + row.height + 0.5).attr("y2", row.top + row.height + 0.5);
    if (row.what === "receive" || row.what === "send") lane.append("text").attr("class", "small").attr("x", left - 6).attr("y", row.top + row.height / 2).attr("dy", "0.35em").attr("text-anchor", "end").text(row.what);
  }
  const attend = rows.find((row) => row.what === "attend");
  for (const [begin, end] of exposedOf(events) || [])
    if (attend) lane.append("rect").attr("class", "exposed").attr("x", x(begin)).attr("width", Math.max(0.5, x(end) - x(begin))).attr("y", attend.top).attr("height", attend.height)
      .attr("data-begin", begin).attr("data-end", end);
  for (const event of events.filter(known)) {
    event.mark = drawEvent(lane, event, rows.find((row) => row.what === event.what), x);
    event.mark.attr("data-begin", event.begin).attr("data-end", event.end);
  }
}

// ranks: of each its events in order.
function timeline({ranks, width, label}) {
  const left = 62, right = 10, bottom = 22, gap = 14, {rows, height: lane} = laneRows(ranks);
  const end = d3.max(ranks.flat(), (event) => event.end) || 1, ticks = Math.max(2, Math.floor(width / 130)), height = ranks.length * (lane + gap) + bottom;
  const x = d3.scaleLinear().domain([Math.min(0, d3.min(ranks.flat(), (event) => event.begin) || 0), end]).range([left, width - right]);
  const svg = svgRoot(width, height, label).attr("class", "timeline").attr("tabindex", 0);
  svg.append("g").attr("class", "axis bottom").attr("transform", "translate(0," + (height - bottom) + ")")
    .call(d3.axisBottom(x).ticks(ticks).tickSize(-(height - bottom)).tickPadding(8).tickFormat(axisText(x, "s", ticks)));
  ranks.forEach((events, rank) => drawLane(svg, events, rank, {rows, y: rank * (lane + gap) + 4, x, left}));
  const said = h("p", {class: "readout", "aria-live": "polite"}, "Arrow keys go from event to event and from rank to rank, a pointer to what it is at.");
  const frame = svg.append("rect").attr("class", "focus").attr("rx", 3).attr("visibility", "hidden");
  moveInTimeline(svg.node(), {ranks, rows, lane: lane + gap, said, frame, x});
  return h("div", {class: "timeline-box"}, svg.node(), said);
}

function moveInTimeline(node, {ranks, rows, lane, said, frame, x}) {
  const at = {rank: 0, event: -1};
  const say = (rank, event) => {
    at.rank = Math.max(0, Math.min(ranks.length - 1, rank));
    at.event = Math.max(0, Math.min(ranks[at.rank].length - 1, event));
    const here = ranks[at.rank][at.event];
    said.replaceChildren(h("b", {}, "rank " + at.rank), here ? ", " + (at.event + 1) + " of " + ranks[at.rank].length + ": " + eventText(here) : ": nothing");
    const box = here && here.mark ? here.mark.node().getBBox() : null;
    frame.attr("visibility", box ? "visible" : "hidden");
    if (box) frame.attr("x", box.x - 2).attr("y", at.rank * lane + 4 + box.y - 2).attr("width", box.width + 4).attr("height", box.height + 4);
  };
  // The one that begins nearest to that one.
  const nearest = (rank, event) => d3.scan(ranks[rank], (a, b) => Math.abs((a.begin || 0) - event.begin) - Math.abs((b.begin || 0) - event.begin)) || 0;
  node.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9}[event.key], over = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (step === undefined && over === undefined) return;
    event.preventDefault();
    const rank = Math.max(0, Math.min(ranks.length - 1, at.rank + (over || 0))), here = ranks[at.rank][at.event];
    if (step !== undefined || !here || rank === at.rank) say(rank, at.event + (step || 0));
    else say(rank, nearest(rank, here));
  });
  node.addEventListener("pointermove", (pointer) => {
    const box = node.getBoundingClientRect(), zoom = box.height / node.viewBox.baseVal.height;
    const y = (pointer.clientY - box.top) / zoom, rank = Math.floor(y / lane);
    if (rank < 0 || rank >= ranks.length) return;
    const row = rows.find((one) => y - rank * lane - 4 <= one.top + one.height + 1), time = x.invert((pointer.clientX - box.left) / zoom);
    const away = (event) => event.what !== (row || rows[rows.length - 1]).what || !known(event) ? Infinity : Math.max(event.begin - time, time - event.end, 0);
    const found = d3.scan(ranks[rank], (a, b) => away(a) - away(b));
    if (found !== undefined && away(ranks[rank][found]) < Infinity) say(rank, found);
  });
}
