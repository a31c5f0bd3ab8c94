import { expect, test } from 'vitest'
import { Access } from '../../src/accounts/index.ts'
import type { Bus } from '../../src/store/cluster/bus.ts'
import { configOf } from '../builders/config.ts'
import { createKey } from '../builders/keys.ts'
import { TIMED, until } from '../builders/time.ts'
import { ENGINES } from '../store/connections.ts'

/** A bus that loses its notices, or delivers them to all others at once. */
function busOf(heard: Set<(message: object) => void>): Bus {
  let own: ((message: object) => void) | undefined
  return {
    publish: (_, message) => {
      for (const listener of heard) if (listener !== own) listener(message as object)
    },
    subscribe: (_, listener) => {
      own = listener as (message: object) => void
      heard.add(own)
      return () => heard.delete(own!)
    },
    close: async () => {},
  }
}

const CASES = ENGINES.flatMap(engine => [false, true].map(notices => ({ ...engine, notices })))

test.for(CASES)(
  'what one instance revokes the other refuses in time: $name, notices $notices',
  TIMED,
  async ({ open, skipped, notices }, { skip }) => {
    skip(skipped !== undefined)
    if (skipped !== undefined) return
    const { connections, close } = await open(2)
    const heard = new Set<(message: object) => void>()
    const config = { ...configOf([]), store: { engine: 'postgres', url: 'postgres://127.0.0.1:1/x' } as const }
    const [one, other] = connections.map(
      records => new Access(config, { records, ...(notices ? { bus: busOf(heard) } : {}) }),
    ) as [Access, Access]
    try {
      await Promise.all([one.open(), other.open()])
      const key = await createKey(connections[0]!, 'it', { id: 'it' })
      await one.changed()
      const credentials = { headers: { 'x-api-key': key } }
      expect(one.identify(credentials).id).toBe('it')
      const seen = () => {
        try {
          return other.identify(credentials)
        } catch {
          return undefined
        }
      }
      await until(() => seen() !== undefined)
      const caller = seen()!
      await connections[0]!.revokeKey('it', 1)
      const began = performance.now()
      await one.changed()
      await until(() => other.endOf(caller) !== undefined)
      expect(performance.now() - began).toBeLessThan(notices ? 400 : 1000)
      expect(seen()).toBeUndefined()
    } finally {
      await Promise.all([one.close(), other.close()])
      await close()
    }
  },
)
