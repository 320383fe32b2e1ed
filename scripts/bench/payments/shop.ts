import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '#db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { insertRows } from '#db/rows.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { issueKey } from '#payments/keys/issue-key.ts';
import { ownerAddress } from '#payments/members/owner-address.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import { linkValues } from '#payments/store/link-store.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';

/** A database with the schema of payments and one organization. */
export interface FilledShop {
  readonly owner: Owner;
  /** Ids of its initial links. */
  readonly linkIds: readonly string[];
  /** Header of a request with its admin key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Token of a one-time address that signs its owner in to the dashboard. */
  readonly signInToken: string;
}

/** A filled shop in an SQLite file. */
export interface Shop extends FilledShop, AsyncDisposable {
  readonly file: string;
}

/** Address of a node that does not exist. */
export const NO_NODE = 'http://127.0.0.1:9';

/** Creates a shop with these links in a new folder, which is removed on disposal. Leaves no connection open. */
export async function makeShop(linksOf: (owner: Owner) => readonly PaymentLink[]): Promise<Shop> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const file = join(folder, 'payments.db');
  return {
    file,
    ...(await filledShop({ file, durability: 'normal' }, linksOf)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Creates a shop in an empty database. Leaves no connection open. */
export async function filledShop(
  database: DatabaseOptions,
  linksOf: (owner: Owner) => readonly PaymentLink[],
): Promise<FilledShop> {
  const owner: Owner = { organizationId: newId('org'), mode: 'test' };
  const db = openDatabase(database);
  try {
    await migrate(db, PAYMENTS_MIGRATIONS);
    const now = Date.now();
    const defaults = { chainId: null, tokenAddress: null, recipientAddress: null };
    await organizationStore(db).insert({
      id: owner.organizationId,
      name: 'Bench',
      tier: 'standard',
      defaults,
      createdAt: now,
    });
    const draft = { ...owner, name: 'Bench', permission: 'admin' as const, expiresAt: null };
    const { secret } = await issueKey(db, draft, now);
    const { token } = await transaction(db, handle => ownerAddress(handle, owner, now));
    const links = linksOf(owner);
    await insertLinks(db, links);
    return {
      owner,
      linkIds: links.map(({ id }) => id),
      headers: { Authorization: `Bearer ${secret}` },
      signInToken: token,
    };
  } finally {
    await db.destroy();
  }
}

/** Inserts links with their short codes in one transaction. */
async function insertLinks(db: Db, links: readonly PaymentLink[]): Promise<void> {
  const rows = links.map(link => linkValues(link));
  const [first] = rows;
  if (first === undefined) return;
  await transaction(db, async handle => {
    const codes = links.map(({ shortCode, id }) => [shortCode, id]);
    await insertRows(handle, { table: 'short_codes', columns: ['code', 'payment_link_id'] }, codes);
    const columns = Object.keys(first);
    await insertRows(handle, { table: 'payment_links', columns }, rows.map(Object.values));
  });
  if (db.dialect.name === 'postgres') await db.raw('analyze');
}
