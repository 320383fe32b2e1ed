import { type Fields, fieldsOf, listOf } from '../../src/data/backends/upstream-json/fields.ts';
import { isObject } from '../../src/lib/json.ts';
import type { World } from '../../test/lab/instance-world.ts';

/** One question to the service, and everything needed to judge its answer. */
export interface Question {
  readonly operationId: string;
  /** Path and query of the request to the service. */
  readonly target: string;
  /** Path of the same question upstream, below the base of its API. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Compared fields of the record or of each item. They have the same form in both APIs. */
  readonly fields: readonly string[];
  /** `found`: the first chain that has it; `available`: the first that can answer. */
  readonly way: 'found' | 'available';
  /** Chains that may answer. */
  readonly chains: readonly World[];
  /** True when the answer is final, and may be cached for long, once it is deep in its chain. */
  readonly settles: boolean;
}

const CONFIRMATIONS = 12;

/**
 * True answer of a chain, reduced to the compared fields; undefined when the chain has none. The list of an unknown
 * address is an empty page, whether the instance answers 404 or an empty list.
 */
export function truthOf(question: Question, chain: World): string | undefined {
  const { status, json } = chain.answer(question.path, question.query);
  if (status === 200) return factsIn(question, json);
  return question.path.startsWith('/addresses/') ? '[]' : undefined;
}

/** Compared fields of an answer, in the form of either API. */
export function factsIn({ fields }: Question, body: unknown): string {
  const facts = (record: unknown) => fields.map(name => String(fieldsOf(record)[name]));
  const items = itemsOf(body);
  return JSON.stringify(items === undefined ? facts(body) : items.map(facts));
}

/** True when a chain has a record, or a list that is not empty. */
export function has(question: Question, chain: World): boolean {
  const { status, json } = chain.answer(question.path, question.query);
  return status === 200 && itemsOf(json)?.length !== 0;
}

/** True when the answer has enough confirmations to be final. */
export function isDeep(question: Question, chain: World): boolean {
  const { json } = chain.answer(question.path, question.query);
  const record = fieldsOf(itemsOf(json)?.[0] ?? json);
  return question.settles && chain.head - Number(record.block_number ?? record.height) >= CONFIRMATIONS;
}

/** Position of the next page that an answer names; undefined at the end of the list. */
export function nextPage(body: unknown): Fields | undefined {
  return isObject(body) && isObject(body.next_page_params) ? body.next_page_params : undefined;
}

function itemsOf(body: unknown): readonly unknown[] | undefined {
  if (Array.isArray(body)) return body;
  return isObject(body) && 'items' in body ? listOf(body.items) : undefined;
}
