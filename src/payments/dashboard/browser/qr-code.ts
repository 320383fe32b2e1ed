import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { QrPicture } from '#payments/checkout/page/browser/qr-picture.ts';
import { drawQrCode, type QrDrawing } from './api.ts';

/** QR code of a URL with a download link. It is dark on light in every colour scheme, so that cameras can read it. */
export function QrCode({ text, label }: { text: string; label: string }): VNode {
  const drawing = useAnswer(signal => drawQrCode(text, signal), [text]);
  return h(Awaited<QrDrawing>, {
    loading: drawing,
    children: ({ side, path }) => html`<figure class="stack">
      ${h(QrPicture, { drawing: { side, path }, label })}
      <figcaption><a href=${fileOf({ side, path })} download="qr-code.svg">Download QR code</a></figcaption>
    </figure>`,
  });
}

function fileOf({ side, path }: Pick<QrDrawing, 'side' | 'path'>): string {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><rect width="${side}" height="${side}" fill="#fff"/><path d="${path}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(drawing)}`;
}
