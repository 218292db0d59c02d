// Numbers as human_numbers.cc writes them, where that says why; number_cases.json holds both to it. Pages break lines:
// what belongs to one number is joined by no-break spaces.
const NO_BREAK = "\u00a0";
const COUNTS = ["", "k", "M", "G", "T", "P"];

const twoDigits = (number) => String(number).padStart(2, "0");
const isWhole = (value) => Math.abs(value - Math.round(value)) <= 1e-9 * Math.abs(value);
function roundedTo(value, decimals) {
  const scale = Number("1e" + decimals);
  return Math.sign(value) * Math.round(Math.abs(value) * scale) / scale;
}
const fixed = (value, decimals) => roundedTo(value, decimals).toFixed(decimals);

function threeDigits(value) {
  const size = Math.abs(value);
  if (size >= 99.95) return fixed(value, 0);
  if (size >= 9.995) return fixed(value, 1);
  let decimals = 2;
  for (let least = .095; size > 0 && size < least && decimals < 15; least /= 10) ++decimals;
  return fixed(value, decimals);
}
function scaled(value, base, units) {
  let unit = 0;
  for (; unit + 1 < units.length && Math.abs(value) >= base - .5; ++unit) value /= base;
  const digits = isWhole(value) ? Math.round(value).toFixed(0) : threeDigits(value);
  return units[unit] ? digits + NO_BREAK + units[unit] : digits;
}
const exactCount = (value) => fixed(value, 0).replace(/\B(?=(\d{3})+$)/g, NO_BREAK);
function humanCount(value) {
  if (!Number.isFinite(value)) return "?";
  if (Math.abs(value) >= 1e5 - .5) return scaled(value, 1000, COUNTS);
  return isWhole(value) || Math.abs(value) >= 99.95 ? exactCount(value) : threeDigits(value);
}
const humanRate = (perSecond) => (Number.isFinite(perSecond) ? scaled(perSecond, 1000, COUNTS) + "/s" : "?");
const humanMemory = (bytes) => (Number.isFinite(bytes) ? scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]) : "?");
const humanBitRate = (gigabits) =>
  (Number.isFinite(gigabits) ? scaled(gigabits * 1e9, 1000, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]) : "?");

function humanDuration(seconds) {
  if (!Number.isFinite(seconds)) return "?";
  if (seconds < 0) return "-" + humanDuration(-seconds);
  if (seconds === 0) return "0" + NO_BREAK + "s";
  for (const [limit, factor, unit] of [[.9995e-6, 1e9, "ns"], [.9995e-3, 1e6, "µs"], [.9995, 1e3, "ms"], [59.95, 1, "s"]]) {
    if (seconds < limit) return threeDigits(seconds * factor) + NO_BREAK + unit;
  }
  const whole = Math.round(seconds), days = Math.floor(whole / 86400), hours = Math.floor(whole / 3600) % 24;
  const minutes = twoDigits(Math.floor(whole / 60) % 60), rest = twoDigits(whole % 60);
  const parts = days ? [days, "d", twoDigits(hours), "h", minutes, "m"] : hours ? [hours, "h", minutes, "m", rest, "s"]
    : [Number(minutes), "m", rest, "s"];
  return parts.join(NO_BREAK);
}
function humanClock(seconds) {
  if (!Number.isFinite(seconds)) return "?";
  const whole = Math.round(Math.abs(seconds)), hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
  return (seconds < 0 && whole ? "-" : "") + (hours ? hours + ":" + twoDigits(minutes) : minutes) + ":" + twoDigits(whole % 60);
}
function roundTimeStep(span, most) {
  const steps = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10,
    15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  return steps.find((step) => span / step <= most) || 86400 * Math.ceil(span / most / 86400);
}

function humanPercent(share, decimals) {
  if (!Number.isFinite(share)) return "?";
  const percent = Math.abs(share) * 100, sign = share < 0 ? "-" : "", end = NO_BREAK + "%";
  if (decimals === undefined) decimals = percent <= 1e-10 || percent >= 9.95 ? 0 : percent < .095 ? 2 : 1;
  if (percent <= 1e-10) return fixed(0, decimals) + end;
  const isAll = Math.abs(percent - 100) <= 1e-10;
  for (let digits = decimals; digits <= Math.max(decimals, 2); ++digits) {
    const shown = roundedTo(percent, digits);
    if (isAll || (shown !== 0 && shown !== 100)) return sign + fixed(percent, digits) + end;
  }
  const isNearlyNone = percent < 1, bound = isNearlyNone ? "0.01" : percent < 100 ? "99.99" : "100";
  return (isNearlyNone === share > 0 ? "<" : ">") + NO_BREAK + sign + bound + end;
}
// Four significant digits, without zeros at the end.
function humanNumber(value) {
  if (!Number.isFinite(value)) return "?";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return exactCount(value);
  if (size >= 999.95) return humanCount(value);
  if (size < 1e-12) return value.toExponential(2);
  let decimals = 3;
  for (let limit = 10; size >= limit && decimals > 0; limit *= 10) --decimals;
  for (let least = 1; size < least && decimals < 15; least /= 10) ++decimals;
  return decimals ? fixed(value, decimals).replace(/\.?0+$/, "") : fixed(value, 0);
}
function humanFactor(factor) {
  const size = Math.abs(factor);
  return size >= .95 && size < 9.95 ? fixed(factor, 1) : humanCount(size < .95 ? factor : roundedTo(factor, 0));
}
