import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { shownLosses } from '../../../src/egress/losses.ts'
import { familyDialect } from '../../../src/formats/index.ts'
import { minimax } from '../../../src/formats/vendors/compatible.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { wireRequest } from '../../builders/requests.ts'

/* MiniMax and the chat templates of Qwen 3.5 and later take one system message, at the start (docs/wire/chat.md). */

const MINIMAX = minimax.formats.find(({ format }) => format === 'chat')!.dialect!

function written(format: string, path: string, body: JsonObject, dialect = MINIMAX) {
  const request = READERS[format]!.request!(wireRequest(path, { model: 'm', ...body }))
  return WRITERS['chat']!.request!(request, { dialect, native: format === 'chat' })
}

const item = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })

describe('an upstream that takes one system message', () => {
  it('gets the instructions of Codex as one, and later ones as turns of the user', () => {
    const input = [item('developer', 'B'), item('user', 'Hi.'), item('developer', 'C'), item('user', 'Go.')]
    const { wire, losses } = written('responses', '/responses', { instructions: 'A', input })
    expect(wire.body['messages']).toEqual([
      { role: 'system', content: 'A\n\nB' },
      { role: 'user', content: 'Hi.' },
      { role: 'user', content: 'C' },
      { role: 'user', content: 'Go.' },
    ])
    expect(shownLosses(losses)).toContainEqual(
      expect.objectContaining({ path: ['messages', 3, 'role'], reason: 'no-system-turns' }),
    )
  })

  it('gets several system messages of a native caller as one', () => {
    const system = ['A', 'B'].map(content => ({ role: 'system', content }))
    const { wire } = written('chat', '/chat/completions', { messages: [...system, { role: 'user', content: 'Hi.' }] })
    expect(wire.body['messages']).toEqual([
      { role: 'system', content: 'A\n\nB' },
      { role: 'user', content: 'Hi.' },
    ])
  })

  it('is any server of Qwen 3.5 and later', () => {
    for (const model of ['Qwen/Qwen3.5-27B', 'qwen3.6-35b-a3b', 'accounts/fireworks/models/qwen3p8-max'])
      expect(familyDialect('chat', model)).toMatchObject({ system_turns: false })
    for (const model of ['Qwen/Qwen3-32B', 'qwen2.5-coder'])
      expect(familyDialect('chat', model)?.['system_turns']).toBeUndefined()
  })
})
