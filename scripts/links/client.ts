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
    async create(link: NewLink): Promise<Answer<string>> {
      const answer = await ask<PaymentsSchemas['PaymentLink']>(PATH, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(link),
      });
      return 'value' in answer ? { value: answer.value.url } : answer;
    },

    async list(page: number): Promise<Answer<LinkPage>> {
      const answer = await ask<PaymentsSchemas['PaymentLinkList']>(`${PATH}?limit=100&page=${page}`);
      if ('refusal' in answer) return answer;
      return { value: { lines: answer.value.data.map(lineOf), hasMore: answer.value.has_more } };
    },
  };

  async function ask<Body>(path: string, { headers, ...request }: RequestInit = {}): Promise<Answer<Body>> {
    try {
      const response = await fetch(url + path, {
        ...request,
        headers: { ...headers, Authorization: `Bearer ${key}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      return response.ok ? { value: JSON.parse(text) } : { refusal: refusalIn(text, response.status) };
    } catch (error) {
      return { refusal: `${url} does not answer as a payments server: ${reasonOf(error)}` };
    }
  }
}

function lineOf(link: PaymentsSchemas['PaymentLink']): string {
  const { url, availability, amount, token_address: token, chain_id: chain, name } = link;
  return [url, availability, amount ?? '-', token, chain, name].join('  ');
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
