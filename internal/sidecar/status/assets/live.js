"use strict";
// Every few seconds the page fetches its part that changes, and takes over the
// differences: what has the focus, is scrolled or is open stays so. It waits while
// nobody looks, or while somebody is selecting text to copy.
const patch = (old, fresh) => {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || (old.id ?? "") !== (fresh.id ?? "")) return old.replaceWith(fresh);
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.matches("figure.chart") && charts.update(old, fresh)) return;
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "open" && name !== "hidden") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && name !== "hidden") old.setAttribute(name, value);
  const [was, is] = [[...old.childNodes], [...fresh.childNodes]];
  is.forEach((node, i) => (was[i] ? patch(was[i], node) : old.append(node)));
  was.slice(is.length).forEach((node) => node.remove());
};
const refresh = async () => {
  if (!document.hidden && getSelection().isCollapsed) {
    let fresh = null;
    try {
      const response = await fetch(location.href, { cache: "no-store", headers: { "Synthetic-Part": "main" } });
      if (response.ok) fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main");
    } catch { /* said below */ }
    // A page that had no charts has not their script either.
    if (typeof charts === "undefined" && fresh?.querySelector("figure.chart")) return location.reload();
    if (fresh) {
      const { title, icon } = fresh.dataset, link = document.querySelector("link[rel=icon]");
      if (document.title !== title) document.title = title;
      if (!link.href.endsWith("=" + icon)) link.href = link.href.replace(/=\w+$/, "=" + icon);
      patch(document.querySelector("main"), fresh);
      if (typeof charts !== "undefined") charts.enhance(document);
    }
    document.getElementById("stale").hidden = fresh !== null;
  }
  setTimeout(refresh, 5000);
};
setTimeout(refresh, 5000);
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy);
    text.select();
    try { await navigator.clipboard.writeText(text.value); } catch { document.execCommand("copy"); }
    button.textContent = "Copied";
  });
}
