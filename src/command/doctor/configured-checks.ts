import {
  type ChainConfig,
  type Config,
  type DevnetConfig,
  listenersOf,
  type PaymentsConfig,
  ROLES_OF,
  type Role,
} from '#config/config.ts';
import { originOf } from '#config/units.ts';
import { findEngine } from '#devnet/chain/engine.ts';
import type { Clock } from '#lib/clock.ts';
import { reasonOf } from '#lib/startup-error.ts';
import { checkMailServer } from '#payments/notifications/mailers.ts';
import { createMessenger } from '#payments/notifications/messenger.ts';
import { backEndCheck } from './back-end-check.ts';
import { type ConfigCheck, Fault } from './check.ts';
import { configuredDatabases } from './configured-databases.ts';
import { databaseCheck } from './database-check.ts';
import { listenCheck, secretKeyCheck } from './local-checks.ts';
import { nodeCheck } from './node-check.ts';
import { paymentsCheck } from './payments-check.ts';
import { publicAddressCheck } from './public-address-check.ts';
import { redisCheck } from './redis-check.ts';

/** Roles that need a setting. Every process needs the settings that are not listed. */
const NEEDED_BY: readonly (readonly [setting: RegExp, roles: readonly Role[]])[] = [
  [/^data\./, ['data']],
  [/^payments\.publicUrl$/, ['payments']],
  [/^payments\.secretKeyFile$/, ROLES_OF.payments],
  [/^payments\.database$/, ROLES_OF.payments],
  [/^payments\.mail\./, ['delivery']],
  [/^payments\.messenger\./, ['payments', 'delivery']],
  [/^rateLimitStore$/, ['data', 'payments']],
  [/\.rpc\[\d+\]$/, ['data', 'indexer', 'payments', 'settlement']],
  [/^chains\[\d+\](\.tokens)?$/, ['payments', 'settlement']],
  [/\.backends\[\d+\]\.database$/, ROLES_OF.data],
  [/\.backends\[\d+\]\.url$/, ['data']],
];

/** Checks for everything outside of the process that a configuration names and its roles need. */
export function configuredChecks(
  config: Config,
  { anvil, clock }: { anvil: string | undefined; clock: Clock },
): ConfigCheck[] {
  const { payments, chains, devnet } = config;
  const checks = [
    ...[...listenersOf(config)].map(([setting, listen]) => listenCheck(setting, listen)),
    ...publicAddressChecks(config),
    ...secretKeyChecks(config),
    ...configuredDatabases(config).map(database => databaseCheck(database, clock)),
    ...redisChecks(config),
    ...(payments.mail === undefined ? [] : [mailCheck(payments.mail)]),
    ...(payments.messenger === undefined ? [] : [botCheck(payments.messenger)]),
    ...(devnet === undefined ? [] : [engineCheck(devnet, anvil)]),
    ...chains.flatMap((chain, index) =>
      chainChecks(chain, `chains[${index}]`, { roles: config.roles, clock }),
    ),
  ];
  return checks.filter(({ setting }) => isNeeded(setting, config.roles));
}

function isNeeded(setting: string, roles: Config['roles']): boolean {
  const [, needing] = NEEDED_BY.find(([settings]) => settings.test(setting)) ?? [];
  return needing === undefined || needing.some(role => roles.includes(role));
}

/** Checks of the addresses that clients use instead of the listeners themselves. */
function publicAddressChecks({ data, payments }: Config): ConfigCheck[] {
  return Object.entries({ data, payments }).flatMap(([service, { listen, publicUrl: url }]) => {
    if (url === undefined || url === originOf(listen)) return [];
    return [publicAddressCheck({ setting: `${service}.publicUrl`, url, listen })];
  });
}

/** The embedded default has a key of its own for each run. */
function secretKeyChecks(config: Config): ConfigCheck[] {
  const {
    chains,
    payments: { secretKey, hasDefaultDatabase },
  } = config;
  const isOfEachRun = chains.length === 0 && hasDefaultDatabase;
  return isOfEachRun || secretKey.kind === 'value'
    ? []
    : [secretKeyCheck(secretKey, config.payments.database)];
}

function redisChecks({ data, rateLimitStore }: Config): ConfigCheck[] {
  const stores = { 'data.cache.store': data.cache.store, rateLimitStore };
  return Object.entries(stores).flatMap(([setting, store]) =>
    store?.kind === 'redis' ? [redisCheck({ setting, url: store.url })] : [],
  );
}

function chainChecks(
  chain: ChainConfig,
  path: string,
  { roles, clock }: Pick<Config, 'roles'> & { readonly clock: Clock },
): ConfigCheck[] {
  const findsPayments = roles.includes('settlement');
  const asksForPayments = roles.includes('payments');
  return [
    ...chain.rpc.map((url, index) =>
      nodeCheck(chain, { url, setting: `${path}.rpc[${index}]`, findsPayments, asksForPayments, clock }),
    ),
    paymentsCheck(chain, path),
    ...chain.backends.flatMap((backend, index) =>
      backend.kind === 'index'
        ? []
        : [backEndCheck(chain, { backend, setting: `${path}.backends[${index}].url`, clock })],
    ),
  ];
}

const ENGINE_ADVICE = 'Do so, or serve chains of your own.';

/** Looks for the engine of the embedded chains. Starts no chain. */
function engineCheck({ engine, hardfork }: DevnetConfig, anvil: string | undefined): ConfigCheck {
  return {
    setting: 'devnet',
    subject: 'embedded chains',
    advice: ENGINE_ADVICE,
    async run() {
      try {
        return { state: 'ok', detail: `run on ${findEngine({ engine, hardfork, anvil }).name}` };
      } catch (error) {
        // The message says what is missing, its cause only what to change.
        throw new Fault(reasonOf(error), ENGINE_ADVICE, { cause: error });
      }
    },
  };
}

const TIMEOUT_MS = 4_000;

/** Connects and signs in to the mail server. Sends no mail. */
function mailCheck({ smtp }: NonNullable<PaymentsConfig['mail']>): ConfigCheck {
  return {
    setting: 'payments.mail.smtp',
    subject: `mail server ${new URL(smtp).host}`,
    advice: 'Correct the address, the user or the password of the mail server.',
    async run() {
      await checkMailServer(smtp, TIMEOUT_MS);
      return { state: 'ok', detail: 'accepts the sign-in' };
    },
  };
}

/** Asks the messenger for the bot's name. Sends no message. */
function botCheck({ token, apiRoot }: NonNullable<PaymentsConfig['messenger']>): ConfigCheck {
  return {
    setting: 'payments.messenger.token',
    subject: `bot at ${new URL(apiRoot).host}`,
    advice: "Correct the bot's token, or apiRoot.",
    async run() {
      const name = await createMessenger({ token, apiRoot, timeoutMs: TIMEOUT_MS }).botName();
      return { state: 'ok', detail: `is @${name}` };
    },
  };
}
