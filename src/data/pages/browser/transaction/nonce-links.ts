import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { asProblem } from '#pages/browser/problem.ts';
import { api, type Explorer, pageOf } from '../api.ts';
import { canAnswer } from '../chains.ts';
import { useChain } from '../records/coin.ts';

type Transaction = Explorer['Transaction'];

/** Transactions to look through: those of the sender from this block on, or up to it. */
const LOOKED_AT = 100;

/** Buttons to the transactions of the same sender with the nonce before and after; none without a back end for it. */
export function NonceLinks({
  chainId,
  transaction,
}: {
  chainId: number;
  transaction: Transaction;
}): VNode | null {
  const [said, setSaid] = useState('');
  const chain = useChain(chainId);
  const { block_number: block, from, nonce } = transaction;
  if (block === null || chain === undefined || !canAnswer(chain, 'queryTransactions')) return null;
  const own = BigInt(nonce);
  const open = async (sought: bigint) => {
    setSaid('Looking for it…');
    try {
      const hash = await hashOf({ chainId, sender: from.hash, block, sought, isLater: sought > own });
      if (hash !== undefined) location.assign(pageOf.transaction(chainId, hash));
      setSaid(hash === undefined ? `No transaction with nonce ${sought} yet.` : '');
    } catch (error) {
      setSaid(asProblem(error).message);
    }
  };
  return html`<span class="row">
    ${own > 0n && html`<button type="button" onClick=${() => open(own - 1n)}>Previous of sender</button>`}
    <button type="button" onClick=${() => open(own + 1n)}>Next of sender</button>
    <span class="small" role="status">${said}</span>
  </span>`;
}

interface Sought {
  readonly chainId: number;
  readonly sender: string;
  readonly block: number;
  readonly sought: bigint;
  readonly isLater: boolean;
}

async function hashOf({ chainId, sender, block, sought, isLater }: Sought): Promise<string | undefined> {
  const { data } = await answerOf(
    api.GET('/insights/v1/transactions', {
      params: {
        query: {
          chain_id: [chainId],
          filter_from_address: sender,
          ...(isLater
            ? { filter_block_number_gte: BigInt(block) }
            : { filter_block_number_lte: BigInt(block) }),
          sort_by: 'block_number',
          sort_order: isLater ? 'asc' : 'desc',
          limit: LOOKED_AT,
          page: 0,
          decode: false,
        },
      },
    }),
  );
  return data.data?.find(({ nonce }) => BigInt(nonce) === sought)?.hash;
}
