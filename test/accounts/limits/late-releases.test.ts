import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type AskSteps, Limits } from '../../../src/accounts/limits/index.ts'
import { TIMED } from '../../builders/time.ts'

/* A caller that sends one request after another, each to another process than the one before. */

const SETTINGS = { concurrent: 1 }

/** Two workers of one primary process. Messages of the first one take some milliseconds longer. */
function workers(lateness: number) {
  const primary = new Limits()
  const late: AskSteps = async steps => {
    await sleep(lateness)
    return primary.take(steps)
  }
  const soon: AskSteps = steps => primary.take(steps)
  return [new Limits({ ask: late, owner: 'a' }), new Limits({ ask: soon, owner: 'b' })] as const
}

describe('a slot whose release is on its way from another process', () => {
  test.each([1, 20, 120])('is not refused to the next request, after %i ms', TIMED, async lateness => {
    const [first, second] = workers(lateness)
    for (let turn = 0; turn < 5; turn++) {
      const before = first.of('k', SETTINGS)
      await before.enter()
      before.leave()
      const next = second.of('k', SETTINGS)
      await next.enter()
      next.leave()
    }
  })

  test('is refused if the request before still runs', TIMED, async () => {
    const [first, second] = workers(0)
    const before = first.of('k', SETTINGS)
    await before.enter()
    const began = performance.now()
    await expect(second.of('k', SETTINGS).enter()).rejects.toMatchObject({ error: { kind: 'rate-limited' } })
    expect(performance.now() - began).toBeLessThan(500)
    before.leave()
    const next = second.of('k', SETTINGS)
    await next.enter()
    next.leave()
  })
})
