import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { ClientEvent } from '../../../src/canonical/voice-session-event.ts'
import { clientEvent } from '../../laws/realtime.ts'
import { holds } from '../../laws/support.ts'
import { fault } from './grammar.ts'
import {
  audio,
  CANCEL,
  COMMIT,
  CREATE,
  calls,
  content,
  GO_AWAY,
  INTERRUPTED,
  inputTranscript,
  Machine,
  outputTranscript,
  result,
  resumable,
  SETUP_COMPLETE,
  spoken,
  TURN_COMPLETE,
  UNRESUMABLE,
  userText,
  written,
} from './machine.ts'

type Input =
  | { readonly client: ClientEvent }
  | { readonly server: JsonObject | string }
  | { readonly closed: number }
  | { readonly opened: true }

const IDS = ['call_a', 'call_b', 'call_c'] as const
const id = fc.constantFrom(...IDS)

const usual: fc.Arbitrary<ClientEvent> = fc.oneof(
  fc.constantFrom(CREATE, CREATE, CANCEL, COMMIT, userText('Hello')),
  fc.constantFrom<ClientEvent>(
    { type: 'audio-clear' },
    { type: 'item-truncate', item: 'item_1', part: 0, audioEndMs: 1 },
  ),
  { arbitrary: fc.constantFrom(0, 1, 2, 7, 640).map(bytes => audio(bytes)), weight: 3 },
  id.map(one => result(one, '{"ok":true}')),
)

const frame: fc.Arbitrary<JsonObject | string> = fc.oneof(
  { arbitrary: fc.constantFrom(SETUP_COMPLETE, { setupComplete: { sessionId: 'x' } }), weight: 2 },
  fc.constantFrom(spoken(2), written('Hello'), outputTranscript('Hello'), content({})),
  fc.constantFrom(inputTranscript('Hi'), inputTranscript('Ho')),
  fc.constantFrom(TURN_COMPLETE, INTERRUPTED, content({ interrupted: true, turnComplete: true })),
  fc.constantFrom(content({ generationComplete: true }), content({ turnComplete: true, turnCompleteReason: 'NEW' })),
  fc.constantFrom(content({ inputTranscription: { finished: true } }), GO_AWAY, UNRESUMABLE, resumable('h')),
  fc.array(id, { minLength: 1, maxLength: 2 }).map(list => calls(...list.map(one => ({ id: one, name: 'find' })))),
  fc.array(id, { maxLength: 2 }).map(ids => ({ toolCallCancellation: { ids } })),
  fc
    .constantFrom('ACTIVITY_START', 'ACTIVITY_END')
    .map(voiceActivityType => ({ voiceActivity: { voiceActivityType } })),
)

const FIELDS = [
  ...['setupComplete', 'serverContent', 'toolCall', 'toolCallCancellation', 'usageMetadata', 'goAway', 'error'],
  ...['sessionResumptionUpdate', 'voiceActivity', '__proto__', 'modelTurn', 'parts', 'functionCalls', 'ids', 'text'],
  ...['inlineData', 'mimeType', 'data', 'interrupted', 'turnComplete', 'inputTranscription', 'outputTranscription'],
  ...['name', 'id', 'args', 'newHandle', 'resumable', 'promptTokenCount', 'promptTokensDetails', 'modality'],
]
const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(true, false, null, '', 'audio/pcm', 'AAAA', 7, -1, 'constructor'),
    fc.array(tie('tree'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...FIELDS), tie('tree'), { maxKeys: 4 }),
  ),
}))
const malformed: fc.Arbitrary<JsonObject | string> = fc.oneof(
  fc.string(),
  fc.json(),
  tree.map(value => JSON.stringify(value) ?? ''),
)

const input: fc.Arbitrary<Input> = fc.oneof(
  { arbitrary: usual.map(client => ({ client })), weight: 16 },
  { arbitrary: clientEvent.map(client => ({ client })), weight: 4 },
  { arbitrary: frame.map(server => ({ server })), weight: 24 },
  { arbitrary: malformed.map(server => ({ server })), weight: 2 },
  fc.constantFrom(1000, 1006, 1006, 1006, 1007, 1011).map(closed => ({ closed })),
  { arbitrary: fc.constant({ opened: true as const }), weight: 4 },
)

const inputs = fc.array(input, { minLength: 10, maxLength: 80, size: 'max' })

const MODES: { readonly [name: string]: ConstructorParameters<typeof Machine>[0] } = {
  'automatic turns': { settings: { input: { transcription: {} } } },
  'manual turns': { settings: { input: { turnDetection: null, transcription: {} } } },
  'text of a model that speaks': { settings: { modalities: ['text'] }, model: 'gemini-3.1-flash-live' },
}

const played = (list: readonly Input[], options: ConstructorParameters<typeof Machine>[0]): Machine => {
  const machine = new Machine(options)
  for (const one of list) {
    if ('client' in one) {
      machine.protocol.losses(one.client)
      machine.client(one.client)
    } else if ('server' in one) machine.server(one.server)
    else if ('closed' in one) machine.close(one.closed)
    else if (machine.moving) machine.open()
  }
  return machine
}

const KINDS = new Set(['setup', 'clientContent', 'realtimeInput', 'toolResponse'])

describe.each(Object.entries(MODES))('%s', (_, options) => {
  test('whatever happens, the events are of the grammar', () => {
    holds(inputs, list => {
      const machine = played(list, options)
      expect([fault(machine.events), machine.types]).toEqual([undefined, machine.types])
    })
  })

  test('a connection has one setup, first, and nothing more before it is complete', () => {
    holds(inputs, list => {
      const machine = new Machine(options)
      let isComplete = false
      for (const one of list) {
        const before = machine.frames.length
        const connection = machine.sent.length
        if ('server' in one)
          isComplete ||= JSON.stringify(one.server).includes('setupComplete') && machine.frames.length > 0
        if ('client' in one) machine.client(one.client)
        else if ('server' in one) machine.server(one.server)
        else if ('opened' in one && machine.moving) machine.open()
        if (machine.sent.length > connection) isComplete = false
        const fresh = machine.sent.length > connection ? machine.frames : machine.frames.slice(before)
        for (const frame of fresh) {
          const isSetup = 'setup' in frame
          expect(Object.keys(frame).filter(key => KINDS.has(key))).toHaveLength(1)
          expect(isSetup).toBe(frame === machine.frames[0])
          if (!isSetup) expect(isComplete).toBe(true)
        }
      }
    })
  })

  test('every client event that can be acknowledged is, once', () => {
    holds(inputs, list => {
      const machine = played(list, options)
      const counted = (type: string): number => machine.types.filter(one => one === type).length
      const clients = list.flatMap(one => ('client' in one ? [one.client.type] : []))
      expect(counted('session-updated')).toBeLessThanOrEqual(clients.filter(type => type === 'session-update').length)
      expect(counted('audio-cleared')).toBeLessThanOrEqual(clients.filter(type => type === 'audio-clear').length)
      expect(counted('item-added')).toBe(counted('item-done'))
      if (machine.end === undefined)
        expect(counted('session-updated')).toBe(clients.filter(type => type === 'session-update').length)
    })
  })

  test('losses change nothing', () => {
    holds(fc.tuple(inputs, clientEvent), ([list, event]) => {
      const machine = played(list, options)
      const before = machine.events.length + machine.frames.length
      const text = JSON.stringify(event)
      expect(machine.protocol.losses(event)).toEqual(machine.protocol.losses(event))
      expect(machine.events.length + machine.frames.length).toBe(before)
      expect(JSON.stringify(event)).toBe(text)
    })
  })
})
