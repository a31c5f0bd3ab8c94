import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { formatFor } from '../../../src/formats/models.ts'
import { PRESETS } from '../../../src/formats/presets.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { wireRequest } from '../../builders/requests.ts'

const VLLM = PRESETS.get('vllm')!.formats.find(({ format }) => format === 'chat')!

/** Writes a request for a model that vLLM serves. */
function written(format: string, path: string, body: JsonObject, model: string) {
  const native = format === 'chat'
  const channel = {
    ...VLLM,
    baseUrl: VLLM.baseUrl!,
    auth: 'bearer',
    headers: {},
    query: {},
    dialect: VLLM.dialect!,
  } as const
  const { dialect } = formatFor(channel, { model, native })
  const request = READERS[format]!.request!(wireRequest(path, { model, ...body }))
  return WRITERS['chat']!.request!(request, { dialect, native })
}

const item = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
const SESSION = [
  { role: 'user', content: 'Hi.' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: 'R' },
  { role: 'user', content: 'Go.' },
]

describe('a server that runs chat templates', () => {
  it('gets the turns of Codex at the start of a session as one', () => {
    const input = [item('developer', 'B'), item('user', 'Context.'), item('user', 'Hi.')]
    const { wire } = written('responses', '/responses', { instructions: 'A', input }, 'gemma-3-27b')
    expect(wire.body['messages']).toEqual([
      { role: 'system', content: 'A\n\nB' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Context.' },
          { type: 'text', text: 'Hi.' },
        ],
      },
    ])
  })

  it('gets turns in a row of a native caller as one, without the names of speakers', () => {
    const messages = ['A', 'B'].map(content => ({ role: 'user', name: 'bob', content }))
    const { wire, losses } = written('chat', '/chat/completions', { messages }, 'gemma-3-27b')
    expect(wire.body['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B' },
        ],
      },
    ])
    expect(losses.filter(({ reason }) => reason === 'no-speaker-names')).toHaveLength(2)
  })

  it('gets requests of native callers as they came, if the template is not known to refuse them', () => {
    const messages = [...SESSION, { role: 'system', content: 'S' }, { role: 'user', content: 'On.' }]
    const { wire } = written('chat', '/chat/completions', { messages: [...messages, ...SESSION] }, 'gpt-oss-20b')
    expect(wire.body['messages']).toEqual([...messages, ...SESSION])
  })

  it.each(['chat', 'messages'])(
    'gets a turn behind results of tools as Mistral wants it, from callers of %s',
    format => {
      const messages = [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'R' }] },
        { role: 'user', content: 'Go.' },
      ]
      const { wire } =
        format === 'chat'
          ? written('chat', '/chat/completions', { messages: SESSION }, 'devstral-small-2')
          : written('messages', '/v1/messages', { max_tokens: 9, messages }, 'devstral-small-2')
      const sent = wire.body['messages'] as readonly JsonObject[]
      expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
      expect(sent[2]!['tool_call_id']).toMatch(/^[a-zA-Z0-9]{9}$/)
    },
  )
})
