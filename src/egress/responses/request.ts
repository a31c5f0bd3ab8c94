import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { isRedundant } from '../../canonical/repair.ts'
import { repairedHistory } from '../../canonical/repaired-history.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type ResponsesDialect, responsesDialect } from '../../formats/dialects/responses.ts'
import { extrasFor } from '../fields.ts'
import { hasFreeformTools, hasNamespaces } from '../functions-only.ts'
import { nativeSourceOf } from '../native.ts'
import { runsAt } from '../sanitize/hosted-tools.ts'
import { type JsonRule, withJsonInWords } from '../sanitize/json-in-words.ts'
import { hasOddCalls, withLegalArguments } from '../sanitize/legal-arguments.ts'
import { reportNoChoice } from '../sanitize/limits.ts'
import { takenMedia, withMediaInWords } from '../sanitize/media-in-words.ts'
import { sanitize } from '../sanitize/names.ts'
import { withoutRefusedSettings } from '../sanitize/refused-settings.ts'
import { countable } from '../usage/input-usage.ts'
import type { WriteOptions } from '../writer.ts'
import { writeCompaction } from './compaction.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { maskOf } from './images.ts'
import { writeInclude } from './include.ts'
import { writeHistory } from './input.ts'
import { REWRITTEN, writeNativeRequest } from './native-request.ts'
import { withoutRefusedFields } from './refused-fields.ts'
import { hasOpenaiSearches, takesNamespaces, takesOpenaiSearches } from './search-access.ts'
import { writeOutput, writeReasoning, writeSampling, writeSettings } from './settings.ts'
import { writeToolChoice, writeTools } from './tools.ts'

const COMPACT_PATH = '/responses/compact'
const COUNT_PATH = '/responses/input_tokens'

/**
 * Writes the canonical request as `POST /responses`, or for an endpoint below that path
 * (docs/wire/responses.md#request).
 */
export const writeRequest = (original: CanonicalRequest, options: WriteOptions): Written<WireRequest> =>
  withMediaInWords(original, takenMedia(responsesDialect(options.dialect), options), request =>
    writeWorded(request, options),
  )

function writeWorded(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const source = options.native ? nativeSourceOf(original, FORMAT, REWRITTEN) : undefined
  if (source === undefined) return writeTranslated(original, options)
  if (isTaken(original, responsesDialect(options.dialect))) return writeNativeRequest(original, source, options)
  const { history, losses } = repairedHistory(original, false)
  const { wire, ...written } = writeTranslated(history, options)
  const { include } = source.wire.body
  const takesInclude = include != null && responsesDialect(options.dialect).request_fields !== 'ark'
  const body = takesInclude ? { ...wire.body, include } : wire.body
  return { ...written, wire: { ...wire, body }, losses: losses(written.losses) }
}

/** Returns true if the upstream takes the request as it came. Any other is written anew, by the dialect's rules. */
const isTaken = (request: CanonicalRequest, dialect: ResponsesDialect): boolean =>
  takesTools(request, dialect) && !(dialect.odd_arguments === false && hasOddCalls(request))

/**
 * Returns true if the upstream takes the kinds of tools that the request declares or has called. Codex declares
 * freeform tools, namespaces and items with tools, which many servers of this format refuse or silently ignore
 * (openai/codex#32318, CLIProxyAPI#5753; docs/wire/responses.md#tools).
 */
function takesTools(request: CanonicalRequest, dialect: ResponsesDialect): boolean {
  if (dialect.custom_tools === false && hasFreeformTools(request)) return false
  if (!takesOpenaiSearches(dialect) && hasOpenaiSearches(request)) return false
  if (request.tools?.every(tool => runsAt(tool, dialect)) === false) return false
  return takesNamespaces(dialect) || !(hasNamespaces(request) || hasItemsWithTools(request))
}

const hasItemsWithTools = ({ messages }: CanonicalRequest): boolean =>
  messages.some(({ content }) => content.some(isRedundant))

const writeTranslated = (original: CanonicalRequest, options: WriteOptions): Written<WireRequest> =>
  withJsonInWords(original, JSON_RULE, request =>
    request.output.count === true ? writeCounting(request, options) : writeForeign(request, options),
  )

const JSON_RULE: JsonRule = { schemas: true, skipsInstructions: true }

/** Writes a request that was read from another format or cannot be passed on as received. */
function writeForeign(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = responsesDialect(options.dialect)
  const rule = { name: 64, id: 64, freeform: dialect.custom_tools !== false, namespaces: takesNamespaces(dialect) }
  const { request: renamedRequest, losses, renamed } = sanitize(original, rule)
  const settled = withoutRefusedSettings(renamedRequest, dialect, losses)
  const request = withLegalArguments(settled, dialect, losses)
  losses.report(foreignLosses(request, FORMAT))
  const context: WriteContext = { dialect, losses }
  const compacts = request.output.compaction === true
  const written = compacts ? writeCompaction(request, context) : writeBody(request, context)
  const body = withoutRefusedFields(written, dialect, losses)
  const wire = { path: compacts ? COMPACT_PATH : '/responses', query: {}, headers: {}, body }
  return { wire, losses: losses.list, renamed }
}

/** Writes a token count request as `POST /responses/input_tokens` (docs/wire/responses.md#token-counting). */
function writeCounting(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  const {
    wire,
    losses: reportedLosses,
    ...written
  } = writeForeign(countable(original, losses, ['cache', 'state']), options)
  // A token count has no answer to store and nothing to include.
  const { store: _, include: __, ...body } = wire.body
  const others = reportedLosses.filter(({ reason }) => reason !== 'minted-no-storage')
  return { ...written, wire: { ...wire, path: COUNT_PATH, body }, losses: [...losses.list, ...others] }
}

function writeBody(request: CanonicalRequest, context: WriteContext): JsonObject {
  const history = writeHistory(request, { ...context, mask: maskOf(request) })
  const tools = writeTools(request, context)
  const isChoosable = tools['tools'] !== undefined
  if (!isChoosable) reportNoChoice(request, context.losses)
  return {
    model: request.model,
    ...history,
    ...tools,
    ...(isChoosable ? writeToolChoice(request, context) : {}),
    ...writeSampling(request, context.losses),
    ...writeOutput(request.output, context.losses),
    ...writeReasoning(request, context),
    ...writeSettings(request, context),
    ...(request.stream ? { stream: true } : {}),
    ...extrasFor(request, FORMAT),
    ...writeInclude(request, context),
  }
}
