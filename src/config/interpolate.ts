import { type Document, isMap, isPair, isScalar, isSeq, Scalar, visit } from 'yaml';
import { pathOf, type Steps } from './config-error.ts';
import type { Variables } from './environment.ts';

const REFERENCE = /\$\{([^}]*)\}?/g;
const WELL_FORMED = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** A value whose variables could not be filled in. */
export interface UnfilledVariable {
  steps: Steps;
  path: string;
  message: string;
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every value of a document; the default also stands in for an empty
 * variable. What a variable brings in is not looked at again. In an unquoted value it may become a number or a
 * boolean, as if it had been written there; in quotes it stays text.
 */
export function interpolate(document: Document, variables: Variables): UnfilledVariable[] {
  const unfilled: UnfilledVariable[] = [];
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return;
      const messages: string[] = [];
      const text = node.value.replaceAll(REFERENCE, (whole: string, inner: string) => {
        const [, name, fallback] = (whole.endsWith('}') && WELL_FORMED.exec(inner)) || [];
        if (name === undefined) {
          messages.push('holds a variable that is neither a name nor a name, ":-" and a default, in braces');
          return '';
        }
        const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
        if (fallback !== undefined) return value || fallback;
        if (value === undefined) messages.push(`needs the environment variable ${name}, which is not set`);
        return value ?? '';
      });
      node.value = node.type === Scalar.PLAIN ? typed(text) : text;
      const steps = stepsTo([...ancestors, node]);
      unfilled.push(...messages.map(message => ({ steps, path: pathOf(steps), message })));
    },
  });
  return unfilled;
}

function typed(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(?:0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** The path of the last node, from its ancestors: pairs give keys, sequences give indices. */
function stepsTo(nodes: readonly unknown[]): Steps {
  return nodes.flatMap((node, index): (string | number)[] => {
    if (isPair(node)) return isScalar(node.key) ? [String(node.key.value)] : [];
    if (isSeq(node) && !isMap(node)) return [node.items.indexOf(nodes[index + 1])];
    return [];
  });
}
