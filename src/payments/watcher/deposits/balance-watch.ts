import type { Address } from 'viem';
import { coinBalances } from '#deposits/coin-balances.ts';
import { lowerCase } from '#evm/address.ts';
import type { Clock } from '#lib/clock.ts';
import type { WatchedDeposit } from '../../deposits/look-schedule.ts';
import { type RecordedCoins, recordedCoins, sumUpTo } from '../../deposits/received-coins.ts';
import { LIFE_ALLOWANCE } from '../../model/session.ts';
import type { Look } from '../look/look.ts';
import type { Header } from '../node/node-view.ts';
import { slices } from '../node/node-view.ts';
import { proofOfBalance } from './balance-proof.ts';
import { MissingState } from './missing-state.ts';
import type { BlockBefore } from './sweep-reader.ts';

/** A deposit address for coins. */
type CoinDeposit = Pick<WatchedDeposit, 'address' | 'sessionId' | 'createdAt'>;

/** State of an address at the last look at which all of its coins were recorded. */
interface JudgedBalance {
  /** All coins that had come up to then. */
  readonly received: bigint;
  readonly block: number;
}

interface BalanceWatchDeps {
  readonly clock: Clock;
  readonly lastBlockBefore: BlockBefore;
}

/** Addresses that one statement asks about. */
const ADDRESSES_AT_A_TIME = 500;
/** Interval of warnings about balances. */
const WARN_EVERY_MS = 60 * 60_000;

/**
 * Coins that contracts sent to deposit addresses, by balances: what came is what is there and what left by sweeps (Decision
 * 399). It is read at the end of one confirmed block, so that a sweep in the block of a payment changes nothing. What no
 * recorded transaction brought becomes one payment per look.
 */
export function balanceWatch({ clock, lastBlockBefore }: BalanceWatchDeps) {
  const reader = coinBalances({ clock });
  const judged = new Map<string, JudgedBalance>();
  let warnedAt = Number.NEGATIVE_INFINITY;

  /** @throws MissingState when no node has the state of the block */
  function balancesAt({ view }: Look, { number, hash }: Header, addresses: readonly Address[]) {
    return view.askRaw(async asked => {
      const found = await reader.read(asked, { number, hash: lowerCase(hash) }, addresses);
      if (found === null) throw new MissingState(asked.node.host, number);
      return found;
    });
  }

  /** All coins that had come to an address up to a block; undefined when no node has the state. */
  async function receivedAt(look: Look, address: string, { header, left }: PastBalance) {
    try {
      const [balance = 0n] = await balancesAt(look, header, [lowerCase(address)]);
      return balance + sumUpTo(header.number, left);
    } catch (error) {
      if (error instanceof MissingState) return undefined;
      throw error;
    }
  }

  /**
   * The first block at whose end more had come than is recorded. Without its state, the first one in which that can have
   * been, so that a payment in time is not judged late.
   */
  async function blockOf(
    look: Look,
    { address, createdAt }: CoinDeposit,
    { end, coins }: { readonly end: Header; readonly coins: RecordedCoins },
  ): Promise<Header> {
    let known =
      judged.get(address)?.block ?? (await lastBlockBefore(look, createdAt - LIFE_ALLOWANCE.beforeMs));
    let before = known;
    let after = end;
    while (after.number - before > 1) {
      const middle = Math.floor((before + after.number) / 2);
      const header = (await look.view.headers([middle])).get(middle);
      const received = header && (await receivedAt(look, address, { header, left: coins.left }));
      if (header !== undefined && received !== undefined && received > sumUpTo(middle, coins.came)) {
        after = header;
      } else {
        before = middle;
        if (received !== undefined) known = middle;
      }
    }
    if (known === before) return after;
    const earliest = (await look.view.headers([known + 1])).get(known + 1);
    return earliest ?? after;
  }

  /** Records coins of an address that no recorded transaction brought. True when there were some. */
  async function recordExcess(
    look: Look,
    one: CoinDeposit,
    { end, balance, received }: { readonly end: Header; readonly balance: bigint; readonly received: bigint },
  ): Promise<boolean> {
    const { chain, db } = look;
    const coins = await recordedCoins(db, chain.id).of(one.address);
    const excess = received - sumUpTo(end.number, coins.came);
    if (excess < 0n)
      warn(look, 'an address seems to have received less coins than are recorded', one, -excess);
    const block = excess > 0n ? await blockOf(look, one, { end, coins }) : undefined;
    // What was swept is not in the balance, and proves nothing.
    const { address } = one;
    const proven =
      block === undefined
        ? null
        : await proofOfBalance(look, { address, end, named: balance, least: received });
    if (proven === false) {
      warn(look, 'the proof of an account contradicts the balance that a node named', one, balance);
      return false;
    }
    const isFound =
      block !== undefined &&
      (await look.effect('record', async ({ handle, settle }) => {
        const { came } = await recordedCoins(handle, chain.id).of(one.address);
        const amount = received - sumUpTo(end.number, came);
        if (amount <= 0n) return false;
        const isRequired = chain.requiresProof === true;
        const { number: blockNumber, hash: blockHash, time: blockTime } = block;
        const seen = { amount, blockNumber, blockHash, blockTime };
        const found = { ...seen, balanceBlock: end.number, proven, isRequired };
        const payment = await settle.recordFoundCoins(one.sessionId, found);
        if (payment === undefined)
          warn(look, 'coins at the address of a removed or full session are not counted', one, amount);
        return payment !== undefined;
      }));
    judged.set(one.address, { received, block: end.number });
    return isFound;
  }

  /** Recorded money stays: a node may be wrong, and the merchant may have acted on it. */
  function warn({ chain, log }: Look, text: string, { address }: CoinDeposit, amount: bigint): void {
    if (Math.abs(clock.now() - warnedAt) < WARN_EVERY_MS) return;
    warnedAt = clock.now();
    log.warn({ chainId: chain.id, address, amount: amount.toString() }, text);
  }

  return {
    /**
     * Looks at the coins of some addresses at the end of a block up to which sweeps and transactions are recorded. Returns
     * the number of payments that were found.
     * @throws MissingState when no node has the state of the block
     */
    async look(look: Look, addresses: readonly CoinDeposit[], end: Header): Promise<number> {
      let found = 0;
      for (const some of slices(addresses, ADDRESSES_AT_A_TIME)) {
        const asked = some.map(one => one.address);
        const balances = await balancesAt(look, end, asked.map(lowerCase));
        const left = await recordedCoins(look.db, look.chain.id).left(asked);
        for (const [at, one] of some.entries()) {
          const balance = balances[at] ?? 0n;
          const received = balance + sumUpTo(end.number, left.get(one.address));
          const before = judged.get(one.address)?.received ?? 0n;
          if (received === before) judged.set(one.address, { received, block: end.number });
          else if (await recordExcess(look, one, { end, balance, received })) found += 1;
        }
      }
      return found;
    },
    /** Forgets all but these addresses. */
    keepOnly(addresses: ReadonlySet<string>): void {
      for (const address of judged.keys()) if (!addresses.has(address)) judged.delete(address);
    },
    /** Most addresses that this many calls can look at. */
    addressesFor: (look: Look, calls: number): Promise<number> =>
      look.view.askRaw(async asked => calls * reader.balancesPerCall(asked)),
    forget(): void {
      judged.clear();
    },
  };
}

interface PastBalance {
  readonly header: Header;
  readonly left: RecordedCoins['left'];
}
