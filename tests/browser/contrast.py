"""Contrast of colours as a browser reports them, computed as in WCAG 2.2."""

import re

LEAST_TEXT_CONTRAST = 4.5  # 1.4.3
LEAST_GRAPHIC_CONTRAST = 3  # 1.4.11: for parts that one has to see to understand the page


def channels(colour):
    numbers = [float(number) for number in re.findall(r"[\d.]+", colour)]
    return numbers[:3], numbers[3] if len(numbers) > 3 else 1.0


def of_hex(colour):
    """Red, green and blue of `#rrggbb`."""
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def luminance(rgb):
    """WCAG 2.2, "relative luminance"."""
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    light, dark = sorted([luminance(first), luminance(second)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


# every pair of text and ground that can be seen, with a place where it stands
TEXTS_AND_GROUNDS = """
const seen = new Map();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || element.closest("svg, script, dialog, caption, .skip")) continue;
  if (!element.checkVisibility({ opacityProperty: true })) continue;
  let ground = element;
  while (ground && /, 0\\)$|transparent/.test(getComputedStyle(ground).backgroundColor)) ground = ground.parentElement;
  if (!ground) continue;
  const pair = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor];
  const sample = walker.currentNode.textContent.trim().slice(0, 40);
  seen.set(pair.join(), [...pair, element.tagName + "." + element.className, sample]);
}
return [...seen.values()];
"""
