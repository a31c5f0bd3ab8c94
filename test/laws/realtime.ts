import * as fc from 'fast-check'
import type { Usage } from '../../src/canonical/result.ts'
import {
  ALAW,
  type ConversationItem,
  MULAW,
  PCM_24K,
  type VoiceSessionSettings,
} from '../../src/canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../../src/canonical/voice-session-event.ts'

/* Generated events of realtime sessions. */

const text = fc.string({ maxLength: 12 })
const word = fc.stringMatching(/^[a-z][a-z_]{0,8}$/)
const id = fc.stringMatching(/^[a-z]{3,6}_[a-z0-9]{4}$/)
const milliseconds = fc.nat(100_000)
const audio = fc.uint8Array({ maxLength: 40 })
const some = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** A record whose optional fields are absent, never undefined. */
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }, required: readonly (keyof T)[] = []) =>
  fc.record(fields, { requiredKeys: required as never[], noNullPrototype: true })

const turnDetection = fc.oneof(
  fc.constant(null),
  record(
    {
      type: fc.constant('silence' as const),
      threshold: fc.constantFrom(0.2, 0.5),
      prefixMs: milliseconds,
      silenceMs: milliseconds,
      respond: fc.boolean(),
      interrupt: fc.boolean(),
    },
    ['type'],
  ),
  record({ type: fc.constant('semantic' as const), eagerness: fc.constantFrom('low', 'high') }, ['type']),
)

const tool = record(
  {
    type: fc.constant('function' as const),
    name: word,
    description: text,
    parameters: fc.constant({ type: 'object', properties: { city: { type: 'string' } } }),
  },
  ['type', 'name'],
)

const format = fc.constantFrom(PCM_24K, MULAW, ALAW)

/** Settings for which both general availability and the beta have fields. */
export const settings = record({
  instructions: text,
  modalities: fc.constantFrom(['text'], ['audio']),
  tools: fc.array(tool, { maxLength: 2 }),
  toolChoice: fc.constantFrom({ mode: 'auto' }, { mode: 'none' }, { mode: 'required', only: ['get_weather'] }),
  maxTokens: fc.oneof(fc.nat(1000), fc.constant('unlimited')),
  input: record({
    format,
    transcription: fc.oneof(fc.constant(null), record({ model: word, language: fc.constant('en') }, ['model'])),
    noiseReduction: fc.constantFrom(null, 'near_field'),
    turnDetection,
  }).filter(fields => Object.keys(fields).length > 0),
  output: record({ format, voice: word, speed: fc.constantFrom(0.5, 1) }).filter(
    fields => Object.keys(fields).length > 0,
  ),
}) as unknown as fc.Arbitrary<VoiceSessionSettings>

const message = fc.oneof(
  record(
    {
      role: fc.constant('user'),
      content: fc.array(
        fc.oneof(
          record({ type: fc.constant('text'), text }, ['type', 'text']),
          record(
            {
              type: fc.constant('media'),
              kind: fc.constant('audio'),
              transcript: text,
              source: fc.constant({ type: 'base64', mediaType: 'audio/pcm;rate=24000', data: 'AAAA' }),
            },
            ['type', 'kind', 'source'],
          ),
          fc.constant({
            type: 'media',
            kind: 'image',
            source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
          }),
        ),
        { maxLength: 3 },
      ),
    },
    ['role', 'content'],
  ),
  record(
    {
      role: fc.constantFrom('assistant', 'system'),
      content: fc.array(record({ type: fc.constant('text'), text }, ['type', 'text']), { minLength: 1, maxLength: 2 }),
    },
    ['role', 'content'],
  ),
  fc.tuple(word, text).map(([name, args]) => ({
    role: 'assistant',
    content: [{ type: 'tool-call', id: `call_${name}`, name, arguments: args }],
  })),
  fc.tuple(word, text).map(([name, out]) => ({
    role: 'tool',
    content: [{ type: 'tool-result', id: `call_${name}`, content: [{ type: 'text', text: out }] }],
  })),
)

export const item = fc.tuple(message, id).map(([made, name]) => some({ id: name, ...made }) as ConversationItem)

/** An item of a response's own input that stands for one of the conversation. */
const reference = id.map(name => ({ id: name, role: 'user', content: [], isReference: true }))

export const clientEvent: fc.Arbitrary<ClientEvent> = fc
  .tuple(
    fc.oneof(
      settings.map(value => ({ type: 'session-update', settings: value })),
      audio.map(value => ({ type: 'audio-append', audio: Buffer.from(value) })),
      fc.constantFrom({ type: 'audio-commit' }, { type: 'audio-clear' }, { type: 'output-clear' }),
      fc
        .tuple(item, fc.option(id, { nil: null }))
        .map(([value, after]) => ({ type: 'item-create', item: value, after })),
      fc.tuple(fc.constantFrom('item-retrieve', 'item-delete'), id).map(([type, value]) => ({ type, item: value })),
      fc
        .tuple(id, milliseconds)
        .map(([value, audioEndMs]) => ({ type: 'item-truncate', item: value, part: 0, audioEndMs })),
      fc.constant({ type: 'response-create' }),
      fc
        .tuple(settings, fc.option(fc.array(fc.oneof(item, reference), { maxLength: 2 }), { nil: undefined }))
        .map(([value, context]) => ({
          type: 'response-create',
          settings: some({ ...value, metadata: { a: 'b' }, context }),
        })),
      id.map(value => ({ type: 'response-cancel', response: value })),
    ),
    fc.option(id, { nil: undefined }),
  )
  .map(([event, name]) => (name === undefined ? event : { ...event, id: name }) as ClientEvent)

