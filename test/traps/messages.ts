import { expect } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import type { FunctionTool } from '../../src/canonical/tool.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { messages as writer } from '../../src/egress/messages/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { messages as reader } from '../../src/ingress/messages/index.ts'
import { text, user } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'

/* Helpers for the traps of messages. */
export const call = (id: string, name = 'f', args = '{}'): Part => ({ type: 'tool-call', id, name, arguments: args })
export const answerOf = (id: string, ...content: Part[]): Part => ({ type: 'tool-result', id, content })
export const thought = (value: string | undefined, format = 'messages'): Part => ({
  type: 'reasoning',
  text: 'so',
  ...(value === undefined ? {} : { signature: { format, value } }),
})
export const FUNCTION: FunctionTool = { type: 'function', name: 'f', parameters: { type: 'object' } }

export const asked = (more: Partial<CanonicalRequest>): CanonicalRequest => ({
  ...REQUEST,
  messages: [user(text('hi'))],
  ...more,
})
export const write = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}) =>
  writer.request!(asked(more), { ...FOREIGN, dialect })
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
export const body = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}): any => write(more, dialect).wire.body
export const lost = (more: Partial<CanonicalRequest>): string[] => write(more).losses.map(loss => loss.reason)
export const wire = (body: JsonObject, headers: Readonly<Record<string, string>> = {}) => ({
  path: '/v1/messages',
  query: {},
  headers: { 'anthropic-version': '2023-06-01', ...headers },
  body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...body },
})
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
export const native = (more: JsonObject, dialect: JsonObject = {}): any =>
  writer.request!(reader.request!(wire(more)), { ...NATIVE, dialect }).wire.body
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
export const whole = (answer: CanonicalResult): any => writer.result!(answer, REQUEST).wire.body
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
export const streamOf = (events: Iterable<CanonicalEvent>): any[] =>
  drain(writer.events!(REQUEST), events).map(({ data }) => JSON.parse(data))
export const chatChunks = (...deltas: JsonObject[]) => [
  ...deltas.map(({ finish_reason = null, ...delta }) => ({
    data: JSON.stringify({ id: 'c', model: 'm', created: 1, choices: [{ index: 0, delta, finish_reason }] }),
  })),
  { data: '[DONE]' },
]
// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
export const fromChat = (...deltas: JsonObject[]): any[] =>
  drain(chain(READERS['chat']!.events!(REQUEST), writer.events!(REQUEST)), chatChunks(...deltas)).map(({ data }) =>
    JSON.parse(data),
  )
export const read = (body: JsonObject): CanonicalResult =>
  reader.result!({ status: 200, headers: {}, body: { id: 'm1', content: [], ...body } }, REQUEST)

/** Checks that blocks open and close one after another with consecutive indexes, and that the end comes once. */
export function lifeCycle(events: readonly { type: string; index?: number }[]): void {
  const letters: Readonly<Record<string, string>> = {
    ...{ message_start: 'S', content_block_start: 'B', content_block_delta: 'D', content_block_stop: 'E' },
    ...{ message_delta: 'M', message_stop: 'T', error: 'X' },
  }
  expect(events.map(({ type }) => letters[type] ?? '?').join('')).toMatch(/^S?(BD*E)*(MT|X)$/)
  let open = -1
  for (const { type, index } of events)
    if (type === 'content_block_start') expect(index).toBe(++open)
    else if (index !== undefined) expect(index).toBe(open)
}
