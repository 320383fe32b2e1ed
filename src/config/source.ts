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
import { type ConfigFault, type Steps, settingPath } from './config-error.ts';
import type { Variables } from './environment.ts';

/** Parsed configuration file: its value after substitution of variables, and the lines of its parts. */
export interface ConfigSource {
  value: unknown;
  /** Errors in the file's syntax or variables. `steps` is the path of a value that cannot be validated. */
  faults: { finding: ConfigFault; steps: Steps | undefined }[];
  /** Line of a value, or of its nearest parent in the file. */
  lineOf(steps: Steps): number | undefined;
}

/** Parses YAML or JSON. Never throws; errors are in `faults`. */
export function parseSource(text: string, variables: Variables): ConfigSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const lineOf = (steps: Steps) => lineAt(document, lines, steps);
  const syntax = [...document.errors, ...document.warnings].map(({ message, linePos }) => ({
    // The rest of the message quotes the file, which may contain secrets.
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
    // Aliases that expand excessively, or that refer to nothing.
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

/** Value with a variable that could not be substituted. */
interface UnfilledVariable {
  steps: Steps;
  path: string;
  message: string;
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every value of a document. The default also replaces an empty variable.
 * Substituted text is not expanded again.
 * An unquoted value may become a number or a boolean, as if it had been written in the file. A quoted one stays text.
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
          messages.push('has a malformed variable: braces must hold a name, or a name, ":-" and a default');
          return '';
        }
        const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
        if (fallback !== undefined) return value || fallback;
        if (value === undefined) messages.push(`needs the environment variable ${name}, which is not set`);
        return value ?? '';
      });
      node.value = node.type === Scalar.PLAIN ? typed(text) : text;
      const steps = stepsTo([...ancestors, node]);
      unfilled.push(...messages.map(message => ({ steps, path: settingPath(steps), message })));
    },
  });
  return unfilled;
}

function typed(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(?:0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** Path of the last node, from its ancestors. Pairs give keys, sequences give indices. */
function stepsTo(nodes: readonly unknown[]): Steps {
  return nodes.flatMap((node, index): (string | number)[] => {
    if (isPair(node)) return isScalar(node.key) ? [String(node.key.value)] : [];
    if (isSeq(node) && !isMap(node)) return [node.items.indexOf(nodes[index + 1])];
    return [];
  });
}
