import { LRUCache } from 'lru-cache';
import { type Address, numberToHex } from 'viem';
import { authoritiesOf } from '../../evm/authorities.ts';
import type { RpcTransaction } from '../../evm/rpc.ts';
import { type ChainClient, nodeAnswered } from '../../node/client.ts';
import { AnswerTooLarge } from '../../node/transport/errors.ts';
import type { BlockWithReceiverCode, FetchedBlock } from './fetched-block.ts';

/** Accounts in the cache, about 20 MB. An evicted account is looked up again. */
const REMEMBERED = 50_000;

/** Decides by the receiver's code whether a transaction called a contract. */
export interface ReceiverCode {
  /** Looks up unknown receivers early, so that these requests share a batch with the block's other requests. */
  prefetch(at: { number: number; receivers: Iterable<Address> }): Promise<void>;
  /** Code of the receivers, per block. Calls must follow the order of the chain. */
  withCode(trails: readonly CodeTrail[]): Promise<ReceiversWithCode[]>;
  /** Drops the cache after a reorganisation, because its blocks are no longer on the chain. */
  forget(): void;
}

/** Receivers of a block's transactions that had code, and those whose code the node could not give. */
interface ReceiversWithCode {
  readonly withCode: ReadonlySet<Address>;
  readonly unknown: ReadonlySet<Address>;
}

interface LookUp {
  /** Block at whose end the code was read. */
  readonly at: number;
  /** Null when the node cannot give the code. */
  readonly hasCode: Promise<boolean | null>;
  /** Null until the node has answered. */
  settled: boolean | null;
}

/**
 * Looks up an account once and caches the result until a block may have changed its code.
 * Reads the code at the end of the block, including EIP-7702 delegations. A node that has pruned that state is asked
 * for the latest code.
 */
export function receiverCode({ request }: Pick<ChainClient, 'request'>): ReceiverCode {
  let known = new LRUCache<Address, LookUp>({ max: REMEMBERED });

  function lookUp(address: Address, at: number): LookUp {
    const memory = known;
    const made: LookUp = { at, hasCode: read(), settled: null };
    async function read(): Promise<boolean | null> {
      const forget = () => {
        if (memory.get(address) === made) memory.delete(address);
      };
      try {
        const hasCode = await codeAt(address, at);
        made.settled = hasCode;
        if (hasCode === null) forget();
        return hasCode;
      } catch (error) {
        forget();
        throw error;
      }
    }
    memory.set(address, made);
    return made;
  }

  async function codeAt(address: Address, number: number): Promise<boolean | null> {
    for (const block of [numberToHex(number), 'latest'] as const) {
      try {
        return (await request({ method: 'eth_getCode', params: [address, block] })) !== '0x';
      } catch (error) {
        if (error instanceof AnswerTooLarge) return true;
        if (!nodeAnswered(error)) throw error;
      }
    }
    return null;
  }

  /**
   * Code of an account at a block. A cached look-up of a later block is not used: blocks in between may have changed
   * the code.
   */
  function hadCode(address: Address, number: number): Promise<boolean | null> {
    const before = known.get(address);
    const valid = before !== undefined && before.at <= number ? before : lookUp(address, number);
    return valid.hasCode;
  }

  function forgetChanged({ number, changed, unexplained }: CodeTrail): void {
    const isOlder = (address: Address) => (known.get(address)?.at ?? number) < number;
    if (changed === null) known.clear();
    for (const address of changed ?? []) if (isOlder(address)) known.delete(address);
    for (const address of unexplained) {
      if (isOlder(address) && known.get(address)?.settled !== true) known.delete(address);
    }
  }

  async function judgedReceivers(trail: CodeTrail): Promise<ReceiversWithCode> {
    const receivers = [...trail.receivers];
    const answers = await Promise.all(
      receivers.map(address => trail.destroyed.has(address) || hadCode(address, trail.number)),
    );
    return {
      withCode: new Set(receivers.filter((_, position) => answers[position] === true)),
      unknown: new Set(receivers.filter((_, position) => answers[position] === null)),
    };
  }

  return {
    async prefetch({ number, receivers }) {
      const unknown = [...receivers].filter(address => !known.has(address));
      await Promise.all(unknown.map(address => lookUp(address, number).hasCode));
    },
    withCode(trails) {
      // All requests are sent first, in the chain's order, so that they share batches. Then the answers are awaited.
      return Promise.all(
        trails.map(trail => {
          forgetChanged(trail);
          return judgedReceivers(trail);
        }),
      );
    },
    forget() {
      known = new LRUCache({ max: REMEMBERED });
    },
  };
}

