// The standard charts: Vega-Lite specifications, each drawn when it comes into view.
const FACET_AXIS = 60, FACET_GAP = 28;  // pixels: axis and its title, once; what is between two panels
function setUpCharts() {
  const config = readData("chart-config"), source = document.getElementById("chart-script");
  const drawn = new Map();
  let loaded = false;
  function load() {
    if (loaded || !source) return loaded;
    const script = document.createElement("script");
    script.textContent = source.textContent;
    document.head.append(script);
    loaded = typeof vega === "object";
    return loaded;
  }
  async function draw(place) {
    if (!load()) {
      place.textContent = "Not drawn: this crema was built without what draws charts.";
      place.dataset.drawn = "never";
      return;
    }
    const spec = readData("spec-" + place.dataset.chart);
    spec.config = config[isDark() ? "dark" : "light"];
    fit(spec, place.clientWidth);
    const compiled = vegaLite.compile(spec, { logger: vega.logger(vega.Error) }).spec;
    const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vegaInterpreter.expressionInterpreter, renderer: "canvas", container: place, hover: true, logLevel: vega.Error,
      loader: vega.loader({ http: false }),
    });
    view.tooltip((_, event, __, value) => {
      if (value === null || value === undefined || value === "") return hideTip();
      const rows = typeof value === "object" ? Object.entries(value).map(([key, text]) => tipRow(key, String(text))) : [tipRow(String(value), "")];
      showTip(rows, event.clientX, event.clientY);
    });
    await view.runAsync();
    drawn.get(place)?.finalize();
    drawn.set(place, view);
    place.dataset.drawn = "yes";
    place.style.minHeight = "";
  }
  // a single view fills its card; what is made of several keeps the size it was given
  function fit(spec, width) {
    if (spec.hconcat && width < 700) {
      spec.vconcat = spec.hconcat;
      delete spec.hconcat;
    }
    for (const list of [spec.vconcat, spec.hconcat]) {
      if (list && list.every((part) => typeof part.width === "number")) {
        list.forEach((part) => { part.width = Math.max(160, (width - 130) / (list === spec.hconcat ? list.length : 1)); });
      }
    }
    if (spec.facet && spec.columns && spec.spec && spec.spec.width) {
      spec.columns = Math.max(1, Math.min(spec.columns, Math.floor((width - FACET_AXIS) / (spec.spec.width + FACET_GAP))));
      const isPhone = width < 480;
      if (spec.columns > 1 || isPhone) spec.spec.width = Math.floor((width - FACET_AXIS) / spec.columns - FACET_GAP);
      spec.facet.header = { ...spec.facet.header, labelLimit: spec.spec.width + FACET_GAP / 2 };
    }
    if (spec.facet || spec.hconcat || spec.concat || spec.repeat || spec.vconcat) return;
    spec.width = "container";
    spec.autosize = { type: "fit-x", contains: "padding" };
  }
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) drawFirst(target);
    }
  }, { rootMargin: "200px" });
  function drawFirst(place) {
    seen.unobserve(place);
    draw(place).catch((error) => { place.textContent = "This chart could not be drawn: " + error.message; place.dataset.drawn = "no"; });
  }
  // paper shows what nobody has scrolled to
  addEventListener("beforeprint", () => $$("[data-chart]").forEach((place) => {
    if (!place.dataset.drawn && place.checkVisibility()) drawFirst(place);
  }));
  $$("[data-chart]").forEach((place) => {
    place.style.minHeight = place.dataset.height + "px";  // so that what is below stays where a link leads
    seen.observe(place);
  });
  whenThemeChanges.push(() => drawn.forEach((_, place) => draw(place)));

  // the data of a chart as a table, made when it is asked for
  $$("details[data-table]").forEach((details) => details.addEventListener("toggle", () => {
    if (!details.open || $("table", details)) return;
    const spec = readData("spec-" + details.dataset.table), lists = [];
    const collect = (node) => {
      if (!node || typeof node !== "object") return;
      if (node.data && Array.isArray(node.data.values)) lists.push(node.data.values);
      for (const key of ["layer", "hconcat", "vconcat", "concat"]) (node[key] || []).forEach(collect);
      collect(node.spec);
    };
    collect(spec);
    Object.values(spec.datasets || {}).forEach((list) => lists.push(list));
    for (const list of lists.filter((rows) => rows.length && typeof rows[0] === "object")) {
      const scroll = make("div", "scroll"), table = make("table"), names = [...new Set(list.flatMap(Object.keys))];
      const head = table.createTHead().insertRow(), body = table.createTBody();
      names.forEach((name) => head.append(make("th", "", name)));
      list.slice(0, 500).forEach((row) => {
        const line = body.insertRow();
        names.forEach((name) => { line.insertCell().textContent = row[name] ?? "–"; });
      });
      scroll.append(table);
      details.append(scroll);
      if (list.length > 500) details.append(make("p", "more", list.length - 500 + " more rows in the specification: crema plot"));
    }
  }));
}