const usage: fc.Arbitrary<Usage> = fc.tuple(fc.nat(500), fc.nat(500), fc.nat(500)).map(([spoken, written, output]) => ({
  ...{ input: spoken + written, output, cacheRead: Math.min(written, 7) },
  ...{ inputBy: { text: written, audio: spoken, image: 0 }, outputBy: { text: output, audio: 0 } },
}))

/** A whole response: its events in the order of the grammar. */
export const response: fc.Arbitrary<readonly ServerEvent[]> = fc
  .tuple(
    id,
    fc.array(
      fc.oneof(
        fc.tuple(
          fc.constant('text' as const),
          fc.array(
            text.filter(one => one !== ''),
            { maxLength: 3 },
          ),
        ),
        fc.tuple(
          fc.constant('audio' as const),
          fc.array(
            text.filter(one => one !== ''),
            { maxLength: 3 },
          ),
        ),
        fc.tuple(
          fc.constant('call' as const),
          fc.array(
            text.filter(one => one !== ''),
            { maxLength: 3 },
          ),
        ),
      ),
      { maxLength: 3 },
    ),
    usage,
    fc.constantFrom(
      { status: 'completed' },
      { status: 'cancelled', reason: 'turn_detected' },
      { status: 'incomplete', reason: 'max_output_tokens' },
    ),
  )
  .map(([name, outputs, spent, end]) => {
    const made = outputs.flatMap(([kind, pieces], output) => outputEvents(name, output, kind, pieces))
    return [
      { type: 'response-start', response: name, modalities: ['audio'] },
      ...made,
      { type: 'response-end', response: name, ...end, usage: spent },
    ] as ServerEvent[]
  })

function outputEvents(
  response: string,
  output: number,
  kind: 'text' | 'audio' | 'call',
  pieces: readonly string[],
): ServerEvent[] {
  const name = `${response}_${output}`
  const at = { response, item: name, output, part: 0 }
  const content =
    kind === 'call' ? [{ type: 'tool-call' as const, id: `call_${name}`, name: 'find', arguments: '' }] : []
  const start = {
    type: 'output-start' as const,
    response,
    output,
    item: { id: name, role: 'assistant' as const, content },
  }
  const end = { type: 'output-end' as const, response, output, item: name, status: 'completed' as const }
  if (kind === 'call') return [start, ...pieces.map(one => ({ type: 'arguments-delta' as const, at, text: one })), end]
  const type = kind === 'text' ? ('text-delta' as const) : ('transcript-delta' as const)
  const sound: ServerEvent[] = kind === 'audio' ? [{ type: 'audio-delta', at, audio: Buffer.from([1, 2, 3, 4]) }] : []
  return [
    start,
    { type: 'part-start', at, kind },
    ...pieces.map(one => ({ type, at, text: one })),
    ...sound,
    { type: 'part-end', at },
    end,
  ]
}

/** Server events outside of responses. */
export const serverEvent: fc.Arbitrary<ServerEvent> = fc.oneof(
  settings.map(value => ({ type: 'session-updated', settings: value })),
  fc.tuple(item, id).map(([value, after]) => ({ type: 'item-added', item: { ...value, status: 'completed' }, after })),
  fc.tuple(id, milliseconds).map(([value, atMs]) => ({ type: 'speech-started', item: value, atMs })),
  fc.tuple(id, milliseconds).map(([value, atMs]) => ({ type: 'speech-stopped', item: value, atMs })),
  fc.tuple(id, fc.option(id, { nil: null })).map(([value, after]) => ({ type: 'audio-committed', item: value, after })),
  fc.constant({ type: 'audio-cleared' }),
  fc.tuple(id, text).map(([value, words]) => ({ type: 'input-transcript-delta', item: value, part: 0, text: words })),
  fc
    .tuple(id, text)
    .map(([value, words]) => ({ type: 'input-transcript-done', item: value, part: 0, text: words, seconds: 2 })),
  id.map(value => ({ type: 'item-deleted', item: value })),
  fc
    .tuple(id, milliseconds)
    .map(([value, audioEndMs]) => ({ type: 'item-truncated', item: value, part: 0, audioEndMs })),
  fc.constant({ type: 'rate-limits', limits: [{ name: 'tokens', limit: 10, remaining: 5, resetSeconds: 1 }] }),
  fc.tuple(text, id).map(([words, event]) => ({
    type: 'error',
    error: { kind: 'invalid-request', message: words, code: 'x', param: 'y' },
    event,
  })),
) as fc.Arbitrary<ServerEvent>
