import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { type Chain, type ChainAnswer, NothingFound } from './chain.ts';
import { isPassing } from './failure-table.ts';
import type { Strategy } from './strategies.ts';

/** How long a hash stays tied to the chain it was found on. */
const REMEMBERED_MS = 3_600_000;
/** Hashes remembered; one that is forgotten early is looked for again. */
const REMEMBERED = 100_000;

interface Location {
  readonly chainId: number;
  /** UTC milliseconds. */
  readonly until: number;
}

/** Remembers on which chain hashes were found. */
export interface Locations {
  /** The same way over the chains, but the one where `hash` (lower case) was found within the last hour is asked first. */
  through(strategy: Strategy, hash: string): Strategy;
}

/**
 * Transactions and blocks by hash are asked for several times in a row, once for each of their lists; only the first
 * of these has to go over the chains. In memory, by `Clock`.
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
      // The hour is not begun anew by what it led to, or a more preferred chain would never be asked again.
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
 * Whether every chain asked before said that it does not have it. One that was out, still filling, still thinking or
 * without this operation may have it too: the same transaction can be on several chains when its signature names none.
 */
function isCertain<Body>({ chain, passedOver }: ChainAnswer<Body>): boolean {
  const saidNo = passedOver.filter(({ error }) => error.kind === 'not_found').map(failure => failure.chain);
  return passedOver.every(
    failure => !isPassing(failure) && (failure.chain === chain || saidNo.includes(failure.chain)),
  );
}
