import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Finding, Steps } from './config-error.ts';
import type { Variables } from './environment.ts';
import { interpolate } from './interpolate.ts';

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
