import type { components } from '#generated/payments/types.ts';

type Schemas = components['schemas'];

/** Texts of the checkout and of mails to payers. The other languages have the same fields. */
export const ENGLISH = {
  /** Language of the document, and the one by which numbers, times and names of countries are written. */
  language: 'en',
  locale: 'en',
  page: {
    skip: 'Skip to the payment',
    testLabel: 'Test payment',
    test: 'Test payment.',
    testNote: 'The coins of this network are worth nothing.',
    direct: (isDeposit: boolean) =>
      `Payments go straight from your wallet to ${isDeposit ? 'an address that can only pay the merchant,' : 'the merchant'} and cannot be reversed.`,
    contact: (merchant: string) => `Contact ${merchant}:`,
    terms: 'Terms of sale',
    copy: 'Copy',
    copied: 'Copied',
    notCopied: 'Not copied',
    copyOf: (what: string) => `Copy ${what}`,
    tryAgain: 'Try again',
    optional: '(optional)',
  },
  offer: {
    paymentTo: (merchant: string) => `Payment to ${merchant}`,
    open: 'You choose the amount',
    network: (chain: string) => `on ${chain}`,
    total: 'Total',
    shipping: 'Shipping',
  },
  form: {
    /** For the text of a button that the merchant did not choose: on the offer, and where the payment is sent. */
    toPayment: 'Continue to payment',
    pay: 'Pay',
    payment: 'Payment',
    amount: 'Amount',
    between: (least: string, most: string) => `From ${least} to ${most}`,
    atLeast: (least: string) => `At least ${least}`,
    atMost: (most: string) => `At most ${most}`,
    tooLittle: (least: string) => `The minimum is ${least}.`,
    tooMuch: (most: string) => `The maximum is ${most}.`,
    amountForm: (symbol: string, decimals: number) =>
      `Enter an amount in ${symbol}, in digits, with at most ${decimals} decimals.`,
    ambiguous: (whole: string, fraction: string | undefined) =>
      fraction === undefined ? `Write ${whole}, without commas.` : `Write ${whole} or ${fraction}.`,
    scripts: 'To begin, please allow scripts on this page. They come from this site only.',
    payIn: (symbol: string, chain: string) =>
      `You pay in ${symbol} on ${chain}, from any wallet. Nothing is charged yet.`,
    choose: 'Please choose',
    address: 'Shipping address',
    name: 'Name',
    line1: 'Street and number',
    line2: 'Apartment, suite or floor',
    zip: 'Postal code',
    city: 'City',
    state: 'State or region',
    country: 'Country',
    free: 'free',
    days: (days: number) => (days === 0 ? 'same day' : days === 1 ? '1 day' : `${days} days`),
    /** Reason of a refused field; undefined for that of the server, which is in English. */
    refused: (_code: string | undefined): string | undefined => undefined,
  },
  closed: {
    inactive: {
      title: 'This payment link is not active',
      text: 'The merchant has deactivated it. Please contact them.',
    },
    used_up: {
      title: 'Sold out',
      text: 'This payment link has reached its maximum number of uses. Please contact the merchant.',
    },
    expired: {
      title: 'This payment link has expired',
      text: 'It was valid for a limited time. Please contact the merchant.',
    },
    reserved: {
      title: 'All are reserved right now',
      text: 'Every one that is left is reserved for another buyer, or is being paid. Please do not send anything yet. If a buyer does not pay in time, you can pay here.',
    },
  },
  ways: {
    wallet: 'Pay with your wallet',
    walletScripts: 'To pay from a wallet of this browser, please allow scripts on this page.',
    withWallet: (wallet: string) => `With ${wallet}`,
    yourWallet: 'your wallet',
    noWallet: 'No wallet was found in this browser.',
    useCode: 'Use the code or the address above, or open this page in your wallet.',
    openPage: 'Please open this page in your wallet.',
    apps: 'Pay with a wallet app',
    openWallet: 'Open in wallet',
    openIn: 'Open this page in your wallet:',
    nothingOpens: 'If nothing opens, open this page in your wallet:',
    notSent: 'Not sent yet?',
    twice: 'Please check your wallet first: a payment that is sent twice is paid twice.',
    walletOnly:
      'This checkout can be paid with the wallet button only. A transfer from elsewhere could not be told apart from other payments.',
    fromAnywhere: 'Send it from anywhere',
    fromWallet: 'Send it from your own wallet',
    showCode: 'Show the QR code',
    codeOf: (amount: string, chain: string, to: string) =>
      `QR code for wallets: send ${amount} on ${chain} to ${to}`,
    openApp: 'Open in a wallet app',
    to: 'To address',
    address: 'address',
    network: 'Network',
    onlyOn: (chain: string) => `${chain}, and no other`,
    onlyOnDeposit: (chain: string) => `Only on ${chain}. What is sent to it on another network may be lost.`,
    contract: (symbol: string) => `${symbol} contract`,
    contractCopied: 'contract',
    link: 'payment link',
    copyLink: 'Copy payment link',
    unreadable: 'Your wallet cannot read this code?',
    addressOnly: (symbol: string, chain: string, amount: string) =>
      `This one contains only the address. Choose ${symbol} on ${chain} in your wallet and enter ${amount} yourself.`,
    addressCode: (to: string) => `QR code of the address ${to}`,
    otherWallet: 'A payment from a different wallet is not added to the first one.',
    chooseAmount: 'You want to choose the amount yourself?',
    amountOpen: (symbol: string) =>
      `This code leaves the amount of ${symbol} open. Send the rest later, to the same address.`,
    openCodeOf: (symbol: string, chain: string, to: string) =>
      `QR code for wallets: send ${symbol} on ${chain} to ${to}, any amount`,
    openAppNoAmount: 'Open in a wallet app without an amount',
    amount: 'amount',
    anyAmount: 'Any amount counts, in one or several parts.',
    anyAmountNote: (merchant: string) =>
      `The address below belongs to this checkout alone, and can only pay ${merchant}. What arrives is counted, so fees of an exchange come on top.`,
    sameWallet: 'Send it from the same wallet as before.',
    exactly: 'Send exactly this amount, to the last digit.',
    exactlyWhy: 'The last digits tell your payment apart from others.',
    tail: (tail: string, most: string, least: string) =>
      `This is ${tail} more than the price. The difference is at most ${most}: 1 % of the price or ${least}, whichever is larger.`,
    fees: 'Fees of an exchange come on top.',
    noContracts: (symbol: string) => `${symbol} that an exchange or a contract sends may not be recognised.`,
  },
  time: {
    payBefore: 'Pay before',
    left: 'Time left',
    minutes: (minutes: number) => `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left to pay`,
    reserved: <Part>(time: Part): (string | Part)[] => ['Reserved for you until ', time, '.'],
    nextUse: <Part>(time: Part): (string | Part)[] => [' The next reservation ends at ', time, '.'],
    late: (chain: string) =>
      `Payments on ${chain} are detected with a delay. A payment that was sent is not lost: please do not send it again.`,
    cancel: (merchant: string) => `Cancel and go back to ${merchant}`,
    back: (merchant: string) => `Go back to ${merchant}`,
    manyRequests: (seconds: number) =>
      `There were too many requests from your network. Your payment is not affected; this page asks again in ${seconds} seconds.`,
    offline: 'The connection is interrupted. Your payment is not affected; this page keeps trying.',
    broken: 'The server reported an error. Your payment is not affected; this page keeps trying.',
  },
  titles: {
    sent: 'On its way',
    confirming: 'Confirming',
    partial: 'Not paid in full',
    failed: 'Failed',
    paid: 'Paid',
    paid_late: 'Paid late',
    sold_out: 'Sold out',
    paid_unproven: 'Being checked',
    dropped: 'Dropped',
    expired: 'Expired',
  },
  states: {
    sent: {
      title: 'Your payment is on its way',
      text: 'It has been sent and has not appeared on the network yet. You may close this page.',
    },
    stalled: {
      title: 'Please wait before you pay',
      text: 'This page shows where to pay as soon as payments are detected in time again.',
    },
    closing: {
      title: 'The time to pay has ended',
      text: 'Please do not send anything now. If you have paid, keep this page open: your payment may still be detected.',
    },
    confirmations: 'Confirmations',
    confirmed: (count: number, required: number) =>
      `${count} of ${required} ${required === 1 ? 'confirmation' : 'confirmations'}`,
    restAfterwards: 'If it is less than what is missing, this page asks for the rest afterwards.',
    restAnyWallet: (missing: string) => `Send the remaining ${missing} to the same address, from any wallet.`,
    restButton: (missing: string) => `Send the remaining ${missing} with the button below.`,
    restSameWallet: <Part>(missing: string, wallet: Part): (string | Part)[] => [
      ` Send the remaining ${missing} from the same wallet, `,
      wallet,
      '.',
    ],
  },
  outcomes: {
    waiting: (): Words => ({ title: 'Waiting for your payment', text: '' }),
    expired: ({ merchant }: PayerAmounts): Words => ({
      title: 'This checkout has expired',
      text: `No payment was matched to it in time. Please do not send anything now. If you have paid, do not pay again: ask ${merchant}, and name the transaction.`,
    }),
    confirming: ({ merchant, confirmations, isLate }: PayerAmounts): Words => ({
      title: 'Payment detected, confirming',
      text: isLate
        ? `It arrived after the deadline and has ${confirmations}. ${merchant} can see it. Please do not pay again.`
        : `It has ${confirmations}. You may close this page: the payment counts without it.`,
    }),
    partial: ({ merchant, received, price, missing, status }: PayerAmounts): Words =>
      status === 'active'
        ? { title: `${missing} still to pay`, text: `${received} of ${price} received.` }
        : {
            title: `${received} arrived, ${missing} is missing`,
            text: `This checkout has ended, so please do not send the rest. ${merchant} can see what arrived: ask them to let it count or to send it back.`,
          },
    paid: ({ merchant }: PayerAmounts): Words => ({
      title: 'Paid. Thank you!',
      text: `${merchant} has received your payment.`,
    }),
    overpaid: ({ merchant, tooMuch }: PayerAmounts): Words =>
      tooMuch === ''
        ? {
            title: 'Paid. Thank you!',
            text: `${merchant} has received your payment, and more than was asked for.`,
          }
        : {
            title: `Paid. ${tooMuch} too much`,
            text: `${merchant} has received your payment, and ${tooMuch} more than was asked for. They can see that and can send it back.`,
          },
    paid_late: ({ merchant, received }: PayerAmounts): Words => ({
      title: 'Your payment arrived late',
      text: `${received} arrived after this checkout had ended. ${merchant} can see it, and can let it count or send it back. Please do not pay again.`,
    }),
    sold_out: ({ merchant }: PayerAmounts): Words => ({
      title: 'Sold out',
      text: `The last one was bought while this checkout was open. Please do not send anything. If you have paid, do not pay again: ${merchant} sees what arrives.`,
    }),
    paid_sold_out: ({ merchant, received }: PayerAmounts): Words => ({
      title: 'Sold out before your payment arrived',
      text: `${received} arrived after the last one had been bought. ${merchant} can see it, and can accept it or send it back. Please do not pay again.`,
    }),
    paid_unproven: ({ merchant, received }: PayerAmounts): Words => ({
      title: 'Your payment arrived and is being checked',
      text: `${received} arrived, but could not be proven by its block. ${merchant} can see it, and can accept it or send it back. Please do not pay again.`,
    }),
    dropped: ({ merchant, status, canPay }: PayerAmounts): Words => {
      const rare = 'It had been confirmed and was dropped afterwards, which is very rare.';
      const title = 'The network dropped your payment';
      if (status === 'completed')
        return { title, text: `${rare} Please contact ${merchant} before you pay again.` };
      const back = `${rare} It may come back.`;
      if (status === 'expired')
        return { title, text: `${back} Please do not send anything now, and ask ${merchant}.` };
      const again = canPay ? ' If your wallet does not show it any more, you can pay again below.' : '';
      return { title, text: `${back}${again}` };
    },
    failed: ({ status, canPay }: PayerAmounts): Words => ({
      title: 'The payment failed',
      text: `Nothing was received.${
        status !== 'active'
          ? ' The time to pay has ended, so please do not send anything now.'
          : canPay
            ? ' You can try again below.'
            : ''
      }`,
    }),
  },
  failures: {
    reverted: 'The network executed the transaction, but it failed; the amount was not transferred.',
    cancelled: 'The transaction was cancelled in the wallet before the network executed it.',
    replaced: 'The wallet sent another transaction in its place.',
    not_found: 'The transaction never appeared on the network.',
    reorged: 'The network dropped the transaction after it had appeared.',
    simulated: 'The failure is simulated.',
  },
  sentBack: {
    returning: ({ merchant, returning }: PayerAmounts) => `${merchant} is sending ${returning} back.`,
    some: ({ sentBack }: PayerAmounts) => `${sentBack} was sent back.`,
    ended: ({ merchant, received, sentBack }: PayerAmounts): Words => ({
      title: `${sentBack} was sent back`,
      text: `${received} had arrived. ${merchant} has sent back ${sentBack} of it. Please do not pay again.`,
    }),
  },
  receipt: {
    title: 'Receipt',
    before: 'Your payment',
    paidTo: 'Paid to',
    for: 'For',
    order: 'Order',
    items: 'Items',
    shipping: 'Shipping',
    shipTo: 'Ship to',
    amount: 'Amount',
    price: 'Price',
    received: 'Received',
    tooMuch: 'Too much',
    sentBack: 'Sent back',
    network: 'Network',
    date: 'Date',
    from: 'From',
    to: 'To',
    transaction: 'Transaction',
    checkout: 'Checkout',
    back: (merchant: string) => `Back to ${merchant}`,
    print: 'Print receipt',
    newTab: '(opens the explorer in a new tab)',
  },
  candidates: {
    title: 'A payment arrived that could be yours',
    text: ({ amounts, isOnly, isOpen, merchant }: CandidateFacts) => {
      const proof = `do not pay again: prove it by signing with the wallet that sent it, or ask ${merchant}`;
      if (isOnly)
        return `A payment of ${amounts[0]} arrived that could be yours. If it is, ${proof} to assign it.`;
      const several = amounts.length > 1;
      const isOneAmount = new Set(amounts).size === 1;
      const arrived = !several
        ? `A payment of ${amounts[0]} arrived.`
        : isOneAmount
          ? `${amounts.length} payments of ${amounts[0]} arrived.`
          : `Payments of ${new Intl.ListFormat('en').format(amounts)} arrived.`;
      return `${arrived} If ${several ? 'one of them' : 'it'} was yours, ${proof}.${isOpen ? ' Others can pay as before.' : ''}`;
    },
    hint: 'To prove it, open this page in the wallet that sent it. Signing moves no money.',
    sign: (wallet: string) => `It was mine: sign with ${wallet}`,
  },
  report: {
    title: 'I have paid',
    label: 'Hash of the transaction, or the address that sent it',
    hint: 'Your wallet or exchange shows it. This looks for the payment and sends nothing.',
    look: 'Look for it',
    form: 'A hash is 0x followed by 64 hexadecimal digits, an address 0x followed by 40.',
    unreachable: 'The server could not be reached. Please try again.',
    attempts: 'Too many attempts. Please wait a minute and try again.',
    notNow: 'The server could not look for it. Please try again.',
    found: {
      counted: () => 'This payment is known and belongs to this checkout.',
      candidate: merchant =>
        `It arrived. To count, it has to be proved by signing with the wallet that sent it, or assigned by ${merchant}. Please do not pay again.`,
      other: merchant =>
        `This payment counts for another checkout. If that is a mistake, ask ${merchant}, and do not pay again.`,
      searching: () =>
        'The network is still being asked about it. Please try again in a minute. What was sent is not lost.',
      pending: () =>
        'It was sent and is not in a block yet. It appears on this page once it is. Please do not send it again.',
      failed: () =>
        'This transaction failed on the network, so it moved no money. If it was your payment, you can send it again.',
      no_payment: merchant =>
        `This transaction sends nothing to this checkout’s address that could pay it. Check its token and address, or ask ${merchant}.`,
      disputed: () =>
        'The servers of the network contradict each other about it, so nothing is recorded yet. Please try again in a few minutes, and do not send it again.',
      unknown: merchant =>
        `No such payment to this checkout’s address is known yet. Check its network and address, and try again in a few minutes, or ask ${merchant}.`,
    } satisfies Readonly<Record<Schemas['ReportedPayment']['found'], (merchant: string) => string>>,
  },
  refund: {
    where: 'Where should a refund go?',
    note: (merchant: string, chain: string) =>
      `${merchant} decides about refunds and sends them. State an address of your own on ${chain}. If you paid from an exchange, do not enter the address that sent the money: a refund to it may be lost.`,
    stated: 'Stated:',
    proofs: {
      signature: 'signed by your wallet',
      email: 'stated by the link from your mail',
      none: 'without a proof',
    },
    address: 'Your address',
    byLink: 'State by the link from your mail',
    sign: (wallet: string) => `Sign with ${wallet}`,
    noProof: 'State without a proof',
    mailHint:
      'Without a wallet that can sign, prove that it is you by a link to the e-mail address that you left before paying.',
    mail: 'Mail me a link',
    done: 'Your address is stated. The shop sees it.',
    mailed:
      'If you left an e-mail address before paying, a link is on its way to it. It works once, for 24 hours.',
    created: ({ merchant, amount, destination }: RefundNames): Words => ({
      title: `${amount} will be sent back`,
      text: `${merchant} has prepared a refund of ${amount} to ${destination}. Nothing was sent yet. If this is not your address, tell ${merchant} at once, because a transfer cannot be taken back.`,
    }),
    completed: ({ merchant, amount, destination }: RefundNames): Words => ({
      title: `${amount} was sent back`,
      text: `${merchant} has sent ${amount} to ${destination}, and the network has confirmed it.`,
    }),
    reorged: ({ merchant, amount }: RefundNames): Words => ({
      title: 'The network dropped your refund',
      text: `The refund of ${amount} had been confirmed and was dropped afterwards, which is very rare. It may come back. If it does not, ${merchant} can send it again.`,
    }),
    cancelled: ({ merchant, amount }: RefundNames): Words => ({
      title: 'Your refund was cancelled',
      text: `${merchant} has cancelled the refund of ${amount}. It was not seen on the network. If you still expect it, ask ${merchant}.`,
    }),
    expired: ({ merchant, amount }: RefundNames): Words => ({
      title: 'Your refund was not sent in time',
      text: `The refund of ${amount} has expired. It was not seen on the network. If you still expect it, ask ${merchant}.`,
    }),
  },
  wallet: {
    connect: (steps: number) => `Step 1 of ${steps}: allow the connection in your wallet.`,
    sign: 'Step 2 of 3: sign the text in your wallet. This moves no money.',
    confirm: (steps: number) => `Step ${steps} of ${steps}: confirm the payment in your wallet.`,
    looking: 'Sent. Looking for it on the network …',
    sent: 'Sent. You may close this page.',
    connectSender: 'Allow the connection in the wallet that sent the payment.',
    signText: 'Sign the text in your wallet. This moves no money.',
    proven: 'Signed. The payment counts for this checkout.',
    notProven: (account: string) =>
      `Signed. ${account} has sent none of these payments. Use the wallet that did.`,
    refused: 'The signature was not accepted. Nothing was sent; please try again.',
    unreachable: 'The server could not be reached. Nothing was sent; please try again.',
    manyRequests: (seconds: string) =>
      `There were too many requests from your network. Nothing was sent; please try again in ${seconds} seconds.`,
    broken: 'The server reported an error. Nothing was sent; please try again.',
    attempts: 'Too many attempts. Please wait a minute and try again.',
    gone: 'This checkout can no longer be opened. Nothing was sent.',
    closed: 'This checkout is no longer open. Nothing was sent.',
    noAccount: 'The wallet returned no account. Nothing was sent.',
    checkWallet:
      'Please check in your wallet that nothing was sent before you try again: a payment that is sent twice is paid twice.',
    checkSent: 'Please check in your wallet whether it was sent.',
    otherNetwork: (chain: string) =>
      `Your wallet is on another network. Choose ${chain} in it and try again. Nothing was sent.`,
    tooLittle: (held: string, chain: string, needed: string) =>
      `This account holds ${held} on ${chain}, and ${needed} are needed. Nothing was sent.`,
    declined: 'You declined in the wallet. Nothing was sent; you can try again.',
    unknownNetwork: (chain: string, id: number) =>
      `Your wallet does not know ${chain} (network id ${id}). Add it in the wallet’s settings and try again. Nothing was sent.`,
    asking: 'Your wallet is already asking you. Please open it.',
    failed: (reason: string) => `The wallet reported an error: ${reason}`,
    noReason: 'no reason',
  },
  notices: {
    notFound: {
      title: 'This page does not exist',
      text: 'Check the address for a missing character, or ask the sender for a new one. Nothing was paid.',
    },
    broken: {
      title: 'This page cannot be shown at the moment',
      text: 'Please try again in a minute. What you have paid already is safe: payments are read from the network itself.',
    },
    manyPages: (seconds: number): Words => ({
      title: 'Please wait a moment',
      text: `Too many pages were requested from your network. Please try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}. What you have paid already is safe: payments are read from the network itself.`,
    }),
    unavailable: {
      title: 'This cannot be paid at the moment',
      text: 'Payments in this token are no longer accepted. Please contact the merchant.',
    },
    closed: {
      title: 'This checkout can no longer be shown',
      text: 'Payments in its token are no longer accepted, so please send nothing. Earlier payments are on record; please contact the merchant about them.',
    },
  },
  mail: {
    test: (title: string) => `[Test] ${title}`,
    merchant: 'Merchant',
    product: 'Product',
    items: 'Items',
    shipping: 'Shipping',
    price: 'Price',
    received: 'Received',
    refund: 'Refund',
    to: 'To',
    chain: 'Network',
    reference: 'Order',
    transaction: 'Transaction hash',
    contact: 'Contact',
    website: 'Website',
    openCheckout: 'Open the checkout',
    linkTitle: (merchant: string) => `${merchant}: where a refund should go`,
    linkUntil: 'The link works until',
    linkText:
      'Open the link and state an address of your own. It works once. It was asked for on the page of your checkout. If you did not ask for it, ignore this mail, and do not pass the link on.',
    stateAddress: 'State the address',
  },
};

