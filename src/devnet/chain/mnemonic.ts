/** Publicly known test words: the accounts of the embedded chains hold nothing of value anywhere. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** Accounts that every embedded chain funds and unlocks for the activity. */
export const ACCOUNT_COUNT = 24;
