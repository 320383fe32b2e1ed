import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { MAX_RASTER_PIXELS, rasterPictureIn } from '#http/raster-picture.ts';
import { dataUri } from './data-uri.ts';

/** Longest drawing. Those that contracts create have up to 100 kB, by the gas of a call. */
const MAX_BYTES = 512 * 1024;
/** Blanks and comments before the first element are within it. */
const HEAD_CHARACTERS = 1_000;
const MAX_DEPTH = 64;
/** Links from element to element that follow each other, as of a `use` to a `use`. */
const MAX_LINKED = 32;
/** Drawings in drawings: a collection that layers them needs one level. */
const MAX_NESTED = 2;
const MAX_COST = 50_000;
/** Browsers draw moving elements again for each frame. */
const MOVING_FACTOR = 10;
/** A filter goes over all pixels. */
const FILTER_COST = 200;
const CHARACTERS_PER_COST = 50;

const MOVING = /^(?:animate|animateMotion|animateTransform|animateColor|set)$/;
/** Attributes whose change would make links or filter steps that are not counted. */
const COUNTED = /^(?:(?:xlink:)?href|filter|mask|clip-path|marker(?:-start|-mid|-end)?|numOctaves)$/;
const MARKERS = ['marker', 'marker-start', 'marker-mid', 'marker-end'];
/** Properties that apply to what an element contains, and to what it draws by a link. */
const INHERITED = /fill|stroke|marker/i;
const HREF = /^(?:xlink:)?href$/;
const LOCAL_URL = /url\(\s*['"]?#([^'")\s]+)/gi;
const DATA_URL = /url\(\s*(?:"([^"]*)"|'([^']*)'|([^)]*))/gi;
const FONT = /^data:(?:font\/|application\/(?:x-)?font)/i;

/**
 * Beginning of an SVG document. A comment ends at its first `-->`, and at no later one: with a choice between them, the
 * time would double with each comment of a text that is no drawing.
 */
const BEGINNING =
  /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*|<!DOCTYPE\s+svg[^[>]*>\s*)*<svg[\s>/]/i;

/** True for an SVG document, by its beginning. */
export function isDrawing(bytes: Buffer): boolean {
  return BEGINNING.test(bytes.toString('utf8', 0, HEAD_CHARACTERS));
}

/**
 * True for a drawing that a browser may show in an `<img>` (Decision 441). There, no script runs and no other file is
 * loaded, so what is left is its cost: links between elements multiply what is drawn, filters go over all pixels, and
 * pictures within it may be large.
 */
export function isDrawable(bytes: Buffer): boolean {
  try {
    return costOf(bytes, { nested: 0, pixels: 0 }) <= MAX_COST;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

class Refused extends Error {}

/** Level of a drawing, and the pixels of all raster pictures in the document so far. */
interface Use {
  readonly nested: number;
  pixels: number;
}

interface Element {
  readonly children: Element[];
  /** Links to elements by id, each with the times that it is drawn; again for each element inside if inherited. */
  readonly links: { readonly id: string; readonly times: number; readonly isInherited: boolean }[];
  /** Its own cost, without what it contains and links to. */
  cost: number;
  /** Its whole cost once it is known; 'open' while it is computed. */
  total?: Total | 'open';
}

/** Cost of an element with all that it contains and links to, and the elements that are drawn for it. */
interface Total {
  readonly cost: number;
  readonly drawn: number;
}

/** @throws Refused when the document is not well-formed, too long, too deep, or has links in a circle. */
function costOf(bytes: Buffer, use: Use): number {
  if (bytes.length > MAX_BYTES || use.nested > MAX_NESTED || !isDrawing(bytes)) throw new Refused();
  const { root, byId, isMoving, styleLinks } = read(decoded(bytes), use);
  const { cost, drawn } = total(root, byId, 0);
  let sum = cost;
  // A style may apply to each element.
  for (const id of styleLinks) {
    const target = byId.get(id);
    if (target !== undefined) sum += drawn * total(target, byId, 0).cost;
  }
  return sum * (isMoving ? MOVING_FACTOR : 1);
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refused();
  }
}

/** Reads the elements of a document. Only entities of XML itself are known, so none can multiply. */
function read(text: string, use: Use) {
  const byId = new Map<string, Element>();
  const root: Element = { children: [], links: [], cost: 0 };
  const open: Element[] = [root];
  const styleLinks: string[] = [];
  let isMoving = false;
  let style: string | undefined;
  const parser = new SaxesParser();
  parser.on('error', () => {
    throw new Refused();
  });
  parser.on('doctype', type => {
    if (type.includes('[')) throw new Refused();
  });
  // A style sheet, which is not read here.
  parser.on('processinginstruction', () => {
    throw new Refused();
  });
  const onText = (part: string) => {
    const parent = open.at(-1);
    if (parent !== undefined) parent.cost += part.length / CHARACTERS_PER_COST;
    if (style !== undefined) style += part;
  };
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('opentag', tag => {
    // What follows would not be read as a style.
    if (style !== undefined) throw new Refused();
    const element = elementOf(tag, use);
    if (MOVING.test(localName(tag.name))) isMoving = true;
    if (localName(tag.name).toLowerCase() === 'style') style = '';
    const { id } = tag.attributes;
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
    open.at(-1)?.children.push(element);
    open.push(element);
    if (open.length > MAX_DEPTH) throw new Refused();
  });
  parser.on('closetag', () => {
    open.pop();
    if (style === undefined) return;
    if (/@keyframes|animation/i.test(style)) isMoving = true;
    root.cost += costOfStyle(style, use);
    styleLinks.push(...[...style.matchAll(LOCAL_URL)].map(([, id = '']) => id));
    style = undefined;
  });
  parser.write(text).close();
  return { root, byId, isMoving, styleLinks };
}

function elementOf({ name, attributes }: SaxesTagPlain, use: Use): Element {
  const element: Element = { children: [], links: [], cost: 1 };
  if (MOVING.test(localName(name)) && changesCost(attributes)) throw new Refused();
  for (const [attribute, value] of Object.entries(attributes)) {
    element.cost += value.length / CHARACTERS_PER_COST;
    const isMarker = MARKERS.includes(attribute);
    const times = isMarker ? 1 + (attributes.d ?? attributes.points ?? '').length : 1;
    if (HREF.test(attribute) && value.trim().startsWith('#'))
      element.links.push({ id: value.trim().slice(1), times, isInherited: false });
    for (const part of attribute === 'style' ? value.split(';') : [value]) {
      const isInherited = INHERITED.test(attribute === 'style' ? part : attribute);
      for (const [, id = ''] of part.matchAll(LOCAL_URL)) element.links.push({ id, times, isInherited });
    }
    if (/^\s*data:/i.test(value)) element.cost += costOfData(value, use);
    else if (attribute === 'style' || /url\(/i.test(value)) element.cost += costOfStyle(value, use);
  }
  if (localName(name).startsWith('fe'))
    element.cost = (element.cost + FILTER_COST) * Math.max(1, Number(attributes.numOctaves ?? 1) || 1);
  return element;
}

/** True for an animation after which other costs would count. */
function changesCost(attributes: SaxesTagPlain['attributes']): boolean {
  return (
    COUNTED.test((attributes.attributeName ?? '').trim()) ||
    Object.values(attributes).some(value => /url\(/i.test(value))
  );
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Cost of the pictures in a style. @throws Refused when it could hide one. */
function costOfStyle(style: string, use: Use): number {
  if (style.includes('\\') || /@import/i.test(style)) throw new Refused();
  let cost = 0;
  for (const [, double, single, bare] of style.matchAll(DATA_URL)) {
    const value = (double ?? single ?? bare ?? '').trim();
    if (/^data:/i.test(value) && !FONT.test(value)) cost += costOfData(value, use);
  }
  return cost;
}

/** Cost of a picture in a `data:` URI. @throws Refused when it is not one that may be shown, or is too large. */
function costOfData(uri: string, use: Use): number {
  const bytes = dataUri(uri.replace(/\s+/g, ''), MAX_BYTES)?.decode();
  if (bytes === undefined) throw new Refused();
  const raster = rasterPictureIn(bytes);
  if (raster === undefined) {
    const nested = { nested: use.nested + 1, pixels: use.pixels };
    const cost = costOf(bytes, nested);
    use.pixels = nested.pixels;
    return cost;
  }
  if (raster.size === undefined || raster.size.isMoving) throw new Refused();
  use.pixels += raster.size.width * raster.size.height;
  if (use.pixels > MAX_RASTER_PIXELS) throw new Refused();
  return FILTER_COST;
}

function total(element: Element, byId: ReadonlyMap<string, Element>, linked: number): Total {
  if (element.total === 'open' || linked > MAX_LINKED) throw new Refused();
  if (element.total !== undefined) return element.total;
  element.total = 'open';
  let { cost } = element;
  let drawn = 1;
  const add = (target: Element | undefined, times: number, links: number) => {
    if (target === undefined) return;
    const part = total(target, byId, links);
    cost += times * part.cost;
    drawn += times * part.drawn;
  };
  for (const child of element.children) add(child, 1, linked);
  const { own = [], inherited = [] } = Object.groupBy(element.links, ({ isInherited }) =>
    isInherited ? 'inherited' : 'own',
  );
  for (const { id, times } of own) add(byId.get(id), times, linked + 1);
  const inside = drawn;
  for (const { id, times } of inherited) add(byId.get(id), times * inside, linked + 1);
  element.total = { cost, drawn };
  return element.total;
}
