import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, answerOf, useAnswer } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Card, Facts, Tabs } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard, shownId } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { openPage } from '../frame.ts';
import { CheckoutList, TransferList } from '../payments/payment-lists.ts';
import { useHasPermission } from '../signed-in.ts';
import { nameOf, Totals } from './customer-parts.ts';

type Customer = Payments['Customer'];

const id = shownId();

/** Page of a customer, with what the customer bought. */
function CustomerPage(): VNode {
  const customer = useAnswer(signal =>
    api.GET('/api/v1/customers/{customer_id}', { params: { path: { customer_id: id } }, signal }),
  );
  return html`
    <p class="small"><a href=${dashboard.customers}>Customers</a></p>
    ${h(Awaited<Customer>, { loading: customer, children: shown => h(ShownCustomer, { customer: shown }) })}
  `;
}

function ShownCustomer({ customer }: { customer: Customer }): VNode {
  const mayErase = useHasPermission('admin');
  return html`
    <div class="title">
      <h1>${nameOf(customer)}</h1>
      ${h(Reference, { value: customer.id })}
    </div>
    <div class="grid">${h(CustomerFacts, { customer })}${h(PurchaseFacts, { customer })}</div>
    ${h(Tabs, {
      label: 'Purchases',
      tabs: [
        { id: 'checkouts', label: 'Checkouts', content: () => h(CheckoutList, { customerId: id }) },
        { id: 'transfers', label: 'Transfers', content: () => h(TransferList, { customerId: id }) },
      ],
    })}
    ${mayErase && html`<div class="row">${h(EraseButton, {})}</div>`}
  `;
}

function CustomerFacts({ customer }: { customer: Customer }): VNode {
  const { wallet_address: wallet } = customer;
  return h(Card, {
    title: 'Customer',
    children: h(Facts, {
      rows: [
        ['Email', customer.email],
        ['Name', customer.name],
        ['Wallet', wallet !== null && h(Reference, { value: wallet })],
        ['Since', h(Moment, { at: customer.created_at })],
      ],
    }),
  });
}

function PurchaseFacts({ customer }: { customer: Customer }): VNode {
  const { totals, first_purchase_at: first, last_purchase_at: last } = customer;
  const isRefunded = totals.some(total => total.amount_refunded !== '0');
  return h(Card, {
    title: 'Purchases',
    children: h(Facts, {
      rows: [
        ['Completed', `${customer.completed_checkouts} of ${customer.checkouts} checkouts`],
        ['Received', h(Totals, { totals, amountOf: total => total.amount_received })],
        ['Refunded', isRefunded && h(Totals, { totals, amountOf: total => total.amount_refunded })],
        ['First purchase', first !== null && h(Moment, { at: first })],
        ['Latest purchase', last !== null && h(Moment, { at: last })],
      ],
    }),
  });
}

function EraseButton(): VNode {
  const erase = async () => {
    await answerOf(api.DELETE('/api/v1/customers/{customer_id}', { params: { path: { customer_id: id } } }));
    location.assign(dashboard.customers);
  };
  return h(DialogButton, {
    label: 'Erase…',
    title: 'Erase this customer?',
    action: 'Erase',
    tone: 'danger',
    onConfirm: erase,
    children: html`
      <p>
        E-mail address, name, answers and shipping addresses are removed from all checkouts, events, deliveries and
        notifications. Mails that are not sent yet are not sent. This cannot be undone.
      </p>
      <p>
        Amounts, order references, metadata, transactions and wallets stay, for your books. Erase yourself what your
        webhooks, mailboxes, exports and backups have.
      </p>
    `,
  });
}

openPage('Customer', CustomerPage);
