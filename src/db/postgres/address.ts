import type { Tls } from './options.ts';

/** Advice about the most common reason why an address is not a URL. */
export const ESCAPES = 'in a password, characters such as / and # are written %2F and %23';

/** Roles of a server that fit `target_session_attrs`, because this program writes. Source: libpq. */
const WRITABLE = ['any', 'read-write', 'primary'];

/**
 * Addresses of the hosts of a PostgreSQL URL, which may list several as for libpq: `postgres://a:5432,b:5433/name`.
 */
export function hostAddresses(url: string): readonly string[] {
  const [, start = '', hosts = '', rest = ''] = /^([^/]*\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return hosts.split(',').map(host => `${start}${host}${rest}`);
}

/** The reason why a PostgreSQL URL cannot be used, as the rest of a sentence; undefined when it can be. */
export function addressFault(url: string): string | undefined {
  const addresses = hostAddresses(url).map(parsed);
  if (addresses.includes(null)) return `is not a valid URL; ${ESCAPES}`;
  const attributes = addresses[0]?.searchParams.get('target_session_attrs') ?? 'any';
  return WRITABLE.includes(attributes)
    ? undefined
    : `must have no target_session_attrs=${attributes}, because the database is written`;
}

/** Hosts of a PostgreSQL URL for people, without the user and the password. */
export function hostNames(url: string): string {
  return hostAddresses(url)
    .map(address => parsed(address)?.host ?? '')
    .join(', ');
}

/** TLS parameters of an address. The driver would prefer them to certificates given separately. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** Parses the address of one host. @throws for an address that is not a URL */
export function postgresAddress(url: string, tls: Tls | undefined): { connectionString: string; ssl?: Tls } {
  // The driver's own error would contain the password.
  const address = parsed(url);
  if (address === null) throw new Error('Its address is not a valid URL.');
  if (tls === undefined) return { connectionString: url };
  for (const parameter of TLS_PARAMETERS) address.searchParams.delete(parameter);
  return { connectionString: address.href, ssl: tls };
}

/** The address may omit the host after a user, which a URL may not. */
function parsed(url: string): URL | null {
  return URL.parse(url.replace('@/', '@localhost/'));
}
