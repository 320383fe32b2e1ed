import { BaseError } from 'viem';

/** A node answers, and lacks a block or its state. Another one may have it. */
export class MissingState extends BaseError {
  override readonly name = 'MissingState';

  constructor(host: string, block: number) {
    super(`${host} lacks block ${block}, or its state.`);
  }
}
