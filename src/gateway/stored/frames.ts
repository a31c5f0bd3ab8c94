import { isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'

/** A client's frame on a responses WebSocket (docs/wire/responses.md#sockets). */
export type Frame = CreateFrame | { readonly type: 'answer'; readonly event: JsonObject } | typeof NOTHING

/** A frame that requests a turn. */
export interface CreateFrame {
  readonly type: 'create'
  readonly body: JsonObject
  /** Lane to name in the turn's events. */
  readonly lane: string | undefined
  /** True if the turn is only stored, to be continued later. */
  readonly storeOnly: boolean
  /** Id of the turn to continue. */
  readonly previous: string | undefined
  /** Number of characters of the frame. */
  readonly size: number
}

/** Reads a text frame. If the frame requests no turn, returns the answer to it instead. */
export function readFrame(text: string): Frame {
  const event = parseObject(text)
  if (event === undefined) return answer(errorEvent('invalid_json', 'A frame must be the text of one JSON object.'))
  switch (event['type']) {
    case 'response.create':
      return readCreate(event, text.length)
    case 'response.steer':
      return answer(steeringRefusal(event))
    case 'response.processed':
      return NOTHING
    default:
      return answer(
        errorEvent('unknown_event', 'The type of an event must be `response.create` or `response.steer`.', 'type'),
      )
  }
}

/** Frames that need no answer. Some clients acknowledge answers. */
const NOTHING = { type: 'nothing' } as const

const answer = (event: JsonObject): Frame => ({ type: 'answer', event })

/**
 * Reads a turn. Drops fields about the transport, because the socket determines them, and rejects values that the
 * socket does not support.
 */
function readCreate(event: JsonObject, size: number): Frame {
  const { type: _, stream_id, generate, stream: __, stream_options: ___, background, ...body } = event
  const lane = stream_id ?? undefined
  if (lane !== undefined && typeof lane !== 'string') return answer(wrongType('stream_id', 'a string'))
  if (generate != null && typeof generate !== 'boolean') return answer(wrongType('generate', 'true or false', lane))
  if (background != null && background !== false)
    return answer(
      withLane(
        errorEvent('unsupported_parameter', 'Background responses are not supported on a socket.', 'background'),
        lane,
      ),
    )
  const previous = body['previous_response_id']
  return {
    type: 'create',
    body: { ...body, stream: true },
    lane,
    storeOnly: generate === false,
    previous: typeof previous === 'string' ? previous : undefined,
    size,
  }
}

/** Rejects steering, which is not supported: input that arrives during an answer waits until the answer ends. */
function steeringRefusal({ previous_response_id, input, stream_id }: JsonObject): JsonObject {
  const isValid = typeof previous_response_id === 'string' && (typeof input === 'string' || Array.isArray(input))
  const error = isValid
    ? { code: 'steering_not_supported', message: 'Steering is not supported.' }
    : { code: 'invalid_input', message: 'Steering requires a `previous_response_id` and an `input`.' }
  const event = {
    type: 'response.steer.failed',
    sequence_number: 0,
    steer: { previous_response_id: previous_response_id ?? '', input: input ?? [] },
    error: { type: 'invalid_request_error', ...error },
  }
  return typeof stream_id === 'string' ? withLane(event, stream_id) : event
}

const wrongType = (param: string, expected: string, lane?: string): JsonObject =>
  withLane(errorEvent('invalid_type', `${param}: must be ${expected}.`, param), lane)

/** Builds an error event for a socket. Its error is nested, unlike a stream's (docs/wire/errors.md#on-sockets). */
export const errorEvent = (code: string, message: string, param: string | null = null, status = 400): JsonObject => ({
  type: 'error',
  status,
  sequence_number: 0,
  error: { type: 'invalid_request_error', code, message, param },
})

/** Adds the lane to an event. */
export const withLane = (event: JsonObject, lane: string | undefined): JsonObject =>
  lane === undefined ? event : { ...event, stream_id: lane }

/** Converts an HTTP error answer to an error event. */
export function errorEventOf(status: number, headers: { readonly [name: string]: string }, text: string): JsonObject {
  const error: Json | undefined = parseObject(text)?.['error']
  const fields = isObject(error) ? error : { message: 'The answer contains no error message.' }
  const { 'content-type': _, ...others } = headers
  return {
    type: 'error',
    status,
    sequence_number: 0,
    error: {
      ...fields,
      code: fields['code'] ?? fields['type'] ?? 'server_error',
      ...(Object.keys(others).length === 0 ? {} : { headers: others }),
    },
  }
}
