import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Address, encodeDeployData, type Hex } from 'viem';
import { createAnswerer, type IncomingCall } from '../../src/devnet/chain/edr/methods.ts';
import { openProvider } from '../../src/devnet/chain/edr/provider.ts';
import { loopbackPort } from '../lab/loopback-server.ts';
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
  const early = await startTestChain({ engine: 'edr' });
  const { call } = await early.deploy('PaymentSplitter', []);
  await early.rpc.call('hardhat_setCode', SYSTEM, FORGER);
  await early.send(1, { to: SYSTEM });
  await early.mine();
  const before = (await early.send(2, { ...call('split', [PAYEES.slice(0, 2)]), value: 6n })).hash;
  await early.mine();
  const chain = await continuedOnAmsterdam(early);
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

/** Continues a chain of EDR behind its newest block with the rules of Amsterdam. It serves the blocks of both parts. */
async function continuedOnAmsterdam(before: TestChain): Promise<TestChain> {
  const head = BigInt(Number(await before.rpc.call('eth_blockNumber')));
  const hardforkActivationOverrides = [
    { condition: { blockNumber: 0n }, hardfork: 'Prague' },
    { condition: { blockNumber: head + 1n }, hardfork: 'Amsterdam' },
  ];
  const provider = await openProvider(
    { chainId: CHAIN_ID, hardfork: 'amsterdam', genesisTime: 0 },
    {
      genesisState: [],
      // Transactions before the fork had no such limit.
      transactionGasCap: false,
      network: {
        url: before.rpcUrl,
        blockNumber: head,
        cacheDir: before.folder,
        chainOverrides: [{ chainId: BigInt(CHAIN_ID), name: 'crossing', hardforkActivationOverrides }],
      },
    },
  );
  const answer = await createAnswerer(provider);
  const server = createServer(async (request, response) => {
    const calls: IncomingCall | IncomingCall[] = JSON.parse(await text(request));
    const replies: string[] = [];
    for (const call of [calls].flat()) replies.push(await answer(call));
    const body = Array.isArray(calls) ? `[${replies.join(',')}]` : replies.join('');
    response.setHeader('content-type', 'application/json').end(body);
  });
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await before.stop();
  };
  return testChainAt(`http://127.0.0.1:${await loopbackPort(server)}`, { folder: before.folder, stop });
}

function payee(number: number): Address {
  return `0x${number.toString(16).padStart(40, '9')}`;
}
