type Colour = readonly [red: number, green: number, blue: number];

const HEX = /^#([0-9a-f]{6})$/i;
const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];
/** Backgrounds of the page, as in the style sheet. */
const LIGHT_CARD: Colour = [255, 255, 255];
const DARK_CARD: Colour = [28, 30, 33];
/** Minimum contrast of shapes that are not text. Source: WCAG 2.2, 1.4.11. */
const SHAPE_CONTRAST = 3;
const STEPS = 20;

/** Name of a colour in the style route, such as `0052ff`. Undefined unless the colour is `#` and six hex digits. */
export function themeName(colour: string | null): string | undefined {
  return HEX.exec(colour ?? '')?.[1]?.toLowerCase();
}

/** A merchant's colour and those derived from it, each like `#0052ff`. */
export interface ThemeColours {
  readonly accent: string;
  /** Text on the colour: black or white, whichever has the better contrast (at least 4.58). */
  readonly text: string;
  /** Lines in the colour, with enough contrast to the light and to the dark card of the page. */
  readonly lines: { readonly light: string; readonly dark: string };
}

/** Colours of a page for a merchant's colour such as `0052ff`; undefined for an invalid one. */
export function themeColours(name: string): ThemeColours | undefined {
  const accent = colourOf(name);
  if (accent === undefined) return undefined;
  return {
    accent: hex(accent),
    text: hex(contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK),
    lines: { light: hex(distinct(accent, LIGHT_CARD, BLACK)), dark: hex(distinct(accent, DARK_CARD, WHITE)) },
  };
}

/** Style sheet of a merchant's colour. The content security policy of the pages forbids inline styles. */
export function themeSheet(name: string): string | undefined {
  const colours = themeColours(name);
  if (colours === undefined) return undefined;
  const { accent, text, lines } = colours;
  const rule = (line: string) => `:root{--accent:${accent};--on-accent:${text};--accent-line:${line}}`;
  return `${rule(lines.light)}\n@media (prefers-color-scheme:dark){${rule(lines.dark)}}\n`;
}

/** Contrast of two colours, from 1 to 21. Source: WCAG 2.2, "contrast ratio". */
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
