import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { isOfKind } from '../port/backend-error.ts';
import type { InsightsAnswers, InsightsAsk, NamedInput } from '../port/insights-backend.ts';
import { firstKnown, MAX_RESOLVED, resolvedAs, UNKNOWN } from '../port/resolved-input.ts';
import { at, each, type Fields, fieldsOf, optionalField, required } from '../upstream-json/fields.ts';
import { block } from './normalise/block.ts';
import { event } from './normalise/event.ts';
import { addressOrNull, type RecordContext } from './normalise/forms.ts';
import { transactionRecord } from './normalise/transaction.ts';
import { firstOfChains, isName, read, segment, type ThirdwebSource } from './source.ts';

type ResolvedInput = InsightsSchemas['ResolvedInput'];

const TYPES: readonly ResolvedInput['type'][] = [
  'block',
  'transaction',
  'event_signature',
  'function_signature',
  'address',
  'contract',
  'unknown',
];

/** Resolves a text upstream, which knows hashes and selectors but no signatures (Decision 212). */
export function resolveAnswers(source: ThirdwebSource): Required<Pick<InsightsAnswers, 'resolveInput'>> {
  return {
    resolveInput: (input, ask) => firstKnown(textsOf(input).map(text => () => resolved(source, text, ask))),
  };
}

function textsOf(input: NamedInput): readonly string[] {
  switch (input.kind) {
    case 'number':
      return [input.number.toString()];
    case 'hash':
      return [input.hash];
    case 'selector':
      return [input.selector];
    case 'address':
      return [input.address];
    case 'signature':
      return [input.topic0, input.selector];
  }
}

async function resolved(source: ThirdwebSource, text: string, ask: InsightsAsk): Promise<ResolvedInput> {
  const get = {
    operation: 'resolveInput',
    path: `/resolve/${segment(text)}`,
    ask,
    missing: isName(text) ? 'the name' : 'nothing',
  } as const;
  return read(source, get, ({ data }) =>
    at('data', data, value => resolvedInput(fieldsOf(value), text, ask)),
  ).catch((error: unknown) => {
    if (isOfKind(error, 'not_found')) return UNKNOWN;
    throw error;
  });
}

/** Converts a resolved input. A type without records becomes `unknown`, except for addresses. */
function resolvedInput(data: Fields, text: string, { chainIds }: InsightsAsk): ResolvedInput {
  const context: RecordContext = { chainIds, isDecoded: false };
  const type = required(TYPES.find(one => one === data.type) ?? null, 'type');
  const list = <Row extends { readonly chain_id: number | string }>(
    name: string,
    normalise: (value: unknown, context: RecordContext) => Row,
  ): Row[] => {
    const rows = at(name, data[name], value => each(value, row => normalise(row, context)));
    return firstOfChains(rows, { chainIds, limit: MAX_RESOLVED });
  };
  switch (type) {
    case 'block':
      return resolvedAs(type, { blocks: list('blocks', block) });
    case 'transaction':
    case 'function_signature':
      return resolvedAs(type, { transactions: list('transactions', transactionRecord) });
    case 'event_signature':
      return resolvedAs(type, { events: list('events', event) });
    case 'address':
    case 'contract': {
      const address = addressOrNull(text) ?? addressOrNull(data.address);
      return {
        type,
        ...optionalField('address', address),
        transactions: list('transactions', transactionRecord),
      };
    }
    case 'unknown':
      return UNKNOWN;
  }
}
