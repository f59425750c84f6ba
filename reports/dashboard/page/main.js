// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Draws the view that the address names, and again when that changes.

const kViews = [["overview", "Overview", viewOverview], ["trends", "Trends", viewTrends], ["compare", "Compare", viewCompare], ["bugs", "Planted bugs", viewBugs],
  ["errors", "Errors", viewErrors], ["limits", "Detection limits", viewLimits], ["cases", "Cases", viewCases], ["ranks", "Ranks", viewRanks],
  ["roofline", "Roofline", viewRoofline]];
const kOthers = {run: viewRun, case: viewCase};  // reached from others

function drawViews() {
  byId("views").replaceChildren(...kViews.map(([name, title]) =>
    h("a", {href: viewAddress(name), "aria-current": state().view === name ? "page" : null}, title)));
  const here = byId("views").querySelector("[aria-current]");
  if (here) byId("views").scrollLeft = here.offsetLeft - (byId("views").clientWidth - here.clientWidth) / 2;
}

function draw() {
  const view = kOthers[state().view] || (kViews.find(([name]) => name === state().view) || kViews[0])[2];
  hideTip();
  drawViews();
  drawFilters();
  byId("content").replaceChildren(...view().filter(Boolean));
  document.documentElement.dataset.draws = Number(document.documentElement.dataset.draws || 0) + 1;
  document.title = "RingCheck: " + ((kViews.find(([name]) => name === state().view) || [null, state().view])[1]);
}

// light, dark, or as the system has it.
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const dark = theme === "dark" || (theme === "" && matchMedia("(prefers-color-scheme: dark)").matches);
  byId("theme").textContent = dark ? "\u2600 Light" : "\u263e Dark";
  byId("theme").setAttribute("aria-label", dark ? "Switch to light" : "Switch to dark");
  byId("theme").onclick = () => go({theme: dark ? "light" : "dark"});
}

function about() {
  openDialog("About this page",
    h("p", {}, "Made by RingCheck " + D.version + " from " + D.name + ": " + count(D.runs.length, "run") + " of " + D.all_runs.toLocaleString("en-GB") + ". Everything it shows is in this file; it asks no network for anything."),
    h("p", {}, "Bands are medians \u00b1 3 scaled median absolute deviations. A level changes where Pettitt's test (1979) rejects that nothing changed; on a page of equal runs, at most " + 100 * D.alpha + " % show a change anywhere. Times are UTC."),
    h("h3", {}, "D3 5, which draws the charts"), h("pre", {}, byId("licence-d3").textContent));
}

function start() {
  decode();
  byId("name").textContent = D.name;
  byId("about").addEventListener("click", about);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("foot").textContent = "RingCheck " + D.version + " \u00b7 " + count(D.runs.length, "run") + " \u00b7 " + count(D.trends.length, "series", "series") + " \u00b7 times are UTC";
  const all = () => { setTheme(state().theme || ""); draw(); };
  let last = state().view;
  addEventListener("hashchange", () => {
    all();
    if (state().view !== last) { scrollTo(0, 0); byId("content").focus({preventScroll: true}); }
    last = state().view;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  let width = innerWidth, timer = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(draw, 120);
  });
  all();
  document.documentElement.dataset.drawn = Math.round(performance.now());
}
start();
