/** The points between which a watcher can be killed, in the order of a round. `inside` is before the commit. */
export const WATCHER_STEPS = [
  'round',
  'head',
  'scan',
  'before record',
  'inside record',
  'after record',
  'before confirm',
  'inside confirm',
  'after confirm',
  'before claims',
  'inside claims',
  'after claims',
  'before reorgs',
  'inside reorgs',
  'after reorgs',
  'before settled',
  'inside settled',
  'after settled',
  'before unmatched',
  'inside unmatched',
  'after unmatched',
] as const;

/** Those of the expiry of sessions. */
export const EXPIRY_STEPS = ['before expiry', 'inside expiry', 'after expiry'] as const;

export type WatcherStep = (typeof WATCHER_STEPS)[number];

/** What a part of a round changes. */
export type EffectName = 'record' | 'confirm' | 'claims' | 'reorgs' | 'settled' | 'unmatched';

/** Called at every step; tests end the process in it, or throw. */
export type Failpoint = (step: string) => void | Promise<void>;
