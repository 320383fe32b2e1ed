import { type Address, encodeFunctionData, type Hex, keccak256, parseAbi, toHex } from 'viem';
import { DELEGATION_PREFIX } from '#evm/address.ts';
import { wordOf } from '#evm/call-result.ts';
import { nullIfAnswered } from '#node/client.ts';
import type { OpenedChain } from './chain-option.ts';

const WALLET = parseAbi([
  'function getOwners() view returns (address[])',
  'function getThreshold() view returns (uint256)',
]);
const OWNERS = encodeFunctionData({ abi: WALLET, functionName: 'getOwners' });
const THRESHOLD = encodeFunctionData({ abi: WALLET, functionName: 'getThreshold' });

/** Slot in which a Safe has the contract whose code it runs. Source: `SafeProxy.sol`, "singleton". */
const SINGLETON_SLOT = toHex(0, { size: 32 });
/** Slot in which a proxy has the contract whose code it runs. Source: EIP-1967. */
const IMPLEMENTATION_SLOT: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';

/** A recipient on one chain, as far as two of them are compared. */
interface RecipientState {
  readonly code: Hex;
  /** Hash of the code that a proxy runs; the code's own when it is none. */
  readonly runs: readonly Hex[];
  readonly owners: Hex | null;
  readonly threshold: bigint | null;
}

/**
 * Reason why a recipient is not paid on another chain: it is a contract, and not the same one on both chains. A stranger may
 * be able to create another one at its address (Decision 404). An account with a key has no code, and is the same everywhere.
 */
export async function recipientFault(
  recipient: Address,
  { issued, here }: { issued: OpenedChain; here: OpenedChain },
): Promise<string | undefined> {
  const [there, local] = await Promise.all([stateOf(issued, recipient), stateOf(here, recipient)]);
  const difference = differenceOf(there, local);
  if (difference === undefined) return undefined;
  return (
    `${recipient} is a contract on chain ${local.code === '0x' ? issued.id : here.id}, and ${difference} on chain ` +
    `${here.id} and chain ${issued.id}: money that is swept there may not reach its owners`
  );
}

function differenceOf(one: RecipientState, other: RecipientState): string | undefined {
  if (one.code !== other.code) return 'its code differs';
  if (one.runs.join() !== other.runs.join()) return 'the code that it runs differs';
  if (one.owners !== other.owners) return 'its owners differ';
  return one.threshold === other.threshold ? undefined : 'the number of owners who must sign differs';
}

async function stateOf({ client }: OpenedChain, recipient: Address): Promise<RecipientState> {
  const codeOf = (address: Address) => client.request({ method: 'eth_getCode', params: [address, 'latest'] });
  const code = await codeOf(recipient);
  if (code === '0x' || code.startsWith(DELEGATION_PREFIX))
    return { code: '0x', runs: [], owners: null, threshold: null };
  const ask = (data: Hex) =>
    client.request({ method: 'eth_call', params: [{ to: recipient, data }, 'latest'] }).catch(nullIfAnswered);
  const runs = async (slot: Hex): Promise<Hex> => {
    const word = await client.request({ method: 'eth_getStorageAt', params: [recipient, slot, 'latest'] });
    return keccak256(await codeOf(`0x${word.slice(-40).padStart(40, '0')}`));
  };
  const [owners, threshold] = await Promise.all([ask(OWNERS), ask(THRESHOLD)]);
  const isSafe = owners !== null && owners !== '0x';
  return {
    code,
    runs: await Promise.all([IMPLEMENTATION_SLOT, ...(isSafe ? [SINGLETON_SLOT] : [])].map(runs)),
    owners,
    threshold: wordOf(threshold),
  };
}
