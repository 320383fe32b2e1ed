import { formatUnits } from 'viem';
import { expect, test } from 'vitest';
import { child, type Json, resolve } from '#contract/contracts/document.ts';
import type { OperationRow } from '#contract/contracts/operations.ts';
import { paymentsContract } from '#contract/contracts/payments.ts';
import { csvLine } from '#lib/csv.ts';
import { isObject } from '#lib/json.ts';
import { list, record, text } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import { errorOf, type Merchant, PLACE, startPaymentsApi } from '../../support/payments-api.ts';

const PATH = '/api/v1/transactions/export';

/** The fields of a transaction that are neither objects nor lists, in the order of the contract. */
function plainFields(): string[] {
  const { document } = paymentsContract;
  const schemas = child(child(document, 'components'), 'schemas');
  const isPlain = (schema: Json): boolean => {
    const resolved = resolve(document, schema);
    if (Array.isArray(resolved.oneOf)) return resolved.oneOf.every(isPlain);
    return resolved.type !== 'object' && resolved.type !== 'array';
  };
  const properties = child(child(schemas, 'PaymentTransaction'), 'properties');
  return Object.entries(properties).flatMap(([name, schema]) =>
    isObject(schema) && isPlain(schema) ? [name] : [],
  );
}

const OTHERS = [
  'amount_decimal',
  'overpaid_amount_decimal',
  'token_symbol',
  'token_decimals',
  'fee',
  'session_amount_refunded',
  'session_amount_refunded_decimal',
  'outcome',
];
/** Cells of the columns with whole tokens of a transaction without refunds, up to the outcome. */
const whole = (amount: string) => [formatUnits(BigInt(amount), 6), '', 'USDC', '6', '0', '0', '0'];

/** Splits CSV without quotes into rows of cells. */
const cellsOf = (csv: string) => csv.split('\r\n').map(line => line.split(','));

async function paid(
  merchant: Merchant,
  amount: string,
  outcome: 'completed' | 'underpaid' = 'completed',
): Promise<Record<string, unknown>> {
  const terms = { ...PLACE, amount };
  const { body } = await merchant.post('/api/v1/checkout-sessions', terms);
  await merchant.post(`/api/v1/test/sessions/${text(record(body).id)}/simulate`, { outcome });
  return record(body);
}

test('a cell is quoted where RFC 4180 requires it, and is never a formula', () => {
  const cells = ['a', 'a,b', 'a"b', 'a\nb', '=1+1', '+1', '-1', '@a', '\ta', '\ra', '="a"', null, true, 7];

  expect(csvLine(cells)).toBe(
    'a,"a,b","a""b","a\nb",\'=1+1,\'+1,\'-1,\'@a,\'\ta,"\'\ra","\'=""a""",,true,7\r\n',
  );
});

test('every export takes the filters of its list', () => {
  const rows = Object.values<OperationRow>(paymentsContract.table);
  const exports = rows.filter(({ path }) => path.endsWith('/export'));
  const namesOf = (row?: OperationRow) => row?.parameters.map(({ name }) => name) ?? [];

  const left = exports.map(row => {
    const list = rows.find(({ method, path }) => method === 'get' && `${path}/export` === row.path);
    const filters = namesOf(list).filter(name => !OF_PAGES.includes(name));
    return [row.id, filters.length > 0, filters.filter(name => !namesOf(row).includes(name))];
  });

  expect(left).toEqual(exports.map(({ id }) => [id, true, []]));
});

/** Parameters of lists that no export has: it has all records, newest first. */
const OF_PAGES = ['sort', 'order', 'page', 'cursor', 'limit'];

eachDatabase('the export', databases => {
  test('has the plain fields of the record, whole tokens and the outcome of its session, one CRLF line per transaction', async () => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const merchant = await api.merchant();
    const old = await paid(merchant, '100');
    api.clock.advance(1000);
    const recent = await paid(merchant, '2000', 'underpaid');

    const { status, headers, body } = await merchant.get(PATH);

    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const [header = [], ...lines] = cellsOf(text(body));
    expect(header).toEqual([...plainFields(), ...OTHERS]);
    expect(lines.pop()).toEqual(['']);
    const { body: listed } = await merchant.get('/api/v1/transactions');
    expect(lines).toEqual(
      list(record(listed).data).map(one => [
        ...plainFields().map(name => String(record(one)[name] ?? '')),
        ...whole(text(record(one).amount)),
        record(one).session_id === recent.id ? 'partial' : 'paid',
      ]),
    );
    expect(lines.map(cells => cells[header.indexOf('session_id')])).toEqual([recent.id, old.id]);
  });

  test('of checkouts has what the search finds, with product, reference, customer and whole tokens', async () => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const merchant = await api.merchant();
    await paid(merchant, '100');
    const ordered = await merchant.post('/api/v1/checkout-sessions', {
      ...PLACE,
      amount: '12500000',
      clientReferenceId: 'order-7',
      customerEmail: 'ada@example.com',
    });

    const { body } = await merchant.get('/api/v1/checkout-sessions/export?query=ADA@example.com');
    const [header = [], row = [], ...rest] = cellsOf(text(body));

    const cell = (name: string) => row[header.indexOf(name)];
    expect(rest).toEqual([['']]);
    expect(cell('id')).toBe(record(ordered.body).id);
    expect(
      ['clientReferenceId', 'customerEmail', 'amount', 'amount_decimal', 'token_symbol'].map(cell),
    ).toEqual(['order-7', 'ada@example.com', '12500000', '12.5', 'USDC']);
    expect(['fee', 'amount_received_decimal', 'outcome', 'token_decimals'].map(cell)).toEqual([
      '0',
      '0',
      'waiting',
      '6',
    ]);
  });

  test('has only the caller’s transactions that match the filters', async () => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const [merchant, others] = [await api.merchant(), await api.merchant()];
    const old = await paid(merchant, '100');
    api.clock.advance(1000);
    await paid(merchant, '2000');
    const now = new Date(api.clock.now()).toISOString();
    const countOf = async (query: string, by = merchant) =>
      cellsOf(text((await by.get(`${PATH}?${query}`)).body)).length - 2;

    expect(await countOf('format=csv')).toBe(2);
    expect(await countOf(`session_id=${old.id}`)).toBe(1);
    expect(await countOf(`from=${now}`)).toBe(1);
    expect(await countOf('status=failed')).toBe(0);
    expect(await countOf('', others)).toBe(0);
    expect(errorOf(await merchant.get(`${PATH}?format=xlsx`))).toBe('400 invalid_field_value format');
  });
});
