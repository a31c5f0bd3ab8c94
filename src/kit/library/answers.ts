import type { CanonicalError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { checkedAnswer, errorBody } from './checked-body.ts'
import type { Codec } from './codec.ts'

/** Request that an answer is assumed to belong to if the program does not pass one. */
export const ANY_REQUEST: CanonicalRequest = { model: 'model', messages: [], output: {}, sampling: {}, stream: false }

/**
 * Reads a whole answer.
 *
 * @param request the request that the body answers, which some formats need to interpret the answer.
 *
 * @example
 * ```ts
 * const result = readAnswer(messages, {
 *   id: 'msg_1', type: 'message', role: 'assistant', model: 'm',
 *   content: [{ type: 'text', text: 'Hi!' }],
 *   stop_reason: 'end_turn', usage: { input_tokens: 3, output_tokens: 2 },
 * })
 * result.candidates[0].content // [{ type: 'text', text: 'Hi!' }]
 * ```
 *
 * @throws GatewayError if the body is not an answer in this format.
 */
export const readAnswer = (codec: Codec, body: JsonObject, request: CanonicalRequest = ANY_REQUEST): CanonicalResult =>
  codec.reader.result!({ status: 200, headers: {}, body: checkedAnswer(body) }, request)

/** An answer in a wire format, and the losses of writing it. */
export interface WrittenAnswer {
  readonly body: JsonObject
  /** Losses with paths into the canonical result. */
  readonly losses: readonly Loss[]
}

/**
 * Writes a whole answer.
 *
 * @example
 * ```ts
 * const result = { id: 'a', model: 'm', createdAt: 0, candidates: [{ content: [{ type: 'text', text: 'Hi!' }] }] } as const
 * writeAnswer(chat, result).body.choices // [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, … }]
 * ```
 */
export function writeAnswer(
  codec: Codec,
  result: CanonicalResult,
  request: CanonicalRequest = ANY_REQUEST,
): WrittenAnswer {
  const { wire, losses } = codec.writer.result!(result, request)
  return { body: wire.body, losses }
}

/** An HTTP error. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers?: { readonly [name: string]: string }
  readonly body: JsonObject
}

/** Reads an answer with a status of 400 or more. Accepts any body. */
export const readError = (codec: Codec, { status, headers = {}, body }: ErrorAnswer): CanonicalError =>
  codec.reader.error!({ status, headers, body: errorBody(body) })

/** Writes an error with the status and body of the format. */
export const writeError = (codec: Codec, error: CanonicalError, requestId = ''): Required<ErrorAnswer> => {
  const { status, headers, body } = codec.writer.error!(error, requestId)
  return { status, headers, body }
}
