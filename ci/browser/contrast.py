# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Can what is written be read? WCAG 2.1, 1.4.3 asks for a contrast of 4.5."""

WORST = """(() => {
  const rgb = (c) => c.match(/[\\d.]+/g).map(Number);
  const channel = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = (c) => { const [r, g, b] = rgb(c).map((v) => channel(v / 255)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor, p = rgb(c); if (p.length < 4 || p[3] > 0) return c; } return "rgb(255, 255, 255)"; };
  const contrast = (e) => { const a = luminance(getComputedStyle(e).color), b = luminance(behind(e)); return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); };
  return [...document.querySelectorAll(".badge, .tag, .quiet, .note, td, th, dt, dd, .mark, #views a, .verdict a")]
    .map((e) => [contrast(e), e.className + " " + e.innerText.slice(0, 20)]).sort((x, y) => x[0] - y[0])[0];
})()"""


def worst(at):
    """The smallest contrast on the page, and of what."""
    return at.run(WORST)
