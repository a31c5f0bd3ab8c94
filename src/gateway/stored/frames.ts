import { isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'

/** A message of a client on a socket of responses (docs/wire/responses.md#sockets). */
export type Frame = CreateFrame | { readonly type: 'answer'; readonly event: JsonObject } | typeof NOTHING

/** A requested turn. */
export interface CreateFrame {
  readonly type: 'create'
  readonly body: JsonObject
  /** The lane its events are to name. */
  readonly lane: string | undefined
  /** It is only to be stored, to be continued. */
  readonly silent: boolean
  /** The turn it continues. */
  readonly previous: string | undefined
  /** Characters it came in. */
  readonly size: number
}

/** Reads one text frame; what is no turn has its answer at once. */
export function readFrame(text: string): Frame {
  const event = parseObject(text)
  if (event === undefined) return answer(fault('invalid_json', 'A frame must be the text of one JSON object.'))
  switch (event['type']) {
    case 'response.create':
      return readCreate(event, text.length)
    case 'response.steer':
      return answer(unsteered(event))
    case 'response.processed':
      return NOTHING
    default:
      return answer(
        fault('unknown_event', 'The type of an event must be `response.create` or `response.steer`.', 'type'),
      )
  }
}

/** Some clients acknowledge an answer; that needs no answer. */
const NOTHING = { type: 'nothing' } as const

const answer = (event: JsonObject): Frame => ({ type: 'answer', event })

/** The socket decides how a turn is sent: fields about it are left out, unless they request something else. */
function readCreate(event: JsonObject, size: number): Frame {
  const { type: _, stream_id, generate, stream: __, stream_options: ___, background, ...body } = event
  const lane = stream_id ?? undefined
  if (lane !== undefined && typeof lane !== 'string') return answer(wrong('stream_id', 'a text'))
  if (generate != null && typeof generate !== 'boolean') return answer(wrong('generate', 'true or false', lane))
  if (background != null && background !== false)
    return answer(
      laned(fault('unsupported_parameter', 'Nothing is done in the background of a socket.', 'background'), lane),
    )
  const previous = body['previous_response_id']
  return {
    type: 'create',
    body: { ...body, stream: true },
    lane,
    silent: generate === false,
    previous: typeof previous === 'string' ? previous : undefined,
    size,
  }
}

/** What comes in while an answer is made waits for its end: nothing steers it. */
function unsteered({ previous_response_id, input, stream_id }: JsonObject): JsonObject {
  const isSound = typeof previous_response_id === 'string' && (typeof input === 'string' || Array.isArray(input))
  const error = isSound
    ? { code: 'steering_not_supported', message: 'Answers cannot be steered here.' }
    : { code: 'invalid_input', message: 'Steering takes a `previous_response_id` and an `input`.' }
  const event = {
    type: 'response.steer.failed',
    sequence_number: 0,
    steer: { previous_response_id: previous_response_id ?? '', input: input ?? [] },
    error: { type: 'invalid_request_error', ...error },
  }
  return typeof stream_id === 'string' ? laned(event, stream_id) : event
}

const wrong = (param: string, what: string, lane?: string): JsonObject =>
  laned(fault('invalid_type', `${param}: must be ${what}.`, param), lane)

/** An error of a socket: nested, unlike that of a stream (docs/wire/errors.md#on-sockets). */
export const fault = (code: string, message: string, param: string | null = null, status = 400): JsonObject => ({
  type: 'error',
  status,
  sequence_number: 0,
  error: { type: 'invalid_request_error', code, message, param },
})

export const laned = (event: JsonObject, lane: string | undefined): JsonObject =>
  lane === undefined ? event : { ...event, stream_id: lane }

/** The text of an error that was to be an HTTP answer, as an event. */
export function faultOf(status: number, headers: { readonly [name: string]: string }, text: string): JsonObject {
  const error: Json | undefined = parseObject(text)?.['error']
  const fields = isObject(error) ? error : { message: 'The answer is none.' }
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
