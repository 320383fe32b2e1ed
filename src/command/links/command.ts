import { readArguments, UsageError } from '#lib/command-line.ts';
import { API_OPTIONS, placeOf, type ServerPlace } from '../api/server-place.ts';

export const USAGE = `Usage: tollgate links create --name TEXT [options]
       tollgate links list [--url ADDRESS]

Creates a payment link and prints the address to share with payers, or lists the links there are.
Set TOLLGATE_KEY to an API key; create needs one with write permission.

  --name TEXT          the product or service that is sold
  --amount UNITS       the price in the token's smallest unit; without it the payer chooses
  --token ADDRESS      the token to pay in; the organization's default when absent
  --chain ID           the chain to pay on; the organization's default when absent
  --recipient ADDRESS  who receives the payments; the organization's default when absent
  --url ADDRESS        the server; http://127.0.0.1:3001 when absent
  --key KEY            the API key in place of TOLLGATE_KEY, visible to every user of this machine
  --help               print this
`;

/** Body of the request that creates a link. */
export interface NewLink {
  readonly name: string;
  readonly amount?: string;
  readonly token_address?: string;
  readonly chain_id?: number;
  readonly recipient_address?: string;
}

/** A parsed command. `url` has no trailing slash. */
export type Command = ServerPlace &
  ({ readonly kind: 'create'; readonly link: NewLink } | { readonly kind: 'list' });

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
export function readCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = readArguments(args, { allowPositionals: true, options: OPTIONS });
  if (values.help === true) return undefined;
  const [kind, ...more] = positionals;
  if ((kind !== 'create' && kind !== 'list') || more.length > 0)
    throw new UsageError('name a command: create or list');
  const { name, amount, token, chain, recipient } = values;
  const place = placeOf(values);
  if (kind === 'list') {
    const needless = Object.keys(values).find(option => !['key', 'url'].includes(option));
    if (needless !== undefined) throw new UsageError(`--${needless} is not for list`);
    return { kind, ...place };
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
  return { kind, ...place, link };
}
