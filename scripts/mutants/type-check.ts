import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './fingerprint.ts';
import type { Mutation } from './mutations.ts';
import { filesBelow } from './sample.ts';

/**
 * Tells whether sources compile with a mutation in them. Only the mutated file is checked. What only the style of the
 * project forbids, such as an unused variable, is no error here.
 */
export function typeChecker(files: readonly string[]): (file: string, mutation: Mutation) => boolean {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const mutated = new Map<string, { text: string; version: number }>();
  const roots = [...files, ...filesBelow('src').filter(file => file.endsWith('.d.ts'))];
  const service = ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    getCompilationSettings: () => ({
      ...options,
      noUnusedLocals: false,
      noUnusedParameters: false,
      allowUnreachableCode: true,
    }),
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => roots.map(file => join(ROOT, file)),
    getScriptVersion: path => String(mutated.get(path)?.version ?? 0),
    getScriptSnapshot(path) {
      const text = mutated.get(path)?.text ?? ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
  });

  let version = 0;
  return (file, { start, end, replacement }) => {
    const path = join(ROOT, file);
    const text = ts.sys.readFile(path) ?? '';
    version += 1;
    mutated.set(path, { version, text: text.slice(0, start) + replacement + text.slice(end) });
    const compiles =
      service.getSyntacticDiagnostics(path).length + service.getSemanticDiagnostics(path).length === 0;
    // Other files see the original again. Its version differs from that of the mutant.
    mutated.set(path, { version: -version, text });
    return compiles;
  };
}
