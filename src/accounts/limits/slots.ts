import type { LimitEngine, LimitStep } from './engine.ts'

/** Kinds of work, apart from concurrent requests, with a limited number of slots per key. */
export type SlotKind = 'background' | 'sessions'

/**
 * Takes one of a key's slots, counted across all processes.
 *
 * @param key key id.
 * @param most number of slots.
 * @param name unique name of the slot: `OWNER.NUMBER`.
 * @returns a function that releases the slot, or undefined if none is free.
 */
export async function takeSlot(
  engine: LimitEngine,
  kind: SlotKind,
  key: string,
  most: number,
  name: string,
): Promise<(() => void) | undefined> {
  // Key ids contain no colon, so that this name is unique.
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
