import { Budget } from '../../canonical/budget.ts'
import { foreignLosses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type ContentsDialect, contentsDialect } from '../../formats/dialects/contents.ts'
import { withinArrayBounds } from '../sanitize/array-bounds.ts'
import { withJsonInWords } from '../sanitize/json-in-words.ts'
import { labelsOf } from '../sanitize/labels.ts'
import { type SanitizeRule, sanitize } from '../sanitize/names.ts'
import { NO_STATE } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, nativeExtras, nestedExtras, type WriteContext, withExtras } from './fields.ts'
import { writeGeneration } from './generation.ts'
import { jsonInWords } from './json.ts'
import { writeTurns } from './messages.ts'
import { isTaken, withTakenSettings } from './model-settings.ts'
import { nativeRequest } from './native.ts'
import { pathOf } from './path.ts'
import { withSpokenInstructions } from './speech.ts'
import { writeToolConfig, writeTools } from './tools.ts'
import { TIERS } from './usage.ts'

/** The format's rules for tools and calls, to which tools and calls from other formats are adapted. */
const SANITIZE_RULE: SanitizeRule = { name: 64, beginning: 'word', id: 64, freeform: false, namespaces: false }

/**
 * Writes the canonical request as `POST …/models/{model}:generateContent` or `:streamGenerateContent`
 * (docs/wire/contents.md#request).
 */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = contentsDialect(options.dialect)
  const native = options.otherModel && !isTaken(original, dialect) ? undefined : nativeRequest(original, options)
  if (native !== undefined) return native
  const json = jsonInWords(original, dialect)
  if (json === undefined) return writeForeign(original, dialect)
  return withJsonInWords(original, json, request => writeForeign(request, dialect))
}

/** Writes a request that was read from another format or cannot be passed on as received. */
function writeForeign(original: CanonicalRequest, dialect: ContentsDialect): Written<WireRequest> {
  const { request: legal, losses, renamed } = sanitize(original, SANITIZE_RULE)
  const request = withinArrayBounds(withTakenSettings(legal, dialect, losses), losses)
  losses.report(foreignLosses(request, FORMAT))
  const moved = dialect.result_media === false ? { moved: [] } : {}
  const context: WriteContext = { dialect, native: false, losses, budget: new Budget(), ...moved }
  const { systemInstruction, contents } = writeTurns(withSpokenInstructions(request, context).messages, context)
  const tools = writeTools(request, context)
  const extras = nativeExtras(request)
  const body = withExtras(extras, {
    systemInstruction,
    contents,
    tools,
    toolConfig: writeToolConfig(request, tools !== undefined, context),
    generationConfig: writeGeneration(request, nestedExtras(extras, 'generationConfig'), context),
    labels: writeLabels(request.metadata, context),
    serviceTier: writeTier(request.serviceTier, context),
  })
  losses.dropFields(request, [], REQUEST_LOSSES)
  losses.dropFields(request.state, ['state'], NO_STATE)
  const { stream } = request
  const path = pathOf(request.model, stream ? 'streamGenerateContent' : 'generateContent', dialect)
  return { wire: { path, query: stream ? STREAM_QUERY : {}, headers: {}, body }, losses: losses.list, renamed }
}

/**
 * Query of a stream. Upstream streams are always requested as server-sent events. Only callers can choose the JSON
 * array framing.
 */
const STREAM_QUERY = { alt: 'sse' } as const

function writeLabels(metadata: JsonObject | undefined, { dialect, losses }: WriteContext): JsonObject | undefined {
  if (metadata === undefined) return metadata
  if (dialect.vertex) return labelsOf(metadata, losses)
  return losses.drop(['metadata'], 'no-metadata')
}

function writeTier(tier: string | undefined, { losses }: WriteContext): string | undefined {
  if (tier === undefined) return undefined
  if (Object.hasOwn(TIERS, tier)) return TIERS[tier]!
  return losses.drop(['serviceTier'], 'no-such-tier')
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  SettingName | 'model' | 'messages' | 'tools' | 'toolChoice' | 'output' | 'sampling' | 'reasoning' | 'state' | 'stream'
> = { cache: 'no-cache-markers' }
