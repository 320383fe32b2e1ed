import type { Texts } from './en.ts';

/** German texts of the checkout and of mails to payers. */
export const GERMAN: Texts = {
  language: 'de',
  locale: 'de',
  page: {
    skip: 'Zur Zahlung springen',
    testLabel: 'Testzahlung',
    test: 'Testzahlung.',
    testNote: 'Die Münzen dieses Netzwerks sind nichts wert.',
    direct: isDeposit =>
      isDeposit
        ? 'Zahlungen gehen direkt aus Ihrer Wallet an eine Adresse, die nur an den Händler auszahlen kann, und können nicht zurückgeholt werden.'
        : 'Zahlungen gehen direkt aus Ihrer Wallet an den Händler und können nicht zurückgeholt werden.',
    contact: merchant => `Kontakt zu ${merchant}:`,
    terms: 'Geschäftsbedingungen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    notCopied: 'Nicht kopiert',
    copyOf: what => `${what} kopieren`,
    tryAgain: 'Erneut versuchen',
    optional: '(freiwillig)',
  },
  offer: {
    paymentTo: merchant => `Zahlung an ${merchant}`,
    open: 'Sie wählen den Betrag',
    network: chain => `auf ${chain}`,
    total: 'Gesamt',
    shipping: 'Versand',
  },
  form: {
    toPayment: 'Weiter zur Zahlung',
    pay: 'Zahlen',
    payment: 'Zahlung',
    amount: 'Betrag',
    between: (least, most) => `Von ${least} bis ${most}`,
    atLeast: least => `Mindestens ${least}`,
    atMost: most => `Höchstens ${most}`,
    tooLittle: least => `Der Mindestbetrag ist ${least}.`,
    tooMuch: most => `Der Höchstbetrag ist ${most}.`,
    amountForm: (symbol, decimals) =>
      `Geben Sie einen Betrag in ${symbol} in Ziffern ein, mit höchstens ${decimals} Nachkommastellen.`,
    ambiguous: (whole, fraction) =>
      fraction === undefined
        ? `Schreiben Sie ${whole} ohne Trennzeichen.`
        : `Schreiben Sie ${whole} oder ${fraction}.`,
    scripts: 'Bitte erlauben Sie Skripte auf dieser Seite, um zu beginnen. Sie kommen nur von dieser Seite.',
    payIn: (symbol, chain) =>
      `Sie zahlen in ${symbol} auf ${chain}, aus einer beliebigen Wallet. Noch wird nichts abgebucht.`,
    choose: 'Bitte wählen',
    address: 'Lieferadresse',
    name: 'Name',
    line1: 'Straße und Hausnummer',
    line2: 'Adresszusatz',
    zip: 'Postleitzahl',
    city: 'Ort',
    state: 'Bundesland oder Region',
    country: 'Land',
    free: 'kostenlos',
    days: days => (days === 0 ? 'am selben Tag' : days === 1 ? '1 Tag' : `${days} Tage`),
    refused: code =>
      code === 'missing_required_field'
        ? 'Bitte füllen Sie dieses Feld aus.'
        : 'Bitte prüfen Sie diese Angabe.',
  },
  closed: {
    inactive: {
      title: 'Dieser Zahlungslink ist nicht aktiv',
      text: 'Der Händler hat ihn deaktiviert. Bitte wenden Sie sich an ihn.',
    },
    used_up: {
      title: 'Ausverkauft',
      text: 'Dieser Zahlungslink wurde so oft benutzt, wie er gilt. Bitte wenden Sie sich an den Händler.',
    },
    expired: {
      title: 'Dieser Zahlungslink ist abgelaufen',
      text: 'Er galt für eine begrenzte Zeit. Bitte wenden Sie sich an den Händler.',
    },
    reserved: {
      title: 'Im Moment ist alles reserviert',
      text: 'Alles, was noch da ist, ist für andere reserviert oder wird gerade bezahlt. Bitte senden Sie noch nichts. Wenn jemand nicht rechtzeitig zahlt, können Sie hier zahlen.',
    },
  },
  ways: {
    wallet: 'Mit Ihrer Wallet zahlen',
    walletScripts:
      'Um mit einer Wallet dieses Browsers zu zahlen, erlauben Sie bitte Skripte auf dieser Seite.',
    withWallet: wallet => `Mit ${wallet}`,
    yourWallet: 'Ihrer Wallet',
    noWallet: 'In diesem Browser wurde keine Wallet gefunden.',
    useCode: 'Nutzen Sie den Code oder die Adresse oben, oder öffnen Sie diese Seite in Ihrer Wallet.',
    openPage: 'Bitte öffnen Sie diese Seite in Ihrer Wallet.',
    apps: 'Mit einer Wallet-App zahlen',
    openWallet: 'In Wallet öffnen',
    openIn: 'Öffnen Sie diese Seite in Ihrer Wallet:',
    nothingOpens: 'Falls sich nichts öffnet, öffnen Sie diese Seite in Ihrer Wallet:',
    notSent: 'Noch nicht gesendet?',
    twice:
      'Bitte sehen Sie erst in Ihrer Wallet nach: Eine Zahlung, die zweimal gesendet wird, ist zweimal bezahlt.',
    walletOnly:
      'Diese Zahlung geht nur mit dem Wallet-Knopf. Eine Überweisung von anderswo ließe sich nicht von anderen Zahlungen unterscheiden.',
    fromAnywhere: 'Von beliebiger Stelle senden',
    fromWallet: 'Aus Ihrer eigenen Wallet senden',
    showCode: 'QR-Code anzeigen',
    codeOf: (amount, chain, to) => `QR-Code für Wallets: ${amount} auf ${chain} an ${to} senden`,
    openApp: 'In einer Wallet-App öffnen',
    to: 'An Adresse',
    address: 'Adresse',
    network: 'Netzwerk',
    onlyOn: chain => `${chain} und kein anderes`,
    onlyOnDeposit: chain =>
      `Nur auf ${chain}. Was auf einem anderen Netzwerk an sie gesendet wird, kann verloren sein.`,
    contract: symbol => `Vertrag von ${symbol}`,
    contractCopied: 'Vertrag',
    link: 'Zahlungslink',
    copyLink: 'Zahlungslink kopieren',
    unreadable: 'Ihre Wallet kann diesen Code nicht lesen?',
    addressOnly: (symbol, chain, amount) =>
      `Dieser enthält nur die Adresse. Wählen Sie in Ihrer Wallet ${symbol} auf ${chain} und geben Sie ${amount} selbst ein.`,
    addressCode: to => `QR-Code der Adresse ${to}`,
    otherWallet: 'Eine Zahlung aus einer anderen Wallet wird nicht zur ersten gezählt.',
    chooseAmount: 'Sie möchten den Betrag selbst wählen?',
    amountOpen: symbol =>
      `Dieser Code lässt den Betrag in ${symbol} offen. Senden Sie den Rest später an dieselbe Adresse.`,
    openCodeOf: (symbol, chain, to) =>
      `QR-Code für Wallets: ${symbol} auf ${chain} an ${to} senden, Betrag beliebig`,
    openAppNoAmount: 'Ohne Betrag in einer Wallet-App öffnen',
    amount: 'Betrag',
    anyAmount: 'Jeder Betrag zählt, in einem oder mehreren Teilen.',
    anyAmountNote: merchant =>
      `Die Adresse unten gehört nur zu dieser Zahlung und kann nur an ${merchant} auszahlen. Gezählt wird, was ankommt; Gebühren einer Börse kommen hinzu.`,
    sameWallet: 'Senden Sie es aus derselben Wallet wie zuvor.',
    exactly: 'Senden Sie genau diesen Betrag, bis zur letzten Ziffer.',
    exactlyWhy: 'Die letzten Ziffern unterscheiden Ihre Zahlung von anderen.',
    tail: (tail, most, least) =>
      `Das sind ${tail} mehr als der Preis. Der Unterschied beträgt höchstens ${most}: 1 % des Preises oder ${least}, je nachdem, was größer ist.`,
    fees: 'Gebühren einer Börse kommen hinzu.',
    noContracts: symbol =>
      `${symbol}, die eine Börse oder ein Vertrag sendet, werden möglicherweise nicht erkannt.`,
  },
  time: {
    payBefore: 'Zu zahlen bis',
    left: 'Verbleibende Zeit',
    minutes: minutes => `Noch ${minutes} ${minutes === 1 ? 'Minute' : 'Minuten'} zum Zahlen`,
    reserved: time => ['Für Sie reserviert bis ', time, '.'],
    nextUse: time => [' Die nächste Reservierung endet am ', time, '.'],
    late: chain =>
      `Zahlungen auf ${chain} werden mit Verzögerung erkannt. Eine gesendete Zahlung ist nicht verloren: Bitte senden Sie sie nicht noch einmal.`,
    cancel: merchant => `Abbrechen und zurück zu ${merchant}`,
    back: merchant => `Zurück zu ${merchant}`,
    manyRequests: seconds =>
      `Aus Ihrem Netzwerk kamen zu viele Anfragen. Ihre Zahlung ist nicht betroffen; diese Seite fragt in ${seconds} Sekunden erneut.`,
    offline:
      'Die Verbindung ist unterbrochen. Ihre Zahlung ist nicht betroffen; diese Seite versucht es weiter.',
    broken:
      'Der Server meldet einen Fehler. Ihre Zahlung ist nicht betroffen; diese Seite versucht es weiter.',
  },
  titles: {
    sent: 'Unterwegs',
    confirming: 'Wird bestätigt',
    partial: 'Nicht voll bezahlt',
    failed: 'Fehlgeschlagen',
    paid: 'Bezahlt',
    paid_late: 'Zu spät bezahlt',
    sold_out: 'Ausverkauft',
    paid_unproven: 'Wird geprüft',
    dropped: 'Verworfen',
    expired: 'Abgelaufen',
  },
  states: {
    sent: {
      title: 'Ihre Zahlung ist unterwegs',
      text: 'Sie wurde gesendet und ist im Netzwerk noch nicht zu sehen. Sie können diese Seite schließen.',
    },
    stalled: {
      title: 'Bitte warten Sie, bevor Sie zahlen',
      text: 'Diese Seite zeigt, wohin Sie zahlen, sobald Zahlungen wieder rechtzeitig erkannt werden.',
    },
    closing: {
      title: 'Die Zeit zum Zahlen ist vorbei',
      text: 'Bitte senden Sie jetzt nichts mehr. Wenn Sie gezahlt haben, lassen Sie diese Seite offen: Ihre Zahlung kann noch erkannt werden.',
    },
    confirmations: 'Bestätigungen',
    confirmed: (count, required) =>
      `${count} von ${required} ${required === 1 ? 'Bestätigung' : 'Bestätigungen'}`,
    restAfterwards: 'Wenn es weniger ist, als fehlt, fragt diese Seite danach nach dem Rest.',
    restAnyWallet: missing =>
      `Senden Sie die fehlenden ${missing} an dieselbe Adresse, aus einer beliebigen Wallet.`,
    restButton: missing => `Senden Sie die fehlenden ${missing} mit dem Knopf unten.`,
    restSameWallet: (missing, wallet) => [
      ` Senden Sie die fehlenden ${missing} aus derselben Wallet, `,
      wallet,
      '.',
    ],
  },
  outcomes: {
    waiting: () => ({ title: 'Warten auf Ihre Zahlung', text: '' }),
    expired: ({ merchant }) => ({
      title: 'Die Zeit für diese Zahlung ist abgelaufen',
      text: `Rechtzeitig konnte ihr keine Zahlung zugeordnet werden. Bitte senden Sie jetzt nichts. Wenn Sie gezahlt haben, zahlen Sie nicht noch einmal: Fragen Sie ${merchant} und nennen Sie die Transaktion.`,
    }),
    confirming: ({ merchant, confirmations, isLate }) => ({
      title: 'Zahlung erkannt, wird bestätigt',
      text: isLate
        ? `Sie kam nach Ablauf der Zeit an und hat ${confirmations}. ${merchant} sieht sie. Bitte zahlen Sie nicht noch einmal.`
        : `Sie hat ${confirmations}. Sie können diese Seite schließen: Die Zahlung zählt auch ohne sie.`,
    }),
    partial: ({ merchant, received, price, missing, status }) =>
      status === 'active'
        ? { title: `Noch ${missing} zu zahlen`, text: `${received} von ${price} sind angekommen.` }
        : {
            title: `${received} angekommen, es fehlen ${missing}`,
            text: `Die Zeit ist abgelaufen, bitte senden Sie den Rest nicht mehr. ${merchant} sieht, was ankam: Bitten Sie darum, es gelten zu lassen oder zurückzusenden.`,
          },
    paid: ({ merchant }) => ({
      title: 'Bezahlt. Vielen Dank!',
      text: `${merchant} hat Ihre Zahlung erhalten.`,
    }),
    overpaid: ({ merchant, tooMuch }) =>
      tooMuch === ''
        ? {
            title: 'Bezahlt. Vielen Dank!',
            text: `${merchant} hat Ihre Zahlung erhalten, und mehr als verlangt.`,
          }
        : {
            title: `Bezahlt. ${tooMuch} zu viel`,
            text: `${merchant} hat Ihre Zahlung erhalten, und ${tooMuch} mehr als verlangt. Der Händler sieht das und kann es zurücksenden.`,
          },
    paid_late: ({ merchant, received }) => ({
      title: 'Ihre Zahlung kam zu spät an',
      text: `${received} kamen nach Ablauf der Zeit an. ${merchant} sieht sie und kann sie gelten lassen oder zurücksenden. Bitte zahlen Sie nicht noch einmal.`,
    }),
    sold_out: ({ merchant }) => ({
      title: 'Ausverkauft',
      text: `Das letzte Stück wurde gekauft, während diese Seite offen war. Bitte senden Sie nichts. Wenn Sie gezahlt haben, zahlen Sie nicht noch einmal: ${merchant} sieht, was ankommt.`,
    }),
    paid_sold_out: ({ merchant, received }) => ({
      title: 'Ausverkauft, bevor Ihre Zahlung ankam',
      text: `${received} kamen an, nachdem das letzte Stück gekauft war. ${merchant} sieht sie und kann sie annehmen oder zurücksenden. Bitte zahlen Sie nicht noch einmal.`,
    }),
    paid_unproven: ({ merchant, received }) => ({
      title: 'Ihre Zahlung ist angekommen und wird geprüft',
      text: `${received} sind angekommen, konnten aber durch ihren Block nicht bewiesen werden. ${merchant} sieht sie und kann sie annehmen oder zurücksenden. Bitte zahlen Sie nicht noch einmal.`,
    }),
    dropped: ({ merchant, status, canPay }) => {
      const title = 'Das Netzwerk hat Ihre Zahlung verworfen';
      const rare = 'Sie war bestätigt und wurde danach verworfen, was sehr selten ist.';
      if (status === 'completed')
        return { title, text: `${rare} Bitte wenden Sie sich an ${merchant}, bevor Sie noch einmal zahlen.` };
      const back = `${rare} Sie kann wiederkommen.`;
      if (status === 'expired')
        return { title, text: `${back} Bitte senden Sie jetzt nichts und fragen Sie ${merchant}.` };
      const again = canPay
        ? ' Wenn Ihre Wallet sie nicht mehr zeigt, können Sie unten noch einmal zahlen.'
        : '';
      return { title, text: `${back}${again}` };
    },
    failed: ({ status, canPay }) => ({
      title: 'Die Zahlung ist fehlgeschlagen',
      text: `Es ist nichts angekommen.${
        status !== 'active'
          ? ' Die Zeit zum Zahlen ist vorbei, bitte senden Sie jetzt nichts.'
          : canPay
            ? ' Sie können es unten noch einmal versuchen.'
            : ''
      }`,
    }),
  },
  failures: {
    reverted:
      'Das Netzwerk hat die Transaktion ausgeführt, aber sie schlug fehl; der Betrag wurde nicht übertragen.',
    cancelled: 'Die Transaktion wurde in der Wallet abgebrochen, bevor das Netzwerk sie ausführte.',
    replaced: 'Die Wallet hat an ihrer Stelle eine andere Transaktion gesendet.',
    not_found: 'Die Transaktion ist im Netzwerk nie erschienen.',
    reorged: 'Das Netzwerk hat die Transaktion verworfen, nachdem sie erschienen war.',
    simulated: 'Der Fehlschlag ist simuliert.',
  },
  sentBack: {
    returning: ({ merchant, returning }) => `${merchant} sendet ${returning} zurück.`,
    some: ({ sentBack }) => `${sentBack} wurden zurückgesendet.`,
    ended: ({ merchant, received, sentBack }) => ({
      title: `${sentBack} wurden zurückgesendet`,
      text: `${received} waren angekommen. ${merchant} hat davon ${sentBack} zurückgesendet. Bitte zahlen Sie nicht noch einmal.`,
    }),
  },
  receipt: {
    title: 'Beleg',
    before: 'Ihre Zahlung',
    paidTo: 'Bezahlt an',
    for: 'Für',
    order: 'Bestellung',
    items: 'Artikel',
    shipping: 'Versand',
    shipTo: 'Lieferung an',
    amount: 'Betrag',
    price: 'Preis',
    received: 'Erhalten',
    tooMuch: 'Zu viel',
    sentBack: 'Zurückgesendet',
    network: 'Netzwerk',
    date: 'Datum',
    from: 'Von',
    to: 'An',
    transaction: 'Transaktion',
    checkout: 'Zahlung',
    back: merchant => `Zurück zu ${merchant}`,
    print: 'Beleg drucken',
    newTab: '(öffnet den Explorer in einem neuen Tab)',
  },
  candidates: {
    title: 'Eine Zahlung ist angekommen, die Ihre sein könnte',
    text: ({ amounts, isOnly, isOpen, merchant }) => {
      const proof = `zahlen Sie nicht noch einmal: Beweisen Sie es durch eine Unterschrift der Wallet, die sie gesendet hat, oder fragen Sie ${merchant}`;
      if (isOnly)
        return `Eine Zahlung von ${amounts[0]} ist angekommen, die Ihre sein könnte. Wenn ja, ${proof}.`;
      const several = amounts.length > 1;
      const isOneAmount = new Set(amounts).size === 1;
      const arrived = !several
        ? `Eine Zahlung von ${amounts[0]} ist angekommen.`
        : isOneAmount
          ? `${amounts.length} Zahlungen von ${amounts[0]} sind angekommen.`
          : `Zahlungen von ${new Intl.ListFormat('de').format(amounts)} sind angekommen.`;
      return `${arrived} Wenn ${several ? 'eine davon' : 'sie'} von Ihnen war, ${proof}.${isOpen ? ' Alle anderen können wie bisher zahlen.' : ''}`;
    },
    hint: 'Öffnen Sie zum Beweis diese Seite in der Wallet, die sie gesendet hat. Eine Unterschrift bewegt kein Geld.',
    sign: wallet => `Sie war von mir: mit ${wallet} unterschreiben`,
  },
  report: {
    title: 'Ich habe bezahlt',
    label: 'Hash der Transaktion oder Adresse, die gesendet hat',
    hint: 'Ihre Wallet oder Börse zeigt das an. Hiermit wird die Zahlung gesucht und nichts gesendet.',
    look: 'Danach suchen',
    form: 'Ein Hash ist 0x mit 64 Hexadezimalziffern, eine Adresse 0x mit 40.',
    unreachable: 'Der Server war nicht erreichbar. Bitte versuchen Sie es noch einmal.',
    attempts: 'Zu viele Versuche. Bitte warten Sie eine Minute und versuchen Sie es noch einmal.',
    notNow: 'Der Server konnte nicht danach suchen. Bitte versuchen Sie es noch einmal.',
    found: {
      counted: () => 'Diese Zahlung ist bekannt und gehört hierher.',
      candidate: merchant =>
        `Sie ist angekommen. Damit sie zählt, muss die Wallet unterschreiben, die sie gesendet hat, oder ${merchant} sie zuordnen. Bitte zahlen Sie nicht noch einmal.`,
      other: merchant =>
        `Diese Zahlung zählt für etwas anderes. Wenn das ein Irrtum ist, fragen Sie ${merchant}, und zahlen Sie nicht noch einmal.`,
      searching: () =>
        'Das Netzwerk wird noch danach gefragt. Bitte versuchen Sie es in einer Minute noch einmal. Was gesendet wurde, ist nicht verloren.',
      pending: () =>
        'Sie wurde gesendet und ist noch in keinem Block. Diese Seite zeigt sie, sobald es so weit ist. Bitte senden Sie sie nicht noch einmal.',
      failed: () =>
        'Diese Transaktion ist im Netzwerk fehlgeschlagen und hat kein Geld bewegt. Wenn es Ihre Zahlung war, können Sie sie noch einmal senden.',
      no_payment: merchant =>
        `Diese Transaktion sendet nichts an die Adresse dieser Zahlung, womit sie bezahlt wäre. Prüfen Sie Token und Adresse, oder fragen Sie ${merchant}.`,
      disputed: () =>
        'Die Server des Netzwerks widersprechen sich darüber, deshalb ist noch nichts vermerkt. Bitte versuchen Sie es in einigen Minuten noch einmal und senden Sie nicht erneut.',
      unknown: merchant =>
        `Eine solche Zahlung an diese Adresse ist noch nicht bekannt. Prüfen Sie Netzwerk und Adresse und versuchen Sie es in einigen Minuten noch einmal, oder fragen Sie ${merchant}.`,
    },
  },
  refund: {
    where: 'Wohin soll eine Erstattung gehen?',
    note: (merchant, chain) =>
      `${merchant} entscheidet über Erstattungen und sendet sie. Nennen Sie eine eigene Adresse auf ${chain}. Wenn Sie von einer Börse gezahlt haben, nennen Sie nicht die Adresse, die gesendet hat: Eine Erstattung dorthin kann verloren sein.`,
    stated: 'Angegeben:',
    proofs: {
      signature: 'von Ihrer Wallet unterschrieben',
      email: 'über den Link aus Ihrer E-Mail angegeben',
      none: 'ohne Beweis',
    },
    address: 'Ihre Adresse',
    byLink: 'Über den Link aus Ihrer E-Mail angeben',
    sign: wallet => `Mit ${wallet} unterschreiben`,
    noProof: 'Ohne Beweis angeben',
    mailHint:
      'Ohne eine Wallet, die unterschreiben kann, beweisen Sie sich durch einen Link an die E-Mail-Adresse, die Sie vor der Zahlung angegeben haben.',
    mail: 'Link per E-Mail senden',
    done: 'Ihre Adresse ist angegeben. Der Händler sieht sie.',
    mailed:
      'Wenn Sie vor der Zahlung eine E-Mail-Adresse angegeben haben, ist ein Link dorthin unterwegs. Er gilt einmal, 24 Stunden lang.',
    created: ({ merchant, amount, destination }) => ({
      title: `${amount} werden zurückgesendet`,
      text: `${merchant} hat eine Erstattung von ${amount} an ${destination} vorbereitet. Noch ist nichts gesendet. Wenn das nicht Ihre Adresse ist, sagen Sie ${merchant} sofort Bescheid, denn eine Überweisung lässt sich nicht zurückholen.`,
    }),
    completed: ({ merchant, amount, destination }) => ({
      title: `${amount} wurden zurückgesendet`,
      text: `${merchant} hat ${amount} an ${destination} gesendet, und das Netzwerk hat es bestätigt.`,
    }),
    reorged: ({ merchant, amount }) => ({
      title: 'Das Netzwerk hat Ihre Erstattung verworfen',
      text: `Die Erstattung von ${amount} war bestätigt und wurde danach verworfen, was sehr selten ist. Sie kann wiederkommen. Wenn nicht, kann ${merchant} sie noch einmal senden.`,
    }),
    cancelled: ({ merchant, amount }) => ({
      title: 'Ihre Erstattung wurde abgesagt',
      text: `${merchant} hat die Erstattung von ${amount} abgesagt. Sie war im Netzwerk nicht zu sehen. Wenn Sie sie noch erwarten, fragen Sie ${merchant}.`,
    }),
    expired: ({ merchant, amount }) => ({
      title: 'Ihre Erstattung wurde nicht rechtzeitig gesendet',
      text: `Die Erstattung von ${amount} ist abgelaufen. Sie war im Netzwerk nicht zu sehen. Wenn Sie sie noch erwarten, fragen Sie ${merchant}.`,
    }),
  },
  wallet: {
    connect: steps => `Schritt 1 von ${steps}: Erlauben Sie die Verbindung in Ihrer Wallet.`,
    sign: 'Schritt 2 von 3: Unterschreiben Sie den Text in Ihrer Wallet. Das bewegt kein Geld.',
    confirm: steps => `Schritt ${steps} von ${steps}: Bestätigen Sie die Zahlung in Ihrer Wallet.`,
    looking: 'Gesendet. Die Zahlung wird im Netzwerk gesucht …',
    sent: 'Gesendet. Sie können diese Seite schließen.',
    connectSender: 'Erlauben Sie die Verbindung in der Wallet, die die Zahlung gesendet hat.',
    signText: 'Unterschreiben Sie den Text in Ihrer Wallet. Das bewegt kein Geld.',
    proven: 'Unterschrieben. Die Zahlung zählt.',
    notProven: account =>
      `Unterschrieben. ${account} hat keine dieser Zahlungen gesendet. Nehmen Sie die Wallet, die es war.`,
    refused:
      'Die Unterschrift wurde nicht angenommen. Es wurde nichts gesendet; bitte versuchen Sie es noch einmal.',
    unreachable:
      'Der Server war nicht erreichbar. Es wurde nichts gesendet; bitte versuchen Sie es noch einmal.',
    manyRequests: seconds =>
      `Aus Ihrem Netzwerk kamen zu viele Anfragen. Es wurde nichts gesendet; bitte versuchen Sie es in ${seconds} Sekunden noch einmal.`,
    broken: 'Der Server meldet einen Fehler. Es wurde nichts gesendet; bitte versuchen Sie es noch einmal.',
    attempts: 'Zu viele Versuche. Bitte warten Sie eine Minute und versuchen Sie es noch einmal.',
    gone: 'Diese Zahlung kann nicht mehr geöffnet werden. Es wurde nichts gesendet.',
    closed: 'Die Zeit für diese Zahlung ist vorbei. Es wurde nichts gesendet.',
    noAccount: 'Die Wallet hat kein Konto genannt. Es wurde nichts gesendet.',
    checkWallet:
      'Bitte sehen Sie in Ihrer Wallet nach, dass nichts gesendet wurde, bevor Sie es noch einmal versuchen: Eine Zahlung, die zweimal gesendet wird, ist zweimal bezahlt.',
    checkSent: 'Bitte sehen Sie in Ihrer Wallet nach, ob es gesendet wurde.',
    otherNetwork: chain =>
      `Ihre Wallet ist auf einem anderen Netzwerk. Wählen Sie darin ${chain} und versuchen Sie es noch einmal. Es wurde nichts gesendet.`,
    tooLittle: (held, chain, needed) =>
      `Dieses Konto hat ${held} auf ${chain}, nötig sind ${needed}. Es wurde nichts gesendet.`,
    declined:
      'Sie haben in der Wallet abgelehnt. Es wurde nichts gesendet; Sie können es noch einmal versuchen.',
    unknownNetwork: (chain, id) =>
      `Ihre Wallet kennt ${chain} nicht (Netzwerk-ID ${id}). Fügen Sie es in den Einstellungen der Wallet hinzu und versuchen Sie es noch einmal. Es wurde nichts gesendet.`,
    asking: 'Ihre Wallet fragt Sie bereits. Bitte öffnen Sie sie.',
    failed: reason => `Die Wallet meldet einen Fehler: ${reason}`,
    noReason: 'kein Grund',
  },
  notices: {
    notFound: {
      title: 'Diese Seite gibt es nicht',
      text: 'Prüfen Sie, ob in der Adresse ein Zeichen fehlt, oder fragen Sie nach einer neuen. Es wurde nichts bezahlt.',
    },
    broken: {
      title: 'Diese Seite kann gerade nicht angezeigt werden',
      text: 'Bitte versuchen Sie es in einer Minute noch einmal. Was Sie schon bezahlt haben, ist sicher: Zahlungen werden aus dem Netzwerk selbst gelesen.',
    },
    manyPages: seconds => ({
      title: 'Bitte warten Sie einen Moment',
      text: `Aus Ihrem Netzwerk wurden zu viele Seiten angefragt. Bitte versuchen Sie es in ${seconds} ${seconds === 1 ? 'Sekunde' : 'Sekunden'} noch einmal. Was Sie schon bezahlt haben, ist sicher: Zahlungen werden aus dem Netzwerk selbst gelesen.`,
    }),
    unavailable: {
      title: 'Hier kann gerade nicht gezahlt werden',
      text: 'Zahlungen in diesem Token werden nicht mehr angenommen. Bitte wenden Sie sich an den Händler.',
    },
    closed: {
      title: 'Diese Zahlung kann nicht mehr angezeigt werden',
      text: 'Zahlungen in ihrem Token werden nicht mehr angenommen, bitte senden Sie nichts. Frühere Zahlungen sind vermerkt; bitte fragen Sie den Händler danach.',
    },
  },
  mail: {
    test: title => `[Test] ${title}`,
    merchant: 'Händler',
    product: 'Produkt',
    items: 'Artikel',
    shipping: 'Versand',
    price: 'Preis',
    received: 'Erhalten',
    refund: 'Erstattung',
    to: 'An',
    chain: 'Netzwerk',
    reference: 'Bestellung',
    transaction: 'Hash der Transaktion',
    contact: 'Kontakt',
    website: 'Website',
    openCheckout: 'Zahlung öffnen',
    linkTitle: merchant => `${merchant}: wohin eine Erstattung gehen soll`,
    linkUntil: 'Der Link gilt bis',
    linkText:
      'Öffnen Sie den Link und geben Sie eine eigene Adresse an. Er gilt einmal. Er wurde auf der Seite Ihrer Zahlung angefordert. Wenn nicht von Ihnen, ignorieren Sie diese E-Mail und geben Sie den Link nicht weiter.',
    stateAddress: 'Adresse angeben',
  },
};
