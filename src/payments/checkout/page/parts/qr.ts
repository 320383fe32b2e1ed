import { createRequire } from 'node:module';
import { html } from 'htm/preact';
import { LRUCache } from 'lru-cache';
import type { VNode } from 'preact';
import type Qrcode from 'qrcode';

/** Light modules around the code, without which readers do not find it. Source: ISO/IEC 18004. */
const QUIET_ZONE = 4;
/** Drawings kept, each of about 10 kB: a page is asked for again and again while its payer waits. */
export const KEPT = 500;

const require = createRequire(import.meta.url);

/** The part of the library that encodes, loaded with the first code; its main module writes pictures, too. */
function library(): Pick<typeof Qrcode, 'create'> {
  return require('qrcode/lib/core/qrcode.js');
}

const kept = new LRUCache<string, Drawing>({ max: KEPT });

/** The dark modules of a QR code as the path of an SVG with `side` units on each side. */
export interface Drawing {
  readonly side: number;
  readonly path: string;
}

/**
 * A QR code as a drawing, dark on light whatever the page's colours are: many readers know no other. `label` is
 * read aloud in its place.
 */
export function qrCode(text: string, label: string): VNode {
  const { side, path } = qrDrawing(text);
  return html`<svg
    class="qr"
    role="img"
    aria-label=${label}
    viewBox=${`0 0 ${side} ${side}`}
    shape-rendering="crispEdges"
  >
    <rect width=${side} height=${side} fill="#ffffff" />
    <path d=${path} fill="#000000" />
  </svg>`;
}

/** Encodes a text, or returns the drawing from before: encoding blocks the event loop for milliseconds. */
export function qrDrawing(text: string): Drawing {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const made = encoded(text);
  kept.set(text, made);
  return made;
}

function encoded(text: string): Drawing {
  const { modules } = library().create(text, { errorCorrectionLevel: 'M' });
  const side = modules.size + 2 * QUIET_ZONE;
  let path = '';
  for (let row = 0; row < modules.size; row += 1) {
    for (const [start, length] of runs(row, modules)) {
      path += `M${start + QUIET_ZONE} ${row + QUIET_ZONE}h${length}v1h-${length}z`;
    }
  }
  return { side, path };
}

interface Modules {
  readonly size: number;
  get(row: number, column: number): number;
}

/** Dark modules of a row that lie side by side, as start and length: one shape instead of many, without seams. */
function runs(row: number, modules: Modules): [start: number, length: number][] {
  const found: [number, number][] = [];
  let start = -1;
  for (let column = 0; column <= modules.size; column += 1) {
    const isDark = column < modules.size && modules.get(row, column) !== 0;
    if (isDark && start === -1) start = column;
    if (!isDark && start !== -1) {
      found.push([start, column - start]);
      start = -1;
    }
  }
  return found;
}
