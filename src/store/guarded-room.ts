import type { Mode, Modes } from './modes.ts'
import type { Rooms } from './store.ts'

/** The way to the store, whatever state it is in. */
export interface Guard {
  /** Whether there is a store already, found out without making one. */
  exists(): boolean
  /** Gets the store and works with it; rejects with `UNAVAILABLE` where it cannot be used in that mode. */
  use<T>(mode: Mode, work: (store: Rooms) => Promise<T>): Promise<T>
}

/** A method of any room, whatever it takes and answers. */
type Method = (...given: never[]) => Promise<unknown>

/**
 * A room of a store that may be at fault, or not there yet: each method gets the store in its mode, and calls the method of
 * the same name there.
 *
 * @param modes the room's table (`MODES`).
 * @param roomOf the room in the store.
 */
export function guardedRoom<Room extends { readonly [Name in keyof Room]: Method }>(
  modes: Modes<Room>,
  guard: Guard,
  roomOf: (store: Rooms) => Room,
): Room {
  const guarded: { [name: string]: Method } = {}
  for (const name in modes) {
    const row = modes[name]
    const calling = (mode: Mode): Method => {
      return (...given) => guard.use(mode, store => roomOf(store)[name](...given))
    }
    if (typeof row === 'string') guarded[name] = calling(row)
    else {
      const call = calling(row.mode)
      guarded[name] = async (...given) => (guard.exists() ? call(...given) : row.withoutStore)
    }
  }
  return guarded as Room // TypeScript does not see that every name of the room was in its table.
}
