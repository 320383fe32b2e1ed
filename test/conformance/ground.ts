import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  numberToHex,
  pad,
  parseEther,
  toHex,
} from 'viem';
import { fungibleAbi, itemsAbi, splitterAbi } from '../../src/devnet/activity/abis.ts';
import { knownContracts } from '../../src/devnet/activity/artifacts.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { httpRpc, type Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { gasOn } from '../../src/devnet/transaction.ts';
import { startNodeProxy, withWithdrawals } from '../indexer/node-proxy.ts';
import { artifact } from '../indexer/support.ts';
import { chainKind } from '../lab/chain-kind.ts';
import { indexIn, servedChain, startTestDataService } from '../lab/data-service.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { record } from '../lab/json.ts';
import { postgresDatabase } from '../support/databases.ts';

/** A chain on which every list has more than one page, and two indexes of it. */
export interface Ground extends AsyncDisposable {
  readonly chain: EmbeddedChain;
  /** The chain's node, with withdrawals added. */
  readonly rpcUrl: string;
  /** Data services over an index of the chain in SQLite, and one in PostgreSQL. */
  readonly indexUrl: string;
  readonly postgresIndexUrl: string;
  /** ABIs of the contracts that count as verified. */
  readonly abis: readonly Abi[];
  readonly places: Places;
}

/** Places on the chain with something of each kind. */
export interface Places {
  readonly holder: Address;
  /** Sender of more than a page of transactions, most of which created a contract. */
  readonly deployer: Address;
  readonly nobody: Address;
  readonly validator: Address;
  readonly receiver: Address;
  readonly collection: Address;
  readonly token: Address;
  /** Token held by more than a page of addresses. */
  readonly popular: Address;
  /** Owner of NFTs of more than a page of tokens. */
  readonly collector: Address;
  /** Path below `/tokens` of an NFT held by more than a page of addresses. */
  readonly crowded: string;
  readonly splitter: Address;
  readonly contracts: readonly Address[];
  /** Transactions with more than a page of transfers, and of internal transactions, logs and changes. */
  readonly batch: Hex;
  readonly split: Hex;
  readonly blockWithWithdrawals: number;
  /** Address with more than a page of internal transactions. */
  readonly blockWithCalls: number;
}

/** More than a page. */
const MANY = 55;
/** Blocks on top of the activity, each with a transaction, so that most is final and some only just. */
const DEPTH = 16;
const WITHDRAWALS_IN = 7;
const COLLECTOR: Address = '0x00000000000000000000000000000000000000c0';
const RECEIVER: Address = '0x00000000000000000000000000000000000000A1';

