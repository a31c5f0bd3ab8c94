import { describe, expect, test } from 'vitest'
import { retryAfter } from '../../src/canonical/retry-after.ts'
import { READERS } from '../../src/ingress/index.ts'

const NOW = 1_000_000_000_000
const dateIn = (seconds: number): string => new Date(NOW + seconds * 1000).toUTCString()

describe('trap 78: the retry delay that an upstream asks for', () => {
  test.each([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '1.5' }, 1.5],
    [{ 'retry-after': '7', 'retry-after-ms': '250' }, 0.25],
    [{ 'retry-after': dateIn(30) }, 30],
    [{ 'retry-after': dateIn(-30) }, 0],
    [{ 'retry-after': '99999999' }, 86_400],
    [{ 'retry-after-ms': '-5' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '7', 'retry-after-ms': '-5' }, 7],
    [{ 'retry-after': '9'.repeat(400) }, 86_400],
    [{ 'retry-after': '1e9' }, undefined],
    [{ 'retry-after': 'retry 5' }, undefined],
    [{ 'retry-after': new Date(NOW + 30_000).toISOString() }, 30],
    [{ 'retry-after': new Date(NOW + 30_000).toISOString().slice(0, -1) }, 30],
    [{ 'retry-after': 'Sun Sep  9 01:47:10 2001' }, 30],
    [{ 'retry-after': 'Tue, 99 Foo 2099 99:99:99 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j is %s s', (headers, seconds) => {
    expect(retryAfter(headers as { [name: string]: string }, NOW)).toBe(seconds)
  })

  const formats = Object.keys(READERS).filter(format => READERS[format]!.error !== undefined)

  test.each(formats)('%s reads dates and limits the delay to a day', format => {
    const read = (value: string): number | undefined =>
      READERS[format]!.error!({ status: 429, headers: { 'retry-after': value }, body: {} }).retryAfterSeconds
    expect(read('99999999')).toBe(86_400)
    expect(read(new Date(Date.now() + 30_000).toUTCString())).toBeGreaterThan(25)
  })

  // Google's endpoints of the formats of OpenAI and Anthropic have Google's errors.
  test.each(['contents', 'interactions', 'chat', 'embeddings', 'images', 'messages'])(
    '%s reads the delay in an error of Google, too, and limits it',
    format => {
      const read = (retryDelay: string): number | undefined => {
        const details = [{ '@type': 'type.googleapis.com/google.rpc.Help' }, { retryDelay }]
        const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details } }
        return READERS[format]!.error!({ status: 429, headers: {}, body }).retryAfterSeconds
      }
      expect(['36.5s', '99999999s', '-1s', 'soon'].map(read)).toEqual([36.5, 86_400, 0, undefined])
    },
  )
})
