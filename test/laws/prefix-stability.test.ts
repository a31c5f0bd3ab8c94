import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { request } from './arbitrary.ts'
import { DIALECTS } from './dialects.ts'
import { conversing, holds } from './support.ts'

/** Field of the turns in each format. */
const TURNS: { readonly [format: string]: string } = {
  chat: 'messages',
  messages: 'messages',
  responses: 'input',
  contents: 'contents',
  converse: 'messages',
  'cohere-chat': 'messages',
  interactions: 'input',
}

const asked = (one: CanonicalRequest): CanonicalRequest => ({ ...one, stream: false })

/** Returns a question and its answer, as the next request would contain them. */
const more = (text: string): CanonicalRequest['messages'] => [
  { role: 'user', content: [{ type: 'text', text: `q ${text}` }] },
  { role: 'assistant', content: [{ type: 'text', text: `a ${text}` }] },
  { role: 'user', content: [{ type: 'text', text: 'go on' }] },
]

describe('prefix stability: turns added to a request change no byte of what was written before (trap 62)', () => {
  it.each(conversing('request'))('%s', format => {
    const dialects = DIALECTS[format] ?? fc.constant({})
    holds(fc.tuple(request, fc.string(), dialects), ([base, text, dialect]) => {
      const conversation = asked({ ...base, messages: [...base.messages, ...more('first')] })
      const longer = { ...conversation, messages: [...conversation.messages, ...more(text)] }
      const before = WRITERS[format]!.request!(conversation, { ...FOREIGN, dialect }).wire.body
      const after = WRITERS[format]!.request!(longer, { ...FOREIGN, dialect }).wire.body
      const turns = TURNS[format]!
      const { [turns]: old, ...head } = before
      const { [turns]: grown, ...newHead } = after
      expect(JSON.stringify(newHead)).toBe(JSON.stringify(head))
      const kept = (old as readonly JsonObject[]).slice(0, -1)
      expect(JSON.stringify((grown as readonly JsonObject[]).slice(0, kept.length))).toBe(JSON.stringify(kept))
    })
  })
})
