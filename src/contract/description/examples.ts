import { readFileSync } from 'node:fs';
import { isObject } from '../../lib/json.ts';
import type { Contract } from '../contracts/contract.ts';
import { child, type Json, type JsonObject, METHODS } from '../contracts/document.ts';

type DescribedContract = Pick<Contract<unknown>, 'name' | 'document'>;

/**
 * Adds the recorded examples to a contract's document: responses by status, and bodies of outgoing events. Examples are
 * read on call, because only the description needs them (Decision 210). Examples written in the document are kept.
 */
export function withExamples({ name, document }: DescribedContract): DescribedContract {
  const file = new URL(`../../../generated/${name}/examples.json`, import.meta.url);
  const recorded: JsonObject = JSON.parse(readFileSync(file, 'utf8'));
  const paths = mapOperations(child(document, 'paths'), operation =>
    withAnswers(operation, child(recorded, String(operation.operationId))),
  );
  const webhooks = mapOperations(child(document, 'webhooks'), (operation, event) => {
    const { request } = child(recorded, event);
    return request === undefined
      ? operation
      : { ...operation, requestBody: withBody(child(operation, 'requestBody'), request) };
  });
  return {
    name,
    document: { ...document, paths, ...(document.webhooks === undefined ? {} : { webhooks }) },
  };
}

/** Changes every operation in the items of paths or webhooks; `key` is the path or the event. */
export function mapOperations(
  items: JsonObject,
  change: (operation: JsonObject, key: string, method: string) => JsonObject,
): JsonObject {
  return mapValues(items, (item, key) =>
    mapValues(isObject(item) ? item : {}, (member, method) =>
      METHODS.includes(method) && isObject(member) ? change(member, key, method) : member,
    ),
  );
}

function withAnswers(operation: JsonObject, bodies: JsonObject): JsonObject {
  const responses = mapValues(child(operation, 'responses'), (response, status) => {
    const body = bodies[status];
    return body === undefined || !isObject(response) ? response : withBody(response, body);
  });
  return { ...operation, responses };
}

/** Adds an example to the content of a response or a request body. */
function withBody(part: JsonObject, example: Json): JsonObject {
  const content = mapValues(child(part, 'content'), media =>
    isObject(media) ? { example, ...media } : media,
  );
  return { ...part, content };
}

function mapValues(object: JsonObject, change: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}
