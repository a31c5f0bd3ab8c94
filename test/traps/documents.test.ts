import { describe, expect, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { chat as writer } from '../../src/egress/chat/index.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { meaning } from '../laws/same.ts'

/* Mistral's `document_url`: a file by its URL. */

const URL = 'https://example.com/a.pdf'
const PART = { type: 'document_url', document_url: URL, document_name: 'a.pdf' }
const asked = (part: JsonObject): JsonObject => ({ model: 'm', messages: [{ role: 'user', content: [part] }] })
const read = (body: JsonObject): CanonicalRequest =>
  READERS['chat']!.request!({ path: '/chat/completions', query: {}, headers: {}, body })
const file = (source: JsonObject): CanonicalRequest => ({
  ...{ model: 'm', output: {}, sampling: {}, stream: false },
  messages: [{ role: 'user', content: [{ type: 'media', kind: 'file', source, name: 'a.pdf' } as never] }],
})

describe('a file by its address', () => {
  it('is read as one, and goes to upstreams of the format unchanged', () => {
    expect(read(asked(PART)).messages[0]!.content[0]).toMatchObject({
      ...{ type: 'media', kind: 'file', name: 'a.pdf', source: { type: 'url', url: URL } },
    })
    for (const part of [PART, { ...PART, document_url: { url: URL } }, { ...PART, document_name: null }])
      expect(writer.request!(read(asked(part)), NATIVE).wire.body).toEqual(asked(part))
  })

  it('is written for the upstream that has it, and fetched for any other', () => {
    const mistral = PRESETS.get('mistral')!.formats.find(({ format }) => format === 'chat')!.dialect!
    expect(mistral).toMatchObject({ document_url: true })
    for (const [source, url] of [
      [{ type: 'url', url: URL }, URL],
      [{ type: 'base64', mediaType: 'application/pdf', data: 'AAAA' }, 'data:application/pdf;base64,AAAA'],
    ] as const) {
      const request = file(source)
      const { wire, losses } = writer.request!(request, { ...FOREIGN, dialect: mistral })
      expect(wire.body['messages']).toEqual([{ role: 'user', content: [{ ...PART, document_url: url }] }])
      expect(meaning(read(wire.body)).messages).toEqual(meaning(lose(request, losses)).messages)
    }
    const part = file({ type: 'url', url: URL }).messages[0]!.content[0] as never
    expect(writer.mustFetch!(part, mistral, 'conversation', false)).toBe(false)
    expect(writer.mustFetch!(part, {}, 'conversation', false)).toBe(true)
  })
})
