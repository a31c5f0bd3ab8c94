import { describe, expect, it } from 'vitest'
import { exhaustedSeconds } from '../../../src/upstreams/channel/rate-limit-headers.ts'

const NOW = Date.parse('2026-11-28T12:00:00Z')
const openai = (remaining: string, reset: string) =>
  exhaustedSeconds({ 'x-ratelimit-remaining-tokens': remaining, 'x-ratelimit-reset-tokens': reset }, NOW)

describe('an exhausted quota', () => {
  it.each([
    ['6m0s', 360],
    ['1h2m3s', 3723],
    ['250ms', 0.25],
    ['2m59.5s', 179.5],
    ['7', 7],
    [`${NOW / 1000 + 7}`, 7],
    [`${NOW + 7500}`, 7.5],
  ])('is full again after %s', (reset, seconds) => {
    expect(openai('0', reset)).toBeCloseTo(seconds)
  })

  it('may be stated as a time, and the longest of several counts', () => {
    const headers = {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-11-28T12:00:05Z',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-28T12:00:30Z',
    }
    expect(exhaustedSeconds(headers, NOW)).toBe(30)
  })

  it('is none if something remains, or the reset is missing, past or unreadable', () => {
    expect(openai('1', '6m0s')).toBeUndefined()
    expect(openai('0', 'soon')).toBeUndefined()
    expect(openai('0', '')).toBeUndefined()
    expect(openai('0', '2026-11-28T11:00:00Z')).toBeUndefined()
    expect(openai('0', `${NOW / 1000 - 7}`)).toBeUndefined()
    expect(exhaustedSeconds({}, NOW)).toBeUndefined()
  })
})
