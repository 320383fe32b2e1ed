import type Router from '@koa/router';
import { LRUCache } from 'lru-cache';
import type { Db } from '#db/open.ts';
import type { Client } from '#http/client-address.ts';
import { HttpError } from '#http/errors.ts';
import { entityTag, type Representation } from '#http/representation.ts';
import { sendRepresentation } from '#http/send.ts';
import type { Clock } from '#lib/clock.ts';
import { imageStore } from './image-store.ts';

interface ImageRouteOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** Counts a picture that has to be read by the client that requests it. */
  readonly admit: (client: Client) => Promise<{
    readonly headers: Readonly<Record<string, string>>;
    readonly waitSeconds: number | undefined;
  }>;
}

// A pattern, because the router matches string paths in any letter case and with a trailing slash.
const PATH = /^\/pay\/images\/(img_[0-9A-Za-z]{24})$/;

/** Headers for files of strangers: nothing in them runs, and any page may show them. */
const CONFINED = {
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};
/** A picture never changes under its address. */
const SHOWN = { 'Content-Disposition': 'inline', 'Cache-Control': 'public, max-age=31536000, immutable' };

const REMEMBERED_BYTES = 32 * 2 ** 20;
/** A deleted picture is shown this long. */
const REMEMBERED_MS = 60_000;

/** Registers the public address of uploaded pictures (Decision 447). Recent ones are sent from memory. */
export function imageRoute(router: Router, { db, clock, admit }: ImageRouteOptions): void {
  const recent = new LRUCache<string, { type: string; representation: Representation; until: number }>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ representation }) => representation.identity.length,
  });
  router.all(PATH, async ctx => {
    ctx.set(CONFINED); // also for refusals
    const [, id = ''] = PATH.exec(ctx.path) ?? [];
    const known = recent.get(id);
    if (known !== undefined && clock.now() < known.until)
      return sendRepresentation(ctx, known.representation, { ...SHOWN, 'Content-Type': known.type });
    const { headers, waitSeconds } = await admit(ctx.state.client);
    ctx.set(headers);
    if (waitSeconds !== undefined)
      throw new HttpError(429, `Retry after ${waitSeconds} seconds.`, { headers });
    const file = await imageStore(db).file(id);
    if (file === undefined) throw new HttpError(404, 'There is no such image');
    const { type, bytes } = file;
    const representation = { etag: entityTag(bytes), identity: bytes };
    recent.set(id, { type, representation, until: clock.now() + REMEMBERED_MS });
    sendRepresentation(ctx, representation, { ...SHOWN, 'Content-Type': type });
  });
}
