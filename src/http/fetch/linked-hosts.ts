import { systemLookup } from './connect.ts';
import { type GuardedFetch, type GuardedFetchOptions, guardedFetch, isBelow } from './guarded-fetch.ts';

/** Exceptions for untrusted public hosts. */
export type LinkedHostRules = Pick<GuardedFetchOptions, 'allowedNetworks' | 'allowHttp' | 'lookup'> &
  Partial<Pick<GuardedFetchOptions, 'timeoutMs' | 'headersWithinMs'>>;

/** Fetchers for the two kinds of hosts behind untrusted links. */
export interface LinkedHosts {
  /** Public hosts, over https. */
  readonly anywhere: GuardedFetch;
  /** IPFS gateway. The operator chose it, so it may be on a private network and without TLS. */
  readonly gateway: GuardedFetch;
  close(): Promise<void>;
}

/**
 * Creates both fetchers. The gateway may use the whole timeout for its headers, because it may have to find the
 * document first.
 */
export function linkedHosts({
  ipfsGateway,
  rules = {},
  redirects = 'same host',
  headersWithinMs,
  ...bounds
}: Pick<GuardedFetchOptions, 'timeoutMs' | 'headersWithinMs' | 'maxBytes' | 'redirects' | 'log'> & {
  /** Without a trailing slash. */
  readonly ipfsGateway: string;
  readonly rules?: LinkedHostRules | undefined;
}): LinkedHosts {
  const headers = headersWithinMs === undefined ? {} : { headersWithinMs };
  const anywhere = guardedFetch({ ...bounds, ...headers, redirects, ...rules });
  const gateway = guardedFetch({
    ...bounds,
    allowedNetworks: ['0.0.0.0/0', '::/0'],
    allowHttp: true,
    lookup: systemLookup,
    redirects: { below: folderOf(ipfsGateway) },
  });
  return {
    anywhere,
    gateway,
    async close() {
      await Promise.all([anywhere.close(), gateway.close()]);
    },
  };
}

/**
 * Converts `ipfs://` links to links to the gateway, whose address has no trailing slash. Returns null for every other
 * link, and for a path that would leave the gateway's folder of documents.
 */
export function gatewayLinks(ipfsGateway: string): (link: string) => string | null {
  const folder = folderOf(ipfsGateway);
  return link => {
    const [, path] = /^ipfs:\/\/(?:ipfs\/)?([a-z0-9].*)$/i.exec(link) ?? [];
    const url = path === undefined ? null : URL.parse(`${folder}${path}`);
    return url !== null && isBelow(folder, url) ? url.href : null;
  };
}

function folderOf(ipfsGateway: string): string {
  return new URL(`${ipfsGateway}/ipfs/`).href;
}
