/** The node's answers were of two different blocks: it changed its mind in between. Ask again. */
export class ChainMoved extends Error {
  constructor(number: number) {
    super(`Block ${number} changed while it was being fetched.`);
    this.name = 'ChainMoved';
  }
}

/** An answer of a node that is true of no block. Asking again, or another node, may help. */
export class ContradictoryBlock extends Error {
  constructor(number: number, what: string) {
    super(`The node contradicts itself about block ${number}: ${what}.`);
    this.name = 'ContradictoryBlock';
  }
}
