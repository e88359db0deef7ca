"use strict";
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const root = document.documentElement;
  const main = $("main");
  const svg = $("svg.links");
  const status = $("#status");
  const search = $("#search");
  const wide = matchMedia("(min-width: 861px)");
  let variant = null;
  let pinned = null;
  let shown = null;
  let hits = [];
  let hit = -1;

  // ---- which variant is seen ----
  const modes = $$(".modes button");
  const types = $("#types");
  function choose(mode, kind) {
    const all = $$(".variant");
    const next =
      all.find((v) => v.dataset.mode === mode && v.dataset.types === kind) ||
      all.find((v) => v.dataset.mode === mode) || all[0];
    all.forEach((v) => (v.hidden = v !== next));
    variant = next;
    modes.forEach((b) => {
      const on = b.dataset.mode === next.dataset.mode;
      b.setAttribute("aria-selected", on);
      b.tabIndex = on ? 0 : -1;
    });
    if (types) {
      const known = all.filter((v) => v.dataset.mode === next.dataset.mode);
      $$("option", types).forEach((o) => (o.disabled = !known.some((v) => v.dataset.types === o.value)));
      types.value = next.dataset.types;
    }
    pinned = shown = null;
    show(null);
    $$(".line", variant).forEach((line, k) => (line.tabIndex = k ? -1 : 0));
    $(".copy").disabled = !$(".text", variant);
    find();
  }
  modes.forEach((button, k) => {
    button.addEventListener("click", () => choose(button.dataset.mode, variant.dataset.types));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = modes[(k + step + modes.length) % modes.length];
      next.focus();
      next.click();
    });
  });
  types?.addEventListener("change", () => choose(variant.dataset.mode, types.value));

  // ---- lines and their partners ----
  const linesOf = (key) => (key ? $$(`.line[data-key="${key}"]`, variant) : []);
  function runs(lines) {
    const out = [];
    for (const line of lines) {
      const last = out.at(-1);
      const sweep = sweepOf(line);
      if (last && last.sweep === sweep && last.to === +line.dataset.n - 1) {
        last.to += 1;
        last.lines.push(line);
      } else out.push({ sweep, from: +line.dataset.n, to: +line.dataset.n, lines: [line] });
    }
    return out;
  }
  function sweepOf(line) {
    return ["forward", "reverse", "tangent"].find((s) => line.classList.contains(s)) || "";
  }
  function show(line) {
    $$(".on, .same-tape", variant).forEach((l) => l.classList.remove("on", "same-tape"));
    shown = line;
    const key = line?.dataset.key;
    linesOf(key).forEach((l) => l.classList.add("on"));
    line?.classList.add("on");
    if (line?.dataset.tape) {
      $$(`.line[data-tape="${line.dataset.tape}"]`, variant).forEach((l) => l.classList.add("same-tape"));
    }
    tell(line, key);
    draw();
  }
  function tell(line, key) {
    status.textContent = "";
    if (!line) return;
    if (!key) {
      status.textContent = "comes from no line of the primal";
      return;
    }
    const left = linesOf(key).filter((l) => l.closest(".left"));
    const groups = runs(linesOf(key).filter((l) => l.closest(".right")));
    const parts = groups.map((g) => `${g.sweep || "line"} ${g.from}${g.to > g.from ? "\u2013" + g.to : ""}`);
    status.append(`line ${left[0]?.dataset.n ?? "?"}: ${parts.join(", ") || "nothing in the derivative"}`);
    if (!wide.matches) {
      const partners = line.closest(".left") ? groups.map((g) => g.lines[0]) : left;
      partners.forEach((partner) => {
        const go = document.createElement("button");
        go.textContent = line.closest(".left") ? `go to ${partner.dataset.n}` : "go to primal";
        go.addEventListener("click", () => partner.scrollIntoView({ block: "center" }));
        status.append(" ", go);
      });
    }
  }
  function pin(line) {
    $$(".pinned", variant).forEach((l) => l.classList.remove("pinned"));
    pinned = line === pinned ? null : line;
    pinned?.classList.add("pinned");
    show(pinned || line);
    if (pinned && wide.matches) reach(pinned);
  }
  function reach(line) {
    const other = line.closest(".left") ? ".right" : ".left";
    const partners = linesOf(line.dataset.key).filter((l) => l.closest(other));
    const wanted = partners.find((l) => sweepOf(l) === "reverse") || partners[0];
    wanted?.scrollIntoView({ block: "nearest" });
  }

  // ---- the ribbons between the panes ----
  function draw() {
    svg.replaceChildren();
    const key = shown?.dataset.key;
    if (!key || !wide.matches) return;
    const box = main.getBoundingClientRect();
    const left = $(".left", variant).getBoundingClientRect();
    const right = $(".right", variant).getBoundingClientRect();
    const seen = (pane, y) => Math.min(Math.max(y, pane.top + 34), pane.bottom) - box.top;
    const from = linesOf(key).filter((l) => l.closest(".left"))[0]?.getBoundingClientRect();
    if (!from) return;
    const [x1, x2] = [left.right - box.left, right.left - box.left];
    const middle = (x1 + x2) / 2;
    for (const group of runs(linesOf(key).filter((l) => l.closest(".right")))) {
      const top = group.lines[0].getBoundingClientRect().top;
      const bottom = group.lines.at(-1).getBoundingClientRect().bottom;
      const [a, b] = [seen(left, from.top), seen(left, from.bottom)];
      const [c, d] = [seen(right, top), seen(right, bottom)];
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("class", group.sweep || "forward");
      path.setAttribute(
        "d",
        `M${x1} ${a} C${middle} ${a} ${middle} ${c} ${x2} ${c} L${x2} ${d} C${middle} ${d} ${middle} ${b} ${x1} ${b} Z`,
      );
      svg.append(path);
    }
  }
  addEventListener("resize", draw);
  document.addEventListener("scroll", draw, true);

  main.addEventListener("pointerover", (event) => {
    const line = event.target.closest(".line");
    if (line && event.pointerType !== "touch" && !pinned) show(line);
  });
  main.addEventListener("pointerleave", () => show(pinned));
  main.addEventListener("click", (event) => {
    if (event.target.closest("a") || String(getSelection())) return;
    const line = event.target.closest(".line");
    if (!line) return;
    enter(line, false);
    pin(line);
  });
  main.addEventListener("focusin", (event) => {
    const line = event.target.closest(".line");
    if (line && !pinned && line.matches(":focus-visible")) {
      show(line);
      if (wide.matches) reach(line);
    }
  });
  function enter(line, focus = true) {
    $$('.line[tabindex="0"]', variant).forEach((l) => (l.tabIndex = -1));
    line.tabIndex = 0;
    if (focus) line.focus();
  }

  // ---- keys ----
  function move(step) {
    const at = document.activeElement.closest?.(".line");
    const pane = at?.closest(".pane") || $(".left", variant);
    const lines = $$(".line", pane);
    const next = at ? lines[lines.indexOf(at) + step] : lines[0];
    if (next) enter(next);
  }
  function cross(side) {
    const at = document.activeElement.closest?.(".line");
    const pane = $(side, variant);
    const partner = at && linesOf(at.dataset.key).find((l) => pane.contains(l));
    const line = partner || $(".line", pane);
    if (line) enter(line);
  }
  const keys = {
    ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
    ArrowRight: () => cross(".right"), l: () => cross(".right"),
    ArrowLeft: () => cross(".left"), h: () => cross(".left"),
    "/": () => search.focus(), c: copy, t: theme, "?": () => $("#help").showModal(),
    m: () => {
      const at = modes.findIndex((b) => b.getAttribute("aria-selected") === "true");
      modes[(at + 1) % modes.length]?.click();
    },
    n: () => step(1), N: () => step(-1),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("#help").open) return;
    if (event.key === "Escape") {
      search.value = "";
      find();
      if (pinned) pin(pinned);
      show(null);
      return;
    }
    if (event.target.matches("input, select, .modes button")) return;
    const line = event.target.closest?.(".line");
    if (line && (event.key === "Enter" || event.key === " ") && !event.target.closest("a")) {
      event.preventDefault();
      pin(line);
    } else if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  // ---- search ----
  function find() {
    $$(".hit", variant).forEach((l) => l.classList.remove("hit", "here"));
    const wanted = search.value.toLowerCase();
    hits = wanted ? $$(".line", variant).filter((l) => $("code", l).textContent.toLowerCase().includes(wanted)) : [];
    hits.forEach((l) => l.classList.add("hit"));
    hit = -1;
    $(".count").textContent = wanted ? String(hits.length) : "";
  }
  function step(by) {
    if (!hits.length) return;
    hits[hit]?.classList.remove("here");
    hit = (hit + by + hits.length) % hits.length;
    hits[hit].classList.add("here");
    hits[hit].scrollIntoView({ block: "nearest" });
    $(".count").textContent = `${hit + 1}/${hits.length}`;
    if (!pinned) show(hits[hit]);
  }
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  });

  // ---- copy, theme, help ----
  async function copy() {
    const text = $(".text", variant)?.textContent;
    if (!text) return;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const button = $(".copy");
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1200);
  }
  function theme(choice) {
    const next = typeof choice === "string" ? choice : root.dataset.theme === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    $(".theme").textContent = next === "dark" ? "\u2600" : "\u263E";
    if (typeof choice !== "string") {
      try { localStorage.setItem("srcgrad-theme", next); } catch { /* a page in a frame */ }
    }
  }
  let kept = null;
  try { kept = localStorage.getItem("srcgrad-theme"); } catch { /* a page in a frame */ }
  theme(kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  if (!wide.matches) $$(".rules").forEach((rules) => (rules.open = false));
  main.addEventListener("click", (event) => {
    if (event.target.closest(".rule-link")) event.target.closest(".pane").querySelector(".rules").open = true;
  });
  $(".copy").addEventListener("click", copy);
  $(".theme").addEventListener("click", () => theme());
  $("#keys").addEventListener("click", () => $("#help").showModal());
  choose(modes[0]?.dataset.mode ?? $(".variant").dataset.mode, $(".variant").dataset.types);
})();
