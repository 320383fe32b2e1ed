import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Owner } from '../model/owner.ts';
import { NATIVE_COIN } from '../model/payment-chain.ts';
import type { DepositAddress } from '../model/recipient.ts';
import { watchedStore } from '../store/watched-store.ts';
import { select } from '../tables/select.ts';

/** A deposit address of which nothing but its money is of interest. */
export type WatchedDeposit = Pick<DepositAddress, 'address' | 'tokenAddress' | 'sessionId' | 'createdAt'>;

/** A deposit address that is to be looked at. */
export interface DueDeposit extends WatchedDeposit {
  /** End of its session in UTC milliseconds; null while it is open. */
  readonly endedAt: number | null;
  /** Block up to which it was read; null while it is watched in each block. */
  readonly lookedBlock: number | null;
}

/** A deposit address whose session has ended, at a time in UTC milliseconds, or is open again. */
interface ChangedDeposit extends Owner, Pick<DueDeposit, 'address' | 'tokenAddress' | 'endedAt'> {}

/** Time after the end of its session for which an address is watched in each block. */
const WATCHED_MS = 60 * 60_000;
/** Times after the end at which it is looked at; after the last one, once per that time. */
const LOOKS_AFTER_MS = [WATCHED_MS, DAY_MS, 7 * DAY_MS] as const;
const WEEKLY_MS = 7 * DAY_MS;

/** True when an address of an ended session is not watched in each block any more. */
export function isLeftToLooks({ endedAt }: Pick<DueDeposit, 'endedAt'>, now: number): boolean {
  return endedAt !== null && now >= endedAt + WATCHED_MS;
}

/**
 * Looks at the deposit addresses of a chain: in each block while their session is open, and then from time to time
 * (Decision 401).
 */
export function lookSchedule(handle: Handle, chainId: number) {
  return {
    /** Addresses whose sessions have ended or are open again, and are not scheduled for it. */
    async changed(): Promise<readonly ChangedDeposit[]> {
      const ended = await select({
        from: 'deposit_addresses d',
        join: ['checkout_sessions s on s.id = d.session_id'],
        columns: ['d.address', 'd.organization_id', 'd.mode', 'd.token_address', 's.ended_at'],
      }).rows(handle, 'where d.chain_id = ? and d.ended_at is null and s.ended_at is not null', [chainId]);
      const reopened = await select({
        from: 'checkout_sessions s',
        join: ['deposit_addresses d on d.address = s.deposit_address'],
        columns: ['d.address', 'd.organization_id', 'd.mode', 'd.token_address', 's.ended_at'],
      }).rows(
        handle,
        "where s.status = 'active' and s.chain_id = ? and s.deposit_address is not null and d.ended_at is not null",
        [chainId],
      );
      return [...ended, ...reopened].map(row => ({
        address: row.address,
        organizationId: row.organization_id,
        mode: row.mode,
        tokenAddress: row.token_address,
        endedAt: row.ended_at,
      }));
    },

    /**
     * Schedules the looks at addresses whose sessions have ended. Those of sessions that are open again are watched again, and
     * looked at now (UTC milliseconds) for what came in the meantime.
     */
    async follow(changed: readonly ChangedDeposit[], now: number): Promise<void> {
      for (const { address, endedAt, tokenAddress, ...owner } of changed) {
        if (endedAt === null)
          await watchedStore(handle).watch(owner, { chainId, tokenAddress, recipientAddress: address }, now);
        await handle('deposit_addresses')
          .where({ address })
          .update({ ended_at: endedAt, next_look_at: endedAt === null ? now : endedAt + WATCHED_MS });
      }
    },

    /** Addresses for coins that are watched in each block, and were issued at this time or later (UTC milliseconds). */
    async watchedForCoins(since: number): Promise<WatchedDeposit[]> {
      const rows = await select({
        from: 'deposit_addresses',
        columns: ['address', 'token_address', 'session_id', 'created_at'],
      }).rows(
        handle,
        'where chain_id = ? and token_address = ? and looked_block is null and created_at >= ? order by created_at',
        [chainId, NATIVE_COIN, since],
      );
      return rows.map(depositOf);
    },

    /** Addresses that are to be looked at now, the longest due first. */
    async due(now: number, limit: number): Promise<DueDeposit[]> {
      const rows = await select({
        from: 'deposit_addresses',
        columns: ['address', 'token_address', 'session_id', 'created_at', 'ended_at', 'looked_block'],
      }).rows(handle, 'where chain_id = ? and next_look_at <= ? order by next_look_at limit ?', [
        chainId,
        now,
        limit,
      ]);
      return rows.map(row => ({ ...depositOf(row), endedAt: row.ended_at, lookedBlock: row.looked_block }));
    },

    /** Notes that these addresses were read up to a block. */
    async readUpTo(block: number, addresses: readonly string[]): Promise<void> {
      if (addresses.length === 0) return;
      const among = placeholders(addresses.length);
      await execute(
        handle,
        `update deposit_addresses set looked_block = ?
         where address in (${among}) and (looked_block is null or looked_block < ?)`,
        [block, ...addresses, block],
      );
    },

    /** Leaves these addresses to looks: they are not watched in each block any more. */
    async leave(addresses: readonly string[]): Promise<void> {
      if (addresses.length === 0) return;
      await execute(
        handle,
        `delete from watched_recipients where chain_id = ? and recipient_address in (${placeholders(addresses.length)})`,
        [chainId, ...addresses],
      );
    },

    /** Schedules a look at once at the address of an ended session. Those of open ones are watched in each block. */
    async lookNow(address: string, now: number): Promise<void> {
      await execute(
        handle,
        'update deposit_addresses set next_look_at = ? where address = ? and chain_id = ? and next_look_at > ?',
        [now, address, chainId, now],
      );
    },

    /** Puts the look at these addresses off to a time. What they were read up to stays. */
    async postpone(addresses: readonly string[], until: number): Promise<void> {
      if (addresses.length === 0) return;
      await execute(
        handle,
        `update deposit_addresses set next_look_at = ? where address in (${placeholders(addresses.length)})`,
        [until, ...addresses],
      );
    },

    /** Schedules the next look at these addresses after one that has just been made; none for open ones. */
    async lookAgain(
      deposits: readonly Pick<DueDeposit, 'address' | 'endedAt'>[],
      now: number,
    ): Promise<void> {
      for (const { address, endedAt } of deposits)
        await handle('deposit_addresses')
          .where({ address })
          .update(
            endedAt === null
              ? { next_look_at: null, looked_block: null }
              : { next_look_at: nextLook(endedAt, now) },
          );
    },
  };
}

function nextLook(endedAt: number, now: number): number {
  const next = LOOKS_AFTER_MS.map(after => endedAt + after).find(time => time > now);
  return next ?? now + WEEKLY_MS;
}

interface DepositRow {
  readonly address: string;
  readonly token_address: string;
  readonly session_id: string;
  readonly created_at: number;
}

function depositOf(row: DepositRow): WatchedDeposit {
  return {
    address: row.address,
    tokenAddress: row.token_address,
    sessionId: row.session_id,
    createdAt: row.created_at,
  };
}
