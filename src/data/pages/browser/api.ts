import createClient from 'openapi-fetch';
import type { paths as DataServicePaths } from '#generated/data-service/types.ts';
import type { components, paths as ExplorerPaths } from '#generated/explorer/types.ts';
import type { components as InsightsComponents, paths as InsightsPaths } from '#generated/insights/types.ts';
import { exactFetch } from './exact-integers.ts';

/** Client of the data service's own API, on the origin of the page. */
export const api = createClient<ExplorerPaths & InsightsPaths & DataServicePaths>({
  baseUrl: location.origin,
  fetch: exactFetch,
});

/** Records of document 1. */
export type Explorer = components['schemas'];
/** Records of document 2. */
export type Insights = InsightsComponents['schemas'];

/** URLs of the explorer's pages (EIP-3091 below a chain). */
export const pageOf = {
  chain: (chainId: number) => `/chain/${chainId}`,
  list: (chainId: number, path: string) => `/chain/${chainId}/${path}`,
  block: (chainId: number, block: number | string) => `/chain/${chainId}/block/${block}`,
  transaction: (chainId: number, hash: string) => `/chain/${chainId}/tx/${hash}`,
  address: (chainId: number, address: string) => `/chain/${chainId}/address/${address}`,
  qrCode: (chainId: number, address: string) => `/chain/${chainId}/address/${address}/qr.svg`,
  token: (chainId: number, address: string) => `/chain/${chainId}/token/${address}`,
  instance: (chainId: number, address: string, id: string) =>
    `/chain/${chainId}/token/${address}/instance/${id}`,
  picture: (chainId: number, address: string, id: string) =>
    `/chain/${chainId}/token/${address}/instance/${id}/picture`,
  /** Page of all results, those of the given chain first. */
  search: (text: string, chainId?: number) =>
    `/search?q=${encodeURIComponent(text)}${chainId === undefined ? '' : `&chain_id=${chainId}`}`,
} as const;

/** Chain id of the page's URL, and the path segments after it, for example `['block', '12']`. */
export function pagePath(): { readonly chainId: number; readonly rest: readonly string[] } {
  const [, , chainId = '', ...rest] = location.pathname.split('/');
  return { chainId: Number(chainId), rest: rest.map(decodeURIComponent) };
}
