import { randomBytes } from 'node:crypto';
import {
  bytesToHex,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbi,
} from 'viem';
import type { ChainNode } from '#node/chain-node.ts';
import { nullIfAnswered } from '#node/client.ts';
import { CURRENT_FACTORY, type DepositFactory, forwarderAddress } from './deposit-factory.ts';
import { sweepInput } from './sweep-call.ts';

const ABI = parseAbi(['function create(address recipient, bytes32 salt) returns (address forwarder)']);

/** Finding about a factory on a chain. Deposit addresses may only be offered where it works. */
export type FactoryState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'works' }
  /** The reason is the rest of a sentence that begins with the factory. */
  | { readonly kind: 'broken'; readonly reason: string };

/**
 * Checks the factory through one node: the hash of its code, that it really creates a forwarder at the address that is
 * computed offline, and that it can sweep. Nothing is sent: these are calls (`eth_call`) with a random recipient and salt.
 * @throws NodeFailure, or whatever keeps the node from answering
 */
export async function checkFactory(
  { request }: Pick<ChainNode, 'request'>,
  factory: DepositFactory = CURRENT_FACTORY,
): Promise<FactoryState> {
  const code = await request({ method: 'eth_getCode', params: [factory.address, 'latest'] });
  if (code === '0x') return { kind: 'absent' };
  if (keccak256(code) !== factory.codeHash) return { kind: 'broken', reason: 'has other code' };

  const recipient = getAddress(bytesToHex(randomBytes(20)));
  const salt = bytesToHex(randomBytes(32));
  const ask = (data: Hex) =>
    request({ method: 'eth_call', params: [{ to: factory.address, data }, 'latest'] }).catch(nullIfAnswered);
  const output = await ask(encodeFunctionData({ abi: ABI, functionName: 'create', args: [recipient, salt] }));
  if (output === null) return { kind: 'broken', reason: 'creates nothing' };
  const created = createdAddress(output);
  const expected = forwarderAddress({ recipient, salt }, factory);
  if (created === undefined || !isAddressEqual(created, expected))
    return { kind: 'broken', reason: 'creates contracts at other addresses than Ethereum does' };
  const swept = await ask(sweepInput([{ recipient, salt, token: null }]));
  return swept === null ? { kind: 'broken', reason: 'does not sweep' } : { kind: 'works' };
}

function createdAddress(output: Hex) {
  try {
    return decodeFunctionResult({ abi: ABI, functionName: 'create', data: output });
  } catch {
    // A node can answer with any bytes.
    return undefined;
  }
}
