import { create } from 'qrcode';
import { type Html, html } from './html.ts';

/** Light modules around the code, without which readers do not find it. Source: ISO/IEC 18004. */
const QUIET_ZONE = 4;

/**
 * A QR code as a drawing, dark on light whatever the page's colours are: many readers know no other. `label` is
 * read aloud in its place.
 */
export function qrCode(text: string, label: string): Html {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const side = modules.size + 2 * QUIET_ZONE;
  let path = '';
  for (let row = 0; row < modules.size; row += 1) {
    for (const [start, length] of runs(row, modules)) {
      path += `M${start + QUIET_ZONE} ${row + QUIET_ZONE}h${length}v1h-${length}z`;
    }
  }
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><rect width="${side}" height="${side}" fill="#ffffff"/><path d="${path}" fill="#000000"/></svg>`;
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
