import { randomBytes } from 'node:crypto';
import { bytesToHex, type Hex } from 'viem';
import type { Db, Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';

import { storageOf, transaction } from '../../db/transaction.ts';
import { depositSalt, type SaltParts } from '../../deposits/salt.ts';
import { select } from '../tables/select.ts';

/** A number of an organization, and the salt that follows from it and the seed. */
export interface DepositNumber extends Omit<SaltParts, 'seed'> {
  readonly salt: Hex;
}

/** Seeds, epochs and numbers of deposit addresses (Decision 394). */
export function depositNumbers(handle: Handle) {
  const latestEpoch = async () => {
    const [row] = await select({ from: 'deposit_epochs', columns: ['*'] }).rows(
      handle,
      'order by created_at desc, epoch limit 1',
    );
    return row;
  };
  const beginEpoch = async (now: number, storage: string | undefined): Promise<Hex> => {
    const epoch = randomHex();
    // After the present one also by a clock that is behind: the latest is in use.
    const createdAt = Math.max(now, ((await latestEpoch())?.created_at ?? 0) + 1);
    await handle('deposit_epochs').insert({ epoch, created_at: createdAt, storage: storage ?? null });
    return epoch;
  };

  const currentEpoch = async (now: number): Promise<Hex> =>
    (await latestEpoch())?.epoch ?? (await beginEpoch(now, await storageOf(handle)));

  const knownSeed = async (organizationId: string): Promise<Hex | undefined> => {
    const [row] = await select({ from: 'deposit_seeds', columns: ['seed'] }).rows(
      handle,
      'where organization_id = ?',
      [organizationId],
    );
    return row?.seed;
  };

  return {
    /** The organization's seed; a new one if it has none. Needs a transaction. */
    async seed(organizationId: string, now: number): Promise<Hex> {
      const known = await knownSeed(organizationId);
      if (known !== undefined) return known;
      await execute(
        handle,
        `insert into deposit_seeds (organization_id, seed, created_at) values (?, ?, ?)
         on conflict (organization_id) do nothing`,
        [organizationId, randomHex(), now],
      );
      const added = await knownSeed(organizationId);
      if (added === undefined) throw new Error(`Organization ${organizationId} got no seed.`);
      return added;
    },

    /**
     * Epochs in which an organization has addresses, the oldest first, and the one in use. Needs a transaction.
     */
    async epochsOf(organizationId: string, now: number): Promise<Hex[]> {
      const rows = await select({
        from: 'deposit_epochs e',
        join: ['deposit_numbers n on n.epoch = e.epoch'],
        columns: ['e.epoch'],
      }).rows(handle, 'where n.organization_id = ? order by e.created_at, e.epoch', [organizationId]);
      const current = await currentEpoch(now);
      return [...new Set([...rows.map(({ epoch }) => epoch), current])];
    },

    /** Begins a new epoch, in which numbers count from 0 again. `storage` is that of the database (`storageOf`). */
    beginEpoch,

    /** True when the database has other storage than at the beginning of its epoch: it was restored, or has moved. */
    async hasMoved(storage: string | undefined): Promise<boolean> {
      const latest = await latestEpoch();
      return storage !== undefined && latest !== undefined && latest.storage !== storage;
    },

    /** A number that no address of the organization has had. Needs a transaction. */
    async next(organizationId: string, now: number): Promise<DepositNumber> {
      const seed = await this.seed(organizationId, now);
      const epoch = await currentEpoch(now);
      const [row] = await select({ from: 'deposit_numbers', columns: ['next_number'] }).changed(
        handle,
        `insert into deposit_numbers (organization_id, epoch, next_number) values (?, ?, 1)
         on conflict (organization_id, epoch) do update set next_number = deposit_numbers.next_number + 1`,
        [organizationId, epoch],
      );
      if (row === undefined) throw new Error(`Organization ${organizationId} got no number.`);
      const number = row.next_number - 1;
      return { epoch, number, salt: depositSalt({ seed, epoch, number }) };
    },
  };
}

/**
 * Begins a new epoch if the database was restored or has moved since the present one began, so that no number of an
 * organization is used twice (Decision 394). True when it did.
 */
export function beginEpochAfterMove(db: Db, now: number): Promise<boolean> {
  return transaction(db, async handle => {
    const numbers = depositNumbers(handle);
    const storage = await storageOf(handle);
    const hasMoved = await numbers.hasMoved(storage);
    if (hasMoved) await numbers.beginEpoch(now, storage);
    return hasMoved;
  });
}

function randomHex(): Hex {
  return bytesToHex(randomBytes(32));
}
