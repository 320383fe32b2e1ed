import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { API_OPTIONS, type ApiRequest, type ApiServer, apiClient, apiServerOf, URL_HELP } from './client.ts';

/**
 * Creates and lists payment links of a running server, through its API.
 * @throws UsageError, or Refused when the server refuses or is out of reach
 */
export async function runLinks(args: readonly string[]): Promise<void> {
  const command = readLinksCommand(args);
  if (command === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const client = linksClient(command);
  if (command.kind === 'create') {
    process.stdout.write(`${await client.create(command.link)}\n`);
    return;
  }
  for (let page = 1; ; page++) {
    const { lines, hasMore } = await client.list(page);
    for (const line of lines) process.stdout.write(`${line}\n`);
    if (!hasMore) return;
  }
}

const PATH = '/api/v1/payment-links';

/** Client for the payment links of a server. Rejects with Refused when there is no answer. */
function linksClient({ url, key }: { url: string; key: string }) {
  const api = apiClient({ url, key });
  return {
    /** Creates a link and returns the address to share. */
    async create(link: NewLink): Promise<string> {
      const terms = link.token_address === undefined ? {} : await termsOf(link.token_address, link.chain_id);
      return ask({ method: 'POST', path: PATH, body: { ...link, ...terms } }, addressOf);
    },
    /** One page of links, a line for each. */
    list: (page: number) =>
      ask(
        { path: `${PATH}?limit=100&page=${page}` },
        ({ data, has_more }: PaymentsSchemas['PaymentLinkList']) => ({
          lines: data.map(lineOf),
          hasMore: has_more,
        }),
      ),
  };

  /** Token and chain of a link. A symbol stands for the token of the given chain, or of the only chain that has it. */
  async function termsOf(token: string, chainId: number | undefined) {
    if (token.startsWith('0x')) return { token_address: token };
    const found = await ask({ path: '/api/v1/chains' }, ({ data }: PaymentsSchemas['PaymentChainList']) =>
      data
        .filter(({ id }) => chainId === undefined || id === chainId)
        .flatMap(({ id, name, tokens }) =>
          tokens
            .filter(({ symbol }) => symbol.toLowerCase() === token.toLowerCase())
            .map(({ address }) => ({ chain_id: id, name, token_address: address })),
        ),
    );
    const [only, ...more] = found;
    if (only === undefined) throw new Refused(`No chain of this key takes ${token}.`);
    if (more.length > 0)
      throw new Refused(
        `${token} is taken on ${found.map(({ chain_id, name }) => `${name} (${chain_id})`).join(', ')}: name one by --chain.`,
      );
    return { chain_id: only.chain_id, token_address: only.token_address };
  }

  /** Sends a request. A body that `read` cannot read did not come from the API. */
  async function ask<Body, Value>(request: ApiRequest, read: (body: Body) => Value): Promise<Value> {
    const reply = await api.ask<Body>(request);
    if (reply.kind === 'refused' || reply.kind === 'away') throw new Refused(reply.message);
    try {
      if (reply.kind === 'done') return read(reply.body);
    } catch {
      // Refused below, like an answer without a body.
    }
    throw new Refused(`${url} does not answer as a payments server.`);
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

const USAGE = `Usage: tollgate links create --name TEXT [options]
       tollgate links list [--url ADDRESS]

Creates a payment link and prints the address to share with payers, or lists the links there are.
Set TOLLGATE_KEY to an API key; create needs one with write permission.

  --name TEXT          the product or service that is sold
  --amount UNITS       the price in the token's smallest unit; without it the payer chooses
  --token TOKEN        the token to pay in, by its symbol or address; the organization's default when absent
  --chain ID           the chain to pay on; the organization's default when absent
  --recipient ADDRESS  who receives the payments; the organization's default when absent
  --url ADDRESS        ${URL_HELP}
  --key KEY            the API key in place of TOLLGATE_KEY, visible to every user of this machine
  --help               print this
`;

/** Body of the request that creates a link. */
interface NewLink {
  readonly name: string;
  readonly amount?: string;
  readonly token_address?: string;
  readonly chain_id?: number;
  readonly recipient_address?: string;
}

/** A parsed command. `url` has no trailing slash. */
type Command = ApiServer & ({ readonly kind: 'create'; readonly link: NewLink } | { readonly kind: 'list' });

const OPTIONS = {
  ...API_OPTIONS,
  name: { type: 'string' },
  amount: { type: 'string' },
  token: { type: 'string' },
  chain: { type: 'string' },
  recipient: { type: 'string' },
} as const;

/**
 * Reads the arguments; undefined when they request help. The API itself checks the rules of the API.
 * @throws UsageError
 */
export function readLinksCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = readArguments(args, { allowPositionals: true, options: OPTIONS });
  if (values.help === true) return undefined;
  const [kind, ...more] = positionals;
  if ((kind !== 'create' && kind !== 'list') || more.length > 0)
    throw new UsageError('name a command: create or list');
  const { name, amount, token, chain, recipient } = values;
  const server = apiServerOf(values);
  if (kind === 'list') {
    const needless = Object.keys(values).find(option => !['key', 'url'].includes(option));
    if (needless !== undefined) throw new UsageError(`--${needless} is not for list`);
    return { kind, ...server };
  }
  if (name === undefined) throw new UsageError('--name is missing');
  if (chain !== undefined && !/^[1-9]\d{0,14}$/.test(chain))
    throw new UsageError('--chain takes the id of a chain');
  const link = {
    name,
    ...(amount === undefined ? {} : { amount }),
    ...(token === undefined ? {} : { token_address: token }),
    ...(chain === undefined ? {} : { chain_id: Number(chain) }),
    ...(recipient === undefined ? {} : { recipient_address: recipient }),
  };
  return { kind, ...server, link };
}
