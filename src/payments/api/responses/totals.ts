import type { OperationRequest } from '#contract/contracts/operations.ts';
import type { PaymentsOperations, PaymentsSchemas } from '#contract/contracts/payments.ts';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { DAY_MS, timestamp } from '#lib/clock.ts';
import type { Mode } from '../../model/owner.ts';
import type { PaymentChains } from '../../model/payment-chain.ts';
import { type CalendarPeriod, calendarOf, monthNumber } from '../../stats/calendar.ts';
import { namedToken } from '../../stats/figures.ts';
import { added, type PeriodTotal, type TokenTotal } from '../../stats/totals.ts';
import { type CsvReply, csvExport, exportedToken } from './csv-export.ts';
import { NO_FEE } from './transactions-csv.ts';

type TotalsQuery = OperationRequest<PaymentsOperations['getPaymentTotals']>['query'];

/** Most periods of an answer (Decision 450). */
const MOST = { day: 400, month: 120 } as const;
/** Periods of a request without a first day. */
const USUAL = { day: 30, month: 12 } as const;

/** Periods of a request. @throws HttpError 400 for an unknown time zone, and for a range that is empty or too long */
export function requestedPeriods(
  { interval, time_zone, first_day, last_day }: TotalsQuery,
  now: number,
): CalendarPeriod[] {
  const calendar = calendarOf(time_zone);
  if (calendar === undefined)
    throw refused('time_zone', 'must be a name of the IANA database, such as Europe/Berlin');
  const last = last_day === undefined ? calendar.dayAt(now) : dayOf(last_day);
  const first = first_day === undefined ? usualFirst(interval, last) : dayOf(first_day);
  if (first > last) throw refused('last_day', 'must not be before the first day');
  const count = interval === 'day' ? last - first + 1 : monthNumber(last) - monthNumber(first) + 1;
  if (count > MOST[interval])
    throw refused('first_day', `must be at most ${MOST[interval]} ${interval}s before the last day`);
  return calendar.periods(interval, { first, last });
}

function refused(param: string, rule: string) {
  return paymentsError('invalid_field_value', `The '${param}' parameter ${rule}.`, { param });
}

function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

function usualFirst(interval: 'day' | 'month', last: number): number {
  if (interval === 'day') return last - USUAL.day + 1;
  const date = new Date(last * DAY_MS);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - USUAL.month + 1) / DAY_MS;
}

/** Totals in the contract's form. */
export function totalsBody(
  totals: readonly PeriodTotal[],
  {
    mode,
    chains,
    query: { interval, time_zone },
  }: { readonly mode: Mode; readonly chains: PaymentChains; readonly query: TotalsQuery },
): PaymentsSchemas['PaymentTotals'] {
  const tokensOf = (tokens: readonly TokenTotal[]) => tokens.map(one => tokenBody(one, chains));
  return {
    object: 'payment_totals',
    mode,
    interval,
    time_zone,
    from: timestamp(totals.at(0)?.from ?? 0),
    to: timestamp(totals.at(-1)?.to ?? 0),
    tokens: tokensOf(added(totals.flatMap(({ tokens }) => tokens))),
    periods: totals.map(({ name, from, to, tokens }) => ({
      period: name,
      from: timestamp(from),
      to: timestamp(to),
      tokens: tokensOf(tokens),
    })),
  };
}

function tokenBody(total: TokenTotal, chains: PaymentChains): PaymentsSchemas['TokenTotals'] {
  return {
    ...namedToken(total, chains),
    payments: total.payments,
    received: total.received.toString(),
    refunds: total.refunds,
    refunded: total.refunded.toString(),
    fee: NO_FEE,
    net: (total.received - total.refunded).toString(),
  };
}

const COLUMNS = [
  'period',
  'from',
  'to',
  'time_zone',
  'chain_id',
  'token_address',
  'token_symbol',
  'token_decimals',
  'payments',
  'received',
  'received_decimal',
  'refunds',
  'refunded',
  'refunded_decimal',
  'fee',
  'net',
  'net_decimal',
] as const;

/** Totals as CSV, a row per period and token. */
export function totalsCsv(
  totals: readonly PeriodTotal[],
  { timeZone, chains }: { readonly timeZone: string; readonly chains: PaymentChains },
): Promise<CsvReply> {
  const rows = totals.flatMap(({ tokens, ...period }) => tokens.map(total => ({ period, total })));
  let read = 0;
  return csvExport<(typeof rows)[number]>({
    records: 'totals',
    columns: COLUMNS,
    count: async () => rows.length,
    async read(limit) {
      const part = rows.slice(read, read + limit);
      read += part.length;
      return part;
    },
    cells({ period, total }) {
      const { symbol, decimals, whole } = exportedToken(chains, total);
      const net = total.received - total.refunded;
      return [
        period.name,
        timestamp(period.from),
        timestamp(period.to),
        timeZone,
        total.chainId,
        total.tokenAddress,
        symbol,
        decimals,
        total.payments,
        total.received,
        whole(total.received),
        total.refunds,
        total.refunded,
        whole(total.refunded),
        NO_FEE,
        net,
        whole(net),
      ];
    },
  });
}
