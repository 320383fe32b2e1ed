import fc, { type Arbitrary } from 'fast-check';
import { afterAll, beforeAll, beforeEach, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import { type RecordingClient, recordingClient } from '../../scripts/contract/client.ts';
import { faultsOf } from '../../scripts/contract/payments/judge.ts';
import { isKeyed, type Operation, operationsIn } from '../../scripts/contract/payments/operation.ts';
import { goodValues } from '../../scripts/contract/values.ts';
import { child } from '../../src/contract/contracts/document.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { HOSTILE_BODIES, HOSTILE_TEXTS } from '../lab/hostile-input.ts';
import { record, text } from '../lab/json.ts';
import { startPaymentChain } from '../lab/payment-chain.ts';
import { startTestPayments, type TestPaymentsService, unreachableChain } from '../lab/payments-service.ts';
import { eachDatabase } from '../support/databases.ts';

const RUNS = 25;
const { document } = paymentsContract;
const validators = responseValidators(paymentsContract.document);

/** Any code point except surrogates. Like the unit `binary`, without the table that `binary` builds first. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7_ff })
  .map(code => String.fromCodePoint(code < 0xd8_00 ? code : code + 0x8_00));
const anyCharacters = fc.string({ unit: anyCharacter, maxLength: 60 });

const anyText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  anyCharacters,
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ maxLength: 300 }),
);

const anyValue: Arbitrary<unknown> = fc.oneof(
  anyText,
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(null, true, false, 1e308, -0, 2 ** 53, 2 ** 31, {}, []),
  fc.jsonValue({ maxDepth: 5 }),
  fc.integer({ min: 1, max: 40 }).map(depth => JSON.parse('['.repeat(depth) + ']'.repeat(depth))),
);

/** JSON that a serializer never writes, and text that is not JSON. */
const anyRaw = fc.oneof(fc.constantFrom(...HOSTILE_BODIES), anyCharacters);

/** A body with valid, invalid and unknown fields of the operation. */
function bodies({ body, example }: Operation): Arbitrary<string | undefined> {
  if (body === undefined) return fc.option(anyRaw, { nil: undefined });
  const names = Object.keys(child(body, 'properties'));
  const fields = fc.dictionary(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, anyText),
    anyValue,
    {
      maxKeys: 4,
    },
  );
  const shown = record(example ?? {});
  return fc.oneof(
    { weight: 6, arbitrary: fields.map(own => JSON.stringify({ ...shown, ...own })) },
    { weight: 2, arbitrary: fields.map(own => JSON.stringify(own)) },
    { weight: 1, arbitrary: anyRaw },
  );
}

/** Ids of existing records by path parameter. */
type Ids = Readonly<Record<string, string>>;

/** A request target of the operation; every part is real or arbitrary. Lone surrogates cannot be percent-encoded. */
function targets({ path, parameters }: Operation, ids: Ids): Arbitrary<string> {
  const anyOf = (name: string) => {
    const parameter = parameters.find(one => one.name === name);
    const good = parameter === undefined ? [] : goodValues(document, parameter);
    const real = fc.constantFrom(ids[name] ?? 'none', ...good);
    return fc.oneof(real, anyText).map(value => encodeURIComponent(value.toWellFormed()) || '%20');
  };
  const ofPath = parameters.filter(({ in: place }) => place === 'path').map(({ name }) => String(name));
  const ofQuery = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => String(name));
  const all = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, anyOf(name)]));
  return fc
    .tuple(fc.record(all(ofPath)), fc.record(all(ofQuery), { requiredKeys: [] }))
    .map(([segments, query]) => {
      const filledIn = path.replace(/\{([^}]+)\}/g, (_, name: string) => segments[name] ?? '');
      const asked = Object.entries(query).map(([name, value]) => `${name}=${value}`);
      return asked.length === 0 ? filledIn : `${filledIn}?${asked.join('&')}`;
    });
}

const headers = fc.record(
  {
    'idempotency-key': fc.oneof(fc.constantFrom('a', 'x'.repeat(300)), fc.string({ maxLength: 20 })),
    'content-type': fc.constantFrom('application/json', 'text/plain', 'application/json; charset=latin1'),
    'x-request-id': fc.string({ maxLength: 20 }),
    'if-none-match': fc.constantFrom('*', '"', 'W/""', ','),
  },
  { requiredKeys: [] },
);

const chain = await startPaymentChain({ clock: systemClock });
afterAll(chain.stop);

eachDatabase('the payments API', databases => {
  let service: TestPaymentsService;
  let client: RecordingClient;
  let ids: Ids;
  beforeAll(async () => {
    // The chain is asked to verify the signature of a contract wallet.
    service = await startTestPayments(await databases.create('payments'), {
      chains: [{ ...unreachableChain, rpcUrls: [chain.rpcUrl] }],
    });
    client = recordingClient({ baseUrl: service.url, key: service.demoKey });
  });
  beforeEach(async () => {
    const link = await made('/api/v1/payment-links', { name: 'A', amount: '7' });
    const session = await made('/api/v1/checkout-sessions', { payment_link_id: link.id });
    const key = await made('/api/v1/api-keys', { name: 'A', permission: 'read' });
    ids = {
      payment_link_id: text(link.id),
      short_code: text(link.short_code),
      checkout_session_id: text(session.id),
      session_id: text(session.id),
      api_key_id: text(key.id),
    };
  });
  afterAll(async () => {
    await client.close();
    await service.close();
  });

  async function made(path: string, body: object): Promise<Record<string, unknown>> {
    const type = { 'content-type': 'application/json' };
    return record(JSON.parse((await client.send('POST', path, type, JSON.stringify(body))).text));
  }

  test.each(operationsIn(paymentsContract).map(operation => [operation.id, operation] as const))(
    '%s answers any input with a status and body of its contract, and never with a 5xx',
    async (_id, operation) => {
      const method = operation.row.method.toUpperCase();
      await fc.assert(
        fc.asyncProperty(targets(operation, ids), bodies(operation), headers, async (target, body, more) => {
          const exchange = await client.send(
            method,
            target,
            { 'content-type': 'application/json', ...(isKeyed(operation) ? more : {}) },
            method === 'GET' ? undefined : body,
          );
          const faults = faultsOf(exchange, operation, validators);
          if (faults.length === 0) return;
          throw new Error(`${method} ${target} ${body} → ${exchange.status}: ${faults.join('; ')}`);
        }),
        { numRuns: RUNS },
      );
    },
  );
});