/** Adds the rare things to a filled devnet: long lists, withdrawals and pending transactions. */
export async function startGround(): Promise<Ground> {
  await using stack = new AsyncDisposableStack();
  const devnet = stack.use(await startTestDevnet());
  const [chain] = devnet.chains;
  if (chain === undefined) throw new Error('the devnet has no chain');
  const accounts = deriveAccounts();
  const [deployer, alice, bob] = accounts.addresses;
  if (deployer === undefined || alice === undefined || bob === undefined) throw new Error('no accounts');
  const contractOf = (name: string) => {
    const found = chain.contracts.find(contract => contract.name === name);
    if (found === undefined) throw new Error(`${name} is not deployed`);
    return found.address;
  };
  const node = sender(httpRpc(chain.rpcUrl));

  const ids = Array.from({ length: MANY }, (_, place) => BigInt(place + 1_000));
  const batch = await node.send(deployer, {
    to: contractOf('Game Items'),
    data: encodeFunctionData({ abi: itemsAbi, functionName: 'mintBatch', args: [alice, ids, ids] }),
    gas: 6_000_000,
  });
  const payees = ids.map(id => pad(toHex(id), { size: 20 }));
  const split = await node.send(alice, {
    to: contractOf('Payment Splitter'),
    data: encodeFunctionData({ abi: splitterAbi, functionName: 'split', args: [payees] }),
    value: parseEther('1'),
    gas: 6_000_000,
  });
  await node.mine(1);
  const blockWithCalls = Number(await node.rpc.call('eth_blockNumber'));
  const crowd = await deployCrowd(node, deployer, alice);
  const popular = await deployPopular(node, deployer, payees);
  const crowded = await deployGallery(node, deployer, payees);
  for (let block = 0; block < DEPTH; block += 1) {
    await node.send(alice, { to: bob, value: 1n, gas: 21_000 });
    await node.mine(1);
  }
  for (let place = 0; place < MANY; place += 1) await node.send(bob, { to: alice, value: 1n, gas: 21_000 });

  const proxy = await startNodeProxy(chain.rpcUrl, { change: paying });
  stack.defer(() => proxy.stop());
  const members = crowd.map((address, place) => ({
    name: `Member ${place}`,
    address,
    artifactName: 'StableToken',
  }));
  const served = { ...chain, rpcUrl: proxy.rpcUrl, contracts: [...chain.contracts, ...members] };
  const options = { rateLimitPerMinute: 1e9, validateResponses: false };
  const service = stack.use(await startTestDataService([served], options));
  const postgres = await postgresDatabase();
  stack.defer(() => postgres.remove());
  const onPostgres = { ...servedChain(served, ''), backends: [indexIn(postgres.options)] };
  const postgresService = stack.use(await startTestDataService([], { ...options, chains: [onPostgres] }));
  const { miner } = record(await node.rpc.call('eth_getBlockByNumber', '0x5', false));
  const kept = stack.move();
  return {
    chain,
    rpcUrl: proxy.rpcUrl,
    indexUrl: service.url,
    postgresIndexUrl: postgresService.url,
    abis: knownContracts(chain.contracts).map(({ abi }) => abi),
    places: {
      holder: alice,
      deployer,
      nobody: '0x00000000000000000000000000000000DeaDBeef',
      validator: `0x${String(miner).slice(2)}`,
      receiver: RECEIVER,
      collection: contractOf('Game Items'),
      token: contractOf('US Dollar Sample'),
      popular,
      collector: COLLECTOR,
      crowded,
      splitter: contractOf('Payment Splitter'),
      contracts: chain.contracts.map(({ address }) => address),
      batch,
      split,
      blockWithWithdrawals: WITHDRAWALS_IN,
      blockWithCalls,
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface Sender {
  readonly rpc: Rpc;
  send(from: Address, call: { to?: Address; data?: Hex; value?: bigint; gas: number }): Promise<Hex>;
  mine(blocks: number): Promise<void>;
}

function sender(rpc: Rpc): Sender {
  return {
    rpc,
    async send(from, { to, data, value = 0n, gas }) {
      const call = {
        from,
        to,
        data,
        value: numberToHex(value),
        gas: numberToHex(gasOn(chainKind.hardfork, BigInt(gas))),
      };
      return `0x${String(await rpc.call('eth_sendTransaction', call)).slice(2)}`;
    },
    async mine(blocks) {
      await rpc.call('anvil_mine', numberToHex(blocks));
    },
  };
}

/** Tokens that a search for their name finds, with known sources. */
async function deployCrowd({ rpc, send, mine }: Sender, from: Address, to: Address): Promise<Address[]> {
  const tokens: Address[] = [];
  const { abi, bytecode } = artifact('StableToken');
  const nonce = Number(await rpc.call('eth_getTransactionCount', from, 'pending'));
  const mint = encodeFunctionData({ abi: fungibleAbi, functionName: 'mint', args: [to, 5n] });
  for (let place = 0; place < MANY; place += 1) {
    const args = [`Crowd ${place % 7}`, `CRD${place}`];
    await send(from, { data: encodeDeployData({ abi, bytecode, args }), gas: 1_200_000 });
    const token = getContractAddress({ from, nonce: BigInt(nonce + 2 * place) });
    await send(from, { to: token, data: mint, gas: 150_000 });
    tokens.push(token);
    if (place % 15 === 14) await mine(1);
  }
  await mine(1);
  return tokens;
}

/** A token whose holders have increasing balances. */
async function deployPopular({ rpc, send, mine }: Sender, from: Address, holders: readonly Address[]) {
  const { abi, bytecode } = artifact('StableToken');
  const nonce = await rpc.call('eth_getTransactionCount', from, 'pending');
  await send(from, { data: encodeDeployData({ abi, bytecode, args: ['Popular', 'POP'] }), gas: 1_200_000 });
  const token = getContractAddress({ from, nonce: BigInt(Number(nonce)) });
  for (const [place, holder] of holders.entries()) {
    const args = [holder, BigInt(place + 1)] as const;
    const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'mint', args });
    await send(from, { to: token, data, gas: 150_000 });
  }
  await mine(1);
  return token;
}

/**
 * Tokens of both kinds of which one address has an id, or more ids of the first than are shown; many accounts have
 * some of its last.
 */
async function deployGallery({ rpc, send, mine }: Sender, from: Address, crowd: readonly Address[]) {
  const first = Number(await rpc.call('eth_getTransactionCount', from, 'pending'));
  const addressAt = (place: number) => getContractAddress({ from, nonce: BigInt(first + 2 * place) });
  const mint = (to: Address, id: bigint) =>
    encodeFunctionData({ abi: itemsAbi, functionName: 'mint', args: [to, id, 1n] });
  for (let place = 0; place < MANY; place += 1) {
    const isItems = place % 2 === 0;
    const { abi, bytecode } = artifact(isItems ? 'GameItems' : 'Postcards');
    const args = [`Gallery ${place}`, `GAL${place}`];
    await send(from, { data: encodeDeployData({ abi, bytecode, args }), gas: 4_000_000 });
    const card = { abi, functionName: 'mint', args: [COLLECTOR] };
    const data = isItems ? mint(COLLECTOR, 7n) : encodeFunctionData(card);
    await send(from, { to: addressAt(place), data, gas: 300_000 });
    if (place % 6 === 5) await mine(1);
  }
  for (let id = 8n; id < 20n; id += 1n)
    await send(from, { to: addressAt(0), data: mint(COLLECTOR, id), gas: 100_000 });
  await mine(1);
  for (const one of crowd) await send(from, { to: addressAt(0), data: mint(one, 7n), gas: 100_000 });
  await mine(1);
  return `${addressAt(0)}/instances/7`;
}

/** Withdrawals from a real node's block: no local node pays any. */
function paying(method: string, result: unknown): unknown {
  if (method !== 'eth_getBlockByNumber' || result === null) return result;
  const block = record(result);
  const height = Number(block.number);
  const count = height === 0 ? 0 : height === WITHDRAWALS_IN ? MANY : height % 10 === 0 ? 2 : 0;
  const withdrawals = Array.from({ length: count }, (_, place) => ({
    index: numberToHex(height * 100 + place),
    validatorIndex: numberToHex(512_000 + place),
    address: RECEIVER,
    amount: numberToHex(17_000_000 + place),
  }));
  return withWithdrawals(block, withdrawals);
}
