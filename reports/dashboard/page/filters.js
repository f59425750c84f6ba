// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// One row of choices for every view.

function optionsOf(name) {
  const of = {
    gpu: () => D.runs.map((run) => run.gpu),
    branch: () => D.runs.map((run) => run.branch),
    commit: () => D.runs.map((run) => run.commit).reverse(),
  }[name];
  const values = of ? of() : [...D.cases.map((test) => test.parts[name]), ...D.series.map((series) => series.parts[name])];
  const unique = [...new Set(values.filter(Boolean))];
  return name === "commit" ? unique : unique.sort();
}

function drawFilters() {
  const now = state();
  const labels = {gpu: "GPU", commit: "Commit", branch: "Branch", strategy: "Strategy", kernel: "Kernel", dtype: "Dtype"};
  const controls = kFilters.map((name) => {
    const options = optionsOf(name).map((value) => [value, name === "commit" ? shortCommit(value) : value]);
    return choice(labels[name], [["", "all"], ...options], now[name] || "", (value) => go({[name]: value}),
      {name, class: now[name] ? "set" : null});
  });
  const any = kFilters.some((name) => now[name]);
  const clear = h("button", {type: "button", class: "clear", disabled: !any,
    onclick: () => go(Object.fromEntries(kFilters.map((name) => [name, ""])))}, "Clear");
  const focused = document.activeElement && document.activeElement.name;
  byId("filters").replaceChildren(...controls, clear);
  if (focused && byId("filters").elements[focused]) byId("filters").elements[focused].focus();
}
