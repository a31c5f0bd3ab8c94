import { describe, expect, it } from 'vitest'
import { MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { type LimitStep, Limits, type ReadSpent } from '../../../src/accounts/limits/index.ts'
import { takeSteps } from '../../../src/accounts/limits/remote-engine.ts'
import type { Reservation } from '../../../src/accounts/limits/reservation.ts'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { LimitSettings } from '../../../src/config/index.ts'
import { pause, until } from '../../builders/time.ts'

function refusal(act: () => unknown): GatewayError['error'] {
  try {
    act()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.error
  }
  throw new Error('it was not refused')
}

const refusalOf = (act: Promise<void> | undefined): Promise<GatewayError['error']> =>
  Promise.resolve(act).then(
    () => Promise.reject(new Error('it was not refused')),
    (thrown: GatewayError) => thrown.error,
  )

/** A key with limits and a controlled clock. */
class Key {
  now = Date.UTC(2026, 10, 30, 22)
  settings: LimitSettings
  readonly lines: string[] = []
  readonly limits: Limits

  constructor(settings: LimitSettings, spent?: ReadSpent) {
    this.settings = settings
    const note = (_: object, message: string) => void this.lines.push(message)
    const log = { info: note, warn: note, error: note }
    this.limits = new Limits({ log, now: () => this.now, ...(spent === undefined ? {} : { spent }) })
  }

  allowance(key = 'k'): Reservation {
    return this.limits.of(key, this.settings)
  }

  enter(key?: string): Reservation {
    const allowance = this.allowance(key)
    expect(allowance.enter()).toBeUndefined()
    return allowance
  }

  /** Enters a request with an expected cost in nanodollars. */
  async paid(cost: number): Promise<Reservation> {
    const allowance = this.allowance()
    await allowance.enter()
    await allowance.reserve(
      () => ({ input: 1 }),
      1,
      () => cost,
    )
    return allowance
  }
}

const DOLLAR = 1e9

describe('requests and tokens a minute', () => {
  it('admits a minute of requests, then says when the next may come', () => {
    const key = new Key({ rpm: 2 })
    key.enter()
    key.enter()
    expect(refusal(() => key.enter())).toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 30 })
    key.now += 29_000
    expect(refusal(() => key.enter())).toMatchObject({ retryAfterSeconds: 1, code: 'rate_limit_exceeded' })
    key.now += 1000
    key.enter()
    expect(refusal(() => key.enter())).toMatchObject({ kind: 'rate-limited' })
  })

  it('makes a key wait until it has paid off its tokens', () => {
    const key = new Key({ tpm: 600 })
    key.enter().settle({ input: 800, output: 100 })
    expect(refusal(() => key.enter())).toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 31 })
    key.now += 30_200
    key.enter()
  })

  it('lets no more in at once than the tokens have room for, and gives back what was not spent', () => {
    const key = new Key({ tpm: 5000 })
    const enter = (input: number, output?: number) => {
      const allowance = key.enter()
      allowance.reserve(() => ({ input, ...(output === undefined ? {} : { output }) }))
      return allowance
    }
    const first = enter(1000)
    expect(first.remaining.tokens).toMatchObject({ limit: 5000, remaining: 3000 })
    const second = enter(1000, 100_000)
    expect(second.remaining.tokens).toMatchObject({ remaining: 1000 })
    expect(refusal(() => enter(1000))).toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 12 })
    enter(900, 0)
    first.settle({ input: 500, output: 0 })
    second.settleUncounted()
    expect(first.remaining.tokens).toMatchObject({ remaining: 1600 })
    key.now += 60_000
    expect(first.remaining.tokens).toMatchObject({ remaining: 5000, reset: 0 })
    const large = enter(20_000)
    expect(refusal(() => enter(1, 1))).toMatchObject({ kind: 'rate-limited' })
    large.settle({})
    expect(large.remaining.tokens).toMatchObject({ remaining: 5000 })
  })

  it('looks closer only where tokens are scarce', () => {
    const key = new Key({ tpm: 10_000 })
    let looked = 0
    const enter = (most?: number) => key.enter().reserve(() => ({ input: 10 * ++looked, output: 0 }), most)
    enter(200)
    expect(looked).toBe(0)
    expect(key.allowance().remaining.tokens).toMatchObject({ remaining: 8800 })
    enter(200)
    expect(looked).toBe(1)
    enter()
    expect(looked).toBe(2)
    expect(key.allowance().remaining.tokens).toMatchObject({ remaining: 8770 })
  })

  it('expects of the next answer what the last ones took', () => {
    const key = new Key({ tpm: 100_000 })
    for (let asked = 0; asked < 50; asked++) key.allowance().settle({ input: 0, output: 200 })
    const before = key.allowance().remaining.tokens!.remaining
    const allowance = key.allowance()
    allowance.reserve(() => ({ input: 0 }))
    expect(before - allowance.remaining.tokens!.remaining).toBeLessThan(210)
  })

  it('gives no tokens for counts and bounds that cannot be', () => {
    const key = new Key({ tpm: 10_000 })
    for (const output of [-1e15, -1, Number.NEGATIVE_INFINITY])
      expect(key.allowance().reserve(() => ({ input: 100, output }))).toBeUndefined()
    expect(key.allowance().remaining.tokens).toMatchObject({ remaining: 9700 })
    for (const count of [-1e300, -5, Number.NaN, Number.NEGATIVE_INFINITY])
      key.allowance().settle({ input: count, output: count })
    expect(key.allowance().remaining.tokens).toMatchObject({ remaining: 9700 })
    key.allowance().settle({ input: 1e300, output: Number.POSITIVE_INFINITY })
    expect(refusal(() => key.allowance().reserve(() => ({ input: 1 })))).toMatchObject({ retryAfterSeconds: 3600 })
  })

  it('keeps of an uncounted answer what was expected of it, not what there was plenty for', () => {
    const key = new Key({ tpm: 100_000 })
    const [asked, counted, left] = [key.enter(), key.enter(), key.enter()]
    asked.reserve(() => ({ input: 50, output: 10 }), 200)
    counted.reserve(() => ({ input: 0, output: 0 }), 200)
    left.reserve(() => ({ input: 40 }), 200)
    asked.settleUncounted()
    counted.settleUncounted()
    expect(key.allowance().remaining.tokens).toMatchObject({ remaining: 100_000 - 60 - 1200 })
    left.settleUncounted()
    expect(key.allowance().remaining.tokens).toMatchObject({ remaining: 100_000 - 60 - 1040 })
  })

  it('gives back what a request took as it entered, where it ends before anything is reserved', () => {
    const key = new Key({ tpm: 1_000_000, concurrent: 5 })
    key.allowance().look()
    const left = key.allowance()
    left.enter(true, 3000)
    expect(left.remaining.tokens).toMatchObject({ remaining: 1_000_000 - 4000 })
    left.settleUncounted()
    expect(left.remaining.tokens).toMatchObject({ remaining: 1_000_000 })
    left.leave()
    left.settleUncounted()
    expect(left.remaining.tokens).toMatchObject({ remaining: 1_000_000 })
  })

  it('counts each key on its own', () => {
    const key = new Key({ rpm: 1 })
    key.enter('a')
    key.enter('b')
    expect(refusal(() => key.enter('a'))).toMatchObject({ kind: 'rate-limited' })
  })

  it('keeps what was used when the limit changes', () => {
    const key = new Key({ rpm: 2 })
    key.enter()
    key.settings = { rpm: 3 }
    key.enter()
    key.enter()
    expect(refusal(() => key.enter())).toMatchObject({ kind: 'rate-limited' })
  })

  it('never admits where the limit is zero', () => {
    for (const settings of [{ rpm: 0 }, { tpm: 0 }])
      expect(refusal(() => new Key(settings).enter())).toMatchObject({ retryAfterSeconds: 3600 })
  })

  it('takes neither a request nor a place where another limit has no room', () => {
    const key = new Key({ rpm: 10, tpm: 100, concurrent: 1 })
    const first = key.enter()
    expect(refusal(() => key.enter())).toMatchObject({ retryAfterSeconds: 1 })
    expect(first.remaining.requests!.remaining).toBe(9)
    first.settle({ input: 200 })
    expect(refusal(() => key.enter())).toMatchObject({ retryAfterSeconds: 61 })
    expect(first.remaining.requests!.remaining).toBe(9)
    key.now += 61_000
    key.enter()
  })

  it('tells what is left where there is such a limit, also before the first request', () => {
    const key = new Key({ rpm: 5 })
    expect(key.allowance().remaining).toEqual({ requests: undefined, tokens: undefined })
    key.allowance().look()
    expect(key.allowance().remaining).toEqual({ requests: { limit: 5, remaining: 5, reset: 0 }, tokens: undefined })
    const other = new Key({ concurrent: 5, budget: { day: 1 } })
    other.allowance().look()
    expect(other.allowance().remaining).toEqual({ requests: undefined, tokens: undefined })
  })
})

