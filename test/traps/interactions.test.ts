import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import { interactions as writer } from '../../src/egress/interactions/index.ts'
import { familyDialect } from '../../src/formats/index.ts'
import { interactions as reader } from '../../src/ingress/interactions/index.ts'
import { text, user } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'

/* Fields that Google's Interactions API refuses, from callers of other formats. */

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = any
const body = (more: Partial<CanonicalRequest>, dialect: JsonObject = {}): Loose =>
  writer.request!({ ...REQUEST, ...more }, { ...FOREIGN, dialect }).wire.body
const read = (wire: JsonObject): CanonicalRequest =>
  reader.request!({ path: '/v1beta/interactions', query: {}, headers: {}, body: wire })
const model = (...content: Part[]): Message => ({ role: 'assistant', content })
const call = (id: string): Part => ({ type: 'tool-call', id, name: 'f', arguments: '{}' })
const back = (id: string, ...content: Part[]): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, name: 'f', content }],
})
const thought = (said: string, value?: string): Part => ({
  type: 'reasoning',
  text: said,
  ...(value === undefined ? {} : { signature: { format: 'interactions', value } }),
})
const picture: Part = { type: 'media', kind: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA==' } }

const SKIP = 'skip_thought_signature_validator'
const stepsOf = (...messages: Message[]): Loose[] =>
  body({ messages }).input.map(({ type, signature }: Loose) => (signature === undefined ? type : [type, signature]))

/* allenhutchison/obsidian-gemini#1269 (July 2026), AidenAI-IO/aiden-firmware#699 (September 2026), pi#2172. */
describe('a call that Google did not sign gets the word that skips the check (trap 31)', () => {
  it('before the first call of a turn only', () => {
    expect(stepsOf(user(text('Go.')), model(call('1'), call('2')), back('1'), back('2'), model(call('3')))).toEqual([
      'user_input',
      ...[['thought', SKIP], 'function_call', 'function_call'],
      ...['function_result', 'function_result'],
      ...[['thought', SKIP], 'function_call'],
    ])
  })

  it('on the thought before it, because unsigned thoughts are refused as well', () => {
    expect(body({ messages: [user(text('Go.')), model(thought('Hm.'), call('1'))] }).input.slice(1, 2)).toEqual([
      { type: 'thought', signature: SKIP, summary: [{ type: 'text', text: 'Hm.' }] },
    ])
  })

  it('not beside a signature of Google, nor without calls', () => {
    expect(stepsOf(model(thought('', 'cHJvb2Y='), text('Hm.'), call('1')), back('1'))).toEqual([
      ...[['thought', 'cHJvb2Y='], 'model_output', 'function_call', 'function_result'],
    ])
    expect(stepsOf(user(text('Go.')), model(thought('Hm.'), text('No.')))).not.toContainEqual(['thought', SKIP])
  })

  it('in a history of this format that the gateway completes', () => {
    const own = { type: 'function_call', id: '1', name: 'f', arguments: {} }
    const request = read({ model: 'm', input: [own, { type: 'function_result', call_id: '1', result: '7' }] })
    const messages = [user(text('Go.')), ...request.messages]
    const { wire } = writer.request!({ ...request, messages }, NATIVE)
    expect((wire.body['input'] as Loose[]).map(({ type }) => type)).toEqual([
      ...['user_input', 'thought', 'function_call', 'function_result'],
    ])
  })

  it('and is no signature for readers', () => {
    const own = { type: 'function_call', id: '1', name: 'f', arguments: {} }
    const input = ['user_input', 'bare', 'said', 'call'].map(kind => {
      if (kind === 'user_input') return { type: kind, content: [{ type: 'text', text: 'Go.' }] }
      if (kind === 'call') return { ...own, signature: SKIP }
      const summary = kind === 'said' ? { summary: [{ type: 'text', text: 'Hm.' }] } : {}
      return { type: 'thought', signature: SKIP, ...summary }
    })
    const [, turn] = read({ model: 'm', input }).messages
    expect(JSON.parse(JSON.stringify(turn!.content))).toEqual([thought('Hm.'), call('1')])
  })
})

/* allenhutchison/obsidian-gemini: lists as results are refused by Gemini 2.5, strings are taken by all models. */
describe('results of tools at Gemini 2.5', () => {
  const dialect = familyDialect('interactions', 'gemini-2.5-flash')!
  const resultsOf = (messages: Message[], of: JsonObject): Loose[] =>
    body({ messages }, of).input.filter(({ type }: Loose) => type === 'function_result')

  it('are strings, and their media follow in a turn of the user', () => {
    const messages = [
      ...[user(text('Go.')), model(call('1'), call('2'))],
      ...[back('1', text('See.'), picture), back('2', text('A.'), text('B.')), user(text('And?'))],
    ]
    const { input } = body({ messages }, dialect)
    expect(resultsOf(messages, dialect).map(({ result }) => result)).toEqual(['See.', 'A.\n\nB.'])
    expect(input.at(-2).content.map(({ type }: Loose) => type)).toEqual(['text', 'image'])
    expect(input.at(-1).content).toEqual([{ type: 'text', text: 'And?' }])
    const alone = body({ messages: messages.slice(0, 3) }, dialect).input
    expect(alone.at(-1)).toMatchObject({ type: 'user_input', content: [{ type: 'text' }, { type: 'image' }] })
  })

  it('stay lists at Gemini 3', () => {
    expect(familyDialect('interactions', 'gemini-3.5-flash')).toBeUndefined()
    const messages = [model(call('1')), back('1', text('See.'), picture)]
    expect(resultsOf(messages, {})[0].result.map(({ type }: Loose) => type)).toEqual(['text', 'image'])
  })
})

/* vercel/ai#17964 (July 2026): Google takes `top_k`, and refuses the penalties as unknown parameters. */
it('top_k is sent, and penalties are not', () => {
  const { generation_config } = body({ sampling: { topK: 5, presencePenalty: 1, frequencyPenalty: 1 } })
  expect(generation_config).toEqual({ top_k: 5 })
})

/* LiveBench/LiveBench#476 (July 2026). */
describe('content that Google blocks', () => {
  const error = { code: 'content_blocked', message: 'Blocked.' }

  it('is a fault of the request, with its code', () => {
    const expected = { kind: 'invalid-request', code: 'content_blocked' }
    expect(reader.error!({ status: 400, headers: {}, body: { error } })).toMatchObject(expected)
    const data = JSON.stringify({ event_type: 'error', error })
    expect(reader.events!(REQUEST).push({ data }).at(-1)).toMatchObject({ type: 'error', error: expected })
  })
})
