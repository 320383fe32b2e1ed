import { text } from 'node:stream/consumers';
import createKnex, { type Knex } from 'knex';
import Koa from 'koa';
import { listen } from '#http/server/server.ts';
import type { Logger } from '#lib/logger.ts';
import { linkValues } from '#payments/store/link-store.ts';
import { aLink } from './link.ts';

/**
 * A minimal server for links only: no keys, no limits, no checks, no log. It uses the same tables with the same
 * durability, through unmodified knex and driver. `GET /:id` runs the same select, and `POST /` writes the same two
 * rows in one transaction. Both answer with the row.
 */
export async function serveBarePayments({
  file,
  organizationId,
  log,
}: {
  file: string;
  organizationId: string;
  log: Logger;
}) {
  const db = openPlainly(file);
  const owner = { organizationId, mode: 'test' as const };
  const columns = Object.keys(linkValues(aLink(owner, 0)));
  const insert = `insert into payment_links (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`;
  const find = 'select * from payment_links where organization_id = ? and mode = ? and id = ?';
  const app = new Koa();
  app.use(async ctx => {
    if (ctx.method === 'GET') {
      const [row] = await db.raw(find, [organizationId, owner.mode, ctx.path.slice(1)]);
      if (row !== undefined) ctx.body = row;
      return;
    }
    const { name, description } = JSON.parse(await text(ctx.req));
    const link = aLink(owner, Date.now(), { name, description });
    const row = linkValues(link);
    await db.transaction(async handle => {
      await handle.raw('insert into short_codes (code, payment_link_id) values (?, ?)', [
        row.short_code,
        row.id,
      ]);
      await handle.raw(insert, Object.values(row));
    });
    ctx.status = 201;
    ctx.body = row;
  });
  const listening = await listen({ app, host: '127.0.0.1', port: 0, log });
  return {
    url: listening.url,
    close: async () => {
      await listening.close();
      await db.destroy();
    },
  };
}

/** Opens a database without our own code between knex and the file, so that its cost shows. */
function openPlainly(file: string): Knex {
  return createKnex({
    client: 'better-sqlite3',
    connection: { filename: file },
    useNullAsDefault: true,
    pool: {
      min: 1,
      max: 1,
      afterCreate(
        connection: { pragma(text: string): unknown },
        done: (error: Error | null, connection: unknown) => void,
      ) {
        for (const pragma of [
          'journal_mode = wal',
          'synchronous = full',
          'foreign_keys = on',
          'cache_size = -65536',
        ])
          connection.pragma(pragma);
        done(null, connection);
      },
    },
  });
}
