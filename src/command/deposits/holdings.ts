import { type Address, getAddress, type Hex, isAddressEqual, parseUnits } from 'viem';
import { forwarderAddress } from '#deposits/deposit-factory.ts';
import { depositSalt } from '#deposits/salt.ts';
import type { SweepItem } from '#deposits/sweep-call.ts';
import { uint8Of, wordOf } from '#evm/call-result.ts';
import { balanceCall } from '#evm/contract-calls.ts';
import { Refused, UsageError } from '#lib/command-line.ts';
import { nullIfAnswered } from '#node/client.ts';
import type { OpenedChain } from './chain-option.ts';
import type { DepositSeed } from './seed-file.ts';

/** Coins or a token of a chain. */
export interface Asset {
  /** Null for coins. */
  readonly token: Address | null;
  readonly symbol: string;
  readonly decimals: number;
  /** Smaller amounts are left where they are. */
  readonly least: bigint;
}

/** A deposit address, with what it follows from. */
export interface FoundAddress {
  readonly address: Address;
  readonly recipient: Address;
  readonly salt: Hex;
  /** Its number or session, in the lines about it. */
  readonly title: string;
}

/** An asset that an address holds. */
export interface Holding {
  readonly from: FoundAddress;
  readonly item: SweepItem;
  readonly asset: Asset;
  readonly amount: bigint;
}

/** Addresses to look at. Both numbers are included. */
export interface AddressSearch {
  readonly seed: DepositSeed;
  readonly recipient: Address;
  readonly from: number;
  readonly to: number;
}

/** Addresses that are read at the same time. */
const CHUNK = 100;
/** Input of `decimals()`. */
const DECIMALS: Hex = '0x313ce567';

/**
 * Coins, the tokens of the configuration and others, with the least amounts that are worth a sweep.
 * @throws UsageError for an amount of no asset, Refused for a token without decimals
 */
export async function assetsOf(
  chain: OpenedChain,
  { tokens, least }: { tokens: readonly Address[]; least: readonly string[] },
): Promise<Asset[]> {
  const named = chain.tokens.map(({ address, ...rest }) => ({ token: getAddress(address), ...rest }));
  const others = [...new Set(tokens)].filter(one => !named.some(({ token }) => isAddressEqual(token, one)));
  const assets = [
    { token: null, ...chain.native },
    ...named,
    ...(await Promise.all(
      others.map(async token => ({ token, symbol: token, decimals: await decimalsOf(chain, token) })),
    )),
  ];
  const amounts = new Map(least.map(text => leastAmount(text, assets)));
  return assets.map(asset => ({ ...asset, least: amounts.get(asset) ?? 1n }));
}

function leastAmount<One extends Omit<Asset, 'least'>>(text: string, assets: readonly One[]): [One, bigint] {
  const [, name = '', amount = ''] = /^([^=]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const wanted = name.toLowerCase();
  const asset = assets.find(one => [one.symbol, one.token].some(own => own?.toLowerCase() === wanted));
  if (asset === undefined)
    throw new UsageError(
      `--min: must be ASSET=AMOUNT, such as ${assets[0]?.symbol}=0.01; assets: ${assets.map(one => one.symbol).join(', ')}`,
    );
  return [asset, parseUnits(amount, asset.decimals)];
}

async function decimalsOf({ client }: OpenedChain, token: Address): Promise<number> {
  const params = [{ to: token, data: DECIMALS }, 'latest'] as const;
  const result = await client.request({ method: 'eth_call', params: [...params] }).catch(nullIfAnswered);
  const decimals = uint8Of(result);
  if (decimals === null) throw new Refused(`--token: there is no token with decimals at ${token}.`);
  return decimals;
}

/** Yields the addresses of numbers, in the order of their epochs. */
export function* numberedAddresses({
  seed: { seed, epochs },
  recipient,
  from,
  to,
}: AddressSearch): Generator<FoundAddress> {
  for (const epoch of epochs) {
    for (let number = from; number <= to; number += 1) {
      const salt = depositSalt({ seed, epoch, number });
      const address = forwarderAddress({ recipient, salt });
      yield { address, recipient, salt, title: `number ${number}` };
    }
  }
}

/** Yields what addresses hold, in their order. Amounts below the least are left out. */
export async function* holdingsOf(
  chain: OpenedChain,
  addresses: Iterable<FoundAddress> | AsyncIterable<FoundAddress>,
  assets: readonly Asset[],
): AsyncGenerator<Holding> {
  let some: FoundAddress[] = [];
  for await (const address of addresses) {
    some.push(address);
    if (some.length < CHUNK) continue;
    yield* heldBy(chain, some, assets);
    some = [];
  }
  yield* heldBy(chain, some, assets);
}

async function* heldBy(
  chain: OpenedChain,
  some: readonly FoundAddress[],
  assets: readonly Asset[],
): AsyncGenerator<Holding> {
  const read = some.flatMap(from => {
    const { address, recipient, salt } = from;
    return assets.map(async asset => {
      const amount = await balanceOf(chain, address, asset.token);
      return { from, item: { recipient, salt, token: asset.token }, asset, amount };
    });
  });
  for (const holding of await Promise.all(read)) if (holding.amount >= holding.asset.least) yield holding;
}

/** Balance at the newest block; 0 when the token does not say one. */
async function balanceOf({ client }: OpenedChain, holder: Address, token: Address | null): Promise<bigint> {
  if (token === null)
    return BigInt(await client.request({ method: 'eth_getBalance', params: [holder, 'latest'] }));
  const params = [{ to: token, data: balanceCall(holder, null) }, 'latest'] as const;
  const result = await client.request({ method: 'eth_call', params: [...params] }).catch(nullIfAnswered);
  return wordOf(result) ?? 0n;
}
