import type { Answers } from '../port/backend.ts';
import { type BlockscoutSource, mustBe, mustName, read } from './client/source.ts';
import { tokenHolder } from './normalise/holdings.ts';
import { tokenCounters } from './normalise/statistics.ts';
import { token } from './normalise/token.ts';
import { tokenTransfer } from './normalise/token-transfer.ts';
import { TOKEN_TRANSFER_SETS, tokenHolderKeys, tokenTransferKeys } from './paging/cursor-params.ts';
import { readList } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

type TokenAnswers = Pick<
  Answers,
  'getToken' | 'getTokenCounters' | 'listTransfersOfToken' | 'listTokenHolders'
>;

/** One token, its transfers and its holders. */
export function tokenAnswers(source: BlockscoutSource): TokenAnswers {
  return {
    async getToken({ path: { address_hash: address } }, { signal }) {
      const get = { operation: 'getToken', path: `/tokens/${address}`, signal } as const;
      return { body: await read(source, get, body => mustBe(address, 'address', token(body))) };
    },

    async getTokenCounters({ path: { address_hash: address } }, { signal }) {
      const get = { operation: 'getTokenCounters', path: `/tokens/${address}/counters`, signal } as const;
      return { body: await read(source, get, tokenCounters) };
    },

    async listTransfersOfToken({ path: { address_hash: address }, query }, ask) {
      const { body } = await readList(
        source,
        {
          operation: 'listTransfersOfToken',
          path: `/tokens/${address}/transfers`,
          start: positionFrom(query, TOKEN_TRANSFER_SETS),
          item(value) {
            const found = tokenTransfer(value);
            return mustName(address, [found.token?.address ?? address], 'token.address', found);
          },
          keys: tokenTransferKeys,
        },
        ask,
      );
      return { body };
    },

    async listTokenHolders({ path: { address_hash: address }, query }, ask) {
      const { body } = await readList(
        source,
        {
          operation: 'listTokenHolders',
          path: `/tokens/${address}/holders`,
          start: positionFrom(query, [['value', 'address_hash']], ['token_id']),
          item: tokenHolder,
          keys: tokenHolderKeys,
        },
        ask,
      );
      return { body };
    },
  };
}
