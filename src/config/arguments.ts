import { parseArgs } from 'node:util';
import { ConfigError } from './config-error.ts';

export type ServiceName = 'data' | 'payments';

/** What the command line says. */
export interface Arguments {
  configFile: string | undefined;
  /** The services to start: both, or the one of `--only`. */
  services: readonly ServiceName[];
  help: boolean;
}

export const USAGE = `Usage: npm start -- [options]

  --config FILE            the configuration, YAML or JSON; without one, embedded chains are served
  --only data|payments     start one service only
  --help                   print this

Pending migrations of the databases are applied first; npm run migrate -- --config FILE does so beforehand.
`;

/** Reads the arguments after the program's name. Throws ConfigError on one that is not known or not complete. */
export function parseArguments(argv: readonly string[]): Arguments {
  const { config, only, help } = optionsOf(argv);
  if (only !== undefined && only !== 'data' && only !== 'payments')
    throw refused('--only takes data or payments');
  if (config === '') throw refused('--config takes the path of a file');
  return {
    configFile: config,
    services: only === undefined ? ['data', 'payments'] : [only],
    help: help ?? false,
  };
}

function optionsOf(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        config: { type: 'string' },
        only: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error));
  }
}

function refused(message: string): ConfigError {
  return new ConfigError('the command line', [{ path: '', line: undefined, message }]);
}
