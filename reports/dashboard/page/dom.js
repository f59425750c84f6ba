// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Elements, and what they do for everyone: h("p", {class: "x", onclick: f}, "text", child).

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

// What a view says where it has nothing to draw, with the command that would give it something.
function empty(text, command) {
  return h("div", {class: "empty"}, h("p", {}, text), command ? commandLine(command) : null);
}

function commandLine(text) {
  const button = h("button", {type: "button", class: "copy", "aria-label": "Copy the command"}, "Copy");
  button.addEventListener("click", async () => {
    await copied(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return h("div", {class: "command"}, h("code", {tabindex: 0}, text), button);
}

// Pages opened as files have no clipboard in some browsers.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", {class: "offscreen"});
    area.value = text;
    (byId("dialog").open ? byId("dialog") : document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// How wide a chart in a card may be.
function room() {
  const main = getComputedStyle(byId("content"));
  return byId("content").clientWidth - parseFloat(main.paddingLeft) - parseFloat(main.paddingRight) - 36;
}

function card(title, note, ...children) {
  return h("section", {class: "card"},
    h("header", {}, h("h2", {}, title), note ? h("p", {class: "note"}, note) : null), ...children);
}

// The value that is chosen of [[value, text], ...].
function choice(label, options, chosen, onchange, attributes) {
  const select = h("select", {...attributes, onchange: () => onchange(select.value)},
    options.map(([value, text]) => h("option", {value, selected: value === chosen}, text)));
  return h("label", {class: "choice"}, h("span", {}, label), select);
}

function table(heads, rows, attributes) {
  return h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": (attributes || {}).label || "Table"},
    h("table", {},
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", {scope: "col", class: head.startsWith("#") ? "number" : null},
        head.replace(/^#/, ""))))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) =>
        h("td", {class: heads[i].startsWith("#") ? "number" : null}, cell)))))));
}

function showTip(event, lines) {
  const tip = byId("tip");
  tip.replaceChildren(...lines.map((line, i) => h(i ? "div" : "b", {}, line)));
  tip.hidden = false;
  const box = event.currentTarget.getBoundingClientRect();
  const x = event.clientX || box.left + box.width / 2, y = event.clientY || box.top;
  tip.style.left = Math.max(8, Math.min(x + 12, innerWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = Math.max(8, y - tip.offsetHeight - 12) + "px";
}

function hideTip() {
  byId("tip").hidden = true;
}

function openDialog(title, ...children) {
  const dialog = byId("dialog");
  dialog.replaceChildren(
    h("header", {}, h("h2", {id: "dialog-title"}, title),
      h("button", {type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close()}, "\u2715")),
    ...children);
  if (!dialog.open) dialog.showModal();
}