/** Gas of a coin transfer without data. */
export const PLAIN_TRANSFER_GAS = 21_000;

/** Maximum number of authorizations per block whose signers are recovered. A full block of them would take seconds. */
const MAX_AUTHORIZATIONS = 40;

/** Effects of a block on the code of accounts. */
interface CodeTrail {
  number: number;
  /** Receivers of its transactions, except creations. */
  receivers: ReadonlySet<Address>;
  /**
   * Accounts whose code the block may have changed: created, destroyed, or signer of an EIP-7702 authorization.
   * Null when it may be any account.
   */
  changed: ReadonlySet<Address> | null;
  /** Accounts that had code in the block and may have none at its end. */
  destroyed: ReadonlySet<Address>;
  /**
   * Receivers of transactions that did not use exactly the gas of a plain transfer, when the node does not trace.
   * Creations inside transactions are then invisible, but a call to a new contract uses gas.
   */
  unexplained: ReadonlySet<Address>;
}

/** Adds the code of the receivers to fetched blocks, which follow those judged before. */
export async function judgedBy(
  code: Pick<ReceiverCode, 'withCode'>,
  { blocks, chainId }: { blocks: readonly FetchedBlock[]; chainId: number },
): Promise<BlockWithReceiverCode[]> {
  const trails: CodeTrail[] = [];
  for (const block of blocks) trails.push(await codeTrail(block, chainId));
  const judged = await code.withCode(trails);
  return blocks.map((block, at) => ({
    ...block,
    receiversWithCode: judged[at]?.withCode ?? new Set(),
    receiversUnknown: judged[at]?.unknown ?? new Set(),
  }));
}

async function codeTrail(
  { number, transactions, traces }: FetchedBlock,
  chainId: number,
): Promise<CodeTrail> {
  const calls = traces?.flatMap(trace => trace?.calls ?? []) ?? null;
  const isIncomplete = transactions.some(({ receipt }, at) => receipt === null || traces?.[at] === null);
  const destroyed = (calls ?? []).filter(({ type }) => type === 'selfdestruct').map(({ from }) => from);
  const created = [
    ...transactions.map(({ receipt }) => receipt?.contractAddress ?? null),
    ...(calls ?? []).map(({ createdContract }) => createdContract),
  ];
  const authorizations = transactions.flatMap(({ transaction }) => transaction.authorizationList ?? []);
  const isTooMany = authorizations.length > MAX_AUTHORIZATIONS;
  const signed = isTooMany ? [] : await authoritiesOf(authorizations, chainId);
  const usesOther = ({ receipt }: (typeof transactions)[number]) =>
    receipt === null || Number(receipt.gasUsed) !== PLAIN_TRANSFER_GAS;
  const receivers = (some: typeof transactions) => receiversOf(some.map(({ transaction }) => transaction));
  return {
    number,
    receivers: receivers(transactions),
    changed:
      isTooMany || isIncomplete
        ? null
        : new Set([...destroyed, ...created.filter(address => address !== null), ...signed]),
    destroyed: new Set(destroyed),
    unexplained: receivers(calls === null ? transactions.filter(usesOther) : []),
  };
}

/** Receivers of transactions, except creations. */
export function receiversOf(transactions: readonly Pick<RpcTransaction, 'to'>[]): Set<Address> {
  return new Set(transactions.flatMap(({ to }) => to ?? []));
}
