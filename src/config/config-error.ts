/** One thing that is wrong: where (`chains[0].rpc[1]`, empty for the whole), on which line, and the rule. Never a value. */
export interface Finding {
  path: string;
  line: number | undefined;
  message: string;
}

/** Everything that is wrong with a configuration, in the order of the file. `source` is the file's path. */
export class ConfigError extends Error {
  readonly source: string;
  readonly findings: readonly Finding[];

  constructor(source: string, findings: readonly Finding[]) {
    const sorted = [...findings].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    super(`${source} is not valid:\n${sorted.map(finding => `  ${sentence(finding)}`).join('\n')}`);
    this.name = 'ConfigError';
    this.source = source;
    this.findings = sorted;
  }
}

/** Steps into a parsed file, from its root. */
export type Steps = readonly (string | number)[];

/** Steps as people write them: `chains[0].id`. */
export function pathOf(steps: Steps): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? step : `${path}.${step}`;
  }, '');
}

function sentence({ path, line, message }: Finding): string {
  const place = line === undefined ? '' : `line ${line}: `;
  return path === '' ? `${place}${message}` : `${place}${path} ${message}`;
}
