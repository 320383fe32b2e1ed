import type { Value } from '#lib/expression.ts';
import type { Operator } from '../expressions/parse.ts';

/**
 * `left operator right`, exact while both are integers, except that a quotient has a fraction. Null where one is null
 * or no number, where it is divided by zero, and where the result is beyond all numbers.
 */
export function compute(operator: Operator, left: Value, right: Value): bigint | number | null {
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    return operator === '/' ? quotient(Number(left), Number(right)) : exact(operator, left, right);
  }
  if (!isNumber(left) || !isNumber(right)) return null;
  const [a, b] = [Number(left), Number(right)];
  switch (operator) {
    case '+':
      return finite(a + b);
    case '-':
      return finite(a - b);
    case '*':
      return finite(a * b);
    case '/':
      return quotient(a, b);
    case '%':
      return finite(a % b);
  }
}

/** The sign of a remainder is that of the dividend. */
function exact(operator: Exclude<Operator, '/'>, left: bigint, right: bigint): bigint | null {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '%':
      return right === 0n ? null : left % right;
  }
}

function quotient(left: number, right: number): number | null {
  return right === 0 ? null : finite(left / right);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}
