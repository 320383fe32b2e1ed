import type { Contract } from '#contract/contracts/contract.ts';
import type { Json, JsonObject } from '#contract/contracts/document.ts';
import { responseValidators } from '#contract/mount/response-validators.ts';
import { isObject } from '#lib/json.ts';
import type { Exchange, RecordingClient } from '../client.ts';
import { isFilled, parsed } from '../judge.ts';
import { catalogueFaults, faultsOf, outcomeOf } from './judge.ts';
import { isKeyed, type Operation, operationsIn, pathWith } from './operation.ts';

/** Request to an operation. */
interface Asking {
  /** Escaped path values. A missing one becomes an id that does not exist. */
  readonly at?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: Json;
  /** Raw body, instead of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Key other than the run's; null for none. */
  readonly key?: string | null;
  readonly method?: 'HEAD';
}

/** Response. `outcome` is its status, with an error's code and place. `body` is empty when it is not a JSON object. */
export interface Reply {
  readonly outcome: string;
  readonly status: number;
  readonly headers: Exchange['headers'];
  readonly body: JsonObject;
  readonly text: string;
}

/** Context of every part of a run. */
export interface Tester {
  readonly document: JsonObject;
  readonly operations: readonly Operation[];
  /** @throws Error when the contract has no such operation */
  operation(id: string): Operation;
  /** Sends a request and checks the response against the contract and the expected outcomes, which may be prefixes. */
  ask(operation: Operation | string, asking: Asking, expected: readonly string[]): Promise<Reply>;
  /** Sends a request to an unknown path, which must be a 404 of the catalogue. */
  askNowhere(method: string, path: string): Promise<Reply>;
  /** Records of all 201 responses, in order. */
  readonly made: readonly JsonObject[];
  report(finding: string): void;
}

export interface DriveParts {
  readonly key: string;
  readonly send: (...request: Parameters<RecordingClient['send']>) => Promise<Exchange[]>;
  readonly filled: Map<string, number>;
  readonly findings: string[];
}

/** Creates a tester of one contract on one service. */
export async function testerOf<Operations>(
  contract: Contract<Operations>,
  { key, send, filled, findings }: DriveParts,
): Promise<Tester> {
  const { document } = contract;
  const validators = responseValidators(document);
  const operations = operationsIn(contract);
  const made: JsonObject[] = [];
  const operation = (id: string): Operation => {
    const found = operations.find(one => one.id === id);
    if (found === undefined) throw new Error(`${id} is not in the contract`);
    return found;
  };

  return {
    document,
    operations,
    operation,
    made,
    report: finding => void findings.push(finding),

    async ask(which, asking, expected) {
      const target = typeof which === 'string' ? operation(which) : which;
      const { at = {}, query, headers = {}, key: own = key } = asking;
      const method = asking.method ?? target.row.method.toUpperCase();
      const path = pathWith(document, target, at) + (query === undefined ? '' : `?${query}`);
      const sent = asking.raw ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body));
      const exchanges = await send(
        method,
        path,
        {
          ...(own === null || !isKeyed(target) ? {} : { authorization: `Bearer ${own}` }),
          ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        sent,
      );
      for (const exchange of exchanges) {
        for (const fault of faultsOf(exchange, target, validators))
          findings.push(lineOf(target, exchange, fault));
      }
      const reply = replyOf(exchanges.at(-1));
      if (!expected.some(wanted => isOutcome(reply.outcome, wanted))) {
        const last = exchanges.at(-1);
        const fault = `${reply.outcome}, not ${expected.join(' or ')}: ${reply.text.slice(0, 200)}`;
        if (last !== undefined) findings.push(lineOf(target, last, fault));
      }
      if (reply.status === 201) made.push(recordIn(reply.body));
      if (isAnswer(target, reply)) filled.set(target.id, (filled.get(target.id) ?? 0) + 1);
      return reply;
    },

    async askNowhere(method, path) {
      const exchanges = await send(method, path);
      const reply = replyOf(exchanges.at(-1));
      const faults = catalogueFaults(reply.status, reply.body);
      if (reply.outcome !== '404 resource_not_found')
        faults.push(`${reply.outcome}, not 404 resource_not_found`);
      if (reply.headers['x-request-id'] === undefined) faults.push('no X-Request-Id');
      for (const fault of faults) findings.push(`${method} ${path}: ${fault}`);
      return reply;
    },
  };
}

/** True when an outcome equals the expected one or extends it. */
function isOutcome(outcome: string, wanted: string): boolean {
  return outcome === wanted || outcome.startsWith(`${wanted} `);
}

/** True when a response has content. A page without records and a file with only a header have none. */
function isAnswer({ row }: Operation, { status, body, text }: Reply): boolean {
  if (status !== 200 && status !== 201) return false;
  if (row.media?.[status] !== undefined) return text.trim().includes('\n');
  return Array.isArray(body.data) ? body.data.length > 0 : isFilled(body);
}

/** Record in a response. Some responses wrap it (Decision 119). */
function recordIn(body: JsonObject): JsonObject {
  return body.success === true && isObject(body.data) ? body.data : body;
}

function replyOf(exchange: Exchange | undefined): Reply {
  if (exchange === undefined) throw new Error('nothing was sent');
  const value = parsed(exchange.text)?.value;
  const { status, headers, text } = exchange;
  return { outcome: outcomeOf(exchange), status, headers, body: isObject(value) ? value : {}, text };
}

function lineOf({ id }: Operation, { method, url, status, sent }: Exchange, fault: string): string {
  const body = sent === undefined ? '' : ` with ${shortened(sent)}`;
  return `${id}: ${method} ${shortened(url)}${body} → ${status}: ${fault}`;
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
