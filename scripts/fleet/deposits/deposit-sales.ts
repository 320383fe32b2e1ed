import { setTimeout as delay } from 'node:timers/promises';
import { type Address, encodeFunctionData, erc20Abi, zeroAddress } from 'viem';
import type { PaymentsSchemas } from '../../../src/contract/contracts/payments.ts';
import { CURRENT_FACTORY } from '../../../src/deposits/deposit-factory.ts';
import { sweepInput } from '../../../src/deposits/sweep-call.ts';
import { asAddress } from '../../../src/payments/watcher/node/transfer-logs.ts';
import type { Random } from '../../faults/random.ts';
import { demand } from '../shops/demand.ts';
import type { Shop } from '../shops/shops.ts';
import { type DepositChain, splitInput } from './deposit-chain.ts';

/** A session with a deposit address, and the ways in which it was paid. */
export interface DepositSale {
  readonly sessionId: string;
  readonly address: Address;
  /** The zero address for coins. */
  readonly token: Address;
  readonly price: bigint;
  readonly ways: readonly Way[];
}

/** Ways of paying. Several may hold for one sale. */
type Way = 'whole' | 'two parts' | 'rounded' | 'twice' | 'by a contract' | 'lookalike' | 'swept early';

export interface DepositTill {
  readonly shop: Shop;
  readonly chain: DepositChain;
  readonly payer: number;
  readonly random: Random;
  readonly signal: AbortSignal;
}

const PAUSE_MS = { shortest: 300, longest: 900 };
const COINS = 1_000_000_000_000_000n;
const TOKENS = 2_500_000n;
const SWEEP_GAS = 1_200_000n;
const CONTRACT_GAS = 200_000n;
const STRANGER = 18;

/** Opens sessions with deposit addresses and pays them, until the signal aborts. */
export async function sellAtAddresses(till: DepositTill): Promise<DepositSale[]> {
  const { random, signal, chain } = till;
  const sales: DepositSale[] = [];
  while (!signal.aborted) {
    const token = random.chance(0.5) ? zeroAddress : chain.chain.token;
    const sale = await openSale(till, token);
    sales.push({ ...sale, ways: await pay(till, sale) });
    await delay(random.between(PAUSE_MS.shortest, PAUSE_MS.longest));
  }
  return sales;
}

async function openSale({ shop, chain }: DepositTill, token: Address): Promise<Omit<DepositSale, 'ways'>> {
  const price = token === zeroAddress ? COINS : TOKENS;
  const session = await demand<PaymentsSchemas['CheckoutSession']>(shop.client, {
    method: 'POST',
    path: '/api/v1/checkout-sessions',
    body: {
      payment_method: 'deposit_address',
      chain_id: chain.id,
      token_address: token,
      recipient_address: shop.recipient,
      amount: `${price}`,
    },
  });
  shop.sessions.add(session.id);
  if (session.deposit_address === null) throw new Error(`${session.id} has no deposit address`);
  return { sessionId: session.id, address: asAddress(session.deposit_address), token, price };
}

/** Pays a sale in random ways. */
async function pay(till: DepositTill, sale: Omit<DepositSale, 'ways'>): Promise<Way[]> {
  const { random, chain } = till;
  const { price, token } = sale;
  const isByContract = token === zeroAddress && random.chance(0.4);
  const send = (amount: bigint) => (isByContract ? sendByContract : sendPlainly)(till, sale, amount);
  const ways: Way[] = isByContract ? ['by a contract'] : [];
  const note = (way: Way) => void ways.push(way);

  if (random.chance(0.2)) {
    note('lookalike');
    await transfer(till, { token: chain.chain.lookalike, to: sale.address, amount: price });
  }
  const rounded = (price * 101n) / 100n;
  if (random.chance(0.3)) {
    note('two parts');
    await send((price * 7n) / 10n);
    await delay(random.between(0, 2 * PAUSE_MS.longest));
    await send(price - (price * 7n) / 10n);
  } else {
    const isRounded = random.chance(0.3);
    note(isRounded ? 'rounded' : 'whole');
    await send(isRounded ? rounded : price);
  }
  if (random.chance(0.3)) {
    note('swept early');
    await sweepByStranger(till, sale);
  }
  if (random.chance(0.15)) {
    note('twice');
    await send(price);
  }
  return ways;
}

function sendPlainly(till: DepositTill, { token, address }: Omit<DepositSale, 'ways'>, amount: bigint) {
  return token === zeroAddress
    ? till.chain.send({ from: till.payer, to: address, value: amount, gas: CONTRACT_GAS })
    : transfer(till, { token, to: address, amount });
}

function sendByContract(
  { chain, payer }: DepositTill,
  { address }: Omit<DepositSale, 'ways'>,
  value: bigint,
) {
  return chain.send({
    from: payer,
    to: chain.splitter,
    data: splitInput(address),
    value,
    gas: CONTRACT_GAS,
  });
}

function transfer(
  { chain, payer }: DepositTill,
  { token, to, amount }: { readonly token: Address; readonly to: Address; readonly amount: bigint },
) {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
  return chain.send({ from: payer, to: token, data });
}

/** Has anyone sweep an address, which pays only the shop. The salt is public once an address was swept; here it is asked for. */
async function sweepByStranger({ shop, chain }: DepositTill, { address, token }: Omit<DepositSale, 'ways'>) {
  const { salt } = await demand<PaymentsSchemas['DepositAddress']>(shop.client, {
    path: `/api/v1/deposit-addresses/${address}`,
  });
  const item = {
    recipient: asAddress(shop.recipient),
    salt: asAddress(salt),
    token: token === zeroAddress ? null : token,
  };
  await chain.send({
    from: STRANGER,
    to: CURRENT_FACTORY.address,
    data: sweepInput([item]),
    gas: SWEEP_GAS,
  });
}
