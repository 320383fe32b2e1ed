import { InvalidParameter } from '../contract/violations.ts';
import type { Chain } from './chains/chain.ts';
import { type CursorPosition, decodeCursor } from './port/cursor.ts';

/** The chains a request may be answered from; `position` only when it goes on with a page walk. */
export interface Selection {
  readonly chains: readonly Chain[];
  readonly position?: CursorPosition;
}

/**
 * Reads `chain_id` and `cursor`. A cursor leads to the one back end that wrote it.
 * @throws InvalidParameter for an unknown chain, or a cursor that is not ours or of another chain.
 */
export function select(chains: readonly Chain[], query: { chain_id?: number; cursor?: string }): Selection {
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
  const backends = chain?.backends.filter(({ name }) => name === cursor?.backend) ?? [];
  if (cursor === undefined || chain === undefined || backends.length === 0) {
    throw new InvalidParameter('cursor', 'must be the cursor of an earlier page of this list');
  }
  return { chains: [{ ...chain, backends }], position: cursor.position };
}
