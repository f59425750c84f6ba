// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What the page holds, as the program wrote it (docs/dashboard.md), and what follows from it.

const D = JSON.parse(byId("data").textContent);

// Ranges without gaps, [[0, 3]], as numbers.
function expanded(ranges) {
  return ranges.flatMap(([first, last]) => Array.from({length: last - first + 1}, (_, i) => first + i));
}

// "4 x NVIDIA H200, CUDA 13.0, ..." is an NVIDIA H200.
function gpuOf(machine) {
  const name = machine.device.replace(/,.*/, "").replace(/^\d+ x /, "");
  return name === "cpu" ? "CPU" : name;
}

function gpuCount(machine) {
  const found = /^(\d+) x /.exec(machine.device);
  return found ? Number(found[1]) : 0;
}

function machineText(machine) {
  const gpus = gpuCount(machine);
  return [gpus ? gpus + " \u00d7 " + gpuOf(machine) : machine.cpu, machine.cores + " cores", machine.launcher.replace(/: rank.*/, ""),
    machine.transport].filter(Boolean).join(", ");
}

function decode() {
  for (const run of D.runs) {
    run.gpu = gpuOf(D.machines[run.machine]);
    run.branch = run.branch || "no branch";
  }
  D.cases = D.cases.map(([name, row]) => ({name, parts: partsOf(row)}));
  D.series = D.series.map(([name, unit, better, row]) => ({name, unit, better, parts: partsOf(row)}));
  D.trends = D.trends.map(([series, machine, branch, [runs, values, levels, limit]]) => ({series, machine, branch: branch || "no branch",
    runs: expanded(runs), values, levels: levels || [], limit, gpu: gpuOf(D.machines[machine]), what: D.series[series]}));
  for (const detail of D.details)
    for (const row of detail.cases) {
      row.ranks = (row.ranks || []).map(decodeRank);
      (row.events || []).forEach(([forward, backward], i) => {
        row.ranks[i].forward.events = forward.map((event) => decodeEvent(event, row.operations));
        row.ranks[i].backward.events = backward.map((event) => decodeEvent(event, row.operations));
      });
    }
  for (const matrix of D.matrices) matrix.cells = decodeCells(matrix.cells);
}

function partsOf(row) {
  return Object.fromEntries(row.map((text, i) => [D.part_names[i], D.texts[text]]).filter(([, value]) => value !== undefined));
}

function decodePass([attention, communication, exposed, overlapped, flops, received, steps, merges]) {
  return {attention, communication, exposed, overlapped, flops, received, steps, merges};
}

function decodeRank([peak, kv, traveller, sent, forward, backward]) {
  return {peak, kv, traveller, sent, forward: decodePass(forward), backward: decodePass(backward)};
}

// Times are in seconds; null: nobody knows when.
function decodeEvent([what, begin, end, ...of], operations) {
  const [name, seconds] = [["attend", "merge", "send", "receive"][what], (time) => time === null ? null : time / 1e9];
  const event = {what: name, begin: seconds(begin), end: seconds(end)};
  if (name === "attend") [event.pairs, event.flops] = of;
  else if (name !== "merge") Object.assign(event, {peer: of[0], bytes: of[1], step: of[2], operation: operations[of[3]]});
  return event;
}

function decodeCells(cells) {
  let fault = "", finding = "";
  return cells.map(([name, dtype, result, killer, placed, seen, passed, text]) => {
    if (name !== null) finding = "";
    fault = name === null ? fault : name;
    finding = text || finding;
    return {fault, dtype, result, killer, placed: placed === 1, seen, passed, finding};
  });
}

function shellWord(text) {
  return /^[\w.,:@%+=/][\w.,:@%+=/-]*$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
}

function reproduce(test) {
  return "ringcheck verify --case '" + test.name.replace(/'/g, "'\\''") + "'";
}

// What a run says in a word; those that only measured say that they did.
function verdictOf(run) {
  if (run.cases === 0) return "measured";
  if (run.hang + run.crash > 0) return "crash";
  if (run.failed > 0) return "fail";
  if (run.inconclusive + run.skipped > 0 || run.passed === 0) return "open";
  return "pass";
}

function outcomeText(run) {
  if (run.cases === 0) return {faults: "planted bugs", sensitivity: "limits of detection"}[run.kind] || "measurements";
  const others = [["failed", run.failed], ["hang", run.hang], ["crash", run.crash], ["inconclusive", run.inconclusive],
    ["skipped", run.skipped], ["not supported", run.not_supported]].filter(([, n]) => n > 0);
  return run.passed.toLocaleString("en-GB") + " of " + run.cases.toLocaleString("en-GB") + " passed" +
    others.map(([what, n]) => ", " + n + " " + what).join("");
}

// What the case was in each run that the page knows the cases of, oldest first.
function historyOf(number) {
  const sets = historyOf.sets || (historyOf.sets = D.sets.map((ranges) => new Set(expanded(ranges))));
  return D.runs.filter((run) => run.verdicts && sets[run.verdicts.set].has(number)).map((run) => {
    const other = run.verdicts.not_passed.find(([test]) => test === number);
    return {run, verdict: other ? other[1] : "pass", finding: other ? other[2] : ""};
  });
}
