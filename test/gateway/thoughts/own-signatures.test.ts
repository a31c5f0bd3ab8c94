import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { signaturesIn, withOwnSignatures } from '../../../src/gateway/thoughts/own-signatures.ts'
import type { Signers } from '../../../src/gateway/thoughts/signers.ts'
import { READERS } from '../../../src/ingress/index.ts'
import type { Target } from '../../../src/upstreams/router.ts'
import { NATIVE } from '../../builders/write-options.ts'
import { FORMATS, request } from '../../laws/arbitrary.ts'
import { RUNS } from '../../laws/support.ts'

/** Signers that know no signature, so that a target that is not drawn gets none. */
const STRANGERS = { of: () => undefined } as unknown as Signers

const targetOf = (format: string): Target => ({ format: { format }, isDrawn: () => false }) as unknown as Target

test('a history in which no signature is found is sent unchanged, so that it need not be searched again', () => {
  fc.assert(
    fc.property(request, fc.constantFrom(...FORMATS), (asked: CanonicalRequest, format) => {
      const own = withOwnSignatures(asked, targetOf(format), STRANGERS)
      if (signaturesIn(asked).length === 0) expect(own.request).toBe(asked)
      else expect(signaturesIn(own.request).every(signature => signature.format !== format)).toBe(true)
    }),
    { numRuns: RUNS },
  )
})

/** Histories in which the reasoning of another account stands before a text, and before or on a call. */
const HISTORIES: { readonly [format: string]: JsonObject } = {
  responses: {
    input: [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SIGNED' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'TEXT', annotations: [] }] },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'SIGNED' },
      { type: 'function_call', call_id: 'c', name: 'CALL', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'RESULT' },
    ],
  },
  interactions: {
    input: [
      { type: 'thought', signature: 'SIGNED' },
      { type: 'model_output', content: [{ type: 'text', text: 'TEXT' }] },
      { type: 'function_call', id: 'c', name: 'CALL', arguments: {}, signature: 'SIGNED' },
      { type: 'function_result', call_id: 'c', name: 'CALL', result: 'RESULT' },
    ],
  },
  messages: {
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'SIGNED' },
          { type: 'text', text: 'TEXT' },
          { type: 'thinking', thinking: '', signature: 'SIGNED' },
          { type: 'tool_use', id: 'c', name: 'CALL', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'RESULT' }] },
    ],
  },
  contents: {
    contents: [
      {
        role: 'model',
        parts: [
          { text: 'TEXT', thoughtSignature: 'SIGNED' },
          { functionCall: { name: 'CALL', args: {} }, thoughtSignature: 'SIGNED' },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'CALL', response: { result: 'RESULT' } } }] },
    ],
  },
  converse: {
    messages: [
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'T', signature: 'SIGNED' } } },
          { text: 'TEXT' },
          { reasoningContent: { reasoningText: { text: 'T', signature: 'SIGNED' } } },
          { toolUse: { toolUseId: 'c', name: 'CALL', input: {} } },
        ],
      },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c', content: [{ text: 'RESULT' }] } }] },
    ],
  },
}

/** Paths of formats with the model in the path. */
const PATHS: { readonly [format: string]: string } = {
  contents: '/v1beta/models/m:generateContent',
  converse: '/model/m/converse',
}

test.each(Object.entries(HISTORIES))('only the reasoning of another account is left out of %s', (format, history) => {
  const wire = { path: PATHS[format] ?? '', query: {}, headers: {}, body: { model: 'm', max_tokens: 9, ...history } }
  const own = withOwnSignatures(READERS[format]!.request!(wire), targetOf(format), STRANGERS)
  const written = JSON.stringify(WRITERS[format]!.request!(own.request, NATIVE).wire.body)
  expect(written).not.toContain('SIGNED')
  for (const kept of ['TEXT', '"CALL"', 'RESULT']) expect(written).toContain(kept)
})
