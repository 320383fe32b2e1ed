/** A part of the sources whose tests are judged. */
export interface Room {
  readonly name: string;
  /** Folder of its sources. */
  readonly sources: string;
  /** Prefixes of its test files, nearest first. */
  readonly tests: readonly string[];
}

/** Smallest first, so that a run that is cut short has scores. */
export const ROOMS: readonly Room[] = [
  {
    name: 'gate',
    sources: 'src/payments/api/gate/',
    tests: [
      'test/payments/api/gate',
      'test/payments/api/rate-limits',
      'test/payments/api/idempotency',
      'test/payments/api/',
      'test/payments/keys/',
      'test/payments/dashboard/',
    ],
  },
  {
    name: 'sessions',
    sources: 'src/payments/sessions/',
    tests: ['test/payments/sessions/', 'test/payments/api/', 'test/payments/checkout/'],
  },
  {
    name: 'fallback',
    sources: 'src/data/fallback/',
    tests: [
      'test/data/fallback',
      'test/data/strategies',
      'test/data/backend-calls',
      'test/data/insights/chains',
      'test/data/insights/shared-backends',
      'test/data/insights/resolve-input',
      'test/data/',
    ],
  },
  {
    name: 'serve',
    sources: 'src/data/serve/',
    tests: [
      'test/data/shared-load',
      'test/data/cache',
      'test/data/stale',
      'test/data/fast-path',
      'test/data/',
    ],
  },
  {
    name: 'settlement',
    sources: 'src/payments/settlement/',
    tests: [
      'test/payments/settlement/',
      'test/payments/outcomes/',
      'test/payments/api/transfer-decisions',
      'test/payments/api/acceptance',
      'test/payments/watcher/',
      'test/payments/api/',
    ],
  },
  {
    name: 'webhooks',
    sources: 'src/payments/webhooks/',
    tests: ['test/payments/webhooks/', 'test/payments/events/', 'test/payments/api/'],
  },
  {
    name: 'sync',
    sources: 'src/indexer/sync/',
    tests: ['test/indexer/sync/', 'test/indexer/', 'test/data/'],
  },
  {
    name: 'watcher',
    sources: 'src/payments/watcher/',
    tests: ['test/payments/watcher/', 'test/payments/settlement/'],
  },
];
