import type { Action, Scene } from './action.ts';
import { KINDS, type Kind } from './kinds.ts';
import { nativeTransfer } from './native.ts';

/** The activity of one chain. What cannot be done at the moment becomes a native transfer. */
export interface Mix {
  /** Every kind once, in small groups. */
  showing(groupSize: number): Generator<Action[]>;
  /** So many actions, drawn by the weights of their kinds. */
  more(count: number): Action[];
}

/** The kinds of a chain, weighted for even or odd ones, playing in its scene. */
export function activityMix(scene: Scene, { isOdd }: { isOdd: boolean }): Mix {
  const kinds: Kind[] = Object.values(KINDS);
  const weighted = kinds.map(({ play, weights: [even, odd] }) => ({ play, weight: isOdd ? odd : even }));
  const hundredths = Math.round(weighted.reduce((sum, { weight }) => sum + weight, 0) * 100);

  function drawn(): Action {
    let rest = scene.random.integer(1, hundredths) / 100;
    const kind = weighted.find(({ weight }) => {
      rest -= weight;
      return rest <= 0;
    });
    return kind?.play(scene) ?? nativeTransfer(scene);
  }

  return {
    *showing(groupSize) {
      const shown = weighted.filter(({ weight }) => weight > 0);
      for (let at = 0; at < shown.length; at += groupSize) {
        yield shown.slice(at, at + groupSize).map(({ play }) => play(scene) ?? nativeTransfer(scene));
      }
    },
    more: count => Array.from({ length: count }, drawn),
  };
}
