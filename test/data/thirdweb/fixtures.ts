import { readdirSync, readFileSync } from 'node:fs';
import { insightsContract } from '#contract/contracts/insights.ts';
import { named, violations } from '../../support/fixture-bodies.ts';
import { record, text } from '../../support/json.ts';

const ROOT = new URL('../../fixtures/insight/', import.meta.url);

/** One answer of one generation of the Insight API. */
export interface ThirdwebFixture {
  /** The file without `.json`, for example `2025-07` or `2025-10-old-block`. */
  readonly name: string;
  /** Of the contract, for example `2025-07`. */
  readonly generation: string;
  /** The body as it is on the wire. */
  readonly text: string;
}

/** Operations that have fixtures. */
export const OPERATIONS = readdirSync(ROOT).sort();

/** The fixtures of an operation, oldest generation first. Throws if one of them is not described in `source.json`. */
export function fixturesOf(operation: string): ThirdwebFixture[] {
  const folder = new URL(`${operation}/`, ROOT);
  const described = record(JSON.parse(readFileSync(new URL('source.json', folder), 'utf8')));
  return readdirSync(folder)
    .filter(file => file.endsWith('.json') && file !== 'source.json')
    .sort()
    .map(file => {
      const { version, path, source } = record(described[file]);
      if (text(path) === '' || text(source) === '') throw new Error(`${operation}/${file} has no source`);
      return {
        name: file.slice(0, -'.json'.length),
        generation: text(version),
        text: readFileSync(new URL(file, folder), 'utf8'),
      };
    });
}

/** The fixture of that name. Throws when there is none. */
export function fixtureOf(operation: string, name: string): ThirdwebFixture {
  return named(fixturesOf(operation), name);
}

/** What the contract has against a body as the 200 of an operation, one line a violation; `[]` when it is valid. */
export function violationsOf(operation: string, body: unknown): Promise<string[]> {
  return violations(insightsContract.document, operation, body);
}
