import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Context } from 'koa';
import { type Representation, represent } from '#http/representation.ts';
import { sendRepresentation } from '#http/send.ts';

const FOLDER = new URL('./browser/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const HASH_CHARACTERS = 16;

/** The files that pages load. */
export interface Assets {
  /** The address of a file, which changes with the content of any of them. */
  readonly path: (name: string) => string;
  /** Names of all scripts, so that a browser can fetch them at once. */
  readonly scripts: readonly string[];
  /** Sends the file at a path; false when there is none. */
  readonly send: (ctx: Context, path: string) => Promise<boolean>;
}

interface Asset {
  readonly type: string;
  readonly representation: Promise<Representation>;
}

/**
 * The style sheet, the scripts and the icon, read once. They share one hash, so that scripts find each other by
 * their plain names; and what an address stands for never changes, so browsers keep it.
 */
export function readAssets(): Assets {
  const names = readdirSync(FOLDER).toSorted();
  const hash = createHash('sha256');
  const files = new Map<string, Asset>();
  for (const name of names) {
    const content = readFileSync(new URL(name, FOLDER));
    hash.update(`${name} ${content.length} `).update(content);
    const type = TYPES[extname(name)];
    if (type !== undefined) files.set(name, { type, representation: represent(content) });
  }
  const base = `/pay/assets/${hash.digest('hex').slice(0, HASH_CHARACTERS)}/`;

  return {
    path: name => `${base}${name}`,
    scripts: names.filter(name => name.endsWith('.js')),
    async send(ctx, path) {
      const file = path.startsWith(base) ? files.get(path.slice(base.length)) : undefined;
      if (file === undefined) return false;
      sendRepresentation(ctx, await file.representation, {
        'Content-Type': file.type,
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
      });
      return true;
    },
  };
}
