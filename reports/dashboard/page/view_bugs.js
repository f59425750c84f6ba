// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Which oracle saw which planted bug.

function matrixLabel(matrix) {
  const run = D.runs[matrix.run], dtypes = [...new Set(matrix.cells.map((cell) => cell.dtype))];
  return when(run.started) + " \u00b7 " + shortCommit(run.commit) + " \u00b7 " + run.gpu + " \u00b7 " + (matrix.profile ? "profile " + matrix.profile : dtypes.join(", ")) + " \u00b7 " + matrix.score.killed + " killed";
}

function cellsByFault(matrix) {
  const dtype = state().dtype, faults = new Map();
  for (const cell of matrix.cells) {
    if (dtype && cell.dtype !== dtype) continue;
    if (!faults.has(cell.fault)) faults.set(cell.fault, []);
    faults.get(cell.fault).push(cell);
  }
  return faults;
}

function faultState(cells) {
  const results = cells.map((cell) => cell.result);
  if (results.includes("survived")) return "survived";
  if (results.includes("killed")) return cells.some((cell) => cell.result === "killed" && !cell.placed) ? "killed, not placed" : "killed and placed";
  return results.includes("equivalent") ? "equivalent" : "not applicable";
}

function openFault(fault, cells) {
  openDialog(fault, table(["Dtype", "Result", "First seen by", "Placed", "Seen by"], cells.map((cell) => [cell.dtype, badge(cell.result), cell.killer, cell.placed ? "\u2713 named" : "\u2013", cell.seenNames.join(", ")])),
    h("p", {class: "wrap"}, cells[0].finding), commandLine("ringcheck faults --fault " + fault));
}

function bugCell(cells, oracle, name) {
  const seen = cells.filter((cell) => cell.seen.includes(oracle)), asked = seen.length + cells.filter((cell) => cell.passed.includes(oracle)).length;
  if (!asked) return null;
  const first = cells.filter((cell) => cell.killer === name).length;
  const text = "seen in " + seen.length + " of " + count(asked, "dtype") + " in which it was asked" + (first ? "; the first to see it" : "");
  if (!seen.length) return {tone: "asked", mark: "", text};
  return {tone: first ? "seen first" : "seen", mark: first ? "\u25a0" : "\u25cf", text, weight: seen.length / asked};
}

function viewBugs() {
  const known = D.matrices.filter((matrix) => runChosen(D.runs[matrix.run]));
  if (!known.length) return [empty("No matrix of planted bugs among these runs. Record one, and add it:", "ringcheck faults --json faults.json && ringcheck report add history.db faults.json")];
  const now = state(), matrix = D.matrices[now.matrix] && known.includes(D.matrices[now.matrix]) ? D.matrices[now.matrix] : known[0];
  const faults = cellsByFault(matrix), only = now.only || "";
  for (const cells of faults.values()) for (const cell of cells) cell.seenNames = cell.seen.map((i) => matrix.oracles[i]);
  const states = d3.nest().key((fault) => faultState(faults.get(fault))).rollup((list) => list.length).object([...faults.keys()]);
  const order = ["survived", "killed, not placed", "killed and placed", "equivalent", "not applicable"];
  const rows = [...faults.keys()].filter((fault) => !only || faultState(faults.get(fault)) === only)
    .sort((a, b) => order.indexOf(faultState(faults.get(a))) - order.indexOf(faultState(faults.get(b))) || d3.ascending(a, b));
  const columns = matrix.oracles.map((name, i) => ({name, i, n: d3.sum(rows, (fault) => faults.get(fault).some((cell) => cell.seen.includes(i)) ? 1 : 0)}))
    .filter(({n}) => n > 0).sort((a, b) => b.n - a.n);
  const column = new Map(columns.map(({name, i}) => [name, i]));
  return [card("Planted bugs", "A row is a bug that stands for a real one, a column an oracle; the darker, the more dtypes",
    h("div", {class: "controls wide"}, choice("Matrix", known.map((one) => [String(D.matrices.indexOf(one)), matrixLabel(one)]), String(D.matrices.indexOf(matrix)), (value) => go({matrix: value}), {name: "matrix"}),
      choice("Bugs", [["", "all"], ...order.filter((name) => states[name]).map((name) => [name, name + " (" + states[name] + ")"])], only, (value) => go({only: value}), {name: "only"})),
    h("dl", {class: "facts", id: "score"}, order.filter((name) => states[name]).map((name) => fact(name, states[name]))),
    legend([["seen first", "\u25a0 the first to see it"], ["seen", "\u25cf sees it too"], ["asked", "asked, sees nothing"], ["none", "blank: not asked, or does not apply"]]),
    rows.length && columns.length ? heatMap({label: "Planted bugs by oracle", rows, columns: columns.map(({name}) => name), rowWidth: room() < 560 ? 132 : 20 + 6.4 * d3.max(rows, (name) => name.length),
      cellOf: (fault, name) => bugCell(faults.get(fault), column.get(name), name), onchoose: ({row}) => openFault(row, faults.get(row))}) : empty("No bug satisfies this."))];
}
