"use strict";
// The page fetches itself every five seconds, unless nobody looks or somebody is selecting text to copy.
const refresh = async () => {
  if (!document.hidden && getSelection().isCollapsed) {
    let fresh = null;
    try {
      const response = await fetch(location.href, { cache: "no-store" });
      if (response.ok) fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main");
    } catch { /* the line "stale" says it */ }
    if (fresh) {
      const top = scrollY, link = document.querySelector("link[rel=icon]");
      document.title = fresh.dataset.title;
      link.href = link.href.replace(/=\w+$/, "=" + fresh.dataset.icon);
      document.querySelector("main").replaceWith(document.adoptNode(fresh));
      charts.enhance(document);
      scrollTo(scrollX, top);
    }
    document.getElementById("stale").hidden = fresh !== null;
  }
  setTimeout(refresh, 5000);
};
setTimeout(refresh, 5000);
