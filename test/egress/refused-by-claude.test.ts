import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { shownLosses, withoutAdditions } from '../../src/egress/losses.ts'
import { PNG } from '../builders/media.ts'
import { text, user } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'
import { FOREIGN } from '../builders/write-options.ts'
import type { Loose } from '../clients/scene.ts'

/* Requests of other formats that Claude would refuse as they came, as issues of other projects report. */

const write = (format: string, more: Partial<CanonicalRequest>, dialect: JsonObject = {}) => {
  const request = { ...REQUEST, messages: [user(text('Hi'))], ...more }
  const { wire, losses } = WRITERS[format]!.request!(request, { ...FOREIGN, dialect })
  return {
    body: wire.body as Loose,
    shown: withoutAdditions(shownLosses(losses)).map(({ path, reason }) => [path.join('.'), reason]),
  }
}

describe('images under another type than that of their bytes', () => {
  const asking = (mediaType: string, data: string): Partial<CanonicalRequest> => ({
    messages: [
      { role: 'user', content: [{ type: 'media', kind: 'image', source: { type: 'base64', mediaType, data } }] },
    ],
  })
  const typeIn = (format: string, mediaType: string, data: string) => {
    const { body, shown } = write(format, asking(mediaType, data))
    const [block] = body.messages[0].content
    return { type: block.image?.format ?? block.source.media_type, shown }
  }
  const changed = [['messages.0.content.0.source.mediaType', expect.any(String)]]

  it('get the type of the bytes', () => {
    for (const mediaType of ['image/jpeg', 'image/webp', 'image/bmp', 'application/octet-stream']) {
      expect(typeIn('messages', mediaType, PNG)).toEqual({ type: 'image/png', shown: changed })
      expect(typeIn('converse', mediaType, PNG)).toEqual({ type: 'png', shown: changed })
    }
  })

  it('keep a type that is right, or that nobody can check', () => {
    expect(typeIn('messages', 'image/png', PNG)).toEqual({ type: 'image/png', shown: [] })
    expect(typeIn('messages', 'image/jpeg', 'aGVsbG8=')).toEqual({ type: 'image/jpeg', shown: [] })
    expect(typeIn('converse', 'image/jpeg', 'aGVsbG8=')).toEqual({ type: 'jpeg', shown: [] })
  })
})

describe('end users', () => {
  it('are hashed if their id has an email address', () => {
    for (const endUser of ['ann@example.com', 'Ann <ann.b@mail.example.co.uk>', 'user:ann@localhost.test']) {
      const { body, shown } = write('messages', { endUser })
      expect(body.metadata.user_id).toMatch(/^[0-9a-f]{64}$/)
      expect(shown).toEqual([['endUser', 'hashed']])
    }
  })

  it('keep every other id', () => {
    for (const endUser of ['user_1', '@ann', 'ann@', 'ann @ home', '42', '{"device_id":"a","session_id":"b"}'])
      expect(write('messages', { endUser })).toMatchObject({ body: { metadata: { user_id: endUser } }, shown: [] })
  })
})

describe('schemas that refer to themselves', () => {
  const node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } }
  const recursive = { $defs: { node }, $ref: '#/$defs/node' }
  const plain = { $defs: { leaf: { type: 'string' } }, type: 'object', properties: { a: { $ref: '#/$defs/leaf' } } }
  const asking = (schema: JsonObject): Partial<CanonicalRequest> => ({ output: { text: { shape: 'schema', schema } } })
  const offering = (parameters: JsonObject): Partial<CanonicalRequest> => ({
    tools: [{ type: 'function', name: 'f', strict: true, parameters }],
  })

  it('are asked for in words', () => {
    for (const schema of [recursive, { type: 'object', properties: { a: { $ref: '#' } } }]) {
      const { body, shown } = write('messages', asking(schema))
      expect(body).not.toHaveProperty('output_config')
      expect(JSON.stringify(body.system)).toContain('JSON Schema')
      expect(shown).toEqual([['output.text', 'no-recursive-schemas']])
    }
    expect(write('messages', asking(plain)).body.output_config.format.type).toBe('json_schema')
  })

  it('are no strict arguments of tools', () => {
    const { body, shown } = write('messages', offering(recursive))
    expect(body.tools[0]).not.toHaveProperty('strict')
    expect(shown).toContainEqual(['tools.0.strict', 'no-recursive-schemas'])
    expect(write('messages', offering(plain)).body.tools[0].strict).toBe(true)
  })
})

describe('schemas that refer to themselves, at Bedrock', () => {
  const recursive = { type: 'object', properties: { next: { $ref: '#' } } }
  const takesAll = { strict_tools: true, json_schema: true }

  it('are no strict arguments and no enforced answers', () => {
    const output = { text: { shape: 'schema' as const, schema: recursive } }
    const tools = [{ type: 'function' as const, name: 'f', strict: true, parameters: recursive }]
    const { body, shown } = write('converse', { tools, output }, takesAll)
    expect(body).not.toHaveProperty('outputConfig')
    expect(body.toolConfig.tools[0].toolSpec).not.toHaveProperty('strict')
    expect(shown).toContainEqual(['tools.0.strict', 'no-recursive-schemas'])
  })
})

describe('strict tools of OpenAI beyond the limits of all enforced schemas', () => {
  const closed = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
    ...{ type: 'object', properties, required },
    additionalProperties: false,
  })
  const properties = (count: number, value: JsonObject): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, value]))
  const text = { type: 'string' }
  const strictIn = (format: string, schemas: readonly JsonObject[], output = {}) => {
    const tools = schemas.map((parameters, index) => ({
      ...{ type: 'function' as const, name: `f${index}`, strict: true, parameters },
    }))
    const { body, shown } = write(format, { tools, output }, { strict_tools: true, json_schema: true })
    const written = (format === 'converse' ? body.toolConfig : body).tools as Loose[]
    return {
      strict: written.flatMap((tool, index) => ((tool.toolSpec ?? tool).strict === true ? [index] : [])),
      dropped: shown.filter(([, reason]) => reason === 'limits-of-strict-tools').length,
    }
  }

  it('are offered without strictness (Agents SDK, pydantic-ai)', () => {
    for (const format of ['messages', 'converse']) {
      const many = strictIn(format, Array(25).fill(closed({ a: text })))
      expect(many).toEqual({ strict: Array.from({ length: 20 }, (_, index) => index), dropped: 5 })
      const optional = [closed(properties(20, text), []), closed(properties(5, text), []), closed({ a: text }, [])]
      expect(strictIn(format, optional)).toEqual({ strict: [0, 2], dropped: 1 })
      const union = { type: ['string', 'null'] }
      const nested = closed({ list: { type: 'array', items: closed(properties(10, { anyOf: [text, union] })) } })
      expect(strictIn(format, [closed(properties(16, union)), nested])).toEqual({ strict: [0], dropped: 1 })
    }
  })

  it('share the limits with the schema of the answer', () => {
    const output = { text: { shape: 'schema' as const, schema: closed(properties(16, { type: ['string', 'null'] })) } }
    const tools = [closed({ a: { type: ['number', 'null'] } }), closed({ a: text })]
    expect(strictIn('messages', tools, output)).toEqual({ strict: [1], dropped: 1 })
  })
})
