import type { components } from '#generated/explorer/types.ts';

export type ReportedEvent = components['schemas']['LiveEvent'];

/** Content of a tab: chains by id, undefined for all, and watches of the stream, such as `31337:address:0x…`. */
export interface Interest {
  readonly chainIds: readonly number[] | undefined;
  readonly watches: readonly string[];
}

/** Message of a tab to the worker. A tab leaves when its page is closed. */
export type TabMessage = { readonly interest: Interest } | 'leaving';

/** Message of the worker to a tab. `open` names the watches that the stream reports. */
export type WorkerMessage = { readonly event: ReportedEvent } | { readonly open: readonly string[] } | 'down';

/** Watches of one stream, as the contract limits them (Decision 408). */
const MOST_WATCHES = 50;
/** Chains of one stream (Decision 406). */
const MOST_CHAINS = 20;

/** Combined interest of several tabs, the latest first, within the limits of a stream. */
export function combined(tabs: readonly Interest[]): Interest {
  const ids = tabs.map(({ chainIds }) => chainIds);
  const isOfAll = ids.some(one => one === undefined);
  const chainIds = isOfAll ? undefined : [...new Set(ids.flatMap(one => one ?? []))].slice(0, MOST_CHAINS);
  const watches = [...new Set(tabs.flatMap(tab => tab.watches))]
    .filter(watch => chainIds === undefined || chainIds.includes(chainOf(watch)))
    .slice(0, MOST_WATCHES);
  return { chainIds, watches };
}

/** True when a stream for `open` also reports all of `wanted`. */
export function covers(open: Interest, wanted: Interest): boolean {
  const { chainIds } = open;
  const hasChains = chainIds === undefined || (wanted.chainIds?.every(id => chainIds.includes(id)) ?? false);
  return hasChains && wanted.watches.every(watch => open.watches.includes(watch));
}

/** True when a tab shows something of the event. */
export function concerns({ chainIds, watches }: Interest, event: ReportedEvent): boolean {
  if (event.event === 'activity') return watches.includes(event.watch);
  return chainIds === undefined || chainIds.includes(event.chain_id);
}

function chainOf(watch: string): number {
  return Number.parseInt(watch, 10);
}
