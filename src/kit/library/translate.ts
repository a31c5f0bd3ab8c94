import type { Loss } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { repairedHistory } from '../../canonical/repaired-history.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Restorer, restorer } from '../../canonical/restore.ts'
import { withReasoning } from '../../canonical/shown-reasoning.ts'
import { chain } from '../../canonical/transducer.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { markDefaults } from '../../egress/defaults.ts'
import { essentialLosses, refusableLosses, refusal, shownLosses } from '../../egress/losses.ts'
import { type ErrorAnswer, readAnswer, readError, type WrittenAnswer, writeAnswer, writeError } from './answers.ts'
import type { Codec } from './codec.ts'
import { type Caller, headOf, reasoningShown, withCompletionTime } from './head.ts'
import { inBody, type ReadOptions, readRequest, type WriteRequestOptions, writeOptions } from './requests.ts'
import { StreamTranslator } from './stream-translator.ts'
import { framer, parser, transformOf } from './streams.ts'

/** Formats and options of a translation. */
export interface TranslateOptions extends Pick<WriteRequestOptions, 'dialect'>, Omit<ReadOptions, 'model'> {
  /** The caller's format. */
  readonly from: Codec
  /** The upstream's format. */
  readonly to: Codec
  /** Model, for a caller's format that names it in the path. */
  readonly model?: string
  /** The upstream's name for the model. The default is the caller's name. */
  readonly upstreamModel?: string
  /**
   * `refuse` throws for any loss that affects the caller. By default, only losses that no answer could make up for are
   * refused, such as an image that the upstream cannot see.
   */
  readonly onLoss?: 'show' | 'refuse'
}

/** A streamed answer in the caller's format. */
export interface TranslatedStream extends ReadableWritablePair<Uint8Array, Uint8Array> {
  /** Returns the losses of the answer, which are complete when the stream has ended. */
  readonly losses: () => readonly Loss[]
}

/** A translated request, and the functions that translate the upstream's answer. */
export interface Translation {
  /** The body for the upstream. */
  readonly body: JsonObject
  /** The path below the upstream's base URL. */
  readonly path: string
  readonly query: WireRequest['query']
  readonly headers: WireRequest['headers']
  /** Losses and additions, with paths into the caller's body. */
  readonly losses: readonly Loss[]
  /**
   * Translates the upstream's whole answer.
   *
   * @throws GatewayError if the body is not an answer in the upstream's format.
   */
  answer(body: JsonObject): WrittenAnswer
  /** Creates a transform from the upstream's stream of server-sent events to the caller's. */
  stream(): TranslatedStream
  /** Translates an answer with a status of 400 or more. */
  error(answer: ErrorAnswer): Required<ErrorAnswer>
}

/**
 * Translates a request and later its answer, as the gateway does. Needs no network, files or server.
 *
 * @example
 * ```ts
 * const translation = translate(
 *   { model: 'claude-opus-4-5', seed: 7, messages: [{ role: 'user', content: 'Hello' }] },
 *   { from: chat, to: messages },
 * )
 * translation.path // '/v1/messages'
 * translation.body.messages // [{ role: 'user', content: 'Hello' }]
 * translation.losses.map(loss => loss.reason) // ['no-seed', 'most-the-model-answers']
 *
 * const answer = translation.answer({
 *   id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-5',
 *   content: [{ type: 'text', text: 'Hi!' }],
 *   stop_reason: 'end_turn', usage: { input_tokens: 3, output_tokens: 2 },
 * })
 * answer.body.choices[0].message.content // 'Hi!'
 * ```
 *
 * @throws GatewayError `invalid-request` for a malformed body, and `cannot-express` if the request would lose too much.
 */
export function translate(body: JsonObject, options: TranslateOptions): Translation {
  const { from, to, upstreamModel, onLoss = 'show' } = options
  const native = from.name === to.name
  const request = readRequest(from, body, options)
  const { wire, sent, losses, restoring } = write(request, to, { ...options, native }, upstreamModel ?? request.model)
  const tooMuch = onLoss === 'refuse' ? refusableLosses(losses) : essentialLosses(losses, request)
  if (tooMuch.length > 0) throw refusal(tooMuch, inBody(from, request, tooMuch))
  const caller: Caller = { codec: from, request, isRenamed: upstreamModel !== undefined, native }
  return {
    ...{ body: wire.body, path: wire.path, query: wire.query, headers: wire.headers },
    losses: inBody(from, request, shownLosses(losses)),
    answer: answered => {
      const read = readAnswer(to, answered, sent)
      const result = withReasoning(restoring?.result(read) ?? read, reasoningShown(caller))
      return writeAnswer(from, headOf(withCompletionTime(result, from), caller), request)
    },
    stream: () => {
      const translator = new StreamTranslator(to.reader.events!(sent), restoring?.events(), caller)
      const { readable, writable } = transformOf(chain(parser(), chain(translator, framer())))
      return { readable, writable, losses: () => translator.losses }
    },
    error: answer => writeError(from, readError(to, answer)),
  }
}

interface UpstreamRequest {
  readonly wire: WireRequest
  /** The request as it was sent. */
  readonly sent: CanonicalRequest
  readonly losses: readonly Loss[]
  readonly restoring: Restorer | undefined
}

function write(
  request: CanonicalRequest,
  to: Codec,
  options: WriteRequestOptions & { readonly native: boolean },
  model: string,
): UpstreamRequest {
  const { native } = options
  const { history, losses } = repairedHistory(request, native)
  const sent = model === request.model ? history : { ...history, model }
  const wireRequest = to.writer.request!(sent, writeOptions(to, model, options))
  return {
    ...{ wire: wireRequest.wire, sent },
    losses: markDefaults(losses(wireRequest.losses), request),
    restoring: restorer(wireRequest.renamed, {
      wrapsEnum: !native && request.output.text?.shape === 'enum',
      mayBeFenced: wireRequest.mayBeFenced,
    }),
  }
}
