import { BaseError, numberToHex } from 'viem';
import { lowerCase } from '#evm/address.ts';
import { SYSTEM_ADDRESS } from '#evm/coin-logs.ts';
import type { ChainNode } from '#node/chain-node.ts';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import { NO_LOG } from '../../model/transfer.ts';
import type { RawNode } from '../node/node-pool.ts';
import type { NodeView } from '../node/node-view.ts';
import { receiptTransfers, shows } from '../node/receipt-transfers.ts';
import { asAddress } from '../node/transfer-logs.ts';

/** Transfers of one call that nodes are asked about. */
const ASKED = 5;

/**
 * Finds the nodes that still show recorded transfers which their proven blocks do not contain, each by the answer that
 * the transfers were read from. Transfers may be read from any node, and only the one that answers so again is known to
 * be wrong. A node that fails says nothing.
 */
export async function nodesThatShow(
  view: Pick<NodeView, 'eachNode'>,
  untrue: readonly PaymentTransaction[],
  wrong: (node: ChainNode, row: PaymentTransaction) => void,
): Promise<void> {
  for (const row of untrue.slice(0, ASKED)) {
    for (const one of view.eachNode()) {
      const ask = async (asked: RawNode) => {
        const isShown = row.logIndex === NO_LOG ? await sends(asked, row) : await logs(asked, row);
        if (isShown) wrong(asked.node, row);
      };
      await one.askRaw(ask).catch((error: unknown) => {
        if (!(error instanceof BaseError)) throw error;
      });
    }
  }
}

async function logs({ node }: RawNode, row: PaymentTransaction): Promise<boolean> {
  const { chainId, txHash, blockHash, blockNumber, tokenAddress } = row;
  if (blockHash === null) return false;
  const address = tokenAddress === NATIVE_COIN ? SYSTEM_ADDRESS : asAddress(tokenAddress);
  const params = [{ blockHash: lowerCase(blockHash), address }] as const;
  const all = await node.request({ method: 'eth_getLogs', params: [...params] });
  const ofIt = all.filter(one => one.transactionHash?.toLowerCase() === txHash);
  const receipt = { blockHash, blockNumber: numberToHex(blockNumber ?? 0), status: '0x1', logs: ofIt };
  return shows(await receiptTransfers(receipt, chainId), row) === true;
}

async function sends({ raw }: RawNode, row: PaymentTransaction): Promise<boolean> {
  const { txHash, blockNumber, sender, recipient, amount } = row;
  const params = [numberToHex(blockNumber ?? 0), true] as const;
  const block = await raw({ method: 'eth_getBlockByNumber', params: [...params] });
  return (block?.transactions ?? []).some(
    one =>
      typeof one === 'object' &&
      one.hash.toLowerCase() === txHash &&
      one.from.toLowerCase() === sender &&
      `${one.to}`.toLowerCase() === recipient &&
      BigInt(one.value) === amount,
  );
}
