import { type Address, encodeDeployData, type Hex } from 'viem';
import { continuedOnAmsterdam } from '../lab/crossing-chain.ts';
import { artifact, CHAIN_ID, startTestChain, type TestChain, testChainAt } from './support.ts';

/** Address under which the chain itself logs. */
export const SYSTEM: Address = '0xfffffffffffffffffffffffffffffffffffffffe';
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Accounts that contracts pay. */
export const PAYEES = [payee(1), payee(2), payee(3)] as const;
/** Contract whose log has the form of a log of coins: a transfer of 1 from the first payee to the second. */
const FORGER: Hex = `0x6001600052${[PAYEES[1], PAYEES[0]].map(party => `73${party.slice(2)}`).join('')}7f${TRANSFER}60206000a300`;

/** A chain with payments by contracts before and after the fork Amsterdam. */
export interface CrossingChain extends TestChain {
  /** The first block of the fork. */
  readonly fork: number;
  readonly head: number;
  /** Payments of several accounts by a contract. */
  readonly splits: { readonly before: Hex; readonly after: Hex };
}

/** Starts a chain that crosses the fork. It mines nothing by itself. */
export async function startCrossingChain(): Promise<CrossingChain> {
  const early = await startTestChain({ engine: 'edr', hardfork: 'prague' });
  const { call } = await early.deploy('PaymentSplitter', []);
  await early.rpc.call('hardhat_setCode', SYSTEM, FORGER);
  await early.send(1, { to: SYSTEM });
  await early.mine();
  const before = (await early.send(2, { ...call('split', [PAYEES.slice(0, 2)]), value: 6n })).hash;
  await early.mine();
  const continued = await continuedOnAmsterdam({ rpcUrl: early.rpcUrl, chainId: CHAIN_ID });
  const chain = testChainAt(continued.rpcUrl, {
    hardfork: 'amsterdam',
    folder: early.folder,
    async stop() {
      await continued[Symbol.asyncDispose]();
      await early.stop();
    },
  });
  const fork = Number(await chain.rpc.call('eth_blockNumber')) + 1;
  await chain.send(1, { to: PAYEES[0], value: 5n });
  const after = (await chain.send(2, { ...call('split', [PAYEES]), value: 9n })).hash;
  await chain.mine();
  const { abi, bytecode } = artifact('Ephemeral');
  const self = chain.accounts.signer(3).address;
  await chain.send(3, { data: encodeDeployData({ abi, bytecode, args: [PAYEES[2]] }), value: 4n });
  await chain.send(3, { to: self, value: 3n });
  await chain.send(4, { ...call('split', [[]]), value: 2n });
  await chain.mine();
  const head = Number(await chain.rpc.call('eth_blockNumber'));
  return { ...chain, fork, head, splits: { before, after } };
}

function payee(number: number): Address {
  return `0x${number.toString(16).padStart(40, '9')}`;
}
