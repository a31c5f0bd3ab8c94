import fc from 'fast-check'
import type { Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import { request as conversation, filled, record } from '../arbitrary.ts'
import { result as answer, asked as question } from '../arbitrary-result.ts'

/* Conversations to compact, and the results: messages that stay, and one item for the others. */

export const request: fc.Arbitrary<CanonicalRequest> = conversation.map(asked => ({
  ...asked,
  output: { ...asked.output, compaction: true },
}))

const item = fc.oneof(
  record<object>({ type: fc.constant('compaction'), encrypted_content: filled }, { id: filled }),
  record<object>({ type: fc.constant('message'), role: fc.constant('user'), content: fc.constant([]) }, { id: filled }),
)
const part = item.map((value): Part => ({ type: 'opaque', format: 'responses', value: value as never }))

export const result: fc.Arbitrary<CanonicalResult> = fc
  .tuple(answer, fc.array(part, { maxLength: 3 }))
  .map(([said, content]) => ({
    ...said,
    candidates: [{ ...said.candidates[0]!, content: [...said.candidates[0]!.content, ...content] }],
  }))

export const asked: CanonicalRequest = { ...question, output: { compaction: true } }
