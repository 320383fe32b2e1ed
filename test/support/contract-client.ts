import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import { child, list, resolve } from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { routedDocument, SegmentRouter } from '../../src/contract/mount/router.ts';
import { exchange } from './exchange.ts';

/** One answer. `body` is the parsed JSON; undefined without JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface Client {
  /** Requests `path`, an absolute path with its query. @throws Error when the answer violates the contract. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

/** The contracts of the data service, with their validators of answers. */
const CONTRACTS = await Promise.all(
  [explorerContract, insightsContract, dataServiceContract].map(contract => ({
    ...contract,
    router: new SegmentRouter(routedDocument(contract)),
    validators: responseValidators(contract.document),
  })),
);
type ReadContract = (typeof CONTRACTS)[number];

/** A client of a running data service that checks every answer against the contract. */
export function client(url: string): Client {
  return {
    async get(path, headers = {}) {
      const { status, headers: answered, text } = await exchange(url + path, { headers });
      const operation = operationAt(path);
      const answer = { status, headers: answered, body: text === '' ? undefined : bodyOf(answered, text) };
      if (operation !== undefined) check({ ...operation, ...answer, path });
      return answer;
    },
  };
}

interface Operation {
  readonly row: OperationRow;
  readonly contract: ReadContract;
}

function operationAt(path: string): Operation | undefined {
  for (const contract of CONTRACTS) {
    const match = contract.router.matchOperation({
      method: 'GET',
      path: path.split('?')[0] ?? '',
      headers: {},
    });
    const row = Object.values<OperationRow>(contract.table).find(({ id }) => id === match?.operationId);
    if (row !== undefined) return { row, contract };
  }
  return undefined;
}

interface Checked extends Operation, Answer {
  readonly path: string;
}

function check({ row, contract, path, status, headers, body }: Checked): void {
  const at = `${row.id}: GET ${path.slice(0, 200)} → ${status}`;
  if (!row.statuses.includes(status)) throw new Error(`${at}: undeclared status`);
  for (const name of requiredHeaders(contract, row, status)) {
    if (!headers.has(name)) throw new Error(`${at}: no ${name}`);
  }
  if (status === 304) return;
  if (body === undefined) throw new Error(`${at}: ${headers.get('content-type')} is not JSON`);
  const validate = contract.validators(row.id, status);
  if (validate === undefined) throw new Error(`${at}: no schema`);
  if (!validate(body)) throw new Error(`${at}: ${describeErrors(validate.errors)}`);
}

function requiredHeaders(
  { document }: ReadContract,
  { path, method, id }: OperationRow,
  status: number,
): string[] {
  const operation = child(child(child(document, 'paths'), path), method);
  if (list(operation, 'tags').length === 0) throw new Error(`${id} is not in the document`);
  const response = resolve(document, child(operation, 'responses')[String(status)]);
  return Object.entries(child(response, 'headers')).flatMap(([name, header]) =>
    resolve(document, header).required === true ? [name] : [],
  );
}

/** The parsed JSON, or the text of a description in YAML or of an export. */
function bodyOf(headers: Headers, text: string): unknown {
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('application/yaml') || type.startsWith('text/csv')) return text;
  return type.startsWith('application/json') ? JSON.parse(text) : undefined;
}
