import type { Exchange } from '../contract/client.ts';

/** Counts of a run. */
export interface Tally {
  readonly violations: readonly string[];
  /** Number of answers by phase, status and X-Cache. */
  readonly answers: ReadonlyMap<string, number>;
  readonly slowest: { readonly durationMs: number; readonly target: string };
  note(phase: string, exchange: Exchange, wrong: readonly string[]): void;
  violation(text: string): void;
}

const LONGEST_SHOWN = 2_000;

/** Creates an empty tally. */
export function tally(): Tally {
  const violations: string[] = [];
  const answers = new Map<string, number>();
  let slowest = { durationMs: 0, target: 'none' };
  return {
    violations,
    answers,
    get slowest() {
      return slowest;
    },
    violation: text => void violations.push(text),
    note(phase, { status, headers, text, durationMs, url }, wrong) {
      const name = `${phase.padEnd(7)} ${status} ${headers['x-cache'] ?? ''}`;
      answers.set(name, (answers.get(name) ?? 0) + 1);
      if (durationMs > slowest.durationMs) slowest = { durationMs, target: new URL(url).pathname };
      if (wrong.length > 0)
        violations.push(
          `${phase}: GET ${url} → ${status} after ${durationMs.toFixed()} ms\n  ${wrong.join('\n  ')}\n  ${JSON.stringify(headers)}\n  ${text.slice(0, LONGEST_SHOWN)}`,
        );
    },
  };
}

/** Formats counts as lines, sorted by name. */
export function linesOf(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`)
    .join('\n');
}
