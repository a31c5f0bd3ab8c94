import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Access } from '../../src/accounts/index.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { openSqlite } from '../../src/store/store.ts'
import { configOf } from '../builders/config.ts'
import { createKey, rotateKey } from '../builders/keys.ts'

/** A secret and its time of expiry. */
interface Known {
  readonly text: string
  until: number
}

const step = fc.oneof(
  fc.record({ do: fc.constant('rotate' as const), grace: fc.constantFrom(0, 1, 50, 1000) }),
  fc.record({ do: fc.constant('wait' as const), time: fc.constantFrom(1, 49, 50, 999) }),
  fc.record({ do: fc.constant('expire' as const), after: fc.constantFrom(undefined, 10, 2000) }),
  fc.record({ do: fc.constant('enable' as const), enabled: fc.boolean() }),
)

test('a secret is good until its time of grace is over, the latest until the key ends, under one id', async () => {
  const law = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
    let now = 1_000_000
    const store = await openSqlite(':memory:', () => now)
    const config = configOf([])
    // A store that exists, whatever file it uses.
    const access = new Access(
      { ...config, store: { engine: 'postgres', url: 'postgres://127.0.0.1:1/x' } },
      { records: store.access, now: () => now },
    )
    const owner = 'the-key'
    const secrets: Known[] = [
      { text: await createKey(store.access, 'it', { id: owner }), until: Number.POSITIVE_INFINITY },
    ]
    let expiresAt = Number.POSITIVE_INFINITY
    let enabled = true
    try {
      for (const one of steps) {
        if (one.do === 'wait') now += one.time
        else if (one.do === 'rotate') {
          for (const secret of secrets) secret.until = Math.min(secret.until, now + one.grace)
          const text = await rotateKey(store.access, 'it', now + one.grace, now)
          secrets.push({ text, until: Number.POSITIVE_INFINITY })
        } else if (one.do === 'expire') {
          expiresAt = one.after === undefined ? Number.POSITIVE_INFINITY : now + one.after
          await store.access.changeKey(owner, { expiresAt: one.after === undefined ? undefined : expiresAt })
        } else {
          enabled = one.enabled
          await store.access.changeKey(owner, { enabled })
        }
        await access.refresh()
        for (const { text, until } of secrets) {
          const isGood = enabled && now < until && now < expiresAt
          expect(identified(access, text), JSON.stringify({ now, until, expiresAt, enabled })).toBe(
            isGood ? owner : undefined,
          )
        }
      }
      await store.access.revokeKey(owner, now)
      await access.refresh()
      for (const { text } of secrets) expect(identified(access, text)).toBeUndefined()
    } finally {
      await access.close()
      await store.close()
    }
  })
  await fc.assert(law, { numRuns: 60 })
})

/** Returns the id of a key's owner. Undefined if the key is refused. */
function identified(access: Access, key: string): string | undefined {
  try {
    const caller = access.identify({ headers: { 'x-api-key': key } })
    expect(access.endOf(caller)).toBeUndefined()
    return caller.id
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError)
    return undefined
  }
}
