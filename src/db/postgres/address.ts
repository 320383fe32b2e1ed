import type { Tls } from './options.ts';

/** TLS parameters of an address. The driver would prefer them to certificates given separately. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** Parses the address. @throws for an address that is not a URL */
export function addressOf(url: string, tls: Tls | undefined): { connectionString: string; ssl?: Tls } {
  // The address may omit the host after a user, which a URL may not. The driver's own error would contain the password.
  const address = URL.parse(url.replace('@/', '@localhost/'));
  if (address === null) throw new Error('Its address is not a valid URL.');
  if (tls === undefined) return { connectionString: url };
  for (const parameter of TLS_PARAMETERS) address.searchParams.delete(parameter);
  return { connectionString: address.href, ssl: tls };
}