it.each<LimitSettings>([{}, { rpm: 9 }, { tpm: 1000 }, { concurrent: 1 }, { budget: { day: 1 } }])(
  'an uncounted answer costs the same whatever limits its key has: %j',
  async settings => {
    const allowance = new Key(settings).allowance()
    await allowance.enter()
    await allowance.reserve(
      () => ({ input: 10, output: 5 }),
      10,
      ({ input, output }) => input + 2 * output,
    )
    expect(allowance.uncounted).toEqual({ input: 10, output: 5, cost: 20 })
  },
)

describe('concurrent requests', () => {
  it('has a place until it is settled or left, and gives it back once', () => {
    const key = new Key({ concurrent: 2 })
    const [first, second] = [key.enter(), key.enter()]
    expect(refusal(() => key.enter())).toMatchObject({
      ...{ kind: 'rate-limited', code: 'rate_limit_exceeded', retryAfterSeconds: 1 },
      message: 'This key has reached its limit of concurrent requests.',
    })
    first.settleUncounted()
    first.leave()
    first.leave()
    key.enter()
    expect(refusal(() => key.enter())).toMatchObject({ kind: 'rate-limited' })
    second.leave()
    second.settle({ input: 1 })
    key.enter()
    expect(refusal(() => key.enter())).toMatchObject({ kind: 'rate-limited' })
  })

  it('lets through what takes no place', () => {
    const key = new Key({ concurrent: 1 })
    key.enter()
    expect(key.allowance().enter(false)).toBeUndefined()
  })
})

