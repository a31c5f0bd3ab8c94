import type { LimitEngine, LimitStep } from './engine.ts'

/** Kinds of work that have their own per-key slot limit, separate from the concurrent-request limit. */
export type SlotKind = 'background' | 'sessions'

/**
 * Takes one of a key's slots, counted across all processes.
 *
 * @param key key id.
 * @param limit maximum number of slots of this kind.
 * @param name unique name of the slot: `OWNER.NUMBER`.
 * @returns a function that releases the slot, or undefined if none is free.
 */
export async function takeSlot(
  engine: LimitEngine,
  kind: SlotKind,
  key: string,
  limit: number,
  name: string,
): Promise<(() => void) | undefined> {
  // Key ids contain no colon, so that this name is unique.
  const step = slotStep(`${kind}:${key}`, limit, name, undefined)
  const { refused } = await engine.step(step)
  if (refused !== undefined) return undefined
  let isHeld = true
  return () => {
    if (isHeld) void engine.step(slotStep(step.key, limit, undefined, name))
    isHeld = false
  }
}

const slotStep = (
  key: string,
  concurrent: number,
  enter: string | undefined,
  leave: string | undefined,
): LimitStep => ({
  ...{ key, limits: { concurrent }, requests: 0, tokens: 0, cost: 0 },
  ...{ enter, leave, enforced: enter !== undefined },
})
