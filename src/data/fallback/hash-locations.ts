import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { type Chain, type ChainAnswer, type Failure, NothingFound } from './chain.ts';
import { isTransient } from './failure-table.ts';

/** Time that a hash stays tied to the chain it was found on. */
const REMEMBERED_MS = 3_600_000;
/** Maximum number of hashes remembered. A hash that is evicted early is searched for again. */
const REMEMBERED = 100_000;

interface Location {
  readonly chainId: number;
  /** UTC milliseconds. */
  readonly until: number;
}

/** Finds a hash (lower case) on one of the chains. `find` asks them in the order it is given. */
export type HashSearch = <Body>(
  hash: string,
  chains: readonly Chain[],
  find: (inOrder: readonly Chain[]) => Promise<ChainAnswer<Body>>,
) => Promise<ChainAnswer<Body>>;

/**
 * Searches the chain first where a hash was found within the last hour. The chains of hashes are kept in memory:
 * clients ask for the same transaction or block several times, once per list, and only the first request has to search
 * all chains.
 */
export function hashSearch(clock: Clock): HashSearch {
  const known = new LRUCache<string, Location>({ max: REMEMBERED });

  const chainOf = (hash: string): number | undefined => {
    const location = known.get(hash);
    return location !== undefined && clock.now() < location.until ? location.chainId : undefined;
  };
  const forgetIfGone = (hash: string, failures: readonly Failure[]) => {
    const isGone = failures.some(
      ({ chain, error }) => error.kind === 'not_found' && chain.id === chainOf(hash),
    );
    if (isGone) known.delete(hash);
  };

  return async (hash, chains, find) => {
    const chainId = chainOf(hash);
    try {
      const found = await find(startingWith(chainId, chains));
      forgetIfGone(hash, found.passedOver);
      // A hit does not extend the hour: otherwise a more preferred chain would never be asked again.
      const isNews = found.chain.id !== chainId && found.chain !== chains[0];
      if (isNews && isCertain(found))
        known.set(hash, { chainId: found.chain.id, until: clock.now() + REMEMBERED_MS });
      return found;
    } catch (error) {
      if (error instanceof NothingFound) forgetIfGone(hash, error.failures);
      throw error;
    }
  };
}

function startingWith(chainId: number | undefined, chains: readonly Chain[]): readonly Chain[] {
  return [...chains.filter(({ id }) => id === chainId), ...chains.filter(({ id }) => id !== chainId)];
}

/**
 * True when every chain asked before answered that it does not have the record. A chain that failed, was still filling,
 * was still pending or lacks the operation may have it too: a transaction without a chain id in its signature can be on
 * several chains.
 */
function isCertain<Body>({ chain, passedOver }: ChainAnswer<Body>): boolean {
  const saidNo = passedOver.filter(({ error }) => error.kind === 'not_found').map(failure => failure.chain);
  return passedOver.every(
    failure => !isTransient(failure) && (failure.chain === chain || saidNo.includes(failure.chain)),
  );
}
