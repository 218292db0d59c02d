// Search on the timeline: chunks whose file, dataset or worker contains a text; the others fade.
function setUpTimelineFind(data, view, redraw, describeOf) {
  const input = $("#timeline-find"), output = $("#timeline-found");
  if (!input) return;
  const { a } = data, holds = (text, names) => names.map((name) => name.toLowerCase().includes(text));
  let matches = [], at = -1;
  const find = () => {
    const text = input.value.trim().toLowerCase();
    matches = [];
    at = -1;
    keep("find", encodeURIComponent(text));
    if (text) {
      const files = holds(text, data.files), sets = holds(text, data.datasets), rows = holds(text, data.rows.map((row) => row[2] + " " + row[4]));
      for (let i = 0; i < a.row.length; i++) if (files[a.file[i]] || sets[a.ds[i]] || rows[a.row[i]]) matches.push(i);
    }
    view.found = text ? new Set(matches) : null;
    const seconds = matches.reduce((sum, i) => sum + Math.max(0, a.dur[i]) * data.unit, 0);
    output.textContent = !text ? "" : matches.length
      ? exactCount(matches.length) + " of " + exactCount(a.row.length) + " attempts, " + humanDuration(seconds) + " · Enter: next" : "nothing has that in its name";
    redraw();
  };
  input.addEventListener("input", find);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { input.value = ""; find(); }
    if (event.key !== "Enter" || !matches.length) return;
    at = (at + (event.shiftKey ? matches.length - 1 : 1)) % matches.length;
    describeOf(matches[at]);
  });
  const asked = searchOf(state.values.get("find") || "");
  if (asked) { input.value = asked; find(); }
}

// What is in the address, which anybody may have written.
function searchOf(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
