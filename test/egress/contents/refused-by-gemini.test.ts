import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { contents as writer } from '../../../src/egress/contents/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { FOREIGN } from '../../builders/write-options.ts'

/* What Gemini refuses with 400 in requests of callers of other formats. */

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = any

/** Returns the request of a caller of Chat Completions as it is sent to Gemini, and the reasons of its losses. */
function sent(fields: JsonObject, dialect: JsonObject = {}) {
  const body = { model: 'gemini-3.8-flash', messages: [{ role: 'user', content: 'hi' }], ...fields }
  const request = READERS['chat']!.request!({ path: '/chat/completions', query: {}, headers: {}, body })
  const { wire, losses } = writer.request!(request, { ...FOREIGN, dialect })
  return { body: wire.body as Loose, losses: losses.map(({ path, reason }) => `${path.join('/')} ${reason}`) }
}

test.each([
  ['a schema', '{"schema":{"$ref":"#/$defs/A"}}', { result: '{"schema":{"$ref":"#/$defs/A"}}' }],
  ['a reference within a list', '{"list":[{"$ref":"a.json"}]}', { result: '{"list":[{"$ref":"a.json"}]}' }],
  ['any other object', '{"$defs":{"a":1}}', { $defs: { a: 1 } }],
])('a result with %s', (_, content, response) => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content },
  ]
  const { body, losses } = sent({ messages })
  expect(body.contents.at(-1).parts[0].functionResponse.response).toEqual(response)
  expect(losses).toEqual([])
})
