import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The project's sources with their types. */
export interface SourceProgram {
  readonly checker: ts.TypeChecker;
  /** The files below `src`, with their paths from the project's folder. */
  readonly files: readonly { readonly path: string; readonly source: ts.SourceFile }[];
}

let latest: WeakRef<SourceProgram> | undefined;

/**
 * Parses the sources, which takes some seconds. Calls in a row share the result. It is not kept afterwards, because it
 * takes some hundred megabytes.
 */
export function sourceProgram(): SourceProgram {
  const program = latest?.deref() ?? parsed();
  latest = new WeakRef(program);
  return program;
}

function parsed(): SourceProgram {
  const { config } = ts.readConfigFile(`${ROOT}/tsconfig.json`, ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const isSource = (file: string) => file.startsWith(`${ROOT}/src/`);
  const program = ts.createProgram(fileNames.filter(isSource), options);
  const sources = program.getSourceFiles().filter(({ fileName }) => isSource(fileName));
  return {
    checker: program.getTypeChecker(),
    files: sources.map(source => ({ path: pathOf(source), source })),
  };
}

/** Path of a file from the project's folder, such as `src/main.ts`. */
export function pathOf({ fileName }: ts.SourceFile): string {
  return fileName.slice(ROOT.length + 1);
}
