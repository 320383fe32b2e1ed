import { createHash } from 'node:crypto';
import type { JsonObject } from '#contract/contracts/document.ts';
import type { RequestedOperation } from '#contract/description/code-samples.ts';

/** The response time of a receiver differs from run to run. */
const RESPONSE_TIME = /"response_time_ms":[1-9]\d*/g;
const ID = /\b([a-z]{2,5}(?:_test)?)_[0-9A-Za-z]{24}(?![0-9A-Za-z])/g;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Stable names in recordings for values that differ between runs, in both directions. */
export interface RecordNames {
  /** Replaces `real` by `shown` from now on. */
  name(real: string, shown: string): void;
  /** Text for a recording. The first id of a kind, and the first short code, become those that the contract shows. */
  shown(text: string): string;
  /** Text of a documented request, with real values, so that it can be sent. */
  real(text: string): string;
}

/** Creates names from the ids that a contract's parameters show. */
export function recordNames(operations: readonly RequestedOperation[]): RecordNames {
  const names = new Map<string, string>();
  const documented = new Map(operations.flatMap(({ parameters }) => parameters.flatMap(idIn)));
  const counts = new Map<string, number>();
  const shortCode = String(
    operations.flatMap(({ parameters }) => parameters).find(({ name }) => name === 'short_code')?.example,
  );

  function shownId(id: string, kind: string): string {
    const known = names.get(id);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const shown = (count === 1 ? documented.get(kind) : undefined) ?? madeUpId(kind, count);
    names.set(id, shown);
    return shown;
  }

  return {
    name: (real, shown) => void names.set(real, shown),
    shown: text => {
      const named = text.replace(RESPONSE_TIME, '"response_time_ms":42').replace(ID, shownId);
      const [, code] = /"short_code":"(\w+)"/.exec(named) ?? [];
      if (code !== undefined && !names.values().some(shown => shown === shortCode))
        names.set(code, shortCode);
      return [...names].reduce((rest, [real, shown]) => rest.replaceAll(real, shown), named);
    },
    real: text => [...names].reduce((rest, [real, shown]) => rest.replaceAll(shown, real), text),
  };
}

/** Kind and value of the id that a parameter shows. */
function idIn({ example, schema = {} }: JsonObject): [kind: string, id: string][] {
  const [first] = JSON.stringify([example, schema]).matchAll(ID);
  return first?.[1] === undefined ? [] : [[first[1], first[0]]];
}

function madeUpId(kind: string, count: number): string {
  const bytes = createHash('sha256').update(`${kind} ${count}`).digest().subarray(0, 24);
  return `${kind}_${[...bytes].map(byte => BASE62.charAt(byte % BASE62.length)).join('')}`;
}
