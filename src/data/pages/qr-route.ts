import type Router from '@koa/router';
import { qrDrawing } from '#pages/qr.ts';

const PATH = /^\/chain\/\d+\/address\/(?<address>0x[0-9a-fA-F]{40})\/qr\.svg$/;

/** Registers the QR codes of addresses, as pictures of the address alone, which every wallet reads. */
export function qrRoute(router: Router): void {
  router.get(PATH, ctx => {
    const { address = '' } = PATH.exec(ctx.path)?.groups ?? {};
    const { side, path } = qrDrawing(address);
    ctx.set({
      'Cache-Control': 'public, max-age=86400',
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'X-Content-Type-Options': 'nosniff',
    });
    ctx.type = 'image/svg+xml';
    ctx.body = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><rect width="${side}" height="${side}" fill="#fff"/><path d="${path}"/></svg>`;
  });
}
