import type { components } from '#generated/data-service/types.ts';
import type { components as explorer } from '#generated/explorer/types.ts';
import type { ReportedEvent } from './messages.ts';

type Chain = components['schemas']['ConfiguredChain'];
type Activity = explorer['schemas']['LiveActivity'];

/** Blocks of a chain that were replaced while a page was open. */
export interface Reorganisation {
  readonly firstBlock: number;
  /** Time of the news in UTC milliseconds. */
  readonly at: number;
}

/** State of the chains as the stream has reported it since the page was opened. */
export interface ReportedState {
  readonly chains: readonly Chain[];
  /** By chain: counts what makes shown records of it outdated, whatever they are. */
  readonly resets: ReadonlyMap<number, number>;
  readonly reorganisations: ReadonlyMap<number, Reorganisation>;
  /** By watch: the latest activity, at most `MOST_ACTIVITY`, newest last, and the number of all. */
  readonly activity: ReadonlyMap<string, PageActivity>;
}

/** Activity of one watch. */
export interface PageActivity {
  readonly count: number;
  readonly latest: readonly Activity[];
}

/** Activity that a page remembers: what is more is offered as "200+". */
const MOST_ACTIVITY = 200;

/** The state after an event. `now` is in UTC milliseconds. */
export function afterEvent(state: ReportedState, event: ReportedEvent, now: number): ReportedState {
  const { chain_id: chainId } = event;
  switch (event.event) {
    case 'head':
      return withChain(state, chainId, chain => ({
        ...chain,
        backends: chain.backends.map(backend =>
          backend.name === event.backend ? { ...backend, head: event.block_number } : backend,
        ),
      }));
    case 'state':
      return withChain(state, chainId, chain => ({
        ...chain,
        backends: chain.backends.map(backend => ({
          ...backend,
          ...event.backends.find(({ name }) => name === backend.name),
        })),
      }));
    case 'reorganisation': {
      const reorganisation = { firstBlock: event.first_block_number, at: now };
      return {
        ...afterReset(state, chainId),
        reorganisations: new Map(state.reorganisations).set(chainId, reorganisation),
      };
    }
    case 'reset':
      return afterReset(state, chainId);
    case 'activity': {
      // Nothing of an address or a token changes with finality.
      if (event.state === 'final' && !event.watch.includes(':transaction:')) return state;
      const known = state.activity.get(event.watch) ?? { count: 0, latest: [] };
      const next = { count: known.count + 1, latest: [...known.latest, event].slice(-MOST_ACTIVITY) };
      return { ...state, activity: new Map(state.activity).set(event.watch, next) };
    }
  }
}

/** The state after a chain’s records may have changed in any way. */
export function afterReset(state: ReportedState, chainId: number): ReportedState {
  return { ...state, resets: new Map(state.resets).set(chainId, (state.resets.get(chainId) ?? 0) + 1) };
}

function withChain(state: ReportedState, chainId: number, change: (chain: Chain) => Chain): ReportedState {
  return { ...state, chains: state.chains.map(chain => (chain.id === chainId ? change(chain) : chain)) };
}

/** Transactions that a block has since the page had seen `seen` events of the watch: included ones, each once. */
export function includedSince({ count, latest }: PageActivity, seen: number): number {
  const fresh = latest.slice(Math.max(0, latest.length - (count - seen)));
  const included = fresh.filter(({ state }) => state === 'included');
  return new Set(included.map(one => one.transaction_hash)).size;
}

/** Highest block number among the back ends of a chain; undefined while none is known. */
export function headOf({ backends }: Pick<Chain, 'backends'>): number | undefined {
  const heads = backends.flatMap(({ head }) => (head === null ? [] : [head]));
  return heads.length === 0 ? undefined : Math.max(...heads);
}
