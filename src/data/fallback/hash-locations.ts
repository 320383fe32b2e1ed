import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { type Chain, type ChainAnswer, NothingFound } from './chain.ts';
import { isPassing } from './failure-table.ts';
import type { Strategy } from './strategies.ts';

/** Time that a hash stays tied to the chain it was found on. */
const REMEMBERED_MS = 3_600_000;
/** Maximum number of hashes remembered. A hash that is evicted early is searched for again. */
const REMEMBERED = 100_000;

interface Location {
  readonly chainId: number;
  /** UTC milliseconds. */
  readonly until: number;
}

/** Remembers the chains on which hashes were found. */
export interface Locations {
  /**
   * The same strategy, except that the chain where `hash` (lower case) was found within the last hour is asked first.
   */
  through(strategy: Strategy, hash: string): Strategy;
}

/**
 * Keeps the chains of hashes in memory. Clients ask for the same transaction or block several times, once per list;
 * only the first request has to search the chains.
 */
export function locations(clock: Clock): Locations {
  const known = new LRUCache<string, Location>({ max: REMEMBERED });

  const placeOf = (hash: string): number | undefined => {
    const location = known.get(hash);
    return location !== undefined && clock.now() < location.until ? location.chainId : undefined;
  };

  return {
    through: (strategy, hash) => async options => {
      const place = placeOf(hash);
      const found = await strategy({
        ...options,
        chains: startingWith(place, options.chains),
        async askChain(chain, signal) {
          try {
            return await options.askChain(chain, signal);
          } catch (error) {
            if (hasNot(error) && placeOf(hash) === chain.id) known.delete(hash);
            throw error;
          }
        },
      });
      const { chain, answer } = found;
      // A hit does not extend the hour: otherwise a more preferred chain would never be asked again.
      const isNews = chain.id !== place && chain !== options.chains[0];
      if (isNews && isCertain(found) && !options.isNothing(answer.body))
        known.set(hash, { chainId: chain.id, until: clock.now() + REMEMBERED_MS });
      return found;
    },
  };
}

function startingWith(place: number | undefined, chains: readonly Chain[]): readonly Chain[] {
  return [...chains.filter(({ id }) => id === place), ...chains.filter(({ id }) => id !== place)];
}

function hasNot(error: unknown): boolean {
  return error instanceof NothingFound && error.failures.some(failure => failure.error.kind === 'not_found');
}

/**
 * True when every chain asked before answered that it does not have the record. A chain that failed, was still filling,
 * was still pending or lacks the operation may have it too: a transaction without a chain id in its signature can be on
 * several chains.
 */
function isCertain<Body>({ chain, passedOver }: ChainAnswer<Body>): boolean {
  const saidNo = passedOver.filter(({ error }) => error.kind === 'not_found').map(failure => failure.chain);
  return passedOver.every(
    failure => !isPassing(failure) && (failure.chain === chain || saidNo.includes(failure.chain)),
  );
}
