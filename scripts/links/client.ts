import type { PaymentsSchemas } from '../../src/contract/payments.ts';
import type { NewLink } from './command.ts';

/** What came of a request: a value, or what to tell the person who asked. */
export type Answer<Value> = { readonly value: Value } | { readonly refusal: string };

/** Lines for a person, a link each, and whether the next page has more. */
export interface LinkPage {
  readonly lines: readonly string[];
  readonly hasMore: boolean;
}

const PATH = '/api/v1/payment-links';
const TIMEOUT_MS = 30_000;

/** Asks the payments API of a server with a key. */
export function linksClient({ url, key }: { url: string; key: string }) {
  return {
    /** The address to share. */
    create: (link: NewLink): Promise<Answer<string>> =>
      ask(
        { method: 'POST', path: PATH, body: JSON.stringify(link) },
        (created: PaymentsSchemas['PaymentLink']) => addressOf(created),
      ),

    list: (page: number): Promise<Answer<LinkPage>> =>
      ask(
        { method: 'GET', path: `${PATH}?limit=100&page=${page}` },
        ({ data, has_more }: PaymentsSchemas['PaymentLinkList']) => ({
          lines: data.map(lineOf),
          hasMore: has_more,
        }),
      ),
  };

  /** Whatever `read` cannot read did not come from the API. */
  async function ask<Body, Value>(
    { path, ...request }: { method: string; path: string; body?: string },
    read: (body: Body) => Value,
  ): Promise<Answer<Value>> {
    try {
      const response = await fetch(url + path, {
        ...request,
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      return response.ok ? { value: read(JSON.parse(text)) } : { refusal: refusalIn(text, response.status) };
    } catch (error) {
      return { refusal: `${url} does not answer as a payments server: ${reasonOf(error)}` };
    }
  }
}

function addressOf({ url }: PaymentsSchemas['PaymentLink']): string {
  if (typeof url !== 'string') throw new TypeError('the answer is no payment link');
  return url;
}

function lineOf(link: PaymentsSchemas['PaymentLink']): string {
  const { availability, amount, token_address: token, chain_id: chain, name } = link;
  return [addressOf(link), availability, amount ?? '-', token, chain, name].join('  ');
}

/** The error as the API words it; another server's answer by its status. */
function refusalIn(text: string, status: number): string {
  try {
    const { error }: PaymentsSchemas['Error'] = JSON.parse(text);
    return `${error.code}: ${error.message}`;
  } catch {
    return `The server answered with status ${status}.`;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
