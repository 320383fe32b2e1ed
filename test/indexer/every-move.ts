import { type Address, getContractAddress, type Hex, numberToHex, pad } from 'viem';
import { lowerCase } from '../../src/evm/address.ts';
import { deployCode } from './hostile-contracts.ts';
import type { TestChain } from './support.ts';

/** Recipient of the fees of all blocks. */
const MINER: Address = '0x00000000000000000000000000000000000000fe';
const VALIDATOR: Address = '0x00000000000000000000000000000000000000fd';
const WITHDRAWN_GWEI = 5n;

/** Runtime code: stores the first word of the input. */
const STORE: Hex = '0x5f355f5500';
/** Runtime code: fails. */
const FAIL: Hex = '0x5f5ffd';
/** Creation code: destroys its contract, with the coins that its address had before. */
const END: Hex = '0x30ff';
/** Runtime code: creates such a contract. */
const BURN: Hex = '0x6130ff5f526002601e5ff000';
/** Runtime code: creates a contract that destroys itself, and then sends it 3 wei, which end with the transaction. */
const BURN_LATER: Hex = '0x615fff5f526002601e5ff05f5f5f5f6003855af100';

/** Observer of the moves of coins. */
interface MoveObserver {
  /** Receives the accounts whose coins move, in lower case. */
  readonly accounts: Set<Address>;
  /** Receives withdrawals, by block. No local chain pays any: a proxy adds them to the blocks of the node. */
  readonly withdrawals: Map<number, object>;
  /** Called after each block. */
  mined(): Promise<void>;
}

/** A contract that was destroyed with its coins, and the transaction that created it by another contract. */
export interface Burn {
  readonly contract: Address;
  readonly hash: Hex;
}

/**
 * Moves coins in every way: plain payments, tips, burnt fees, refunds of gas, a failed transaction, a contract that
 * pays, contracts that end with their coins, and a withdrawal. `newcomer` is an account without coins.
 */
export async function moveInEveryWay(
  chain: TestChain,
  { newcomer, ...observer }: MoveObserver & { newcomer: Address },
): Promise<Burn> {
  const { rpc } = chain;
  const sender = (at: number) => chain.accounts.signer(at).address;
  const mine = async () => {
    await chain.mine();
    await observer.mined();
  };
  await rpc.call('hardhat_setCoinbase', MINER);
  const splitter = await chain.deploy('PaymentSplitter', []);
  const store = await deployCode(chain, STORE);
  const fail = await deployCode(chain, FAIL);
  const burn = await deployCode(chain, BURN);
  const burnLater = await deployCode(chain, BURN_LATER);
  const nonce = BigInt(Number(await rpc.call('eth_getTransactionCount', sender(0), 'pending')));
  const ended = getContractAddress({ from: sender(0), nonce });
  const [inside, later] = [burn, burnLater].map(from => getContractAddress({ from, nonce: 1n }));
  if (inside === undefined || later === undefined) throw new Error('no addresses');
  const created = [splitter.address, store, fail, burn, burnLater, ended, inside, later];
  const accounts = [MINER, VALIDATOR, newcomer, ...created, ...[0, 1, 2, 3, 4].map(sender)];
  for (const account of accounts) observer.accounts.add(lowerCase(account));
  // An index knows no account that has had coins since the first block, until it moves some.
  for (const from of [1, 2, 3, 4]) await chain.send(from, { to: sender(from), value: 1n });
  await mine();

  await chain.send(1, { to: store, data: pad('0x01') });
  await chain.send(1, { to: newcomer, value: 9n });
  for (const to of [ended, inside, burnLater]) await chain.send(2, { to, value: 7n });
  await mine();

  await chain.send(1, { to: store, data: pad('0x00') });
  await chain.send(3, { to: fail, value: 1n });
  await mine();

  await chain.send(4, { ...splitter.call('split', [[newcomer, MINER]]), value: 8n });
  await mine();

  await chain.send(0, { data: END });
  await mine();
  const { hash } = await chain.send(1, { to: burn });
  await mine();
  await chain.send(1, { to: burnLater });
  await mine();

  const block = Number(await rpc.call('eth_blockNumber')) + 1;
  const withdrawal = { index: numberToHex(block), validatorIndex: '0x1', address: VALIDATOR };
  observer.withdrawals.set(block, { ...withdrawal, amount: numberToHex(WITHDRAWN_GWEI) });
  const balance = BigInt(String(await rpc.call('eth_getBalance', VALIDATOR, 'latest')));
  await chain.mine();
  await rpc.call('hardhat_setBalance', VALIDATOR, numberToHex(balance + WITHDRAWN_GWEI * 10n ** 9n));
  await observer.mined();
  return { contract: lowerCase(inside), hash };
}
