import { constants, enableCompileCache } from 'node:module';

/** Names and values of environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What the process is told by its environment. Nothing else reads environment variables. */
export interface Environment {
  /** All of them, for `${NAME}` in the configuration file. */
  variables: Variables;
  /** TOLLGATE_CONFIG: the configuration file, when the command line names none. */
  configFile: string | undefined;
  /** ANVIL_BIN: the anvil to run instead of the package's own. */
  anvilBin: string | undefined;
  /** NODE_ENV, production unless it is development or test. */
  mode: 'production' | 'development' | 'test';
  /** True below `npm start` and `npm run dev`. */
  isStartedByNpm: boolean;
}

/** Reads the environment of the process, or the one given. An empty variable counts as absent. */
export function readEnvironment(variables: Variables = process.env): Environment {
  const mode = variables.NODE_ENV;
  return {
    variables,
    configFile: variables.TOLLGATE_CONFIG || undefined,
    anvilBin: variables.ANVIL_BIN || undefined,
    isStartedByNpm: ['start', 'dev'].includes(variables.npm_lifecycle_event ?? ''),
    mode: mode === 'development' || mode === 'test' ? mode : 'production',
  };
}

/**
 * Keeps what Node compiles in a folder, for this process and for the threads and processes that it starts, unless
 * NODE_COMPILE_CACHE names another one. Holds for modules that are loaded later. Where the folder cannot be written,
 * everything is compiled at each start.
 */
export function keepCompiled(folder: string): void {
  const kept = process.env.NODE_COMPILE_CACHE ?? folder;
  const { status } = enableCompileCache(kept);
  if (status === constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = kept;
}
