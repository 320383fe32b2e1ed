import type { CoinMovement } from '#evm/coin-movements.ts';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import { innerIndexOf, type Transfer } from '../../model/transfer.ts';
import { coinTransferOf } from '../node/coin-blocks.ts';
import type { Header } from '../node/node-view.ts';
import type { WatchedAddresses } from '../node/token-transfers.ts';

/** Transfers of coins that contracts make to watched recipients inside a transaction of that block. */
export function innerCoins(
  movements: readonly CoinMovement[],
  {
    chainId,
    txHash,
    header,
    watched,
  }: {
    readonly chainId: number;
    readonly txHash: string;
    readonly header: Header;
    readonly watched: Pick<WatchedAddresses, 'has'>;
  },
): Transfer[] {
  return movements.flatMap(({ from, to, value }, position) => {
    if (!watched.has(NATIVE_COIN, to)) return [];
    const sent = coinTransferOf({ hash: txHash, from, to, value }, { chainId, header });
    return [{ ...sent, logIndex: innerIndexOf(position) }];
  });
}
