import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  visit,
} from 'yaml';
import { type Finding, pathOf, type Steps } from './config-error.ts';
import type { Variables } from './environment.ts';

/** A configuration file as read: its value with the environment filled in, and where in the file things are. */
export interface ConfigSource {
  value: unknown;
  /** What was wrong with the file's syntax or its variables; `steps` say which values cannot be judged. */
  faults: { finding: Finding; steps: Steps | undefined }[];
  /** The line of a value, or of the nearest thing around it that the file holds. */
  lineOf(steps: Steps): number | undefined;
}

/** Reads YAML, and with it JSON. Does not throw: what is wrong is in `faults`. */
export function parseSource(text: string, variables: Variables): ConfigSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const lineOf = (steps: Steps) => lineAt(document, lines, steps);
  const syntax = [...document.errors, ...document.warnings].map(({ message, linePos }) => ({
    // The rest of the message quotes the file, which may hold secrets.
    finding: { path: '', line: linePos?.[0].line, message: message.split(/ at line |\n/, 1)[0] ?? message },
    steps: undefined,
  }));
  if (syntax.length > 0) return { value: undefined, faults: syntax, lineOf };

  const faults = interpolate(document, variables).map(({ steps, path, message }) => ({
    finding: { path, line: lineOf(steps), message },
    steps,
  }));
  try {
    return { value: document.toJS() ?? {}, faults, lineOf };
  } catch (error) {
    // Aliases that multiply beyond measure, or that refer to nothing.
    const message = error instanceof Error ? error.message : String(error);
    return {
      value: undefined,
      faults: [{ finding: { path: '', line: 1, message }, steps: undefined }],
      lineOf,
    };
  }
}

function lineAt(document: Document, lines: LineCounter, steps: Steps): number | undefined {
  const lineOfNode = (node: unknown) =>
    isNode(node) && node.range ? lines.linePos(node.range[0]).line : undefined;
  let node: unknown = document.contents;
  let line = lineOfNode(node);
  for (const step of steps) {
    const inner: unknown = isAlias(node) ? node.resolve(document) : node;
    if (isMap(inner)) {
      const pair = inner.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return line;
      line = lineOfNode(pair.key) ?? line;
      node = pair.value;
    } else if (isSeq(inner)) {
      node = inner.items[Number(step)];
      line = lineOfNode(node) ?? line;
    } else return line;
  }
  return line;
}

const REFERENCE = /\$\{([^}]*)\}?/g;
const WELL_FORMED = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** A value whose variables could not be filled in. */
interface UnfilledVariable {
  steps: Steps;
  path: string;
  message: string;
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every value of a document; the default also stands in for an empty
 * variable. What a variable brings in is not looked at again. In an unquoted value it may become a number or a
 * boolean, as if it had been written there; in quotes it stays text.
 */
function interpolate(document: Document, variables: Variables): UnfilledVariable[] {
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
