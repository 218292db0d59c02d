// The live page: draws what has changed, once a second. This part writes numbers as people read them.
'use strict';

const number = (value, digits = 3) => {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  for (const [limit, suffix] of [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e4, ' k']]) {
    if (size >= limit) return (value / (limit === 1e4 ? 1e3 : limit)).toPrecision(digits) + suffix;
  }
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(digits)));
};
const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ' ');
const memory = (bytes) => {
  for (const [size, unit] of [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']]) {
    if (bytes >= size) return (bytes / size).toPrecision(3) + ' ' + unit;
  }
  return bytes + ' B';
};
const percent = (share) => (share < 0.0995 ? (share * 100).toFixed(1) : (share * 100).toFixed(0));
const clock = (seconds) => {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (part) => String(part).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  return (hours ? hours + ':' + two(Math.floor(whole / 60) % 60) : Math.floor(whole / 60)) + ':' + two(whole % 60);
};
const duration = (seconds) => {
  const whole = Math.round(seconds);
  if (whole < 60) return whole + ' s';
  if (whole < 3600) return Math.floor(whole / 60) + ' m ' + (whole % 60) + ' s';
  return Math.floor(whole / 3600) + ' h ' + Math.floor((whole % 3600) / 60) + ' m';
};
