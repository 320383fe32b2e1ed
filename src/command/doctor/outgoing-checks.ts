import type { PaymentsConfig } from '#config/config.ts';
import { checkMailServer } from '#payments/notifications/mailers.ts';
import { createMessenger } from '#payments/notifications/messenger.ts';
import type { Check } from './check.ts';

const TIMEOUT_MS = 4_000;

/** Connects and signs in to the mail server. Sends no mail. */
export function mailCheck({ smtp }: NonNullable<PaymentsConfig['mail']>): Check {
  return {
    setting: 'payments.mail.smtp',
    subject: `mail server ${new URL(smtp).host}`,
    advice: 'Correct the address, the user or the password of the mail server.',
    async run() {
      await checkMailServer(smtp, TIMEOUT_MS);
      return { state: 'ok', detail: 'accepts the sign-in' };
    },
  };
}

/** Asks the messenger for the bot's name. Sends no message. */
export function botCheck({ token, apiRoot }: NonNullable<PaymentsConfig['messenger']>): Check {
  return {
    setting: 'payments.messenger.token',
    subject: `bot at ${new URL(apiRoot).host}`,
    advice: "Correct the bot's token, or apiRoot.",
    async run() {
      const name = await createMessenger({ token, apiRoot, timeoutMs: TIMEOUT_MS }).botName();
      return { state: 'ok', detail: `is @${name}` };
    },
  };
}
