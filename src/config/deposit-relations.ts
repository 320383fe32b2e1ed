import type { components } from '../../generated/config/types.ts';
import { type Steps, unknownKey, type Violation } from './config-error.ts';

type Chain = components['schemas']['Chain'];

/** Rejects deposit addresses of real money that are not accepted or not limited, and unusable limits (Decision 397). */
export function depositRelations(chains: readonly Chain[]): Violation[] {
  return chains.flatMap((chain, index) => {
    const { depositAddresses: setting = false, rpc, testnet } = chain;
    if (setting === false) return [];
    const steps = ['chains', index, 'depositAddresses'];
    const { acceptUnaudited = false, maxUnswept = undefined } = setting === true ? {} : setting;
    return [
      ...(rpc.length === 0 ? [{ steps, message: "needs the chain's rpc" }] : []),
      ...(testnet || acceptUnaudited
        ? []
        : [
            {
              steps,
              message:
                'needs acceptUnaudited: true, because no outsider has audited the contracts, unless the chain is a testnet',
            },
          ]),
      ...(testnet || maxUnswept !== undefined
        ? []
        : [
            {
              steps,
              message:
                'needs maxUnswept, an amount for each token that may lie there, such as { USDC: "10000" }',
            },
          ]),
      ...Object.entries(maxUnswept ?? {}).flatMap(([symbol, amount]) =>
        limitFaults(chain, { steps: [...steps, 'maxUnswept', symbol], symbol, amount }),
      ),
    ];
  });
}

function limitFaults(
  { native, tokens }: Chain,
  { steps, symbol, amount }: { steps: Steps; symbol: string; amount: string },
): Violation[] {
  const all = [native, ...tokens];
  const named = all.filter(token => token.symbol === symbol);
  if (named.length === 0) {
    return [
      {
        steps,
        message: unknownKey(
          symbol,
          all.map(token => token.symbol),
        ),
      },
    ];
  }
  const [, decimals = ''] = amount.split('.');
  const most = Math.min(...named.map(token => token.decimals));
  return decimals.length > most ? [{ steps, message: `must have at most ${most} decimal places` }] : [];
}
