import { LRUCache } from 'lru-cache';
import { type Address, numberToHex } from 'viem';
import { authoritiesOf } from '../../evm/authorities.ts';
import type { RpcTransaction } from '../../evm/rpc.ts';
import { type ChainClient, nodeAnswered } from '../../node/client.ts';
import type { FetchedBlock } from './fetched-block.ts';

/** Accounts remembered, about 20 MB. An account that fell out is looked up again. */
const REMEMBERED = 50_000;

/** Judges by the code of its receiver whether a transaction called a contract. */
export interface ReceiverCode {
  /** Looks up receivers that are new, so that these questions share a batch with the block's other ones. */
  prefetch(at: { number: number; receivers: Iterable<Address> }): Promise<void>;
  /** Receivers that had code, block by block. Must be asked in the order of the chain. */
  withCode(trails: readonly CodeTrail[]): Promise<ReadonlySet<Address>[]>;
  /** Drops what is known: blocks that it came from are no longer on the chain. */
  forget(): void;
}

interface LookUp {
  /** Block at whose end the account was looked at. */
  readonly at: number;
  readonly hasCode: Promise<boolean>;
  /** Null until the node has answered. */
  settled: boolean | null;
}

/**
 * Looks an account up once and remembers it until a block may have changed its code. Code is that at the end of the
 * block, EIP-7702 delegations included. From a node that has thrown away the state of the block it is the present one.
 */
export function receiverCode({ request }: Pick<ChainClient, 'request'>): ReceiverCode {
  let known = new LRUCache<Address, LookUp>({ max: REMEMBERED });

  function lookUp(address: Address, at: number): LookUp {
    const memory = known;
    const made: LookUp = { at, hasCode: read(), settled: null };
    async function read(): Promise<boolean> {
      try {
        const hasCode = await codeAt(address, at);
        made.settled = hasCode;
        return hasCode;
      } catch (error) {
        if (memory.get(address) === made) memory.delete(address);
        throw error;
      }
    }
    memory.set(address, made);
    return made;
  }

  async function codeAt(address: Address, number: number): Promise<boolean> {
    const block = numberToHex(number);
    const code = await request({ method: 'eth_getCode', params: [address, block] }).catch(
      (error: unknown) => {
        if (!nodeAnswered(error)) throw error;
        return request({ method: 'eth_getCode', params: [address, 'latest'] });
      },
    );
    return code !== '0x';
  }

  /** A look-up of a later block says nothing: blocks in between may have changed the code. */
  function hadCode(address: Address, number: number): Promise<boolean> {
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

  async function receiversWithCode(trail: CodeTrail): Promise<ReadonlySet<Address>> {
    const receivers = [...trail.receivers];
    const answers = await Promise.all(
      receivers.map(address => trail.destroyed.has(address) || hadCode(address, trail.number)),
    );
    return new Set(receivers.filter((_, position) => answers[position]));
  }

  return {
    async prefetch({ number, receivers }) {
      const unknown = [...receivers].filter(address => !known.has(address));
      await Promise.all(unknown.map(address => lookUp(address, number).hasCode));
    },
    withCode(trails) {
      // All questions are put first, in the chain's order, and so share batches; then the answers are awaited.
      return Promise.all(
        trails.map(trail => {
          forgetChanged(trail);
          return receiversWithCode(trail);
        }),
      );
    },
    forget() {
      known = new LRUCache({ max: REMEMBERED });
    },
  };
}

/** Gas of a transaction that only moves coins, without data. */
const PLAIN_TRANSFER_GAS = 21_000;

/** Most authorizations of a block whose signers are computed: a full block of them would take seconds. */
const MOST_AUTHORIZATIONS = 40;

/** Traces a block leaves in the code of accounts. */
export interface CodeTrail {
  number: number;
  /** Of its transactions, except creations. */
  receivers: ReadonlySet<Address>;
  /**
   * Accounts whose code the block may have changed: created, destroyed, or signer of an EIP-7702 authorization. Null when
   * it may be any account.
   */
  changed: ReadonlySet<Address> | null;
  /** Accounts that had code in the block, and perhaps none at its end. */
  destroyed: ReadonlySet<Address>;
  /**
   * Receivers that used more gas than a plain transfer, when the node does not trace. Creations inside of transactions do
   * not show there, but a receiver that got code since uses gas.
   */
  unexplained: ReadonlySet<Address>;
}

/** Parts of a block that a trail is made of. */
export interface TrailSource {
  number: number;
  transactions: readonly {
    to: Address | null;
    gasUsed: number;
    createdContract: Address | null;
    authorizations: readonly unknown[];
  }[];
  /** Null when the node does not trace. */
  calls: readonly { type: string; from: Address; createdContract: Address | null }[] | null;
}

/** Trail of a fetched block. */
export function codeTrail(
  { number, transactions, traces }: FetchedBlock,
  chainId: number,
): Promise<CodeTrail> {
  const source = {
    number,
    transactions: transactions.map(({ transaction, receipt }) => ({
      to: transaction.to ?? null,
      gasUsed: Number(receipt.gasUsed),
      createdContract: receipt.contractAddress ?? null,
      authorizations: transaction.authorizationList ?? [],
    })),
    calls: traces?.flatMap(({ calls }) => calls) ?? null,
  };
  return trailOf(source, chainId);
}

/** Trail of a block, wherever its parts are from. */
export async function trailOf(
  { number, transactions, calls }: TrailSource,
  chainId: number,
): Promise<CodeTrail> {
  const destroyed = (calls ?? []).filter(({ type }) => type === 'selfdestruct').map(({ from }) => from);
  const created = [...transactions, ...(calls ?? [])].map(({ createdContract }) => createdContract);
  const authorizations = transactions.flatMap(transaction => transaction.authorizations);
  const isTooMany = authorizations.length > MOST_AUTHORIZATIONS;
  const signed = isTooMany ? [] : await authoritiesOf(authorizations, chainId);
  const unexplained =
    calls === null ? transactions.filter(({ gasUsed }) => gasUsed !== PLAIN_TRANSFER_GAS) : [];
  return {
    number,
    receivers: receiversOf(transactions),
    changed: isTooMany
      ? null
      : new Set([...destroyed, ...created.filter(address => address !== null), ...signed]),
    destroyed: new Set(destroyed),
    unexplained: receiversOf(unexplained),
  };
}

/** Receivers of transactions, except creations. */
export function receiversOf(transactions: readonly Pick<RpcTransaction, 'to'>[]): Set<Address> {
  return new Set(transactions.flatMap(({ to }) => to ?? []));
}
