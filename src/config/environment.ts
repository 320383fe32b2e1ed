import { constants, enableCompileCache } from 'node:module';
import { ROLES, type Role } from './config.ts';

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Settings from the environment. No other module reads environment variables. */
export interface Environment {
  /** All variables, for `${NAME}` in the configuration file. */
  variables: Variables;
  /** TOLLGATE_CONFIG: configuration file, used when the command line names none. */
  configFile: string | undefined;
  /** TOLLGATE_KEY: API key of the commands that call the API. */
  apiKey: string | undefined;
  /** TOLLGATE_URL: payments server of the commands that call the API. */
  apiUrl: string | undefined;
  /** TOLLGATE_WEBHOOK_SECRET: secret with which `tollgate listen` signs. */
  webhookSecret: string | undefined;
  /** ANVIL_BIN: path of an anvil, used when the npm package has none. */
  anvilBin: string | undefined;
  /** NODE_ENV; production unless it is development or test. */
  mode: 'production' | 'development' | 'test';
  /** True when started by `npm start`, `npm run dev` or `npx`. */
  isStartedByNpm: boolean;
  /**
   * TOLLGATE_LAUNCHER: id of the launcher process, between the program and the process that started it; undefined
   * without a launcher.
   */
  launcherPid: number | undefined;
  /** TOLLGATE_WORKER: name and roles of a worker; undefined when no parent has set them. */
  worker: WorkerPart | undefined;
}

/** Name and roles that a parent gives its worker. */
export interface WorkerPart {
  /** Name in the log and for the operator: `worker 1`, `background`. */
  readonly name: string;
  readonly roles: readonly Role[];
}

const WORKER_VARIABLE = 'TOLLGATE_WORKER';

/** Variables by which a parent passes a worker its name and roles. */
export function workerVariables({ name, roles }: WorkerPart): Record<string, string> {
  return { [WORKER_VARIABLE]: `${name}:${roles.join(',')}` };
}

function workerPart(text: string | undefined): WorkerPart | undefined {
  const [name = '', roles = ''] = text?.split(':') ?? [];
  return name === '' ? undefined : { name, roles: ROLES.filter(role => roles.split(',').includes(role)) };
}

/** Reads the environment of the process, or the given one. An empty variable counts as absent. */
export function readEnvironment(variables: Variables = process.env): Environment {
  const mode = variables.NODE_ENV;
  return {
    variables,
    configFile: variables.TOLLGATE_CONFIG || undefined,
    apiKey: variables.TOLLGATE_KEY || undefined,
    apiUrl: variables.TOLLGATE_URL || undefined,
    webhookSecret: variables.TOLLGATE_WEBHOOK_SECRET || undefined,
    anvilBin: variables.ANVIL_BIN || undefined,
    isStartedByNpm: ['start', 'dev', 'npx'].includes(variables.npm_lifecycle_event ?? ''),
    launcherPid: Number(variables.TOLLGATE_LAUNCHER) || undefined,
    worker: workerPart(variables[WORKER_VARIABLE]),
    mode: mode === 'development' || mode === 'test' ? mode : 'production',
  };
}

/**
 * Enables Node's compile cache in a folder, for this process and for the threads and processes that it starts.
 * NODE_COMPILE_CACHE takes precedence over the folder, unless it is empty.
 * Applies to modules loaded later. If the folder is not writable, everything is compiled at each start.
 */
export function keepCompiled(folder: string): void {
  const kept = process.env.NODE_COMPILE_CACHE || folder;
  const { status } = enableCompileCache(kept);
  if (status === constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = kept;
}
