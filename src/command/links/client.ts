import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { type ApiRequest, apiClient } from '../api/client.ts';
import type { NewLink } from './command.ts';

/** Outcome of a request: a value, or a sentence on why there is none. */
export type Answer<Value> = { readonly value: Value } | { readonly refusal: string };

/** One page of links, a line for each. */
export interface LinkPage {
  readonly lines: readonly string[];
  readonly hasMore: boolean;
}

const PATH = '/api/v1/payment-links';

/** Client for the payment links of a server. */
export function linksClient({ url, key }: { url: string; key: string }) {
  const api = apiClient({ url, key });
  return {
    /** Creates a link and returns the address to share. */
    create: (link: NewLink): Promise<Answer<string>> =>
      ask({ method: 'POST', path: PATH, body: link }, (created: PaymentsSchemas['PaymentLink']) =>
        addressOf(created),
      ),

    list: (page: number): Promise<Answer<LinkPage>> =>
      ask(
        { path: `${PATH}?limit=100&page=${page}` },
        ({ data, has_more }: PaymentsSchemas['PaymentLinkList']) => ({
          lines: data.map(lineOf),
          hasMore: has_more,
        }),
      ),
  };

  /** Sends a request. A body that `read` cannot read did not come from the API. */
  async function ask<Body, Value>(request: ApiRequest, read: (body: Body) => Value): Promise<Answer<Value>> {
    const reply = await api.ask<Body>(request);
    if (reply.kind === 'refused' || reply.kind === 'away') return { refusal: reply.message };
    try {
      if (reply.kind === 'done') return { value: read(reply.body) };
    } catch {
      // Refused below, like an answer without a body.
    }
    return { refusal: `${url} does not answer as a payments server.` };
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
