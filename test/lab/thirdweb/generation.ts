/** Generations of the Insight API, oldest first. Source: its published descriptions of July and October 2025. */
export const INSIGHT_GENERATIONS = ['2025-07', '2025-10'] as const;
export type ThirdwebGeneration = (typeof INSIGHT_GENERATIONS)[number];

/** Limits of the parameters in a generation. */
export interface Bounds {
  readonly chains: number;
  readonly limit: number;
  readonly transfers: number;
  readonly page: number;
  readonly groupedPage: number;
}

export const BOUNDS: Readonly<Record<ThirdwebGeneration, Bounds>> = {
  '2025-07': { chains: 50, limit: 500, transfers: 100, page: 20, groupedPage: 20 },
  '2025-10': { chains: 55, limit: 1000, transfers: 1000, page: 20, groupedPage: 500 },
};
