import { describe, expect, test } from 'vitest'
import { lose } from '../../../src/canonical/loss.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { refusableLosses } from '../../../src/egress/losses.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { wireRequest } from '../../builders/requests.ts'

/* DeepSeek and Kimi refuse turns without `reasoning_content` from the first call on, and empty ones. */

const DIALECT = { reasoning_field: 'reasoning_content', reasoning_demanded: true }

const call = (id: string) => ({ id, type: 'function', function: { name: 'get_time', arguments: '{}' } })
const asked = { role: 'user', content: 'What time is it?' }
const calls = { role: 'assistant', content: null, tool_calls: [call('a')] }
const result = { role: 'tool', tool_call_id: 'a', content: 'noon' }
const answered = { role: 'assistant', content: 'Noon.' }
const HISTORY = [asked, { role: 'assistant', content: 'Where?' }, asked, calls, result, answered, asked]

const read = (messages: readonly JsonObject[], more: JsonObject = {}): CanonicalRequest =>
  READERS['chat']!.request!(wireRequest('/v1/chat/completions', { model: 'm', messages, ...more }))

function write(request: CanonicalRequest, native: boolean, dialect: JsonObject = DIALECT) {
  const { wire, losses } = WRITERS['chat']!.request!(request, { dialect, native })
  const messages = wire.body['messages'] as readonly JsonObject[]
  return { messages, losses, reasoning: messages.map(message => message['reasoning_content']) }
}

/** Returns the messages without the records of what they were read from. */
const bare = ({ messages }: CanonicalRequest): unknown => JSON.parse(JSON.stringify(messages))

describe.each([true, false])('from a caller of the format itself: %s', native => {
  test('turns from the first call on have a space where no reasoning is known', () => {
    expect(write(read(HISTORY), native).reasoning).toEqual([...Array(3), ' ', undefined, ' ', undefined])
  })

  test('the additions are reported exactly, and no caller is refused because of them', () => {
    const request = read(HISTORY)
    const { messages, losses } = write(request, native)
    const lost = lose(request, losses) as CanonicalRequest
    expect(bare(read(messages))).toEqual(bare(lost))
    expect(losses.length).toBeGreaterThan(0)
    expect(refusableLosses(losses)).toEqual([])
  })

  test('known reasoning stays, and an empty one becomes a space', () => {
    const history = [asked, { ...calls, reasoning_content: 'hm' }, result, { ...answered, reasoning_content: '' }]
    const request = read(history)
    const { messages, losses, reasoning } = write(request, native)
    expect(reasoning).toEqual([undefined, 'hm', undefined, ' '])
    expect(bare(read(messages))).toEqual(bare(lose(request, losses) as CanonicalRequest))
  })

  test.each([
    ['no turn has a call', [asked, answered, asked], {}, DIALECT],
    ['the caller turns reasoning off', HISTORY, { reasoning_effort: 'none' }, DIALECT],
    ['the upstream demands none', HISTORY, {}, { reasoning_field: 'reasoning_content' }],
  ])('nothing is added if %s', (_, history, more, dialect) => {
    const { reasoning } = write(read(history, more), native, dialect)
    expect(reasoning.filter(one => one !== undefined)).toEqual([])
  })
})

test('what was written before the first call stays the same when a call follows', () => {
  const before = write(read(HISTORY.slice(0, 3)), true).messages
  expect(write(read(HISTORY), true).messages.slice(0, 3)).toEqual(before)
})

test('turns that are written as one message have one space', () => {
  const request = READERS['contents']!.request!(
    wireRequest('/v1beta/models/m:generateContent', {
      contents: [
        { role: 'user', parts: [{ text: 'u' }] },
        { role: 'model', parts: [{ text: 'I ' }] },
        { role: 'model', parts: [{ text: 'look.' }, { functionCall: { id: 'a', name: 'get_time', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'get_time', response: { result: 'noon' } } }] },
      ],
    }),
  )
  expect(write(request, false).reasoning.filter(one => one === ' ')).toHaveLength(1)
})
