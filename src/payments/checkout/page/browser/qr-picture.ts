import { html } from 'htm/preact';
import type { VNode } from 'preact';

/** Dark modules of a QR code as the path of an SVG with `side` units per side. */
export interface QrPath {
  readonly side: number;
  readonly path: string;
}

/**
 * A QR code, always dark on light, because many readers understand nothing else. Screen readers read `label` instead.
 */
export function QrPicture({ drawing, label }: { drawing: QrPath; label: string }): VNode {
  const { side, path } = drawing;
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
