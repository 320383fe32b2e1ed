import { ConfigError } from '../../src/config/config-error.ts';

/** The error of a call that must be refused. */
export function refusal(call: () => unknown): ConfigError {
  try {
    call();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}
