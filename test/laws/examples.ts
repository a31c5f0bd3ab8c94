import type { Part, ReasoningPart, ToolCallPart } from '../../src/canonical/content.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { text } from '../builders/messages.ts'

/* Answers of conversations that once broke a law, as fixed examples. */

const call: ToolCallPart = { type: 'tool-call', id: 'call_1', name: 'a', arguments: '{}' }
const proof = { format: 'contents', value: 'proof' }
const thought = (text: string, signature?: ReasoningPart['signature']): ReasoningPart => ({
  ...{ type: 'reasoning', text },
  ...(signature === undefined ? {} : { signature }),
})
const CONTENTS: readonly (readonly Part[])[] = [
  [thought('a', proof), call, thought('b')],
  [thought('a'), thought('b', proof), call],
  [thought('a'), thought('b'), thought('', proof), call],
  [thought('a', proof), thought('b', proof), call],
  [text('a'), thought('', proof), call, text('b')],
]

export const RESULTS: readonly CanonicalResult[] = CONTENTS.map(content => ({
  ...{ id: 'id', model: 'm', createdAt: 1 },
  candidates: [{ content, finish: { reason: 'stop' } }],
}))
