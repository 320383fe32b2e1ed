import { BaseError, type Hex, hexToBigInt } from 'viem';
import { MAX_TRANSACTION_GAS } from '#evm/transaction-gas.ts';
import { type ChainClient, nodeAnswered, nodeReason } from '#node/client.ts';
import { CURRENT_FACTORY, type DepositFactory } from './deposit-factory.ts';
import { type SweepItem, sweepInput, sweptAmounts } from './sweep-call.ts';

/** An asset of a forwarder that may be swept, with what the caller knows about it. */
export interface Sweepable {
  readonly item: SweepItem;
}

/** One transaction of a sweep, as a call of the newest block would carry it out. */
export interface SweepPart<Holding extends Sweepable> {
  readonly paid: readonly { readonly holding: Holding; readonly amount: bigint }[];
  /** Assets that stay where they are. */
  readonly left: readonly { readonly holding: Holding; readonly reason: string }[];
  /** Input of the factory that pays the first ones; `0x` when there are none. */
  readonly data: Hex;
  /** Estimated by the node. */
  readonly gas: bigint;
}

/** Items of one transaction, unless they need too much gas. */
const BATCH = 50;

/** Reason for an asset that a sweep does not move although the address holds it. */
const REFUSED = 'the token or the recipient refuses';

/**
 * Splits a sweep into transactions, each of which was tried by a call (`eth_call`) just before it is yielded. Those that need
 * more gas than a transaction can have (EIP-7825) are halved.
 * @throws NodeFailure, or whatever keeps the node from answering
 */
export async function* sweepParts<Holding extends Sweepable>(
  node: Pick<ChainClient, 'request'>,
  holdings: readonly Holding[],
  factory: DepositFactory = CURRENT_FACTORY,
): AsyncGenerator<SweepPart<Holding>> {
  for (let first = 0; first < holdings.length; first += BATCH)
    yield* partsOf(node, holdings.slice(first, first + BATCH), factory);
}

async function* partsOf<Holding extends Sweepable>(
  node: Pick<ChainClient, 'request'>,
  some: readonly Holding[],
  factory: DepositFactory,
): AsyncGenerator<SweepPart<Holding>> {
  const tried = await tryPart(node, some, factory);
  if (typeof tried !== 'string') {
    yield tried;
  } else if (some.length === 1) {
    yield { paid: [], left: some.map(holding => ({ holding, reason: tried })), data: '0x', gas: 0n };
  } else {
    const half = Math.ceil(some.length / 2);
    yield* partsOf(node, some.slice(0, half), factory);
    yield* partsOf(node, some.slice(half), factory);
  }
}

/** Tries a part without sending it. Returns the reason when it fails as a whole. */
async function tryPart<Holding extends Sweepable>(
  { request }: Pick<ChainClient, 'request'>,
  some: readonly Holding[],
  { address: to }: DepositFactory,
): Promise<SweepPart<Holding> | string> {
  const inputOf = (holdings: readonly Holding[]) => sweepInput(holdings.map(({ item }) => item));
  try {
    const output = await request({ method: 'eth_call', params: [{ to, data: inputOf(some) }, 'latest'] });
    const amounts = sweptAmounts(output);
    const tried = some.map((holding, index) => ({ holding, amount: amounts[index] ?? 0n }));
    const paid = tried.filter(({ amount }) => amount > 0n);
    const left = tried
      .filter(({ amount }) => amount === 0n)
      .map(({ holding }) => ({ holding, reason: REFUSED }));
    if (paid.length === 0) return { paid, left, data: '0x', gas: 0n };
    const data = inputOf(paid.map(({ holding }) => holding));
    const gas = hexToBigInt(await request({ method: 'eth_estimateGas', params: [{ to, data }] }));
    return gas > MAX_TRANSACTION_GAS ? `it needs ${gas} gas` : { paid, left, data, gas };
  } catch (error) {
    if (!(error instanceof BaseError) || !nodeAnswered(error)) throw error;
    return nodeReason(error);
  }
}
