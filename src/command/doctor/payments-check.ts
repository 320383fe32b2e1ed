import { encodeFunctionData, erc20Abi, getAddress } from 'viem';
import type { ChainConfig } from '#config/config.ts';
import { uint8Of } from '#evm/call-result.ts';
import { silentLogger } from '#lib/logger.ts';
import { type ChainClient, createChainClient, nullIfAnswered } from '#node/client.ts';
import { type ConfigCheck, Fault, type Finding } from './check.ts';

const TIMEOUT_MS = 4_000;
const DECIMALS = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' });
const TOKEN_ADVICE = 'Correct the address or the decimals: prices would be asked for in the wrong amount.';

/**
 * Says whether a chain takes payments, of which money and in which coins, or why not. Compares its tokens with their
 * contracts.
 */
export function paymentsCheck(chain: ChainConfig, path: string): ConfigCheck {
  const { id, name, native, rpc, testnet, tokens } = chain;
  return {
    setting: rpc.length === 0 ? path : `${path}.tokens`,
    subject: `payments on ${name}`,
    advice: 'Correct the addresses of its nodes: without one, nothing is received.',
    async run(): Promise<Finding> {
      if (rpc.length === 0) return { state: 'ok', detail: 'are not taken, because it has no node (rpc)' };
      const client = createChainClient({ id, rpcUrls: rpc, timeoutMs: TIMEOUT_MS, log: silentLogger() });
      await Promise.all(tokens.map(token => requireToken(token, client)));
      const coins = [native, ...tokens].map(({ symbol }) => symbol).join(', ');
      return { state: 'ok', detail: `are taken in ${coins}, for ${testnet ? 'test' : 'real'} money` };
    },
  };
}

/** @throws Fault when there is no such token, or one of other decimals */
async function requireToken(
  { address, symbol, decimals }: ChainConfig['tokens'][number],
  client: ChainClient,
): Promise<void> {
  const answer = await client.public.call({ to: getAddress(address), data: DECIMALS }).catch(nullIfAnswered);
  const found = uint8Of(answer?.data);
  if (found === null) throw new Fault(`cannot be taken in ${symbol}: ${address} is no token`, TOKEN_ADVICE);
  if (found !== decimals)
    throw new Fault(`cannot be taken in ${symbol}: it has ${found} decimals, not ${decimals}`, TOKEN_ADVICE);
}
