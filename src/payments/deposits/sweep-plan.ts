import { CURRENT_FACTORY, type DepositFactory, factoryOf } from '../../deposits/deposit-factory.ts';
import { checkFactory } from '../../deposits/self-check.ts';
import type { SweepItem } from '../../deposits/sweep-call.ts';
import { type SweepPart, sweepParts } from '../../deposits/sweep-parts.ts';
import { lowerCase } from '../../evm/address.ts';
import { Unavailable } from '../../lib/unavailable.ts';
import type { ChainClient } from '../../node/client.ts';
import { NATIVE_COIN } from '../model/payment-chain.ts';
import type { DepositAddress } from '../model/recipient.ts';

/** Addresses to sweep on a chain, with the least amounts that are worth it, by the lower case address of the token. */
interface SweepChoice {
  readonly chainId: number;
  readonly addresses: readonly DepositAddress[];
  readonly minimums: ReadonlyMap<string, bigint>;
}

/** An address that is not swept. */
interface UnsweptAddress {
  readonly from: DepositAddress;
  readonly reason: 'below_minimum' | 'costs_more' | 'not_payable';
}

/** Transactions that sweep addresses, as the chain would carry them out now. */
export interface SweepPlan {
  /** In wei. */
  readonly gasPrice: bigint;
  readonly parts: readonly (SweepPart<Candidate> & { readonly factory: DepositFactory })[];
  readonly left: readonly UnsweptAddress[];
}

/** Plans a sweep by the nodes of its chain. Sends nothing. @throws Unavailable when no node answers */
export type PlanSweep = (choice: SweepChoice) => Promise<SweepPlan | { readonly reason: string }>;

interface Candidate {
  readonly from: DepositAddress;
  readonly item: SweepItem;
}

/** Plans until nothing is left out any more, but at most this often. */
const MOST_ROUNDS = 3;

export function sweepPlanner(clientOf: (chainId: number) => ChainClient | undefined): PlanSweep {
  return async ({ chainId, addresses, minimums }) => {
    const client = clientOf(chainId);
    if (client === undefined) return { reason: `Chain ${chainId} is not configured.` };
    try {
      const gasPrice = BigInt(await client.request({ method: 'eth_gasPrice' }));
      const parts: SweepPlan['parts'][number][] = [];
      const left: UnsweptAddress[] = [];
      for (const [version, some] of Map.groupBy(addresses, one => one.factoryVersion)) {
        const factory = factoryOf(version) ?? CURRENT_FACTORY;
        if ((await checkFactory(client, factory)).kind !== 'works')
          return { reason: `Chain ${chainId} has no deposit factory that works.` };
        const planned = await planOf(client, factory, {
          candidates: some.map(candidate),
          minimums,
          gasPrice,
        });
        parts.push(...planned.parts.map(part => ({ ...part, factory })));
        left.push(...planned.left);
      }
      return { gasPrice, parts, left };
    } catch (cause) {
      throw new Unavailable('No node of the chain answers now', cause);
    }
  };
}

function candidate(from: DepositAddress): Candidate {
  const { recipientAddress, salt, tokenAddress } = from;
  const token = tokenAddress === NATIVE_COIN ? null : lowerCase(tokenAddress);
  return { from, item: { recipient: lowerCase(recipientAddress), salt, token } };
}

interface Worth {
  readonly candidates: readonly Candidate[];
  readonly minimums: ReadonlyMap<string, bigint>;
  readonly gasPrice: bigint;
}

/** Plans some addresses of one factory. Those that are not worth their sweep are left out, and the rest is planned again. */
async function planOf(
  client: ChainClient,
  factory: DepositFactory,
  { candidates, minimums, gasPrice }: Worth,
): Promise<{ parts: SweepPart<Candidate>[]; left: UnsweptAddress[] }> {
  const left: UnsweptAddress[] = [];
  let chosen = candidates;
  for (let round = 1; ; round += 1) {
    const parts = await Array.fromAsync(sweepParts(client, chosen, factory));
    const worthless = parts.flatMap(part => worthlessIn(part, { minimums, gasPrice }));
    if (worthless.length === 0 || round === MOST_ROUNDS) {
      const refused = parts.flatMap(part => part.left.map(({ holding: { from } }) => from));
      left.push(...refused.map(from => ({ from, reason: 'not_payable' }) as const));
      return { parts: parts.filter(({ paid }) => paid.length > 0), left };
    }
    left.push(...worthless);
    const out = new Set(worthless.map(({ from }) => from));
    chosen = chosen.filter(({ from }) => !out.has(from));
  }
}

/** Assets of a transaction that are below their minimum, or coins that are worth less than their share of the fee. */
function worthlessIn(
  { paid, gas }: SweepPart<Candidate>,
  { minimums, gasPrice }: Omit<Worth, 'candidates'>,
): UnsweptAddress[] {
  const share = paid.length === 0 ? 0n : (gas * gasPrice) / BigInt(paid.length);
  return paid.flatMap(({ holding: { from }, amount }): UnsweptAddress[] => {
    const minimum = minimums.get(from.tokenAddress);
    if (minimum !== undefined) return amount < minimum ? [{ from, reason: 'below_minimum' }] : [];
    return from.tokenAddress === NATIVE_COIN && amount < share ? [{ from, reason: 'costs_more' }] : [];
  });
}
