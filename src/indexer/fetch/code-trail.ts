import type { Address } from 'viem';
import { authoritiesOf } from '../../evm/authorities.ts';
import type { RpcTransaction } from '../../evm/rpc.ts';
import type { FetchedBlock } from './fetched-block.ts';

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
