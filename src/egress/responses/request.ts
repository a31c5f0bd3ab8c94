import { foreign, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { reportNoChoice } from '../sanitize/choice.ts'
import { sanitize, unchanged } from '../sanitize/names.ts'
import type { WriteOptions } from '../writer.ts'
import { writeCompaction } from './compaction.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { responsesDialect } from './dialect.ts'
import { pathFor } from './endpoint.ts'
import { maskOf } from './image-request.ts'
import { writeHistory } from './input.ts'
import { writeOutput, writeReasoning, writeSampling, writeSettings } from './settings.ts'
import { ownTools, writeToolChoice, writeTools } from './tools.ts'

/** The canonical request as `POST /responses` (FORMATS §4, §16). */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = responsesDialect(options.dialect)
  const rule = { name: 64, id: 64, freeform: dialect.custom_tools !== false, namespaces: dialect.stateless !== true }
  const { request, losses, renamed } = options.native ? unchanged(original) : sanitize(original, rule)
  if (!options.native) losses.report(foreign(request, FORMAT))
  const context: WriteContext = { dialect, native: options.native, losses }
  const body =
    !context.native && request.output.compaction === true ? writeCompaction(request, context) : whole(request, context)
  return { wire: { ...addressOf(request, context), body }, losses: losses.list, renamed }
}

function whole(request: CanonicalRequest, context: WriteContext): JsonObject {
  const history = writeHistory(request, { ...context, mask: maskOf(request) })
  const tools = writeTools(context.native ? ownTools(request) : request, context)
  const choosable = context.native || tools['tools'] !== undefined
  if (!choosable) reportNoChoice(request, context.losses)
  return {
    model: request.model,
    ...history,
    ...tools,
    ...(choosable ? writeToolChoice(request, context) : {}),
    ...writeSampling(request.sampling, context),
    ...writeOutput(request.output, context),
    ...writeReasoning(request.reasoning, context),
    ...writeSettings(request, context),
    ...writeStream(request),
    ...(context.native ? (spelt(request, FORMAT)['quiet'] as JsonObject | undefined) : undefined),
    ...kept(request, FORMAT),
    ...writeInclude(request, context),
  } as JsonObject
}

/** A native request is sent to the endpoint it was read from. */
function addressOf(request: CanonicalRequest, { native }: WriteContext): Omit<WireRequest, 'body'> {
  const { path, query, headers } = native ? spelt(request, FORMAT) : {}
  return {
    path: (path as string | undefined) ?? (native ? '/responses' : pathFor(request)),
    query: (query as WireRequest['query'] | undefined) ?? {},
    headers: (headers as WireRequest['headers'] | undefined) ?? {},
  }
}

const PROOFS = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'

/**
 * The additional output to include. Other formats' callers get proofs without requesting them, so they are included
 * whenever the request has reasoning settings: without them the next turn could not return the thoughts.
 */
function writeInclude(request: CanonicalRequest, { dialect, native }: WriteContext): JsonObject {
  const { include, top } = spelt(request, FORMAT)
  const { logprobs } = request.sampling
  const counted = logprobs === undefined ? top : logprobs === 0 ? (native ? top : undefined) : logprobs
  const top_logprobs = defined({ top_logprobs: counted }) as JsonObject
  if (native) return { ...(include === undefined ? {} : { include }), ...top_logprobs }
  const others = (request.extras?.[FORMAT]?.['include'] as readonly string[] | undefined) ?? []
  const { reasoning } = request
  const thinks = reasoning !== undefined && reasoning.effort !== 'none' && dialect.stateless !== true
  const wanted = [...others, ...(logprobs === undefined ? [] : [LOGPROBS]), ...(thinks ? [PROOFS] : [])]
  return { ...(wanted.length === 0 ? {} : { include: wanted }), ...top_logprobs }
}

function writeStream(request: CanonicalRequest): JsonObject {
  if (request.stream) return { stream: true }
  return spelt(request, FORMAT)['stream'] === false ? { stream: false } : {}
}
