import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import type { WireEvent, WireFile } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { NATIVE } from '../builders/write-options.ts'
import { holds, plain } from '../laws/support.ts'
import { request } from '../laws/wire/images.ts'
import { asked } from '../laws/work/image.ts'

const { images: reader } = READERS
const { images: writer } = WRITERS

const eventOf = (type: string, body: object): WireEvent => ({ event: type, data: JSON.stringify({ type, ...body }) })
const shared = { created_at: 7, size: '1024x1024', quality: 'low', background: 'opaque', output_format: 'png' }
const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
const typesOf = (events: readonly WireEvent[]) => events.map(({ event }) => event)
const made = (events: readonly CanonicalEvent[], of = asked) => drain(writer!.events!(of), events)

describe('images', () => {
  it('a form is sent with the files it arrived with, in the same order and to the same endpoint', () => {
    holds(request, wire => {
      const { wire: written } = writer!.request!(reader!.request!(wire), NATIVE)
      expect(written.path).toBe(wire.path)
      const told = (files: readonly WireFile[] | undefined) =>
        files?.map(({ field, name, mediaType, bytes }) => plain({ field, name, mediaType, bytes }))
      expect(told(written.files)).toEqual(told(wire.files))
    })
  })

  it('a stream of the format passes unchanged', () => {
    const events = [
      eventOf('image_generation.partial_image', { b64_json: 'AAAA', partial_image_index: 0, ...shared }),
      eventOf('image_generation.completed', { b64_json: 'AAAB', ...shared, usage }),
      eventOf('image_generation.completed', { b64_json: 'AAAC', ...shared, size: '512x512', usage }),
    ]
    const through = drain(chain(reader!.events!(asked), writer!.events!(asked)), events)
    expect(through.map(({ data }) => JSON.parse(data))).toEqual(events.map(({ data }) => JSON.parse(data)))
  })

  it('a stream cut behind an unfinished picture ends with an error', () => {
    const events = [eventOf('image_generation.partial_image', { b64_json: 'AAAA', partial_image_index: 0, ...shared })]
    const through = drain(chain(reader!.events!(asked), writer!.events!(asked)), events)
    expect(typesOf(through)).toEqual(['image_generation.partial_image', 'error'])
  })

  it('pictures made of others are edits in their events', () => {
    const image = { type: 'media', kind: 'image', source: { type: 'url', url: 'https://a.example/b.png' } } as const
    const edit = { ...asked, messages: [{ role: 'user', content: [image] }] } as const
    const at = { candidate: 0, part: 0 }
    const source = { type: 'base64', mediaType: 'image/png', data: '' } as const
    const out = made(
      [
        { type: 'result-start' },
        { type: 'part-start', at, part: { type: 'media', kind: 'image', source } },
        { type: 'part-delta', at, append: 'AAAA' },
        { type: 'part-end', at },
        { type: 'candidate-end', candidate: 0 },
        { type: 'result-end' },
      ],
      edit,
    )
    expect(typesOf(out)).toEqual(['image_edit.completed'])
  })

  it('a stream of words alone ends with what they say', () => {
    const at = { candidate: 0, part: 0 }
    const out = made([
      { type: 'result-start' },
      { type: 'part-start', at, part: { type: 'text', text: '' } },
      { type: 'part-delta', at, append: 'I only write.' },
      { type: 'part-end', at },
      { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } },
      { type: 'result-end' },
    ])
    expect(typesOf(out)).toEqual(['error'])
    expect(JSON.parse(out[0]!.data).error).toMatchObject({
      code: 'no_image',
      message: expect.stringContaining('I only write.'),
    })
  })

  it('a picture that was refused is the caller’s fault in a stream, too', () => {
    const out = made([
      { type: 'result-start' },
      { type: 'candidate-end', candidate: 0, finish: { reason: 'refused', raw: 'IMAGE_SAFETY' } },
      { type: 'result-end' },
    ])
    expect(JSON.parse(out[0]!.data).error).toMatchObject({ code: 'moderation_blocked', type: 'invalid_request_error' })
  })
})
