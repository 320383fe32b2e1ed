import type { Config } from '#config/config.ts';
import { hostAddresses } from '#db/postgres/address.ts';
import { cutAddresses } from '#lib/logger.ts';
import type { ConfigCheck, Finding } from './check.ts';

/** A check and its finding. */
export interface CheckedSetting {
  readonly check: ConfigCheck;
  readonly finding: Finding;
}

/** One check in the JSON report. */
interface ReportedCheck extends Finding {
  readonly setting: string;
  /** Line of the setting in the file, or of its nearest parent key; null for a default. */
  readonly line: number | null;
  readonly subject: string;
}

/** All checks in the order of the file, without the secrets of the configuration. */
export interface Report {
  readonly config: string;
  /** True when nothing is at fault. */
  readonly ok: boolean;
  readonly checks: readonly ReportedCheck[];
}

const AFTER_ALL = Number.POSITIVE_INFINITY;

/** Builds the report. */
export function reportOf(checked: readonly CheckedSetting[], config: Config): Report {
  // Addresses are not cut from advice: it is our own text and may show the form of an address.
  const hideKeys = hidingSecrets(config);
  const hide = (text: string) => hideKeys(cutAddresses(text));
  const checks = checked.map(({ check: { setting, subject }, finding: { state, detail, advice } }) => ({
    setting,
    line: config.lineOf(setting) ?? null,
    subject: hide(subject),
    state,
    detail: hide(detail),
    ...(advice === undefined ? {} : { advice: hideKeys(advice) }),
  }));
  return {
    config: config.file ?? 'the embedded default',
    ok: checks.every(({ state }) => state !== 'fault'),
    checks: checks.toSorted((a, b) => (a.line ?? AFTER_ALL) - (b.line ?? AFTER_ALL) || 0),
  };
}

/** The report for people: one line for each check, and one for its advice. */
export function reportLines({ config, checks }: Report): string[] {
  const faults = checks.filter(({ state }) => state === 'fault').length;
  const warnings = checks.filter(({ state }) => state === 'warning').length;
  return [
    ...checks.flatMap(({ state, line, setting, subject, detail, advice }) => [
      `${state.padEnd(7)}  ${line === null ? '' : `line ${line}, `}${setting}: ${subject}: ${detail}`,
      ...(advice === undefined ? [] : [`${' '.repeat(9)}${advice}`]),
    ]),
    `${config}: ${checks.length} checked, ${counted(faults, 'fault')}, ${counted(warnings, 'warning')}`,
  ];
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** Shorter secrets are not hidden: they may occur in a sentence by chance. */
const SHORTEST_SECRET = 6;
/** Names of address parameters with secret values. */
const SECRET_NAME = /key|token|secret|password/i;

/** Replaces every secret of a configuration. */
function hidingSecrets(config: Config): (text: string) => string {
  const secrets = [...new Set(secretsOf(config))]
    .filter(secret => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return text => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '…'), text);
}

function secretsOf({ chains, payments, data, rateLimitStore }: Config): string[] {
  const { database, secretKey, mail, messenger } = payments;
  const backends = chains.flatMap(chain => chain.backends);
  const stores = [
    ...backends.map(backend => (backend.kind === 'index' ? backend.database : backend)),
    database,
    data.cache.store,
    rateLimitStore,
  ];
  const addresses = [
    ...chains.flatMap(({ rpc }) => rpc),
    ...stores.flatMap(urlsOf),
    ...(mail === undefined ? [] : [mail.smtp]),
  ];
  return [
    ...addresses.flatMap(secretsIn),
    ...backends.flatMap(backend => keyOf(backend) ?? []),
    ...(secretKey.kind === 'value' ? [secretKey.value] : []),
    ...(messenger === undefined ? [] : [messenger.token]),
  ];
}

function keyOf(backend: Config['chains'][number]['backends'][number]): string | undefined {
  if (backend.kind === 'blockscout') return backend.apiKey;
  return backend.kind === 'insight' ? backend.clientId : undefined;
}

function urlsOf(settings: object = {}): string[] {
  const urls = ['url' in settings && settings.url, 'listenUrl' in settings && settings.listenUrl];
  return urls.filter(url => typeof url === 'string');
}

/** Password, secret parameters and long path segments of an address, each as written and percent-decoded. */
function secretsIn(address: string): string[] {
  const [first = address] = hostAddresses(address);
  if (!URL.canParse(first)) return [];
  const { password, searchParams, pathname } = new URL(first);
  const steps = pathname.split('/').filter(step => step.length >= 16);
  const parameters = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  const found = [password, ...parameters, ...steps];
  return found.flatMap(text => [text, unescaped(text)]);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
