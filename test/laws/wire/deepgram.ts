import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { json, object, record, word } from '../arbitrary.ts'

/* Deepgram is only an upstream. No caller uses its format. */

export const request: fc.Arbitrary<WireRequest> = fc.constant({ path: '/v1/listen', query: {}, headers: {}, body: {} })

const time = fc.nat(90)
const spoken = record({ word, start: time, end: time }, { punctuated_word: word, speaker: fc.nat(3) })
const utterance = record({ transcript: word, start: time, end: time }, { speaker: fc.nat(3) })
const reading = record(
  { transcript: word },
  { confidence: fc.constant(0.9), words: fc.array(spoken, { maxLength: 3 }) },
)
const channel = record({ alternatives: fc.array(reading, { maxLength: 2 }) }, { detected_language: word })

export const result: fc.Arbitrary<JsonObject> = fc
  .tuple(
    record<JsonObject>({
      metadata: record({ duration: time, request_id: word }),
      results: record(
        { channels: fc.array(channel, { maxLength: 2 }) },
        { utterances: fc.array(utterance, { maxLength: 2 }) },
      ),
    }),
    object(json),
  )
  .map(([known, others]) => ({ ...others, ...known }))