describe('budgets', () => {
  it('refuse what they have no room for, until the period ends', async () => {
    const key = new Key({ budget: { day: 1 } })
    const first = await key.paid(0.6 * DOLLAR)
    expect(await refusalOf(key.paid(0.5 * DOLLAR) as never)).toMatchObject({
      ...{ kind: 'rate-limited', code: 'insufficient_quota', retryAfterSeconds: 7200 },
      message: "This key's budget for this day (UTC) does not cover the request.",
    })
    first.settle({ input: 1 }, 0.2 * DOLLAR)
    const second = await key.paid(0.5 * DOLLAR)
    second.settle({ input: 1 }, 1.5 * DOLLAR)
    expect(refusal(() => key.enter())).toMatchObject({ code: 'insufficient_quota' })
    key.now += 2 * 3_600_000
    await key.paid(1 * DOLLAR)
  })

  it('count for days and months on their own, and what was reserved before midnight on the day before', async () => {
    const key = new Key({ budget: { day: 1, month: 1.5 } })
    const late = await key.paid(0.9 * DOLLAR)
    key.now += 3 * 3_600_000
    // In December, costs of November neither count nor are refunded.
    const first = await key.paid(0.9 * DOLLAR)
    late.settle({ input: 1 }, 0)
    expect(await refusalOf(key.paid(0.2 * DOLLAR) as never)).toMatchObject({ code: 'insufficient_quota' })
    key.now += 86_400_000
    expect(await refusalOf(key.paid(0.7 * DOLLAR) as never)).toMatchObject({
      message: "This key's budget for this month (UTC) does not cover the request.",
      retryAfterSeconds: 86_400,
    })
    first.settle({ input: 1 }, 0.1 * DOLLAR)
    await key.paid(0.7 * DOLLAR)
  })

  it('are charged once where what was spent of another of the key cannot be read', async () => {
    let isDown = false
    const key = new Key({ budget: { month: 3 } }, async () => {
      if (isDown) throw new Error('no store')
      return { day: 0, month: 0 }
    })
    await key.allowance().enter()
    isDown = true
    key.settings = { budget: { day: 100, month: 3 } }
    const spending = key.allowance()
    await spending.enter()
    const one = () => DOLLAR
    await spending.reserve(() => ({ input: 1 }), 1, one)
    spending.settle({ input: 1 }, DOLLAR)
    key.settings = { budget: { month: 3 } }
    await key.allowance().reserve(() => ({ input: 1 }), 1, one)
    await key.allowance().reserve(() => ({ input: 1 }), 1, one)
    expect(refusal(() => key.allowance().enter()).message).toContain('month')
  })

  it.each(['day', 'month'] as const)('include what was spent while there was none for the %s', async period => {
    let spent = 0
    const key = new Key({ budget: { [period]: 10 } }, async () => ({ day: spent, month: spent }))
    const before = await key.paid(2 * DOLLAR)
    before.settle({ input: 1 }, 1 * DOLLAR)
    key.settings = { rpm: 100 }
    key.enter().settle({ input: 1 }, 8 * DOLLAR)
    // The rows of both requests are stored.
    spent = 9 * DOLLAR
    key.settings = { budget: { [period]: 10 } }
    const refused = await Promise.allSettled([key.paid(0.6 * DOLLAR), key.paid(0.6 * DOLLAR)])
    expect(refused.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    // What is counted since then is more than what is stored.
    spent = 0
    key.settings = { rpm: 100 }
    key.allowance()
    key.settings = { budget: { [period]: 10 } }
    expect(await refusalOf(key.paid(0.6 * DOLLAR) as never)).toMatchObject({ code: 'insufficient_quota' })
    await key.paid(0.3 * DOLLAR)
  })

  it('keep what was reserved where more is reserved while what was spent before cannot be read', async () => {
    let isDown = false
    const key = new Key({ budget: { day: 10 } }, async () => {
      if (isDown) throw new Error('no store')
      return { day: 0, month: 0 }
    })
    const request = await key.paid(4 * DOLLAR)
    const now = key.now
    isDown = true
    key.now -= 3 * 86_400_000
    await request.cover(() => 6 * DOLLAR)
    key.now = now
    request.settle({ input: 1 }, 5 * DOLLAR)
    await key.paid(5 * DOLLAR)
    expect(await refusalOf(key.paid(1) as never)).toMatchObject({ code: 'insufficient_quota' })
  })

  it('are corrected in the day in which they were reserved, where the clock was set back meanwhile', async () => {
    const key = new Key({ budget: { day: 10 } })
    const request = await key.paid(6 * DOLLAR)
    const now = key.now
    key.now -= 86_400_000
    await key.paid(10 * DOLLAR)
    request.settle({ input: 1 }, 1 * DOLLAR)
    expect(await refusalOf(key.paid(1) as never)).toMatchObject({ code: 'insufficient_quota' })
    key.now = now
    await key.paid(9 * DOLLAR)
    expect(await refusalOf(key.paid(1) as never)).toMatchObject({ code: 'insufficient_quota' })
  })

  it('are read at once where the clock was set back after a read that failed', async () => {
    let works = false
    const key = new Key({ budget: { day: 1 } }, async () => {
      if (!works) throw new Error('no store')
      return { day: DOLLAR, month: DOLLAR }
    })
    await key.paid(1)
    works = true
    key.now -= 3_600_000
    expect(await refusalOf(key.paid(1) as never)).toMatchObject({ code: 'insufficient_quota' })
  })

  it('cover a dearer model, whether tokens are left or not: the request has its own', async () => {
    const key = new Key({ tpm: 400, budget: { day: 10 } })
    const request = key.allowance()
    await request.enter()
    await request.reserve(
      () => ({ input: 200, output: 200 }),
      Number.POSITIVE_INFINITY,
      () => DOLLAR,
    )
    expect(await request.cover(() => 2 * DOLLAR)).toBeUndefined()
    expect(await refusalOf((async () => request.cover(() => 11 * DOLLAR))())).toMatchObject({
      code: 'insufficient_quota',
    })
  })

  it('begin with what was spent before, read once for all that wait', async () => {
    let reads = 0
    const key = new Key({ budget: { day: 1 } }, async () => {
      reads++
      return { day: 0.8 * DOLLAR, month: 5 * DOLLAR }
    })
    const asked = await Promise.allSettled([key.paid(0.1 * DOLLAR), key.paid(0.1 * DOLLAR), key.paid(0.1 * DOLLAR)])
    expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(reads).toBe(1)
    expect(() => key.enter()).toThrow('budget')
  })

  it('let everything through while the store is at fault, and say so once', async () => {
    let works = false
    const key = new Key({ budget: { day: 1 }, concurrent: 5 }, async () => {
      if (!works) throw new Error('no store')
      return { day: 2 * DOLLAR, month: 2 * DOLLAR }
    })
    for (const cost of [5, 6, 7]) (await key.paid(cost * DOLLAR)).settle({ input: 1 }, 0)
    expect(key.lines).toEqual(['budgets are not enforced: the spend of keys cannot be read'])
    works = true
    key.now += 5001
    expect(await refusalOf(key.paid(1) as never)).toMatchObject({ code: 'insufficient_quota' })
    expect(key.lines[1]).toBe('budgets are enforced again')
  })

  it('are not given back by bounds and counts that cannot be', async () => {
    const key = new Key({ budget: { day: 1 } })
    ;(await key.paid(0.5 * DOLLAR)).settle({ input: 1 }, 0.5 * DOLLAR)
    const costOf = ({ output }: { readonly output: number }) => output * 1000
    const bold = key.allowance()
    await bold.enter()
    await bold.reserve(() => ({ input: 1, output: -1e15 }), 1, costOf)
    bold.settleUncounted()
    for (const cost of [-DOLLAR, Number.NaN, Number.NEGATIVE_INFINITY]) key.allowance().settle({ input: 1 }, cost)
    expect(await refusalOf(key.paid(0.6 * DOLLAR) as never)).toMatchObject({ code: 'insufficient_quota' })
    await key.paid(0.4 * DOLLAR)
  })

  it('count what an estimate says, from which no later answer is expected', async () => {
    const key = new Key({ budget: { day: 1 } })
    const leaver = await key.paid(0)
    const usual = leaver.expectedAnswer()
    leaver.settle({ input: 1, output: 9 }, 0.9 * DOLLAR, false)
    expect(key.allowance().expectedAnswer()).toBe(usual)
    expect(key.allowance().expectedAnswer(5)).toBe(5)
    expect(await refusalOf(key.paid(0.2 * DOLLAR) as never)).toMatchObject({ code: 'insufficient_quota' })
    await key.paid(0.1 * DOLLAR)
  })

  it('name the estimate, and no time to wait, where a request exceeds the whole budget', async () => {
    const key = new Key({ budget: { day: 0.5, month: 0.02 } })
    const costly = async (output: number) => {
      const allowance = key.allowance()
      await allowance.enter()
      await allowance.reserve(
        () => ({ input: 10, output }),
        10,
        tokens => tokens.output * 100_000,
      )
    }
    const refused = await refusalOf(costly(800))
    expect(refused).toMatchObject({ kind: 'rate-limited', code: 'insufficient_quota' })
    expect(refused.message).toBe(
      'The estimated cost of this request, $0.08 for its input and 800 expected output tokens, exceeds this ' +
        "key's whole budget of $0.02 for a month. Waiting does not help: send less input, or set a lower output " +
        'limit (such as `max_tokens`).',
    )
    expect(refused.retryAfterSeconds).toBeUndefined()
    await costly(150)
    expect(await refusalOf(costly(150))).toMatchObject({ code: 'insufficient_quota', retryAfterSeconds: 7200 })
  })

  it('may be as large as numbers are', async () => {
    const key = new Key({ budget: { day: 1e300, month: Number.MAX_VALUE } })
    const asked: LimitStep[] = []
    const engine = new MemoryEngine()
    const worker = new Limits({
      ask: async steps => {
        const sent = JSON.parse(JSON.stringify(steps)) as LimitStep[]
        asked.push(...sent)
        return takeSteps(engine, sent)
      },
    })
    const allowance = worker.of('k', key.settings)
    await allowance.enter()
    expect(asked.every(({ limits }) => limits.day! > 1e17 && limits.month! > 1e17)).toBe(true)
    worker.close()
    await key.paid(1e6 * DOLLAR)
  })

  it('are raised to the stored rows after the primary process did not answer', async () => {
    let [isAway, spent] = [false, 0]
    const primary = new MemoryEngine()
    const worker = new Limits({
      recountDelay: 1,
      spent: async () => ({ day: spent, month: spent }),
      ask: async steps => {
        if (isAway) throw new Error('away')
        return takeSteps(primary, steps)
      },
    })
    const pay = async (): Promise<void> => {
      const allowance = worker.of('k', { budget: { day: 1 } })
      await allowance.enter()
      await allowance.reserve(
        () => ({ input: 1 }),
        1,
        () => 0.1 * DOLLAR,
      )
    }
    await pay()
    isAway = true
    await pay()
    isAway = false
    spent = 0.95 * DOLLAR
    await until(() => !worker.isAlone)
    await pause(20)
    expect(await refusalOf(pay())).toMatchObject({ code: 'insufficient_quota' })
    worker.close()
  })

  it('get back what was reserved before they were removed, and are counted anew when they are set again', async () => {
    const key = new Key({ budget: { month: 1 } })
    const running = await key.paid(0.9 * DOLLAR)
    key.settings = {}
    key.enter()
    running.settle({ input: 1 }, 0.1 * DOLLAR)
    key.settings = { budget: { month: 1 } }
    await key.paid(0.8 * DOLLAR)
  })

  it('do not count what has no price', async () => {
    const key = new Key({ budget: { day: 1 } })
    for (let asked = 0; asked < 5; asked++) {
      const allowance = key.allowance()
      await allowance.enter()
      await allowance.reserve(() => ({ input: 1e9 }))
      allowance.settle({ input: 1e9 })
    }
    await key.paid(1 * DOLLAR)
  })
})

describe('a request whose size is bounded before it is read', () => {
  const steps: LimitStep[] = []
  const engine = new MemoryEngine(() => 0)
  const limits = new Limits({
    now: () => 0,
    ask: async asked => {
      steps.push(...asked.filter(({ enforced }) => enforced))
      return takeSteps(engine, asked)
    },
  })
  const settings = { rpm: 100, tpm: 1_000_000 }
  const whole = async (spent: { input: number; output: number }, most: number): Promise<number> => {
    const allowance = limits.of('k', settings)
    const before = steps.length
    await allowance.enter(true, most)
    await allowance.reserve(() => ({ input: most / 2 }), most)
    const taken = steps.length - before
    allowance.settle(spent)
    return taken
  }

  it('takes one step where there is room for many, two where that is not known, and pays what it used', async () => {
    expect(await whole({ input: 10, output: 20 }, 100)).toBe(2)
    expect(await whole({ input: 30, output: 40 }, 100)).toBe(1)
    // The request needs all remaining room, so it must be counted exactly.
    expect(await whole({ input: 50, output: 60 }, 900_000)).toBe(2)
    const looking = limits.of('k', settings)
    await looking.enter()
    expect(looking.remaining).toMatchObject({ requests: { remaining: 96 }, tokens: { remaining: 1_000_000 - 210 } })
  })

  it('corrects what it took where the request turns out larger, and takes nothing where it is refused', async () => {
    await limits.of('other', settings).enter()
    const allowance = limits.of('other', settings)
    await allowance.enter(true, 100)
    await allowance.reserve(() => ({ input: 5000, output: 0 }))
    expect(allowance.remaining.tokens?.remaining).toBe(1_000_000 - 5000)
    await expect(Promise.resolve(limits.of('other', { rpm: 1, tpm: 1_000_000 }).enter(true, 100))).rejects.toThrow()
    allowance.settle({})
    const after = limits.of('other', settings)
    await after.enter()
    expect(after.remaining.tokens?.remaining).toBe(1_000_000)
  })
})
