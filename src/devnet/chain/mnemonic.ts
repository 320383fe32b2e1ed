/** Publicly known test mnemonic. Its accounts hold nothing of value on any chain. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** Number of accounts that every embedded chain funds and unlocks for the activity. */
export const ACCOUNT_COUNT = 24;
