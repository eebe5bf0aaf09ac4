"use strict";
// Every few seconds the page fetches itself and swaps its <main>. It waits
// while nobody looks, or while somebody is selecting text to copy.
const refresh = async () => {
  if (!document.hidden && getSelection().isCollapsed) {
    let fresh = null;
    try {
      const response = await fetch(location.href, { cache: "no-store" });
      if (response.ok) {
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        fresh = page.querySelector("main");
      }
    } catch { /* said below */ }
    if (fresh) document.querySelector("main").replaceWith(fresh);
    document.getElementById("stale").hidden = fresh !== null;
  }
  setTimeout(refresh, 5000);
};
setTimeout(refresh, 5000);
