import { API_OPTIONS, argumentsOf, type Place, placeOf } from '../api/server-place.ts';

export const USAGE = `Usage: npm run -s links -- create --key KEY --name TEXT [options]
       npm run -s links -- list --key KEY [--url ADDRESS]

Creates a payment link and prints the address to share with payers, or lists the links there are.
(-s keeps npm's own lines out of the output.)

  --key KEY            an API key; creating needs one that may write
  --name TEXT          what is sold
  --amount UNITS       the price in the token's smallest unit; without it the payer chooses
  --token ADDRESS      the token to pay in; the organization's default when absent
  --chain ID           the chain to pay on; the organization's default when absent
  --recipient ADDRESS  who receives the payments; the organization's default when absent
  --url ADDRESS        where the server is; http://127.0.0.1:3001 when absent
  --help               print this
`;

/** A new link as the API takes it. */
export interface NewLink {
  readonly name: string;
  readonly amount?: string;
  readonly token_address?: string;
  readonly chain_id?: number;
  readonly recipient_address?: string;
}

/** What the server is to be asked. `url` has no slash at the end. */
export type Command = Place &
  ({ readonly kind: 'create'; readonly link: NewLink } | { readonly kind: 'list' });

const OPTIONS = {
  ...API_OPTIONS,
  name: { type: 'string' },
  amount: { type: 'string' },
  token: { type: 'string' },
  chain: { type: 'string' },
  recipient: { type: 'string' },
} as const;

/** Reads the arguments; `fault` is a sentence. What is a rule of the API is left to the API. */
export function readCommand(argv: readonly string[]): Command | { fault: string } | { help: true } {
  const read = argumentsOf(argv, { allowPositionals: true, options: OPTIONS });
  if ('fault' in read) return read;
  const { values, positionals } = read;
  if (values.help === true) return { help: true };
  const [kind, ...more] = positionals;
  if ((kind !== 'create' && kind !== 'list') || more.length > 0) return { fault: 'say create or list' };
  const { name, amount, token, chain, recipient } = values;
  const place = placeOf(values);
  if ('fault' in place) return place;
  if (kind === 'list') {
    const needless = Object.keys(values).find(option => !['key', 'url'].includes(option));
    return needless === undefined ? { kind, ...place } : { fault: `--${needless} is not for list` };
  }
  if (name === undefined) return { fault: '--name is missing' };
  if (chain !== undefined && !/^[1-9]\d{0,14}$/.test(chain))
    return { fault: '--chain takes the id of a chain' };
  const link = {
    name,
    ...(amount === undefined ? {} : { amount }),
    ...(token === undefined ? {} : { token_address: token }),
    ...(chain === undefined ? {} : { chain_id: Number(chain) }),
    ...(recipient === undefined ? {} : { recipient_address: recipient }),
  };
  return { kind, ...place, link };
}
