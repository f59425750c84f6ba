// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.

function trimmed(value, digits) {
  return Number(value.toPrecision(digits)).toLocaleString("en-GB", {maximumSignificantDigits: digits, useGrouping: true});
}

// 6.65 ms, 14.0 TFLOP/s, 1.5 KiB, 0.996.
function quantity(value, unit) {
  if (value === null || value === undefined || !isFinite(value)) return "\u2013";
  if (value === 0) return unit ? "0 " + unit : "0";
  if (unit === "B") return bytes(value);
  if (!unit) return plain(value);
  const steps = [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1], ["m", 1e-3], ["\u00b5", 1e-6], ["n", 1e-9]];
  const [prefix, step] = steps.find(([p, s]) => Math.abs(value) >= s && !(unit === "s" && s > 1)) || steps[steps.length - 1];
  return digits3(value / step) + "\u202f" + prefix + unit;
}

function digits3(value) {
  const size = Math.abs(value);
  return size >= 1000 ? Math.round(value).toLocaleString("en-GB") : size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function plain(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2).replace("e-", "e\u2212").replace("e+", "e");
  return size >= 1000 ? Math.round(value).toLocaleString("en-GB") : trimmed(value, 3);
}

function bytes(value) {
  let size = value, step = 0;
  while (Math.abs(size) >= 1024 && step < 5) { size /= 1024; ++step; }
  return (step ? digits3(size) : size) + "\u202f" + (step ? "KMGTP"[step - 1] + "iB" : "B");
}

function percent(ratio) {
  const change = 100 * (ratio - 1);
  return (change > 0 ? "+" : change < 0 ? "\u2212" : "") + Math.abs(change).toFixed(Math.abs(change) < 10 ? 1 : 0) + "\u202f%";
}

function count(n, one, many) {
  return n.toLocaleString("en-GB") + "\u00a0" + (n === 1 ? one : many || one + "s");
}

const kMonths = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// 2026-11-22T13:46:25Z as 22 Nov 13:46; times are UTC, as results have them.
function when(started) {
  const [, year, month, day, clock] = /^(\d+)-(\d+)-(\d+)T(\d+:\d+)/.exec(started) || [];
  return year ? Number(day) + " " + kMonths[month - 1] + " " + clock : started;
}

function shortCommit(commit) {
  return commit.replace(/^([0-9a-f]{8})[0-9a-f]*/, "$1");
}
