import type { Headers } from '../../format.ts'
import type { JsonObject } from '../../json.ts'
import type { Violation } from '../../rules.ts'
import { responses } from '../responses/index.ts'

/** Fields about the transport, which the socket already determines. */
const TRANSPORT_FIELDS = ['stream_options', 'background'] as const

/** Checks a request in a frame. */
export const requestLint = (body: JsonObject, headers: Headers): readonly Violation[] => [
  ...responses.lint.request(body, headers),
  ...TRANSPORT_FIELDS.filter(field => field in body).map(field => ({ rule: 'transport-fields', detail: field })),
]
