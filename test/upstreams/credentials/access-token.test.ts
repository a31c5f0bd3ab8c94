import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import { AccessToken, accountError, type Token } from '../../../src/upstreams/credentials/access-token.ts'

const tick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A source that is answered by hand, and a clock in Unix seconds. */
function scene(lifetime = 3600) {
  const asked: { give(): void; fail(): void }[] = []
  const failures: string[] = []
  const state = { now: 1_790_000_000 }
  const source = () =>
    new Promise<Token>((resolve, reject) => {
      const index = asked.length
      asked.push({
        give: () => resolve({ text: `token-${index}`, from: 0, until: state.now + lifetime }),
        fail: () => reject(accountError('The server said no.')),
      })
    })
  const token = new AccessToken(
    source,
    ({ message }) => failures.push(message),
    () => state.now * 1000,
  )
  return { asked, failures, state, token }
}

describe('the token of an account', () => {
  test('is fetched once for all requests that wait', async () => {
    const { asked, token } = scene()
    const waiting = [token.ready(), token.ready(), token.ready()]
    expect(asked.length).toBe(1)
    asked[0]!.give()
    await Promise.all(waiting)
    expect(token.text).toBe('token-0')
    expect(token.ready()).toBeUndefined()
  })

  test('is renewed before its end while requests go on with the old one', async () => {
    const { asked, state, token } = scene()
    const waiting = token.ready()
    asked[0]!.give()
    await waiting
    state.now += 3600 - 300
    expect(token.ready()).toBeUndefined()
    expect(token.ready()).toBeUndefined()
    expect(asked.length).toBe(2)
    expect(token.text).toBe('token-0')
    asked[1]!.give()
    await tick()
    expect(token.text).toBe('token-1')
  })

  test('with a short life is renewed after four fifths of it, not with every request', async () => {
    const { asked, state, token } = scene(100)
    const waiting = token.ready()
    asked[0]!.give()
    await waiting
    state.now += 79
    expect(token.ready()).toBeUndefined()
    expect(asked.length).toBe(1)
    state.now += 2
    expect(token.ready()).toBeUndefined()
    expect(asked.length).toBe(2)
    asked[1]!.give()
  })

  test('serves until its end if it cannot be renewed, is asked for again after a while, and then fails', async () => {
    const { asked, failures, state, token } = scene()
    const waiting = token.ready()
    asked[0]!.give()
    await waiting
    state.now += 3400
    expect(token.ready()).toBeUndefined()
    asked[1]!.fail()
    await tick()
    expect(failures).toEqual(['The server said no.'])
    expect(token.ready()).toBeUndefined()
    expect(asked.length).toBe(2)
    state.now += 15
    expect(token.ready()).toBeUndefined()
    expect(asked.length).toBe(3)
    asked[2]!.fail()
    await tick()
    state.now += 3600
    const last = token.ready()!
    asked[3]!.fail()
    await expect(last).rejects.toBeInstanceOf(GatewayError)
    await expect(last).rejects.toMatchObject({ error: { kind: 'upstream-account' } })
  })

  test('serves those who ask for a fresh one until its end, if it cannot be renewed', async () => {
    const { asked, failures, state, token } = scene()
    const first = token.fresh()
    asked[0]!.give()
    expect((await first).text).toBe('token-0')
    state.now += 3400
    const second = token.fresh()
    asked[1]!.fail()
    expect((await second).text).toBe('token-0')
    expect((await token.fresh()).text).toBe('token-0')
    expect([failures.length, asked.length]).toEqual([1, 2])
    state.now += 15
    const third = token.fresh()
    token.refused('token-0')
    asked[2]!.fail()
    await expect(third).rejects.toMatchObject({ error: { kind: 'upstream-account' } })
    state.now += 1
    const fourth = token.fresh()
    asked[3]!.give()
    expect((await fourth).text).toBe('token-3')
    state.now += 3600
    const last = token.fresh()
    asked[4]!.fail()
    await expect(last).rejects.toMatchObject({ error: { kind: 'upstream-account' } })
  })

  test('is forgotten if an upstream refused it, unless it was renewed since', async () => {
    const { asked, token } = scene()
    const waiting = token.ready()
    asked[0]!.give()
    await waiting
    token.refused('another')
    expect(token.ready()).toBeUndefined()
    token.refused('token-0')
    expect(token.ready()).toBeInstanceOf(Promise)
    expect(asked.length).toBe(2)
    asked[1]!.give()
  })

  test('that replaces a refused one is kept for a while, although it is refused as well', async () => {
    const { asked, state, token } = scene()
    /** Sends a request that the upstream refuses, as it refuses every token of an account without a role. */
    const send = async (): Promise<void> => {
      const waiting = token.ready()
      if (waiting !== undefined) asked.at(-1)!.give()
      await waiting
      token.refused(token.text)
    }
    for (let count = 0; count < 20; count++) await send()
    expect(asked.length).toBe(2)
    state.now += 30
    for (let count = 0; count < 20; count++) await send()
    expect(asked.length).toBe(3)
    state.now -= 7200
    for (let count = 0; count < 20; count++) await send()
    expect(asked.length).toBe(4)
  })

  test('costs at most one token request per second while its source fails at once, however many requests need it', async () => {
    const { asked, state, token } = scene()
    const send = async (): Promise<string> => {
      const before = asked.length
      const waiting = token.ready()!
      if (asked.length > before) asked.at(-1)!.fail()
      return waiting.then(
        () => 'sent',
        (thrown: GatewayError) => thrown.error.message,
      )
    }
    for (let count = 0; count < 50; count++) expect(await send()).toBe('The server said no.')
    expect(asked.length).toBe(1)
    state.now += 1
    for (let count = 0; count < 50; count++) expect(await send()).toBe('The server said no.')
    expect(asked.length).toBe(2)
    // A clock that was set back does not keep the failure.
    state.now -= 7200
    const last = token.ready()!
    expect(asked.length).toBe(3)
    asked[2]!.give()
    await last
    expect(token.text).toBe('token-2')
  })

  test('whatever the lifetimes and the times of requests, no request goes out with a token that has ended', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4000 }),
        fc.array(fc.nat(3000), { maxLength: 30 }),
        async (life, steps) => {
          const { asked, state, token } = scene(life)
          let given = 0
          let end = 0
          const give = (): void => {
            while (given < asked.length) {
              asked[given++]!.give()
              end = state.now + life
            }
          }
          for (const step of steps) {
            state.now += step
            const waiting = token.ready()
            if (waiting === undefined) expect(state.now).toBeLessThan(end)
            give()
            await waiting
            await tick()
          }
          expect(asked.length).toBeLessThanOrEqual(steps.length)
        },
      ),
      { numRuns: 100 },
    )
  })
})
