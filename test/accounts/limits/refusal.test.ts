import { describe, expect, it, test } from 'vitest'
import type { LimitName } from '../../../src/accounts/limits/engine.ts'
import { budgetError, limitError } from '../../../src/accounts/limits/refusal.ts'

const HOUR = 3600

describe('the error of a reached limit', () => {
  test.each([
    ['requests', 'This key has reached its limit of requests per minute.', 'rate_limit_exceeded', HOUR],
    ['tokens', 'This key has reached its limit of tokens per minute.', 'rate_limit_exceeded', HOUR],
    ['concurrent', 'This key has reached its limit of concurrent requests.', 'rate_limit_exceeded', HOUR],
    ['day', "This key's budget for this day (UTC) does not cover the request.", 'insufficient_quota', 24 * HOUR],
    ['month', "This key's budget for this month (UTC) does not cover the request.", 'insufficient_quota', 24 * HOUR],
  ] as const)('of %s names it, and when to try again', (limit: LimitName, message, code, most) => {
    const seconds = (wait: number) => limitError({ limit, wait }).error.retryAfterSeconds
    expect(limitError({ limit, wait: 5000 }).error).toEqual({
      kind: 'rate-limited',
      message,
      code,
      retryAfterSeconds: 5,
    })
    expect([1, 1000, 1001, most * 1000, most * 1000 + 1].map(seconds)).toEqual([1, 1, 2, most, most])
    expect(seconds(0)).toBe(1)
  })
})

describe('the error of a request that exceeds a whole budget', () => {
  const message = (cost: string, output: number, budget: string) =>
    `The estimated cost of this request, ${cost} for its input and ${output} expected output tokens, exceeds this ` +
    `key's whole budget of ${budget}. Waiting does not help: send less input, or set a lower output limit (such as ` +
    '`max_tokens`).'

  it('names the smaller budget', () => {
    const [day, month] = [1e9, 2e9]
    expect(budgetError(1.5e9, { day, month }, 9.2)?.error).toEqual({
      ...{ kind: 'rate-limited', code: 'insufficient_quota', message: message('$1.5', 10, '$1 for a day') },
    })
    expect(budgetError(3e9, { month }, 0)?.error.message).toBe(message('$3', 0, '$2 for a month'))
    expect(budgetError(3e9, { day }, 0)?.error.message).toBe(message('$3', 0, '$1 for a day'))
    expect(budgetError(1234567, { day: 1, month }, 0)?.error.message).toContain('$0.00123 for its input')
    expect(budgetError(1234567, { day: 1, month }, 0)?.error.message).toContain('budget of $0.000000001 for a day')
  })

  it('is none for a request that just fits, or without a budget', () => {
    expect(budgetError(1e9, { day: 1e9 }, 0)).toBeUndefined()
    expect(budgetError(1e18, {}, 0)).toBeUndefined()
  })
})
