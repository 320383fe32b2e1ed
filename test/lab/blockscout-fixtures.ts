import { readdirSync, readFileSync } from 'node:fs';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { parseJson } from '../../src/lib/json-text/lossless-json.ts';
import { named, violations } from './fixture-bodies.ts';

const ROOT = new URL('../fixtures/blockscout/', import.meta.url);

/** One answer of one generation of Blockscout. */
export interface Fixture {
  /** The file without `.json`, for example `v6.9` or `v11-optimism`. */
  name: string;
  /** Version of the software, for example `6.9.0`. */
  version: string;
  /** Path below /api/v2, with its query. */
  path: string;
  /** Source of shape and values. */
  source: string;
  /** The body as sent. */
  text: string;
  /** The body as the back end parses it: integers beyond 2^53 are bigints. */
  body: unknown;
}

/**
 * The fixtures of an operation, oldest generation first.
 * @throws Error if one of them is not described in `source.json`.
 */
export function fixturesOf(operationId: string): Fixture[] {
  const folder = new URL(`${operationId}/`, ROOT);
  const described: unknown = JSON.parse(readFileSync(new URL('source.json', folder), 'utf8'));
  return readdirSync(folder)
    .filter(file => file.endsWith('.json') && file !== 'source.json')
    .map(file => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const name = file.slice(0, -'.json'.length);
      return { name, ...description(described, file, operationId), text, body: parseJson(text) };
    })
    .sort((a, b) => age(a.name) - age(b.name) || (a.name < b.name ? -1 : 1));
}

/** The fixture with this name. @throws Error when it is missing. */
export function fixtureOf(operationId: string, name: string): Fixture {
  return named(fixturesOf(operationId), name);
}

/** Violations of the contract by a body as the 200 answer of an operation, one line each; `[]` when it is valid. */
export function validates(operationId: string, body: unknown): Promise<string[]> {
  return violations(explorerContract.document, operationId, body);
}

function description(described: unknown, file: string, operationId: string) {
  const { version, path, source } = textsOf(memberOf(described, file));
  if (version === undefined || path === undefined || source === undefined) {
    throw new Error(`${operationId}/source.json does not describe ${file}`);
  }
  return { version, path, source };
}

function memberOf(value: unknown, name: string): unknown {
  return Object.entries(value ?? {}).find(([key]) => key === name)?.[1];
}

function textsOf(value: unknown): Partial<Record<string, string>> {
  const entries: [string, unknown][] = Object.entries(value ?? {});
  return Object.fromEntries(
    entries.flatMap(([key, inner]) => (typeof inner === 'string' ? [[key, inner]] : [])),
  );
}

/** The number 6.9 in `v6.9-polygon`. */
function age(name: string): number {
  return Number(/^v(\d+(?:\.\d+)?)/.exec(name)?.[1]);
}
