import type { Contract } from '../../src/contract/contracts/contract.ts';
import { child } from '../../src/contract/contracts/document.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import { type ResponseValidators, responseValidators } from '../../src/contract/mount/response-validators.ts';
import { isObject } from '../../src/lib/json.ts';
import type { Exchange } from '../contract/client.ts';
import { judge, parsed } from '../contract/judge.ts';
import { catalogueFaults, faultsOf } from '../contract/payments/judge.ts';
import type { Operation } from '../contract/payments/operation.ts';
import { innerDetails } from './inner-details.ts';
import { type FuzzRequest, isWellFormed } from './request.ts';

const INTERNAL_ERROR = 500;

/** Judges the answer to a request, and returns a text for each mistake. */
export type Verdict = (operation: Operation, request: FuzzRequest, exchange: Exchange) => string[];

export interface VerdictParts {
  /** The contracts of one service. */
  readonly contracts: readonly Contract<unknown>[];
  readonly isPayments: boolean;
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[];
}

/**
 * Judges answers by the contracts: declared statuses, bodies and the form of errors. Answers may not reveal internals.
 */
export function verdictFor({ contracts, isPayments, secrets }: VerdictParts): Verdict {
  const all = contracts.map(({ document }) => responseValidators(document));
  const validators: ResponseValidators = (id, status) => firstOf(all, one => one(id, status));
  const declared = new Set(
    contracts.flatMap(({ table }) => Object.values(table).flatMap(({ statuses }) => statuses)),
  );
  const formFaults = isPayments ? paymentsForm(contracts, validators) : dataForm(contracts);

  return (operation, request, exchange) => {
    const { status, text } = exchange;
    const details = innerDetails(exchange, secrets);
    const isPlain = request.bytes === undefined && isWellFormed(request);
    // Invalid bytes may end a connection without an answer.
    if (status === 0) return isPlain ? [`no answer: ${text}`] : details;
    if (request.isAimed && isPlain) {
      const faults = isPayments
        ? faultsOf(exchange, operation, validators)
        : judge(validators, exchange, operation, code => code !== INTERNAL_ERROR);
      return [...faults, ...details];
    }
    if (status >= 500 && (status === INTERNAL_ERROR || !declared.has(status)))
      details.push(`${status} is not declared`);
    const isBodiless = request.method === 'HEAD' || exchange.headers['content-length'] === undefined;
    if (status < 400 || (isBodiless && text === '')) return details;
    const isJson = String(exchange.headers['content-type']).startsWith('application/json');
    return [
      ...details,
      ...(isJson ? formFaults(request, exchange) : [`is ${exchange.headers['content-type']}`]),
    ];
  };
}

type FormFaults = (request: FuzzRequest, exchange: Exchange) => string[];

/** Checks an error of the payments platform: it must be in the catalogue and have the form of its status. */
function paymentsForm(contracts: readonly Contract<unknown>[], validators: ResponseValidators): FormFaults {
  const ids = contracts.flatMap(({ table }) => Object.keys(table));
  const of = (status: number) => ids.flatMap(id => validators(id, status) ?? []);
  return (_request, { status, text }) => {
    const body = parsed(text)?.value;
    const declared = of(status);
    const forms = declared.length > 0 ? declared : of(400);
    // An operation allows only its own codes (Decision 211), and a mutated path may belong to another operation.
    const isAllowed = forms.length === 0 || forms.some(validate => validate(body));
    const faults = isAllowed ? [] : [describeErrors(forms[0]?.errors)];
    return [...faults, ...catalogueFaults(status, body)];
  };
}

/** Checks an error of the data service: one sentence, in the property of the family that the path belongs to. */
function dataForm(contracts: readonly Contract<unknown>[]): FormFaults {
  const families = contracts.flatMap(({ document }) =>
    document['x-errors'] === undefined ? [] : [child(document, 'x-errors')],
  );
  return (request, { text }) => {
    const body = parsed(text)?.value;
    const path = request.target.split('?')[0] ?? '';
    const own = families.find(({ below }) => path === below || path.startsWith(`${below}/`));
    const properties = ['message', ...families.map(({ property }) => String(property))];
    // Mutated bytes may have changed the path, so the property of any family is allowed.
    const allowed = request.bytes === undefined ? [String(own?.property ?? 'message')] : properties;
    const keys = isObject(body) ? Object.keys(body).join() : 'no object';
    return allowed.includes(keys) ? [] : [`its error has ${keys}, not ${allowed.join(' or ')}`];
  };
}

/** First result that is not undefined. */
function firstOf<T, R>(items: readonly T[], ask: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const answer = ask(item);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
