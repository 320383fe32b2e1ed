import { type Fields, fieldsOf, listOf } from '../../src/data/backends/upstream-json/fields.ts';
import { isObject } from '../../src/lib/json.ts';
import type { World } from './fixture.ts';

/** One question to the service, and what is needed to judge its answer. */
export interface Question {
  readonly operationId: string;
  /** Path and query as the service takes them. */
  readonly target: string;
  /** The same as upstream is asked: below the API's base. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Fields of the record, or of each item, that are held against the truth; they are alike in both shapes. */
  readonly fields: readonly string[];
  /** `found`: the first chain that has it; `available`: the first that can answer. */
  readonly way: 'found' | 'available';
  /** The only chains that may answer. */
  readonly chains: readonly World[];
  /** Whether this may be kept for long once it is deep in its chain. */
  readonly settles: boolean;
}

const CONFIRMATIONS = 12;

/**
 * What a chain truly says, cut down to what is compared; undefined where it has no such thing. The lists of an address
 * that it does not know are empty pages, whichever way it says so.
 */
export function truthOf(question: Question, chain: World): string | undefined {
  const { status, json } = chain.answer(question.path, question.query);
  if (status === 200) return factsIn(question, json);
  return question.path.startsWith('/addresses/') ? '[]' : undefined;
}

/** The same of an answer, in either shape. */
export function factsIn({ fields }: Question, body: unknown): string {
  const facts = (record: unknown) => fields.map(name => String(fieldsOf(record)[name]));
  const items = itemsOf(body);
  return JSON.stringify(items === undefined ? facts(body) : items.map(facts));
}

/** Whether a chain has something of it: an empty page is nothing. */
export function has(question: Question, chain: World): boolean {
  const { status, json } = chain.answer(question.path, question.query);
  return status === 200 && itemsOf(json)?.length !== 0;
}

/** Whether enough blocks lie on top of what a chain says for it never to change. */
export function isDeep(question: Question, chain: World): boolean {
  const { json } = chain.answer(question.path, question.query);
  const record = fieldsOf(itemsOf(json)?.[0] ?? json);
  return question.settles && chain.head - Number(record.block_number ?? record.height) >= CONFIRMATIONS;
}

/** Where an answer says that its list goes on. */
export function nextPage(body: unknown): Fields | undefined {
  return isObject(body) && isObject(body.next_page_params) ? body.next_page_params : undefined;
}

function itemsOf(body: unknown): readonly unknown[] | undefined {
  if (Array.isArray(body)) return body;
  return isObject(body) && 'items' in body ? listOf(body.items) : undefined;
}
