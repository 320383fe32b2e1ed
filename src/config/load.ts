import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { validateConfig } from '../../generated/config/validators.cjs';
import { isObject } from '../lib/json.ts';
import { parseArguments } from './arguments.ts';
import type { Config, Role } from './config.ts';
import {
  ConfigError,
  type ConfigFault,
  type Steps,
  settingPath,
  type Violation,
  violationOf,
} from './config-error.ts';
import { readEnvironment, type Variables } from './environment.ts';
import { relationsOf } from './relations.ts';
import { resolveConfig } from './resolve.ts';
import { roleRelations } from './role-relations.ts';
import { type ConfigSource, parseSource } from './source.ts';

export interface LoadOptions {
  /** Configuration file. When absent: `--config`, then TOLLGATE_CONFIG, then the embedded default. */
  file?: string | undefined;
  env: Variables;
  /** Arguments after the program's name. */
  argv?: readonly string[];
  /** Base of relative paths when there is no file; the working directory when absent. */
  directory?: string;
}

/**
 * Reads and validates the configuration.
 * @throws ConfigError with all findings
 */
export function loadConfig({ file, env, argv = [], directory = process.cwd() }: LoadOptions): Config {
  const given = parseArguments(argv);
  const environment = readEnvironment(env);
  const named = file ?? given.configFile ?? environment.configFile;
  const path = named === undefined ? undefined : resolve(named);
  const base = path === undefined ? resolve(directory) : dirname(path);
  const source = parseSource(path === undefined ? '' : textOf(path), env);

  const roles = environment.worker?.roles ?? given.roles;
  const value = roles === undefined ? source.value : withRoles(source.value, roles);
  if (!validateConfig(value)) {
    throw new ConfigError(path ?? 'the embedded default', [
      ...source.faults.map(({ finding }) => finding),
      ...findings(source, (validateConfig.errors ?? []).map(violationOf)),
    ]);
  }
  const wrong = [
    ...source.faults.map(({ finding }) => finding),
    ...findings(source, [...relationsOf(value, base), ...roleRelations(value)]),
  ];
  if (wrong.length > 0) throw new ConfigError(path ?? 'the embedded default', wrong);
  const lineOf = (setting: string) => source.lineOf(stepsOf(setting));
  return {
    file: path,
    directory: base,
    lineOf,
    locationOf(setting) {
      const line = lineOf(setting);
      return [
        ...(path === undefined ? [] : [path]),
        ...(line === undefined ? [] : [`line ${line}`]),
        setting,
      ].join(', ');
    },
    ...resolveConfig(value, { directory: base, mode: environment.mode }),
  };
}

/** Replaces the roles of the file by those of the command line or worker. The file's roles are then not validated. */
function withRoles(value: unknown, roles: readonly Role[]): unknown {
  return isObject(value) ? { ...value, roles: [...roles] } : value;
}

/** Steps of a path such as `chains[0].backends[1].database`. */
function stepsOf(setting: string): Steps {
  const steps = setting.split(/[.[\]]+/).filter(step => step !== '');
  return steps.map(step => (/^\d+$/.test(step) ? Number(step) : step));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new ConfigError(path, [
      { path: '', line: undefined, message: `the file cannot be read (${code})` },
    ]);
  }
}

/** Adds lines to violations. Omits values with a missing variable, because they could not be validated. */
function findings({ faults, lineOf }: ConfigSource, violations: readonly Violation[]): ConfigFault[] {
  const unreadable = faults.some(({ steps }) => steps === undefined);
  const unjudged = new Set(faults.map(({ finding }) => finding.path));
  return violations
    .map(({ steps, message }) => ({ path: settingPath(steps), line: lineOf(steps), message }))
    .filter(({ path }) => !unreadable && !unjudged.has(path));
}
