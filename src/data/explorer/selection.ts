import { InvalidParameter } from '../../contract/contracts/violations.ts';
import { HttpError } from '../../http/errors.ts';
import type { Backend } from '../backends/port/backend.ts';
import { type CursorPosition, decodeCursor } from '../backends/port/cursor.ts';
import type { Chain } from '../fallback/chain.ts';

/** The chains a request may be answered from. `walk` is set only for a page behind a cursor. */
export interface ChainSelection {
  readonly chains: readonly Chain[];
  readonly walk?: PageWalk;
}

/** A page behind a cursor. */
interface PageWalk {
  /** Name of the back end that wrote the cursor. The chain's other back ends read the documented keys. */
  readonly writer: string;
  readonly position: CursorPosition;
  /** True when the keys sent with the cursor mean the same position at every back end. */
  readonly isPortable: boolean;
}

export interface SelectionQuery {
  readonly chain_id?: number;
  readonly cursor?: string;
}

/** Sets of keys. Each set alone determines a position. */
export type PositionSets = readonly (readonly string[])[];

/** Inside an ERC-1155 batch the other keys do not determine the position. */
const WITHIN_BATCH = 'batch_log_index';

/**
 * Reads `chain_id` and `cursor`. A cursor selects its chain, and the back end that wrote it comes first. The chain's
 * other back ends follow only if the query holds one of the `portable` key sets, so that the walk survives an outage
 * (Decision 172).
 * @throws InvalidParameter for an unknown chain, a foreign cursor, or a cursor of another chain.
 */
export function selectChain(
  chains: readonly Chain[],
  query: SelectionQuery,
  portable: PositionSets = [],
): ChainSelection {
  const { chain_id: chainId, cursor: token } = query;
  const asked = chainId === undefined ? chains : chains.filter(chain => chain.id === chainId);
  if (asked.length === 0) {
    throw new InvalidParameter(
      'chain_id',
      `must be one of the configured chains ${chains.map(({ id }) => id).join(', ')}`,
    );
  }
  if (token === undefined) return { chains: asked };
  const cursor = decodeCursor(token);
  const chain = asked.find(({ id }) => id === cursor?.chainId);
  if (cursor === undefined || chain === undefined) throw notOurs();
  const { backend: writer, position } = cursor;
  const isPortable = holdsOneOf(portable, query);
  const backends = chain.backends.filter(({ name }) => name === writer);
  if (isPortable) backends.push(...chain.backends.filter(({ name }) => name !== writer));
  if (backends.length === 0) throw notOurs();
  return { chains: [{ ...chain, backends }], walk: { writer, position, isPortable } };
}

function holdsOneOf(sets: PositionSets, query: SelectionQuery): boolean {
  const given = new Map<string, unknown>(Object.entries(query));
  const isGiven = (name: string) => (given.get(name) ?? undefined) !== undefined;
  return !isGiven(WITHIN_BATCH) && sets.some(names => names.every(isGiven));
}

function notOurs(): InvalidParameter {
  return new InvalidParameter('cursor', 'must be the cursor of an earlier page of this list');
}

/** Portable keys of a list, and the back ends that serve it. */
interface WaysOn {
  readonly sets: PositionSets | undefined;
  readonly backends: readonly Backend[];
}

/**
 * Adds to the message of a failure during a page walk how the client can continue at another back end of the chain.
 */
export function withWayOn(
  failure: HttpError,
  { chains: [chain], walk }: ChainSelection,
  { sets, backends }: WaysOn,
): HttpError {
  if (failure.status < 500 || walk === undefined || walk.isPortable) return failure;
  const hasOther = backends.some(({ name, chainId }) => chainId === chain?.id && name !== walk.writer);
  if (!hasOther) return failure;
  const way = sets === undefined ? 'begin again' : 'send all keys of next_page_params, or begin again';
  const { status, headers, message, cause } = failure;
  return new HttpError(status, `${message}. Another back end has this list: ${way}`, { headers, cause });
}
