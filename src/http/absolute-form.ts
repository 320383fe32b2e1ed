import type { IncomingMessage } from 'node:http';
import { isHost } from './client-address.ts';

/** URL with scheme and authority (RFC 3986, 3.2), and the rest. */
const ABSOLUTE = /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)(.*)$/i;
const SCHEMES: readonly string[] = ['http', 'https'];

/**
 * Rewrites a target in absolute form to origin form, and the Host header to the target's host (RFC 9112, 3.2.2). A
 * target with another scheme, a user or an invalid host is left for `checkTarget` to refuse, as is a missing Host
 * header.
 */
export function useOriginForm(request: IncomingMessage): void {
  const { url = '' } = request;
  if (url.startsWith('/')) return;
  const { headers, httpVersion } = request;
  const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(url) ?? [];
  const host = authority.replace(/:$/, ''); // an empty port means the default port (RFC 3986, 3.2.3)
  if (!SCHEMES.includes(scheme.toLowerCase()) || !isHost(host)) return;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  if (headers.host !== undefined || httpVersion === '1.0') headers.host = host;
}

/** Path and query of a target in any form. */
export function withoutOrigin(target: string): string {
  return target.startsWith('/') ? target : (ABSOLUTE.exec(target)?.[3] ?? target);
}
