import type { Config } from '#config/config.ts';

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
  const addresses = [
    ...chains.flatMap(({ rpc }) => rpc),
    ...backends.map(backend => (backend.kind === 'index' ? urlOf(backend.database) : backend.url)),
    urlOf(database),
    urlOf(data.cache.store),
    urlOf(rateLimitStore),
    mail?.smtp,
  ];
  return [
    ...addresses.flatMap(address => (address === undefined ? [] : secretsIn(address))),
    ...backends.flatMap(backend => keyOf(backend) ?? []),
    ...(secretKey.kind === 'value' ? [secretKey.value] : []),
    ...(messenger === undefined ? [] : [messenger.token]),
  ];
}

function keyOf(backend: Config['chains'][number]['backends'][number]): string | undefined {
  if (backend.kind === 'blockscout') return backend.apiKey;
  return backend.kind === 'insight' ? backend.clientId : undefined;
}

function urlOf(place: object | undefined): string | undefined {
  return place !== undefined && 'url' in place && typeof place.url === 'string' ? place.url : undefined;
}

/** Password, secret parameters and long path segments of an address, each as written and percent-decoded. */
function secretsIn(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { password, searchParams, pathname } = new URL(address);
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
