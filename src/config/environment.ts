import { constants, enableCompileCache } from 'node:module';
import { ROLES, type Role } from './roles.ts';

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
  /** True below `npm start`, `npm run dev` and `npx`. */
  isStartedByNpm: boolean;
  /** TOLLGATE_LAUNCHER: the process that stands between the program and whoever started it; undefined without one. */
  launcherPid: number | undefined;
  /** TOLLGATE_WORKER: this process's part of the work; undefined unless a parent gave it one. */
  worker: WorkerPart | undefined;
}

/** What a parent tells a worker about itself. */
export interface WorkerPart {
  /** For the log and the operator: `worker 1`, `background`. */
  readonly name: string;
  readonly roles: readonly Role[];
}

const WORKER_VARIABLE = 'TOLLGATE_WORKER';

/** Variables by which a worker learns of its part. */
export function workerVariables({ name, roles }: WorkerPart): Record<string, string> {
  return { [WORKER_VARIABLE]: `${name}:${roles.join(',')}` };
}

function workerPart(text: string | undefined): WorkerPart | undefined {
  const [name = '', roles = ''] = text?.split(':') ?? [];
  return name === '' ? undefined : { name, roles: ROLES.filter(role => roles.split(',').includes(role)) };
}

/** Reads the environment of the process, or the one given. An empty variable counts as absent. */
export function readEnvironment(variables: Variables = process.env): Environment {
  const mode = variables.NODE_ENV;
  return {
    variables,
    configFile: variables.TOLLGATE_CONFIG || undefined,
    anvilBin: variables.ANVIL_BIN || undefined,
    isStartedByNpm: ['start', 'dev', 'npx'].includes(variables.npm_lifecycle_event ?? ''),
    launcherPid: Number(variables.TOLLGATE_LAUNCHER) || undefined,
    worker: workerPart(variables[WORKER_VARIABLE]),
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
