import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';
import type Qrcode from 'qrcode';

/** Dark modules of a QR code as the path of an SVG with `side` units per side. */
interface QrDrawing {
  readonly side: number;
  readonly path: string;
}

/** Light modules around the code. Without them readers do not find it. Source: ISO/IEC 18004. */
const QUIET_ZONE = 4;
/** Drawings kept in memory, each of about 10 kB. A page is requested many times while its payer waits. */
export const KEPT = 500;

const require = createRequire(import.meta.url);

/** The encoder of the library, loaded with the first code. The main module would also load code that writes images. */
function library(): Pick<typeof Qrcode, 'create'> {
  return require('qrcode/lib/core/qrcode.js');
}

const kept = new LRUCache<string, QrDrawing>({ max: KEPT });

/** Encodes a text, or returns its earlier drawing: encoding blocks the event loop for milliseconds. */
export function qrDrawing(text: string): QrDrawing {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const made = encoded(text);
  kept.set(text, made);
  return made;
}

function encoded(text: string): QrDrawing {
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

/** Adjacent dark modules of a row as start and length. One shape per run is shorter and shows no seams. */
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
