import type { Hex } from 'viem';
import { CURRENT_FACTORY, FACTORY_SALT } from '#deposits/deposit-factory.ts';
import { creationCall, PROXY } from '#deposits/deterministic-proxy.ts';
import { sweepInput } from '#deposits/sweep-call.ts';
import { depositAddressStore } from '#payments/deposits/deposit-address-store.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { addressOf, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { deploySteps } from '../../lab/sending-contract.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import type { WatchedShop } from './watched-shop.ts';

/** Terms of a session with a deposit address for coins. */
export const COINS = { depositRules: {}, tokenAddress: NATIVE_COIN };
/** Enough for the factory and for a sweep. */
export const GAS = 3_000_000n;
/** Error of a node that does not have a method. */
export const refused = Object.assign(new Error('the method does not exist'), { code: -32_601 });
/** A node without the methods that show coins of contracts. */
export const withoutTraces: Lie = ({ method }) => (/^(trace|debug)_/.test(method) ? refused : undefined);

/** Deploys the factory of deposit addresses, once on a chain. */
export async function deployFactory(chain: TestPaymentChain): Promise<void> {
  if ((await chain.call('eth_getCode', CURRENT_FACTORY.address, 'latest')) !== '0x') return;
  const data = creationCall(CURRENT_FACTORY.creationCode, FACTORY_SALT);
  await chain.send({ from: 0, to: PROXY, data, gas: GAS });
  await chain.mine();
}

/** Sends coins by a contract, which no transaction of the block shows. */
export async function sendByContract(chain: TestPaymentChain, to: string, value: bigint): Promise<Hex> {
  const contract = await deploySteps(chain, [{ kind: 'call', to: addressOf(to), value }]);
  return (await chain.send({ from: 1, to: contract, value, gas: 300_000n })).hash;
}

/** Asset of a sweep: the coins at an address. */
async function sweepOf({ db }: WatchedShop, address: string | null) {
  const found = await depositAddressStore(db).find(`${address}`);
  if (found === undefined) throw new Error('no deposit address');
  return { recipient: addressOf(found.recipientAddress), salt: found.salt, token: null };
}

/** A stranger sweeps the address. The transaction stays in the pool. */
export async function sweepByStranger(
  chain: TestPaymentChain,
  ours: WatchedShop,
  { depositAddress }: CheckoutSession,
): Promise<void> {
  const data = sweepInput([await sweepOf(ours, depositAddress)]);
  await chain.send({ from: 3, to: CURRENT_FACTORY.address, data, gas: GAS });
}

/** Confirms what is in the pool, and looks at balances. */
export async function confirm(chain: TestPaymentChain, ours: WatchedShop): Promise<void> {
  await chain.mine(BLOCKS_TO_SETTLE);
  for (let count = 0; count < 3; count++) {
    ours.clock.advance(11_000);
    await ours.look();
  }
}
