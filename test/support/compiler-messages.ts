import ts from 'typescript';

const ROOT = new URL('../../', import.meta.url).pathname;

/** Files that earlier programs parsed. All programs have the same options, and no file changes during a run. */
const parsed = new Map<string, ts.SourceFile>();

/**
 * The compiler's messages for a program of one text, with their lines (1-based). `file` is the path from the root of the
 * project that the text is compiled at; no such file has to exist.
 */
export function compilerMessages(file: string, text: string): { line: number; message: string }[] {
  const path = `${ROOT}${file}`;
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, target) => {
    if (name === path) return ts.createSourceFile(name, text, target);
    const source = parsed.get(name) ?? read(name, target);
    if (source !== undefined) parsed.set(name, source);
    return source;
  };
  const exists = host.fileExists.bind(host);
  host.fileExists = name => name === path || exists(name);
  const program = ts.createProgram([path], { ...options, types: [], noUnusedLocals: false }, host);
  const source = program.getSourceFile(path);
  return program.getSemanticDiagnostics(source).map(({ messageText, start = 0 }) => ({
    line: (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1,
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}
