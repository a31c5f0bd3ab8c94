import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { shownLosses } from '../../src/egress/losses.ts'
import {
  chat,
  contents,
  GatewayError,
  messages,
  responses,
  type Translation,
  translate as translateBody,
} from '../../src/kit/library/index.ts'
import { readSourceText } from '../../src/kit/source-text.ts'
import { translate } from '../../src/kit/translate.ts'
import { translations } from '../../src/kit/translations.ts'
import { writtenRequest } from '../../src/kit/written-request.ts'
import { plain, RUNS } from '../laws/support.ts'
import { PAIRS, requests } from './library/requests.ts'

/* The command line, the console and the library write the same request, which is the gateway's (same-as-gateway.test.ts). */

const CODECS = { chat, contents, messages, responses }

describe.each(PAIRS)('from %s to %s', (from, to) => {
  test('the command line and the console write the body of the library, with its losses', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(requests(from), async ({ path, body }) => {
        const text = JSON.stringify({ path, body: plain(body) })
        const translation = translated(plain(body) as JsonObject, path)
        if (translation === undefined) return
        compared++
        const { wire, losses, bodyPath } = translate(text, { from, to, kind: 'request' })
        expect(plain((wire as { body: JsonObject }).body)).toEqual(plain(translation.body))
        expect(shownLosses(losses).map(loss => bodyPath!(loss.path))).toEqual(translation.losses.map(loss => loss.path))
        const inConsole = (await translations(readSourceText(text, from, 'request'), [to])).get(to)!
        expect(JSON.parse((inConsole as { text: string }).text) as Json).toEqual(plain(translation.body))
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    )
    expect(compared).toBeGreaterThan(0)
  })

  /** The library's translation. Undefined if it refuses the request. */
  function translated(body: JsonObject, path: string): Translation | undefined {
    try {
      return translateBody(body, { from: CODECS[from], to: CODECS[to], path })
    } catch (thrown) {
      if (thrown instanceof GatewayError) return undefined
      throw thrown
    }
  }
})

test('an unanswered call gets a failed result, and the loss is named', () => {
  const call = { type: 'tool-call', id: 'a', name: 'look', arguments: '{}' } as const
  const request: CanonicalRequest = {
    ...{ model: 'm', output: {}, sampling: {}, stream: false },
    messages: [
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
    ],
  }
  const { wire, losses } = writtenRequest(request, 'chat', 'messages')
  const results = JSON.stringify(wire.body['messages']).match(/tool_result/g)
  expect(results).toHaveLength(1)
  expect(losses.map(({ path, reason }) => [path.join('/'), reason])).toContainEqual(['messages/1', 'unanswered-call'])
})

test('the command line keeps large integers, as the gateway does', () => {
  const schema = '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807}}}'
  const text = `{"model":"m","max_tokens":1,"messages":[],"tools":[{"name":"t","input_schema":${schema}}]}`
  const { wire } = translate(text, { from: 'messages', to: 'chat', kind: 'request' })
  expect(JSON.stringify(wire)).toContain(schema)
})
