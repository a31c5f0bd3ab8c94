import { describe, expect, it } from 'vitest'
import { BufferedBytes } from '../../src/canonical/bytes.ts'
import { kindOfMediaType } from '../../src/canonical/media/data-url.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { asked } from '../laws/work/transcription.ts'

/** Names that every object inherits. A careless table lookup finds all of them. */
const WORDS = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__']

it('a field of the name __proto__ is kept, and becomes no prototype', () => {
  const body = JSON.parse('{"__proto__":{"x":1},"inferenceConfig":{"maxTokens":1,"__proto__":{"y":2}}}')
  const request = READERS['converse']!.request!({ path: '/model/m/converse', query: {}, headers: {}, body })
  // A request of another model is written anew.
  const { wire } = WRITERS['converse']!.request!({ ...request, model: 'n' }, { dialect: {}, native: true })
  for (const object of [request.extras!['converse']!, wire.body, wire.body['inferenceConfig'] as object]) {
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
    expect(Object.hasOwn(object, '__proto__')).toBe(true)
  }
})

describe.each(WORDS)('the inherited name %s has no meaning', word => {
  it('as the shape of a transcript', () => {
    const files = [{ field: 'file', mediaType: 'audio/wav', bytes: new BufferedBytes(new Uint8Array([1])) }]
    const body = { model: 'm', response_format: word }
    const wire = { path: '/audio/transcriptions', query: {}, headers: {}, body, files }
    expect(() => READERS['transcriptions']!.request!(wire)).toThrow('response_format')
    const said = { ...asked, spelling: { transcriptions: { shape: word } } }
    const answer = { candidates: [{ content: [{ type: 'text', text: 'Hi.' }] }] } as const
    expect(WRITERS['transcriptions']!.result!(answer, said).wire.body).toEqual({ text: 'Hi.' })
  })

  it('as the kind of a picture', () => {
    const body = { model: 'm', prompt: 'a boat', output_format: word }
    const request = READERS['images']!.request!({ path: '/images/generations', query: {}, headers: {}, body })
    expect(request.output.image?.mediaType).toBe(`image/${word}`)
    expect(WRITERS['images']!.request!(request, { dialect: {}, native: false }).wire.body['output_format']).toBe(word)
    expect(kindOfMediaType(`${word}/x`)).toBe('file')
  })

  it('as the kind of a sound', () => {
    const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: word } }
    const body = { model: 'm', messages: [{ role: 'user', content: [sound] }] }
    const request = READERS['chat']!.request!({ path: '/chat/completions', query: {}, headers: {}, body })
    expect(request.messages[0]!.content[0]).toMatchObject({ source: { mediaType: `audio/${word}` } })
  })

  it('as the end of a completion, or the code of an error', () => {
    const body = { choices: [{ index: 0, text: 'a', finish_reason: word }] }
    const [choice] = READERS['completions']!.result!({ status: 200, headers: {}, body }, asked).candidates
    expect(choice!.finish?.reason).toBe('other')
    for (const format of ['cohere', 'rerank', 'deepgram', 'elevenlabs']) {
      const error = { status: 400, headers: {}, body: { code: word, err_code: word, detail: { status: word } } }
      expect(READERS[format]!.error!(error).kind).toBe('invalid-request')
    }
  })
})
