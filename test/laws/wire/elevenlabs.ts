import fc from 'fast-check'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { bytes, json, object, record } from '../arbitrary.ts'

/* ElevenLabs is only an upstream. No caller uses its format. Its answers are bytes, or JSON with timestamps. */

export const request: fc.Arbitrary<WireRequest> = fc.constant({ path: '/', query: {}, headers: {}, body: {} })

export const result: fc.Arbitrary<JsonObject> = fc
  .tuple(record<JsonObject>({ audio_base64: bytes }, { alignment: json }), object(json))
  .map(([known, others]) => ({ ...others, ...known }))
