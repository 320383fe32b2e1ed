import type { WatchKind } from '../backends/port/live-source.ts';

/** Value of the parameter `watch`, taken apart. */
export interface Watch {
  readonly chainId: number;
  readonly kind: WatchKind;
  /** Address or transaction hash in lower case. */
  readonly hex: string;
  /** Its form in events, in lower case. */
  readonly text: string;
}

/** Reads values that the contract has checked, each once. */
export function watchesIn(values: readonly string[]): Watch[] {
  const texts = new Set(values.map(value => value.toLowerCase()));
  return [...texts].flatMap((text): Watch[] => {
    const [chainId, kind, hex = ''] = text.split(':');
    if (kind !== 'address' && kind !== 'token' && kind !== 'transaction') return [];
    return [{ chainId: Number(chainId), kind, hex, text }];
  });
}