export type Texts = typeof ENGLISH;

/** Transfers that could be the payer's (Decision 342). */
interface CandidateFacts {
  /** Texts, at least one. */
  readonly amounts: readonly string[];
  /** True when there is one, and it could be of no other payer. */
  readonly isOnly: boolean;
  /** True when the checkout can still be paid. */
  readonly isOpen: boolean;
  readonly merchant: string;
}

/** Names and amounts in the words for a payer. Amounts are texts with the token's symbol. */
export interface PayerAmounts {
  readonly merchant: string;
  readonly price: string;
  readonly received: string;
  readonly missing: string;
  /** Amount beyond the price that is not sent back; empty for nothing. */
  readonly tooMuch: string;
  /** Empty when nothing was sent back. */
  readonly sentBack: string;
  /** Amount that open refunds are about to send back; empty for nothing. */
  readonly returning: string;
  /** `2 of 3 confirmations`. */
  readonly confirmations: string;
  readonly status: Schemas['SessionStatus'];
  /** True while the words stand above a way to pay. */
  readonly canPay: boolean;
  readonly isLate: boolean;
  readonly failureReason: Schemas['FailureReason'];
}

/** A state in words: a title and a sentence or more below it, which may be empty. */
export interface Words {
  readonly title: string;
  readonly text: string;
}

/** Names in the words about a refund. The amount is a text with the token's symbol. */
interface RefundNames {
  readonly merchant: string;
  readonly amount: string;
  readonly destination: string;
}
