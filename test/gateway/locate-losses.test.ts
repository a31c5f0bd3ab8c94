import { describe, expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { Speaker, StoringGateway } from './stored/test-server.ts'

/* Paths of losses are paths in the caller's body. */

const closing = closingAfterEach()

async function testServer(format: string) {
  const keeping = await StoringGateway.open([await Speaker.open(format)])
  closing.push(() => keeping.close())
  const ask = async (path: string, body: object, headers = {}) => {
    const {
      status,
      headers: got,
      json,
    } = await keeping.testServer.ask(path, body, {
      headers: { 'anthropic-version': '2023-06-01', ...headers },
    })
    const entries = (name: string) => (got[name] ?? '').split('; ')
    return { status, json, loss: entries('interlingua-loss'), added: entries('interlingua-added') }
  }
  return { ask }
}

const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const said = (text: string) => ({ role: 'user', content: text })

describe('the path of a loss', () => {
  test('counts the caller’s turns: the system is none of them, results stand in the user’s', async () => {
    const { ask } = await testServer('chat')
    const messages = [
      said('Hi'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'ok' },
          { type: 'text', text: 'Go on.' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'x' },
          { type: 'text', text: 'Ok.' },
        ],
      },
      said('And?'),
    ]
    const { loss } = await ask('/v1/messages', { model: 'm', max_tokens: 9, system: 'Be kind.', messages })
    expect(loss).toEqual(['messages/3/content/0 no-reasoning-in-history'])
  })

  test('counts items of the input, and points before what was repaired', async () => {
    const { ask } = await testServer('chat')
    const input = [
      said('Hi'),
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      said('Never mind.'),
      thought,
      { role: 'assistant', content: 'Ok.' },
      { type: 'function_call_output', call_id: 'z', output: 'lost' },
      said('And?'),
    ]
    const { loss, added } = await ask('/v1/responses', { model: 'm', instructions: 'Be kind.', input, store: false })
    expect(loss).toEqual(['input/5 orphan-result', 'input/3 no-reasoning-in-history'])
    expect(added).toEqual(['input/2 unanswered-call'])
    const refused = await ask('/v1/responses', { model: 'm', input, store: false }, { 'interlingua-on-loss': 'refuse' })
    expect(refused.status).toBe(422)
    expect(refused.json.error.message).toContain('input/3 (no-reasoning-in-history)')
  })

  test('tells of turns that are kept here by the field that points at them', async () => {
    const { ask } = await testServer('chat')
    const first = await ask('/v1/responses', { model: 'm', input: [said('Hi'), thought, said('Well?')] })
    expect(first.loss).toEqual(['input/1 no-reasoning-in-history'])
    const input = [said('So?'), thought, said('And?')]
    const { loss } = await ask('/v1/responses', { model: 'm', input, previous_response_id: first.json.id })
    expect(loss).toEqual(['previous_response_id/1 no-reasoning-in-history', 'input/1 no-reasoning-in-history'])
  })

  test('names settings and tools as the caller’s format does', async () => {
    const { ask } = await testServer('messages')
    const { loss, added } = await ask('/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'system', content: 'Be kind.' }, said('Hi')],
      seed: 7,
      stop: ['a', ' '],
      user: 'u'.repeat(600),
      functions: [{ name: 'f', parameters: { type: 'string' } }],
    })
    expect(loss).toContain('seed no-seed')
    expect(loss).toContain('stop/1 blank-stop')
    for (const entry of loss) expect(entry).toMatch(/^(?:seed|stop|user|functions\/0)/)
    expect(added).toEqual(['max_completion_tokens limit-required'])
  })

  test('is where the body is wrapped or written with underscores', async () => {
    const { ask } = await testServer('chat')
    const { loss } = await ask('/v1beta/models/m:generateContent', {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generation_config: { top_k: 3 },
      safety_settings: [],
    })
    expect(loss).toEqual(expect.arrayContaining(['generation_config/top_k no-top-k']))
  })

  test('is a place in contents', async () => {
    const { ask } = await testServer('chat')
    const contents = [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'Ok.' }] },
      { role: 'user', parts: [{ text: 'And?' }] },
    ]
    const { loss } = await ask('/v1beta/models/m:generateContent', {
      systemInstruction: { parts: [{ text: 'Be kind.' }] },
      contents,
    })
    expect(loss).toEqual(['contents/1/parts/0 no-reasoning-in-history'])
  })
})
