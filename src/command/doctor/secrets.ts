import type { Config } from '#config/config.ts';
import { hostAddresses } from '#db/postgres/address.ts';

/** Shorter secrets are not hidden: they may occur in a sentence by chance. */
const SHORTEST_SECRET = 6;
/** Names of address parameters with secret values. */
const SECRET_NAME = /key|token|secret|password/i;

/** Replaces every secret of a configuration. */
export function hidingSecrets(config: Config): (text: string) => string {
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

function urlsOf(place: object = {}): string[] {
  const urls = ['url' in place && place.url, 'listenUrl' in place && place.listenUrl];
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
