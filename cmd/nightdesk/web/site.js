// What pages do by themselves. They work without it.
"use strict";

// Marks of what was read are kept in this browser: the desk knows no users, so marks on the server would be everybody's.
const readKey = "nightdesk.read", mostRead = 5000;

function readReports() {
  try {
    const kept = JSON.parse(localStorage.getItem(readKey) || "[]");
    return Array.isArray(kept) ? kept : [];
  } catch { return null; } // no storage: no marks
}

function keepRead(read) {
  try { localStorage.setItem(readKey, JSON.stringify(read.slice(-mostRead))); } catch { /* full */ }
}

function showMarks() {
  const read = readReports();
  if (!read) return;
  const report = document.querySelector("[data-report]");
  if (report && !read.includes(report.dataset.report)) {
    read.push(report.dataset.report);
    keepRead(read);
  }
  const known = new Set(read), links = [...document.querySelectorAll("a[data-run]")];
  const mark = link => {
    if (!known.has(link.dataset.run) || link.classList.contains("read")) return;
    link.classList.add("read");
    const word = document.createElement("span");
    word.className = "soft small";
    word.textContent = " read";
    link.after(word);
  };
  links.forEach(mark);
  const place = document.getElementById("read-marks");
  if (!place || links.length === 0) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Mark these as read";
  const box = document.createElement("input"), label = document.createElement("label");
  box.type = "checkbox";
  label.className = "in-line";
  label.append(box, " Hide what was read");
  const hide = () => document.querySelectorAll("[data-line]").forEach(line => {
    const own = [...line.querySelectorAll("a[data-run]")];
    line.hidden = box.checked && own.length > 0 && own.every(a => known.has(a.dataset.run));
  });
  button.addEventListener("click", () => {
    links.forEach(link => {
      if (!known.has(link.dataset.run)) { known.add(link.dataset.run); read.push(link.dataset.run); }
      mark(link);
    });
    keepRead(read);
    hide();
  });
  box.addEventListener("change", hide);
  place.append(button, label);
}

// The page of unfinished work is brought anew every three seconds, for as long as it says data-live. What the reader has
// opened stays open, and nothing changes below a form that is being filled in.
async function look() {
  const main = document.querySelector("main");
  if (!document.hidden && !main.querySelector("input:checked, :focus")) {
    try {
      const answer = await fetch(location.href);
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
      if (answer.ok && next) {
        const opened = [...main.querySelectorAll("details")].map(part => part.open);
        next.querySelectorAll("details").forEach((part, i) => { if (i < opened.length) part.open = opened[i]; });
        main.replaceChildren(...next.childNodes);
        showMarks();
      }
    } catch { /* the server is away: the next look may find it */ }
  }
  follow();
}

function follow() {
  if (document.querySelector("[data-live]")) setTimeout(look, 3000);
}

showMarks();
follow();
