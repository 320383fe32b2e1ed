import { fileURLToPath } from 'node:url';
import type { Exchange } from '../contract/client.ts';

/** Signs of internals in an error: stacks, files, SQL, system errors, addresses of nodes. */
const SIGNS: readonly RegExp[] = [
  /\n\s+at \S/,
  /node:internal|node_modules|file:\/\/|\.[cm]?[jt]s:\d+/,
  /\/(tmp|home|root|usr|var)\//,
  /sqlite|knex|postgres|constraint failed|syntax error/i,
  /\bselect\b.+\bfrom\b|\binsert into\b|\bupdate\b.+\bset\b/i,
  /\bE(CONN\w+|PIPE|NOENT|TIMEDOUT|HOSTUNREACH|AI_AGAIN)\b/,
  // Our own message about an unknown aggregate function quotes its name, so a quotation mark is allowed.
  /TypeError|RangeError|ReferenceError|Cannot read prop|[^"] is not a function|\[object Object\]/,
  /127\.0\.0\.1:\d+|\/\/localhost/,
  /\b(tg_live_|tg_test_|whsec_)[0-9A-Za-z+/]{32}/,
];

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Lists the internals that an answer reveals: secrets in any answer, other signs in an error. */
export function innerDetails({ status, headers, text }: Exchange, secrets: readonly string[]): string[] {
  const told = `${JSON.stringify(headers)} ${text}`;
  const hidden = [...secrets, ROOT]
    .filter(secret => told.includes(secret))
    .map(() => 'tells a secret or a path');
  const signs = status < 400 ? [] : SIGNS.filter(sign => sign.test(text)).map(sign => `tells ${sign}`);
  return [...hidden, ...signs];
}
