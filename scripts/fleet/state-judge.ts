import { setTimeout as delay } from 'node:timers/promises';
import { encodeFunctionData, erc20Abi, erc721Abi } from 'viem';
import { isObject } from '#lib/json.ts';
import { addressOf, type TestPaymentChain } from '../../test/lab/payment-chain.ts';
import type { FleetChain } from './chain.ts';

interface JudgedState {
  /** Addresses of the replicas of the data service. */
  readonly urls: readonly string[];
  readonly chain: FleetChain;
  /** Accounts whose coins and tokens are compared. */
  readonly holders: readonly string[];
  /** Time within which the state has to be right. An index asks again after pauses that grow. */
  readonly withinMs: number;
}

const PAUSE_MS = 500;

/**
 * Compares coins, token balances and owners of NFTs that each replica shows with the chain, until they are equal.
 * Nothing moves meanwhile. Returns the differences that are left.
 */
export async function compareStates({ urls, chain, holders, withinMs }: JudgedState): Promise<string[]> {
  const expected = await stateOfChain(chain, holders);
  const deadline = Date.now() + withinMs;
  for (;;) {
    const differences: string[] = [];
    for (const url of urls) {
      const shown = await stateOfReplica(url, chain, holders);
      for (const [name, value] of expected) {
        if (shown.get(name) !== value)
          differences.push(
            `${name} of chain ${chain.id} is ${shown.get(name)} at ${url}, on the chain ${value}`,
          );
      }
    }
    if (differences.length === 0 || Date.now() > deadline) return differences;
    await delay(PAUSE_MS);
  }
}

/** Values by name, with `0` for what the replica leaves out. */
type State = ReadonlyMap<string, string>;

async function stateOfChain({ chain, ask }: FleetChain, holders: readonly string[]): Promise<State> {
  const state = new Map<string, string>();
  const read = async (to: string, data: string) => String(await ask('eth_call', { to, data }, 'latest'));
  for (const holder of holders) {
    state.set(`coins of ${holder}`, BigInt(String(await ask('eth_getBalance', holder, 'latest'))).toString());
    for (const token of [chain.token, chain.postcards]) {
      const args = [addressOf(holder)] as const;
      const word = await read(token, encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args }));
      state.set(balanceName(holder, token), BigInt(word).toString());
    }
  }
  for (const id of await mintedIds(chain)) {
    const word = await read(
      chain.postcards,
      encodeFunctionData({ abi: erc721Abi, functionName: 'ownerOf', args: [id] }),
    );
    state.set(`owner of ${id}`, `0x${word.slice(-40)}`);
  }
  return state;
}

const NEXT_ID = [
  {
    type: 'function',
    name: 'nextTokenId',
    inputs: [],
    outputs: [{ type: 'uint256' }],
    stateMutability: 'view',
  },
] as const;

async function mintedIds({ call, postcards: to }: TestPaymentChain): Promise<bigint[]> {
  const data = encodeFunctionData({ abi: NEXT_ID, functionName: 'nextTokenId' });
  const next = Number(await call('eth_call', { to, data }, 'latest'));
  return Array.from({ length: next - 1 }, (_, at) => BigInt(at + 1));
}

async function stateOfReplica(
  url: string,
  { id, chain }: FleetChain,
  holders: readonly string[],
): Promise<State> {
  const state = new Map<string, string>();
  for (const holder of holders) {
    const account = await read(`${url}/explorer/addresses/${holder}?chain_id=${id}`);
    state.set(`coins of ${holder}`, isObject(account) ? String(account.coin_balance ?? '0') : 'not shown');
    for (const token of [chain.token, chain.postcards]) state.set(balanceName(holder, token), '0');
    for (const balance of listOf(
      await read(`${url}/explorer/addresses/${holder}/token-balances?chain_id=${id}`),
    )) {
      const token = isObject(balance.token) ? String(balance.token.address).toLowerCase() : '';
      state.set(balanceName(holder, token), String(balance.value));
    }
  }
  const instances = await read(`${url}/explorer/tokens/${chain.postcards}/instances?chain_id=${id}`);
  for (const { id: card, owner } of listOf(isObject(instances) ? instances.items : [])) {
    state.set(`owner of ${String(card)}`, isObject(owner) ? String(owner.hash).toLowerCase() : 'nobody');
  }
  return state;
}

function balanceName(holder: string, token: string): string {
  return `balance of ${holder} in ${token.toLowerCase()}`;
}

async function read(url: string): Promise<unknown> {
  return (await fetch(url)).json();
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
