import { createLogger } from '../../src/lib/logger.ts';
import { type WebhookSender, webhookSender } from '../../src/payments/webhooks/sender.ts';

/** A sender that reaches receivers on the loopback interface. */
export function loopbackSender(timeoutMs = 100_000): WebhookSender {
  const log = createLogger({ level: 'silent' });
  const networks = ['127.0.0.0/8'];
  return webhookSender({
    allowedNetworks: networks,
    keptNetworks: networks,
    allowHttp: true,
    timeoutMs,
    log,
  });
}
