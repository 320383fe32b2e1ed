import { isAddress, isHash } from 'viem';
import type { InsightsSchemas } from '../../contract/contracts/insights.ts';
import type { Entity, EntityRecords } from '../../query-model/row-selection.ts';
import type { NamedInput } from '../backends/port/insights-backend.ts';
import { MAX_RESOLVED } from '../backends/port/resolved-input.ts';
import type { ChainsAnswer } from '../fallback/ask-chains.ts';
import { signatureNamed } from './event-signature.ts';
import { metaOf } from './query-answerer.ts';
import { sortRecords } from './sort-records.ts';

type ResolvedInput = InsightsSchemas['ResolvedInput'];

const DIGITS = /^\d{1,78}$/;
const SELECTOR = /^0x[\da-f]{8}$/;
/** A name has two or more labels. The chain's registry decides if it exists. */
const NAME = /^[^\s./]+(?:\.[^\s./]+)+$/;
const MAX_OF_NAME = 255;
const SELECTOR_CHARACTERS = 10;

/** Possible meaning of a text, judged by its form alone; null when it has none (Decision 212). */
export function namedInput(text: string): NamedInput | null {
  const trimmed = text.trim();
  const lower = trimmed.toLowerCase();
  if (DIGITS.test(trimmed)) return { kind: 'number', number: BigInt(trimmed) };
  if (isHash(lower)) return { kind: 'hash', hash: lower };
  if (SELECTOR.test(lower)) return { kind: 'selector', selector: lower };
  if (isAddress(lower, { strict: false })) return { kind: 'address', address: lower };
  const signature = signatureNamed(trimmed);
  if (signature !== null) {
    const { topic0 } = signature;
    return { kind: 'signature', topic0, selector: topic0.slice(0, SELECTOR_CHARACTERS) };
  }
  const isName = trimmed.length <= MAX_OF_NAME && NAME.test(trimmed);
  return isName ? { kind: 'address', address: lower } : null;
}

/** Returns true for an answer after which no further chain is asked. */
export function isResolved({ type, transactions = [] }: ResolvedInput): boolean {
  return type !== 'unknown' && (type !== 'address' || transactions.length > 0);
}

/** Kinds of results, by precedence when several chains answer. */
const KINDS = [
  'transaction',
  'block',
  'event_signature',
  'function_signature',
  'contract',
  'address',
] as const satisfies readonly ResolvedInput['type'][];
/** An address may be a contract on one chain and an account on another. */
const ACCOUNTS: readonly ResolvedInput['type'][] = ['contract', 'address'];

/** Merges the answers of several chains. */
export function resolvedBody(asked: ChainsAnswer<ResolvedInput>): InsightsSchemas['ResolvedAnswer'] {
  const parts = asked.parts.map(({ result }) => result);
  const type = KINDS.find(kind => parts.some(part => part.type === kind)) ?? 'unknown';
  const kinds = ACCOUNTS.includes(type) ? ACCOUNTS : [type];
  const same = parts.filter(part => kinds.includes(part.type));
  const address = same.find(part => part.address !== undefined)?.address;
  const blocks = merged('blocks', same);
  const transactions = merged('transactions', same);
  const events = merged('events', same);
  const total = [blocks, transactions, events].reduce((sum, list) => sum + (list?.length ?? 0), 0);
  return {
    data: {
      type,
      ...(address === undefined ? {} : { address }),
      ...(blocks === undefined ? {} : { blocks }),
      ...(transactions === undefined ? {} : { transactions }),
      ...(events === undefined ? {} : { events }),
    },
    meta: metaOf(asked, { page: 0, limit: MAX_RESOLVED, total, pages: Math.min(1, total), isCapped: false }),
  };
}

/** Merged list, the newest first; undefined when no chain has such a list. */
function merged<E extends Entity>(
  entity: E,
  parts: readonly { readonly [List in E]?: readonly EntityRecords[E][] }[],
): EntityRecords[E][] | undefined {
  const lists = parts.map(part => part[entity]).filter(list => list !== undefined);
  if (lists.length === 0) return undefined;
  return sortRecords(entity, lists.flat(), { field: 'block_number', order: 'desc' });
}
