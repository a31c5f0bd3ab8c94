import { describe, expect, test } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import type { VoiceSessionSettings } from '../../src/canonical/voice-session.ts'
import type { ClientEvent } from '../../src/canonical/voice-session-event.ts'
import { ServerWriter } from '../../src/voice/formats/realtime/server-writer.ts'
import { fault } from '../voice/live/grammar.ts'
import { CREATE, Machine } from '../voice/live/machine.ts'
import { type Frame, SESSIONS } from './realtime.ts'
import { where } from './recording.ts'

const GOOGLE = SESSIONS.filter(({ vendor }) => vendor === 'google')

/** Converts to camel case. Recorded clients write snake case or camel case, and the upstream accepts both. */
function camel(value: Json): Json {
  if (Array.isArray(value)) return value.map(camel)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camel(field),
    ]),
  )
}

const list = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const textOf = ({ parts }: JsonObject): string =>
  list(parts)
    .map(({ text }) => String(text))
    .join('')

function settingsOf(setup: JsonObject): VoiceSessionSettings {
  const instructions = setup['systemInstruction'] as JsonObject | undefined
  const [tools] = list(setup['tools'])
  return {
    ...(instructions === undefined ? {} : { instructions: textOf(instructions) }),
    tools: list(tools?.['functionDeclarations']).map(({ name, description, parameters }) => ({
      type: 'function',
      name: String(name),
      description: String(description),
      parameters: parameters as JsonObject,
    })),
    input: { transcription: {} },
  }
}

/** Returns a client's recorded frame as the events that a caller would have sent. */
function eventsOf(frame: JsonObject): readonly ClientEvent[] {
  const { clientContent, realtimeInput, toolResponse } = camel(frame) as { readonly [kind: string]: JsonObject }
  if (realtimeInput !== undefined) {
    const { data } = realtimeInput['audio'] as JsonObject
    return [{ type: 'audio-append', audio: Buffer.from(String(data), 'base64url') }]
  }
  if (toolResponse !== undefined)
    return [
      ...list(toolResponse['functionResponses']).map(
        ({ id, response }): ClientEvent => ({
          type: 'item-create',
          item: {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                id: String(id),
                content: [{ type: 'text', text: String((response as JsonObject)['output']) }],
              },
            ],
          },
        }),
      ),
      CREATE,
    ]
  return [
    ...list(clientContent!['turns']).map(
      (turn): ClientEvent => ({
        type: 'item-create',
        item: {
          role: turn['role'] === 'model' ? 'assistant' : 'user',
          content: [{ type: 'text', text: textOf(turn) }],
        },
      }),
    ),
    ...(clientContent!['turnComplete'] === true ? [CREATE] : []),
  ]
}

/** Returns the meaning of frames: audio by its bytes, turns one by one. */
function meaning(frames: readonly JsonObject[]): unknown[] {
  return frames.flatMap((frame): unknown[] => {
    const { clientContent, realtimeInput, toolResponse } = camel(frame) as { readonly [kind: string]: JsonObject }
    if (clientContent !== undefined)
      return [...list(clientContent['turns']), ...(clientContent['turnComplete'] === true ? ['complete'] : [])]
    if (toolResponse !== undefined) return [toolResponse]
    const { data, mimeType } = realtimeInput!['audio'] as JsonObject
    return [[mimeType, Buffer.from(String(data), 'base64url').toString('base64')]]
  })
}

function played(frames: readonly Frame[]): Machine {
  const setup = frames[0]!.data['setup'] as JsonObject
  const model = String(setup['model'])
  const machine = new Machine({
    model,
    settings: settingsOf(setup),
    dialect: { vertex: model.startsWith('publishers/') },
  })
  for (const { direction, data } of frames.slice(1)) {
    if (direction === 'received') machine.server(data)
    // `setup` is sent with the client's first event, and this was its only one.
    else machine.client(...eventsOf(data))
  }
  return machine
}

const received = (frames: readonly Frame[]): JsonObject[] =>
  frames.filter(({ direction }) => direction === 'received').map(({ data }) => data)

const transcript = (frames: readonly JsonObject[], field: string): string =>
  frames.map(({ serverContent }) => ((serverContent as JsonObject)?.[field] as JsonObject)?.['text'] ?? '').join('')

describe.skipIf(GOOGLE.length === 0)(`recorded sessions of Gemini Live${where}`, () => {
  test.each(GOOGLE.map(one => [one.name, one.frames] as const))('%s', (_, frames) => {
    // The first event sets up the session before the recorded upstream acknowledges it.
    const [first, ...rest] = frames
    const machine = played([first!, ...reordered(rest)])
    expect(fault(machine.events)).toBeUndefined()
    expect(machine.of('error')).toEqual([])
    expect(machine.end).toBeUndefined()

    const sent = frames.filter(({ direction }) => direction === 'sent').map(({ data }) => data)
    const { model, generationConfig } = sent[0]!['setup'] as JsonObject
    expect(machine.frames[0]!['setup']).toMatchObject({ model, generationConfig } as never)
    expect(meaning(machine.frames.slice(1))).toEqual(meaning(sent.slice(1)))

    const answers = received(frames)
    expect(
      machine
        .of('transcript-delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe(transcript(answers, 'outputTranscription'))
    expect(
      machine
        .of('input-transcript-done')
        .map(({ text }) => text)
        .join(''),
    ).toBe(transcript(answers, 'inputTranscription'))
    const ended = machine.of('response-end')
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']))
    expect(ended).toHaveLength(machine.of('response-start').length)
    const prompts = answers.map(({ usageMetadata }) => Number((usageMetadata as JsonObject)?.['promptTokenCount'] ?? 0))
    expect(ended.reduce((sum, { usage }) => sum + (usage?.input ?? 0), 0)).toBe(prompts.reduce((a, b) => a + b))

    for (const naming of ['ga', 'beta'] as const) {
      const writer = new ServerWriter({ naming, newId: prefix => `${prefix}_x` })
      const done = machine.events
        .flatMap(event => writer.write(event))
        .map(text => JSON.parse(text) as JsonObject)
        .filter(({ type }) => type === 'response.done')
      const names = answers.flatMap(({ toolCall }) =>
        list((toolCall as JsonObject)?.['functionCalls']).map(({ name }) => name),
      )
      const output = done.flatMap(({ response }) => list((response as JsonObject)['output']))
      expect(output.flatMap(({ type, name }) => (type === 'function_call' ? [name] : []))).toEqual(names)
    }
  })
})

/** Moves `setupComplete` behind the client's first event, although it came before. */
function reordered(frames: readonly Frame[]): readonly Frame[] {
  const complete = frames.findIndex(({ data }) => 'setupComplete' in data)
  const next = frames.findIndex(({ direction }, index) => direction === 'sent' && index > complete)
  return [
    ...frames.slice(0, complete),
    ...frames.slice(complete + 1, next + 1),
    frames[complete]!,
    ...frames.slice(next + 1),
  ]
}
