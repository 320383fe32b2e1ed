type Colour = readonly [red: number, green: number, blue: number];

const HEX = /^#([0-9a-f]{6})$/i;
const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];
/** The page's own backgrounds, as the style sheet has them. */
const LIGHT_CARD: Colour = [255, 255, 255];
const DARK_CARD: Colour = [28, 30, 33];
/** Of what is no text. Source: WCAG 2.2, 1.4.11. */
const SHAPE_CONTRAST = 3;
const STEPS = 20;

/** The merchant's colour as the style route names it, `0052ff`; undefined for what is no six hex digits after a `#`. */
export function themeName(colour: string | null): string | undefined {
  return HEX.exec(colour ?? '')?.[1]?.toLowerCase();
}

/**
 * The style sheet of a merchant's colour, `0052ff`; undefined when it is none. The text on it is black or white,
 * whichever has the better contrast (4.58 at least), and its lines are as far from the page's card as a shape has
 * to be. It is a sheet because the policy of the pages forbids styles inside them.
 */
export function themeSheet(name: string): string | undefined {
  const accent = colourOf(name);
  if (accent === undefined) return undefined;
  const text = contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK;
  const rule = (line: Colour) =>
    `:root{--accent:${hex(accent)};--on-accent:${hex(text)};--accent-line:${hex(line)}}`;
  const light = rule(distinct(accent, LIGHT_CARD, BLACK));
  const dark = rule(distinct(accent, DARK_CARD, WHITE));
  return `${light}\n@media (prefers-color-scheme:dark){${dark}}\n`;
}

/** How well two colours can be told apart, 1 to 21. Source: WCAG 2.2, "contrast ratio". */
export function contrast(one: Colour, other: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Six hex digits as red, green and blue; undefined for anything else. */
export function colourOf(name: string): Colour | undefined {
  if (!HEX.test(`#${name}`)) return undefined;
  const channel = (start: number) => Number.parseInt(name.slice(start, start + 2), 16);
  return [channel(0), channel(2), channel(4)];
}

function distinct(colour: Colour, background: Colour, towards: Colour): Colour {
  for (let step = 0; step <= STEPS; step += 1) {
    const mixed = mix(colour, towards, step / STEPS);
    if (contrast(mixed, background) >= SHAPE_CONTRAST) return mixed;
  }
  return towards;
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const channel = (a: number, b: number) => Math.round(a + (b - a) * share);
  return [channel(from[0], to[0]), channel(from[1], to[1]), channel(from[2], to[2])];
}

function luminance([red, green, blue]: Colour): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(channel: number): number {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function hex(colour: Colour): string {
  return `#${colour.map(channel => channel.toString(16).padStart(2, '0')).join('')}`;
}
