import { beforeEach, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { relay } from '#payments/events/relay.ts';
import { testEventData } from '#payments/events/test-event.ts';
import type { EventType } from '#payments/model/event.ts';
import { createMailer, type Mailer } from '#payments/notifications/mailers.ts';
import { notifiers } from '#payments/notifications/notifier.ts';
import { ATTENTION_INTERVAL_MS } from '#payments/notifications/store/attention-notices.ts';
import { notificationStore } from '#payments/notifications/store/notification-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { BASE, everythingOn } from '../../support/notification-records.ts';
import { type SmtpReceiver, startSmtpReceiver } from '../../support/smtp-receiver.ts';

const SEALS = seals(['a secret of tests that is long enough']);
const log = createLogger({ level: 'silent' });
const never = new AbortController().signal;

bothDatabases('mails about money that needs a decision', databases => {
  const given = givenDatabase(databases, { isShared: false });
  let receiver: SmtpReceiver;
  let mailer: Mailer;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = manualClock(RECORD_TIME);
    receiver = await startSmtpReceiver();
    mailer = createMailer({
      mail: { smtp: receiver.url, from: 'pay@shop.example' },
      folder: '/nowhere',
      clock,
      log,
    });
    await save();
    return async () => {
      await mailer.close();
      await receiver[Symbol.asyncDispose]();
    };
  });

  const save = (changes: Parameters<typeof everythingOn>[1] = {}) =>
    notificationStore(given.db).save(everythingOn(given.owner, { messengerEnabled: false, ...changes }));

  async function recorded(type: EventType, changes: object = {}, id = newId('evt')): Promise<void> {
    const data = { ...testEventData(type, clock.now()), ...changes };
    if ('message' in data) throw new Error('not the data of an event');
    const record = { ...given.owner, id, type, createdAt: clock.now(), data };
    await transaction(given.db, handle =>
      eventStore(handle, SEALS).insert([{ event: record, fact: record.id, order: 0 }]),
    );
  }

  /** Changes of a `checkout.expired`: all checkouts of one link, of this payer and with this outcome. */
  function ended(customerEmail: string, outcome: string) {
    const data = testEventData('checkout.expired', clock.now());
    const session = 'checkoutSession' in data ? data.checkoutSession : {};
    const payment_link_id = 'pl_4fRk2LmXq8TzB1nVcY7aWd3S';
    return { payment_link_id, checkoutSession: { ...session, customerEmail, outcome } };
  }

  /** Records events and relays them, by two processes at the same time. */
  async function happen(type: EventType, count = 1, changes: object = {}): Promise<void> {
    for (let event = 0; event < count; event++) await recorded(type, changes);
    const relays = [given.db, given.other].map(db => relay({ db, seals: SEALS, clock, log }));
    await Promise.all(relays.map(one => one.runOnce(never)));
    await Promise.all(relays.map(one => one.runOnce(never)));
  }

  /** Sends what is due; returns the subjects of the mails. */
  async function mailed(): Promise<string[]> {
    const before = receiver.mails.length;
    const [mails] = notifiers({
      db: given.db,
      seals: SEALS,
      clock,
      chains: BASE,
      publicUrl: 'https://pay.example',
      mailer,
      messenger: undefined,
      log,
    });
    while (((await mails?.runOnce(never)) ?? 0) > 0) {}
    const headers = receiver.mails.slice(before).flatMap(mail => mail.headers);
    return headers.filter(one => one.startsWith('Subject: ')).map(one => one.slice('Subject: '.length));
  }

  test('a single one has product, answers, address and the page where it is decided', async () => {
    await happen('checkout.paid_late');

    expect(await mailed()).toEqual([expect.stringContaining('Decision needed: paid late')]);
    const text = receiver.mails[0]?.parts['text/plain'] ?? '';
    expect(text).toContain('Product: An example');
    expect(text).toContain('Ship to: Ada Example, 1 Example Street');
    expect(text).toContain('Customer: Ada Example, ada@example.com');
    expect(text).toContain('arrived after the checkout had ended');
    expect(text).toMatch(/https:\/\/pay\.example\/dashboard\/payments\/cs_[0-9A-Za-z]{24}/);
    expect(await mailed()).toEqual([]);
  });

  test('those of the next ten minutes are one mail, with twenty of them and the number of the others', async () => {
    await happen('transfer.unmatched');
    expect(await mailed()).toHaveLength(1);

    await happen('checkout.overpaid', 12);
    await happen('transfer.unmatched', 13);
    const tooEarly = await mailed();
    clock.advance(ATTENTION_INTERVAL_MS);
    const digest = await mailed();
    await happen('checkout.partially_paid');
    const next = await mailed();
    clock.advance(ATTENTION_INTERVAL_MS);

    expect([tooEarly, digest, next]).toEqual([[], ['Decision needed: 25 payments'], []]);
    const listed = receiver.mails[1]?.parts['text/plain'] ?? '';
    expect(listed).toContain('And: 5 more in the dashboard');
    expect(listed).toMatch(/Overpaid: .* · An example · Ada Example, ada@example.com · https:.*payments.cs_/);
    expect(await mailed()).toEqual([expect.stringContaining('partly paid')]);
    const rows = await rowsOf<{ status: string }>(given.db, 'select status from notices');
    expect(rows.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent']);
  });

  test('are sent only while attention is on, whatever the other events are', async () => {
    await save({ attention: false });
    await happen('checkout.paid_late');
    const off = await mailed();
    await save({ enabledEvents: [] });
    await happen('checkout.paid_late');

    expect(off).toEqual([]);
    expect(await mailed()).toHaveLength(1);
  });

  test('a payer who left an address gets a mail, if the merchant wants it', async () => {
    const off = { emailEnabled: false, emailAddress: null };
    await save(off);
    await happen('checkout.completed');
    const unwanted = await mailed();
    await save({ ...off, customerEmails: true });
    await happen('checkout.completed');
    const receipt = await mailed();
    await happen('checkout.paid_late');
    const late = await mailed();
    await happen('payment.completed');

    expect([unwanted, await mailed()]).toEqual([[], []]);
    expect(receipt).toEqual([expect.stringContaining('Paid. Thank you!')]);
    expect(late).toEqual([expect.stringContaining('Your payment arrived late')]);
    expect(receiver.mails.map(({ to }) => to)).toEqual([['ada@example.com'], ['ada@example.com']]);
    expect(receiver.mails[1]?.parts['text/plain']).toContain('Please do not pay again');
  });

  test('a payer who was late with less than the price reads of a rest only if it is beyond the tolerance', async () => {
    await save({ emailEnabled: false, emailAddress: null, customerEmails: true });
    for (const payment_tolerance of [1, 0.5]) {
      await happen('checkout.paid_late', 1, { amount_received: '12375000', payment_tolerance });
      await mailed();
    }

    const texts = receiver.mails.map(({ parts }) => parts['text/plain'] ?? '');
    expect(texts.map(one => one.includes('do not send the rest'))).toEqual([false, true]);
  });

  test('a payer gets mails about a refund, and about a failure that makes an earlier one untrue', async () => {
    await save({ emailEnabled: false, emailAddress: null, customerEmails: true });
    const to = `0x${'33'.repeat(20)}`;
    const isToSend = { status: 'requires_action' };
    const said = async (type: EventType, changes: object = {}) => {
      await happen(type, 1, changes);
      return mailed();
    };

    expect(await said('refund.created')).toEqual([expect.stringContaining('will be sent back')]);
    expect(await said('refund.failed', { ...isToSend, failure_reason: 'mismatch' })).toEqual([]);
    expect(await said('refund.completed')).toEqual([expect.stringContaining('was sent back')]);
    for (const [failure_reason, title] of Object.entries({
      reorged: 'The network dropped your refund',
      expired: 'Your refund was not sent in time',
      cancelled: 'Your refund was cancelled',
    })) {
      expect(await said('refund.failed', { failure_reason })).toEqual([expect.stringContaining(title)]);
    }
    expect(await said('refund.created', { checkoutSession: null })).toEqual([]);
    const [created, completed] = receiver.mails.map(({ parts }) => parts['text/plain'] ?? '');
    expect(created).toContain('Nothing was sent yet. If this is not your address, tell');
    for (const text of [created, completed]) expect(text).toContain(`To: ${to}`);
  });

  test('a payer whose open checkout sold out gets one mail, without a text that was typed', async () => {
    await save({ emailEnabled: false, emailAddress: null, customerEmails: true });

    await happen('checkout.expired', 1, ended('ada@example.com', 'expired'));
    await happen('checkout.expired', 1, ended('ada@example.com', 'paid_sold_out'));
    const others = await mailed();
    for (const payer of ['ada@example.com', 'ada@example.com', 'bob@example.com'])
      await recorded('checkout.expired', ended(payer, 'sold_out'));
    await recorded('checkout.completed', ended('bob@example.com', 'paid'));
    await relay({ db: given.db, seals: SEALS, clock, log }).runOnce(never);
    const titles = await mailed();

    expect(others).toEqual([]);
    expect(titles.toSorted()).toEqual([
      expect.stringContaining('Paid. Thank you!'),
      expect.stringContaining('Sold out'),
    ]);
    const soldOut = receiver.mails.find(({ to }) => to.includes('ada@example.com'));
    expect(soldOut?.parts['text/plain']).toContain('Please do not send anything');
    expect(soldOut?.parts['text/plain']).not.toContain('Order');
  });

  test('a payer whose checkout sold out gets a mail although another one of the link ended unpaid before', async () => {
    await save({ emailEnabled: false, emailAddress: null, customerEmails: true });

    await recorded('checkout.expired', ended('ada@example.com', 'expired'), 'evt_0');
    await recorded('checkout.expired', ended('ada@example.com', 'sold_out'));
    await relay({ db: given.db, seals: SEALS, clock, log }).runOnce(never);

    expect(await mailed()).toEqual([expect.stringContaining('Sold out')]);
  });

  test('a failed refund needs a decision, unless the merchant cancelled it', async () => {
    await happen('refund.failed');
    await happen('refund.created');
    await happen('refund.completed');
    const untold = await mailed();
    await happen('refund.failed', 1, { status: 'requires_action', failure_reason: 'reverted' });

    expect(untold).toEqual([]);
    expect(await mailed()).toEqual([expect.stringContaining('Decision needed: refund failed')]);
    const text = receiver.mails[0]?.parts['text/plain'] ?? '';
    expect(text).toContain('Nothing has been refunded: its transaction failed.');
    expect(text).toMatch(/https:\/\/pay\.example\/dashboard\/refunds\/re_[0-9A-Za-z]{24}/);
  });
});
