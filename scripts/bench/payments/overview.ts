import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { DAY_MS } from '#lib/clock.ts';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import { type Figure, figureOf } from '../figure.ts';
import { startServer } from '../server-process.ts';
import { medians } from '../turns.ts';
import { CHAIN_ID, CREATION } from './link.ts';
import { type FilledShop, filledShop, makeShop, NO_NODE } from './shop.ts';

const SESSIONS = 100_000;
/** Days over which the sessions are spread. All are within a period of 90 days at any time of day. */
const DAYS = 89;
const MAX_MS = 200;
const WARM_ROUNDS = 3;
const ROUNDS = 21;

/** Median times over HTTP of the overview of 100,000 sessions and 55,000 transactions in 90 days and three tokens. */
export async function overview(): Promise<Figure[]> {
  await using shop = await makeShop(() => []);
  await sell({ file: shop.file, durability: 'normal' }, shop);
  await using postgres = await startOwnPostgres();
  const database = { kind: 'postgres', url: postgres.url } as const;
  const another = await filledShop(database, () => []);
  await sell(database, another);
  return [await overviewIn('SQLite', shop.file, shop), await overviewIn('PostgreSQL', postgres.url, another)];
}

async function overviewIn(name: string, place: string, { headers }: FilledShop): Promise<Figure> {
  await using service = await startServer('payments', place, NO_NODE, CREATION.token_address);
  const times: number[] = [];
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
    const startedAt = performance.now();
    const answer = await fetch(`${service.url}/api/v1/analytics/overview?period=90d`, { headers });
    const body = await answer.text();
    if (round >= WARM_ROUNDS) times.push(performance.now() - startedAt);
    const { sessions } = JSON.parse(body);
    if (answer.status !== 200 || sessions.total !== SESSIONS) {
      throw new Error(`the overview is ${answer.status}: ${body.slice(0, 500)}`);
    }
  }
  return figureOf({
    name: `overview of 100,000 sessions in 90 days, on ${name} over HTTP, p50 in ms`,
    rounds: medians(times),
    wanted: { atMost: MAX_MS },
  });
}

/** Fills a shop with 100,000 sessions over 89 days, and with the payments of 55,000 of them. */
export async function sell(database: DatabaseOptions, { owner }: FilledShop): Promise<void> {
  const db = openDatabase(database);
  const own = [owner.organizationId, owner.mode];
  try {
    await execute(db, SELL_SESSIONS, own);
    await execute(db, PAY_SESSIONS, own);
    if (db.dialect.name === 'postgres') await db.raw('vacuum analyze');
  } finally {
    await db.destroy();
  }
}

/** SQL of a number in decimal digits behind a prefix, with leading zeros. */
export function padded(prefix: string, digits: number, number: string): string {
  return `'${prefix}' || substr('${'0'.repeat(digits)}', 1, ${digits} - length(cast(${number} as text))) || cast(${number} as text)`;
}

/** Digits behind the prefix of an id. */
export const ID_DIGITS = 24;

const sessionId = padded('cs_', ID_DIGITS, 'n');

const numbers = `with recursive numbers (n) as (
  select 0 union all select n + 1 from numbers where n < ${SESSIONS - 1}
)`;
const time = `${Date.now()} - (n % ${DAYS}) * cast(${DAY_MS} as bigint)`;
const token = `'0x' || case n % 3 when 0 then '${'0'.repeat(40)}' when 1 then '${'1'.repeat(40)}' else '${'2'.repeat(40)}' end`;
/** SQL of an amount of 16 digits, with the length prefix of the column. */
const amount = `'16' || (1000000000000000 + n)`;
const isPaid = 'n % 20 < 11';

const SELL_SESSIONS = `insert into checkout_sessions (
    id, organization_id, mode, status, payment_status, chain_id, token_address, recipient_address, subtotal, amount,
    amount_due, is_wallet_only, amount_received, presentation, confirmations, required_confirmations, is_late, is_reorged,
    metadata, expires_at, created_at, updated_at, ended_at
  ) ${numbers}
  select ${sessionId}, cast(? as text), cast(? as text), case when ${isPaid} then 'completed' else 'expired' end, 'paid',
    ${CHAIN_ID}, ${token}, '${CREATION.recipient_address}', ${amount}, ${amount}, ${amount}, 1 = 1, ${amount},
    '{"name":"A cup of coffee"}', 1, 1, 1 = 0, 1 = 0, '{}', ${time}, ${time}, ${time}, ${time} from numbers`;

const PAY_SESSIONS = `insert into transactions (
    id, organization_id, mode, status, session_id, chain_id, token_address, amount, sender, recipient, tx_hash, log_index,
    confirmations, required_confirmations, matched_by, is_late, is_duplicate, is_partial, created_at
  ) ${numbers}
  select ${padded('txn_', ID_DIGITS, 'n')}, cast(? as text), cast(? as text), 'completed', ${sessionId}, ${CHAIN_ID}, ${token}, ${amount},
    '${CREATION.recipient_address}', '${CREATION.recipient_address}', '0x' || n, 1, 1, 1, 'amount', 1 = 0, 1 = 0, 1 = 0, ${time}
  from numbers where ${isPaid}`;
