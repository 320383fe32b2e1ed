import { type ListenAddress, originOf } from '#config/units.ts';
import { type ConfigCheck, Fault, type Finding } from './check.ts';

/** A listener, and the address that clients use for it. */
interface PublicAddress {
  readonly setting: string;
  readonly url: string;
  readonly listen: ListenAddress;
}

const TIMEOUT_MS = 4_000;

/** Requests the health of a service at its public address. */
export function publicAddressCheck({ setting, url, listen }: PublicAddress): ConfigCheck {
  const local = originOf(listen);
  return {
    setting,
    subject: `public address ${new URL(url).host}`,
    advice: 'Correct the address, or the name in the DNS.',
    async run(): Promise<Finding> {
      const answer = await healthAt(url);
      if (answer === undefined) return { state: 'ok', detail: 'reaches a running server' };
      if (answer.isUnknownName)
        throw new Fault(answer.detail, 'Correct the address, or the name in the DNS.');
      const isRunning = (await healthAt(local)) === undefined;
      if (isRunning) throw new Fault(answer.detail, `Have the proxy pass requests on to ${local}.`);
      return {
        state: 'warning',
        detail: `${answer.detail}, and no server runs at ${local}`,
        advice: 'Start the server, and run this again.',
      };
    },
  };
}

/** Asks a service for its health. Undefined for a healthy service of this program. */
export async function healthAt(url: string): Promise<{ detail: string; isUnknownName: boolean } | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'manual',
    });
    const text = await response.text();
    if (response.status === 200 && text.includes('"ok"')) return undefined;
    const detail =
      response.status === 200 ? 'is answered by another server' : `answers with status ${response.status}`;
    return { detail, isUnknownName: false };
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no answer';
    return { detail: `cannot be reached (${code})`, isUnknownName: code === 'ENOTFOUND' };
  }
}
