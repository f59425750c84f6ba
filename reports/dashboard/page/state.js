// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What is looked at is in the address, behind #, so that it can be sent to somebody.

const kFilters = ["gpu", "commit", "branch", "strategy", "kernel", "dtype"];

function state() {
  const words = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return {view: "overview", ...words};
}

function addressOf(changes) {
  const words = {...state(), ...changes};
  const kept = Object.entries(words).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return "#" + new URLSearchParams(kept);
}

function go(changes) {
  const address = addressOf(changes);
  if (address !== location.hash) location.hash = address;
}

// Another view keeps the filters, and nothing that belonged to this one.
function viewAddress(view, more) {
  const now = state();
  const kept = Object.fromEntries(kFilters.map((name) => [name, now[name] || ""]));
  return "#" + new URLSearchParams(Object.entries({view, ...kept, ...more}).filter(([, value]) => value !== ""));
}

function runChosen(run) {
  const now = state();
  return (!now.gpu || run.gpu === now.gpu) && (!now.branch || run.branch === now.branch) &&
    (!now.commit || run.commit === now.commit);
}

function partsChosen(parts) {
  const now = state();
  return ["strategy", "kernel", "dtype"].every((name) => !now[name] || parts[name] === now[name]);
}

function trendChosen(trend) {
  const now = state();
  return (!now.gpu || trend.gpu === now.gpu) && (!now.branch || trend.branch === now.branch) && partsChosen(trend.what.parts);
}
