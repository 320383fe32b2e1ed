import { systemLookup } from './connect.ts';
import { type GuardedFetch, type GuardedFetchOptions, guardedFetch } from './guarded-fetch.ts';

/** Exceptions for the public hosts that strangers link to. */
export type LinkedHostRules = Pick<GuardedFetchOptions, 'allowedNetworks' | 'allowHttp' | 'lookup'> &
  Partial<Pick<GuardedFetchOptions, 'timeoutMs'>>;

/** The two kinds of hosts behind the links of strangers. */
export interface LinkedHosts {
  /** Public hosts, over https. */
  readonly anywhere: GuardedFetch;
  /** The ipfs gateway. The operator chose it, so it may be on a private network and without TLS. */
  readonly gateway: GuardedFetch;
  close(): Promise<void>;
}

export function linkedHosts({
  rules = {},
  redirects,
  ...bounds
}: Pick<GuardedFetchOptions, 'timeoutMs' | 'maxBytes' | 'redirects' | 'log'> & {
  readonly rules?: LinkedHostRules | undefined;
}): LinkedHosts {
  const anywhere = guardedFetch({ ...bounds, ...(redirects === undefined ? {} : { redirects }), ...rules });
  const gateway = guardedFetch({
    ...bounds,
    allowedNetworks: ['0.0.0.0/0', '::/0'],
    allowHttp: true,
    lookup: systemLookup,
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
 * Turns `ipfs://` links into links to the gateway, whose address has no slash at its end. Returns null for every other
 * link, and for a path that would leave the gateway's folder of documents.
 */
export function gatewayLinks(ipfsGateway: string): (link: string) => string | null {
  const folder = new URL(`${ipfsGateway}/ipfs/`).href;
  return link => {
    const [, path] = /^ipfs:\/\/(?:ipfs\/)?([a-z0-9].*)$/i.exec(link) ?? [];
    const url = path === undefined ? null : URL.parse(`${folder}${path}`);
    return url?.href.startsWith(folder) ? url.href : null;
  };
}
