import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { type Report, wrong } from '../model/fault.ts';
import type { CheckoutSession } from '../model/session.ts';

type SessionTexts = Pick<CheckoutSession, 'clientReferenceId' | 'customerEmail' | 'customerName'>;

/** The other name that a body may use for each field which document 3 prints in camelCase (Decision 168). */
const SNAKE_CASE = {
  clientReferenceId: 'client_reference_id',
  customerEmail: 'customer_email',
  customerName: 'customer_name',
} as const satisfies Record<keyof SessionTexts, keyof PaymentsSchemas['CheckoutStart']>;

/** The merchant's reference and the payer's e-mail address and name, from a body in either spelling. */
export function sessionTextsOf(body: PaymentsSchemas['CheckoutStart'], report: Report): SessionTexts {
  const textOf = (name: keyof SessionTexts): string | null => {
    const other = SNAKE_CASE[name];
    const { [name]: text, [other]: same } = body;
    if (text !== undefined && same !== undefined && text !== same) {
      report(wrong(other, `must not differ from '${name}'`));
    }
    return text ?? same ?? null;
  };
  return {
    clientReferenceId: textOf('clientReferenceId'),
    customerEmail: textOf('customerEmail'),
    customerName: textOf('customerName')?.trim() ?? null,
  };
}
