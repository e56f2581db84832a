// Keeps the open page fresh while its tab is visible: asks for the same address with the ETag it has, takes over
// only the parts that differ, and says which states have changed. Without it every page is complete as it is.
"use strict";
(() => {
  const EVERY = 5000, SLOWEST = 60000;
  let etag = "", address = "", wait = EVERY, timer = 0;

  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, wait);
  };

  async function refresh() {
    if (document.hidden || !document.querySelector("[data-live]")) return schedule();
    if (location.href !== address) etag = "";
    address = location.href;
    const asked = address.split("#")[0];
    try {
      const headers = { "X-Live": "1" };
      if (etag) headers["If-None-Match"] = etag;
      const answer = await fetch(asked, { headers, redirect: "manual", cache: "no-store" });
      wait = EVERY;
      // A login wall answers with a redirect: the next click leads there, the page that is open stays readable.
      if (answer.status === 200 && location.href === address) {
        etag = answer.headers.get("ETag") || "";
        take(new DOMParser().parseFromString(await answer.text(), "text/html"));
      }
    } catch {
      wait = Math.min(wait * 2, SLOWEST);
    }
    schedule();
  }

  function take(fresh) {
    const before = states(document);
    for (const part of document.querySelectorAll("[data-live]")) {
      const other = fresh.getElementById(part.id);
      if (!other || other.isEqualNode(part)) continue;
      if (part.contains(document.activeElement) && document.activeElement.matches("input, select, summary")) continue;
      replace(part, document.importNode(other, true));
    }
    if (fresh.title) document.title = fresh.title;
    announce(before, states(document));
  }

  function replace(part, next) {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const open = [...part.querySelectorAll("details")].map((each) => each.open);
    next.querySelectorAll("details").forEach((each, index) => { each.open = open[index] || false; });
    const scrolled = [...part.querySelectorAll(".scroll, pre")].map((each) => [each.scrollLeft, each.scrollTop]);
    part.replaceWith(next);
    next.querySelectorAll(".scroll, pre").forEach((each, index) => {
      if (scrolled[index]) [each.scrollLeft, each.scrollTop] = scrolled[index];
    });
    if (window.htmx) window.htmx.process(next);
    if (focused) {
      const href = focused.getAttribute("href");
      const again = (focused.id && document.getElementById(focused.id)) ||
        (href && [...next.querySelectorAll("a")].find((each) => each.getAttribute("href") === href));
      if (again) again.focus({ preventScroll: true });
    }
  }

  function states(root) {
    const found = new Map();
    for (const each of root.querySelectorAll("[data-key]")) {
      found.set(each.dataset.key, { state: each.dataset.state, name: each.dataset.name, element: each });
    }
    return found;
  }

  function announce(before, after) {
    const sentences = [];
    for (const [key, now] of after) {
      const then = before.get(key);
      if (then && then.state !== now.state) {
        sentences.push(`${now.name} is now ${now.state}, was ${then.state}.`);
        now.element.dataset.changed = "";
      }
    }
    if (sentences.length) document.getElementById("announcer").textContent = sentences.slice(0, 5).join(" ");
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) { wait = EVERY; refresh(); } });
  schedule();
})();
