import type { LimitEngine, LimitStep } from './engine.ts'

/** What is limited besides concurrent requests, by how many of it are there at once. */
export type PlaceKind = 'background' | 'sessions'

/**
 * Takes one of the places that a key has, counted where its requests are: over all processes.
 *
 * @param key the key's id.
 * @param most how many there are.
 * @param name of the place: `OWNER.NUMBER`.
 * @returns gives it back, once; undefined where none is free.
 */
export async function takePlace(
  engine: LimitEngine,
  kind: PlaceKind,
  key: string,
  most: number,
  name: string,
): Promise<(() => void) | undefined> {
  // No key's id has a colon.
  const step = stepOf(`${kind}:${key}`, most, name, undefined)
  const { refused } = await engine.step(step)
  if (refused !== undefined) return undefined
  let isHeld = true
  return () => {
    if (isHeld) void engine.step(stepOf(step.key, most, undefined, name))
    isHeld = false
  }
}

const stepOf = (key: string, concurrent: number, enter: string | undefined, leave: string | undefined): LimitStep => ({
  ...{ key, limits: { concurrent }, requests: 0, tokens: 0, cost: 0 },
  ...{ enter, leave, enforced: enter !== undefined },
})
