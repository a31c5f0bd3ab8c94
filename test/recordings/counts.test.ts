import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { estimate } from '../../src/gateway/counting/estimate.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { meaning } from '../laws/same.ts'
import { plain, same } from '../laws/support.ts'
import { HOME, present, where } from './recording.ts'

const FOLDERS = {
  messages: 'messages-count-tokens',
  contents: 'contents-count-tokens',
  responses: 'responses-input-tokens',
} as const
type Counter = keyof typeof FOLDERS

interface Counted {
  readonly name: string
  readonly format: Counter
  readonly request: WireRequest
  readonly status: number
  readonly body: JsonObject
}

const FORMATS = Object.keys(FOLDERS) as Counter[]
const COUNTS: readonly Counted[] = FORMATS.flatMap(format => {
  const folder = join(HOME, FOLDERS[format])
  if (!existsSync(folder)) return []
  return readdirSync(folder).map(name => {
    const { request, response } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    const path = format === 'contents' ? `/v1beta/${request.path.slice(request.path.indexOf('models/'))}` : request.path
    const query = Object.fromEntries(new URLSearchParams(request.query ?? ''))
    const headers = format === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}
    return { name, format, request: { path, query, headers, body: request.body }, ...response }
  })
})

const each = COUNTS.map(one => [`${one.format}: ${one.name}`, one] as const)

describe.skipIf(!present)(`recorded counts${where}`, () => {
  test('there are some', () => expect(COUNTS.length).toBeGreaterThan(5))

  test.each(each)('are sent unchanged: %s', (_, { format, request, status, body }) => {
    const asked = READERS[format]!.request!(request)
    const { wire, losses } = WRITERS[format]!.request!(asked, NATIVE)
    same(wire.body, request.body)
    expect(wire.path.replace(/^\/v1(?=\/responses)/, '')).toBe(request.path.replace(/^\/v1(?=\/responses)/, ''))
    expect(losses).toEqual([])
    if (status !== 200) return
    const result = READERS[format]!.result!({ status, headers: {}, body }, asked)
    expect(result.usage?.input).toBeGreaterThan(0)
    const answer = WRITERS[format]!.result!(result, asked)
    same(answer.wire.body, body)
    expect(answer.losses).toEqual([])
  })

  describe.each(FORMATS)('before an upstream or a caller of %s', other => {
    test.each(each)('%s', (_, { format, request, status, body }) => {
      const asked = READERS[format]!.request!(request)
      const { wire, losses } = WRITERS[other]!.request!(asked, FOREIGN)
      same(meaning(READERS[other]!.request!(plain(wire))), meaning(lose(asked, losses)))
      if (status !== 200) return
      const result = READERS[format]!.result!({ status, headers: {}, body }, asked)
      const told = READERS[other]!.result!(plain(WRITERS[other]!.result!(result, asked).wire), asked)
      expect(told.usage?.input).toBe(result.usage?.input)
    })
  })

  test.each(each.filter(([, { status }]) => status === 200))('estimates are near: %s', async (_, counted) => {
    const { format, request, body } = counted
    const asked = READERS[format]!.request!(request)
    const counts = READERS[format]!.result!({ status: 200, headers: {}, body }, asked)
    const guess = await estimate(asked, format)
    expect(guess).toBeGreaterThan(counts.usage!.input! * 0.8)
    expect(guess).toBeLessThan(counts.usage!.input! * 1.5 + 20)
  })
})
