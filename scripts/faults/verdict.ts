import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import type { Exchange } from '../contract/client.ts';
import { judge, parsed, targetsOf } from '../contract/judge.ts';
import { factsIn, has, isDeep, type Question, truthOf } from './question.ts';
import type { FaultyUpstream, Upstreams } from './upstreams.ts';

/** `Cache-Control` of a final answer. A feed may be cached too, but must be revalidated. */
const FINAL = /^public, max-age=\d+$/;

/**
 * Phases of a run. 502 and 504 are allowed in a `storm` and while all upstreams are out (`cached`), not in a `calm`.
 */
export type Phase = 'storm' | 'cached' | 'calm';

/** Judges an answer, and returns a line for each mistake. */
export type Verdict = (question: Question, exchange: Exchange, phase: Phase) => string[];

/** Judges answers by the contract and by the true data of the chains. */
export async function verdicts({ all }: Upstreams): Promise<Verdict> {
  const validators = responseValidators(explorerContract.document);
  const targets = new Map(targetsOf(explorerContract.document).map(target => [target.id, target]));
  const secrets = all.flatMap(({ apiKey, service }) => [apiKey, new URL(service.url).host]);

  return (question, exchange, phase) => {
    const { status, headers, text } = exchange;
    const target = targets.get(question.operationId);
    if (target === undefined) throw new Error(`no operation ${question.operationId}`);
    const told = `${JSON.stringify(headers)} ${text}`;
    return [
      ...judge(validators, exchange, target, code => isAllowed(question, code, phase)),
      ...secrets.filter(secret => told.includes(secret)).map(secret => `reveals ${secret}`),
      ...(status === 200 ? untrue(question, exchange, phase) : []),
      ...(status === 404 ? unsaid(question, all) : []),
    ];
  };
}

function isAllowed(question: Question, status: number, phase: Phase): boolean {
  const isKnown = question.chains.some(chain => has(question, chain));
  // A number above the head of one chain gives 404 there, although another chain may have that block.
  const mayLack =
    question.way === 'available' ? question.chains.some(chain => !has(question, chain)) : !isKnown;
  if (status === 200) return true;
  if (status === 404) return mayLack;
  return phase !== 'calm' && (status === 502 || status === 504);
}

function untrue(question: Question, { headers, text }: Exchange, phase: Phase): string[] {
  const chain = question.chains.find(({ chainId }) => String(chainId) === headers['x-chain-id']);
  if (chain === undefined) return [`is from chain ${headers['x-chain-id']}`];
  const truth = truthOf(question, chain);
  const told = factsIn(question, parsed(text)?.value);
  const wrong = [];
  if (told !== truth) wrong.push(`says ${told.slice(0, 200)}, but the truth is ${truth?.slice(0, 200)}`);
  if (FINAL.test(String(headers['cache-control'])) && !isDeep(question, chain))
    wrong.push('is marked as final, but is not');
  if (phase === 'calm' && !has(question, chain) && question.chains.some(other => has(question, other)))
    wrong.push('is empty, although another chain has a record');
  return wrong;
}

/**
 * Checks that a 404 is justified. All chains must have answered 404, or at least one for a block number.
 */
function unsaid({ path, way, chains }: Question, all: readonly FaultyUpstream[]): string[] {
  const asked = all.filter(upstream => chains.includes(upstream.world));
  const silent = asked.filter(upstream => !upstream.saidNo(path));
  const isSaid = way === 'available' ? silent.length < asked.length : silent.length === 0;
  return isSaid ? [] : [`chains ${silent.map(({ world }) => world.chainId)} never answered 404`];
}
