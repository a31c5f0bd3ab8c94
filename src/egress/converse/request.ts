import { Budget } from '../../canonical/budget.ts'
import { foreignLosses, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { defined, isObject, type Json, type JsonObject, put } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type ConverseDialect, converseDialect } from '../../formats/dialects/converse.ts'
import { SETTINGS } from '../../formats/settings/converse.ts'
import { extrasFor } from '../fields.ts'
import { WORDS_ALONE, withJsonInWords } from '../sanitize/json-in-words.ts'
import { withMediaInWords } from '../sanitize/media-in-words.ts'
import { sanitize } from '../sanitize/names.ts'
import { refusalOfShape } from '../sanitize/refused-shape.ts'
import { withinStrictLimits } from '../sanitize/strict-limits.ts'
import { writeSettings } from '../settings.ts'
import { countable } from '../usage/input-usage.ts'
import type { WriteOptions } from '../writer.ts'
import { addCachePoints } from './caching.ts'
import { FORMAT, type WriteContext } from './context.ts'
import { writeTurns } from './messages.ts'
import { nativeRequest } from './native.ts'
import { acceptOf, countPathOf, operationOf, pathOf } from './path.ts'
import { type Thinking, writeThinking } from './reasoning.ts'
import { dropOutput, dropState, writeMetadata, writeSampling, writeShape, writeTier } from './settings.ts'
import { forces, type Tools, writeToolChoice, writeTools } from './tools.ts'

/** The format's rules for tools and calls, to which tools and calls from other formats are adapted. */
const SANITIZE_RULE = { name: 64, id: 64, uniqueIds: true, freeform: false, namespaces: false } as const

/** Writes the canonical request as a model operation (docs/wire/converse.md#request). */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = converseDialect(options.dialect)
  return withMediaInWords(original, { images: dialect.images }, request => {
    const nativeWire = nativeRequest(request, options)
    if (nativeWire !== undefined) return nativeWire
    if (request.output.count === true) return writeCounting(request, dialect)
    if (refusalOfShape(request.output.text, dialect) === undefined) return writeForeign(request, dialect)
    return withJsonInWords(request, WORDS_ALONE, worded => writeForeign(worded, dialect))
  })
}

/** Writes a token count request as CountTokens (docs/wire/converse.md#token-counting). */
function writeCounting(request: CanonicalRequest, dialect: ConverseDialect): Written<WireRequest> {
  const losses = new Losses()
  const { wire, ...writtenExtras } = writeForeign(countable(request, losses, ['state']), dialect)
  const { inferenceConfig: _, ...converse } = wire.body
  const counting = { ...wire, path: countPathOf(request.model), body: { input: { converse } } }
  return { ...writtenExtras, wire: counting, losses: [...losses.list, ...writtenExtras.losses] }
}

/** Writes a request that was read from another format, or that cannot be passed on as received. */
function writeForeign(original: CanonicalRequest, dialect: ConverseDialect): Written<WireRequest> {
  const { request: legal, losses, renamed } = sanitize(original, SANITIZE_RULE)
  const request = dialect.strict_tools === true ? withinStrictLimits(legal, losses) : legal
  losses.report(foreignLosses(request, FORMAT))
  const moved = dialect.result_media === false ? { moved: [] } : {}
  const context: WriteContext = { dialect, native: false, losses, documents: new Set(), budget: new Budget(), ...moved }
  writeSettings(SETTINGS, request, losses)
  const tools = writeTools(request, context)
  const thinking = writeThinking(request, forces(request, tools, context), context)
  const conversation = writeTurns(request.messages, thinking.on, context)
  const { system, messages } = conversation
  addCachePoints(request, tools, conversation, context)
  const body = {
    messages,
    system: system.length === 0 ? undefined : system,
    ...writeGroups(request, tools, thinking, context),
    requestMetadata: writeMetadata(request, losses),
  }
  reportLosses(request, losses)
  const stream = request.stream && mayStream(tools, context)
  const path = pathOf(request.model, operationOf(stream))
  const wire = { path, query: {}, headers: {}, body: withExtras(request, body), ...acceptOf(stream) }
  return { wire, losses: losses.list, renamed }
}

/** Returns false if the model answers a request with these tools only as a whole, and reports this. */
function mayStream({ wire }: Tools, { dialect, losses }: WriteContext): boolean {
  if (dialect.streamed_tools !== false || wire.length === 0) return true
  losses.change(['stream'], false, 'no-streams-with-tools')
  return false
}

/** Writes the groups of settings. */
function writeGroups(request: CanonicalRequest, tools: Tools, thinking: Thinking, context: WriteContext): JsonObject {
  const { inference, topK } = writeSampling(request, thinking, context)
  const choice = writeToolChoice(request, tools, context)
  const fields = { ...thinking.fields, top_k: topK }
  const output = { textFormat: writeShape(request.output, context), effort: thinking.effort }
  return {
    inferenceConfig: inference,
    toolConfig: tools.wire.length === 0 ? {} : (defined({ tools: tools.wire, toolChoice: choice }) as JsonObject),
    additionalModelRequestFields: defined(fields) as JsonObject,
    outputConfig: defined(output) as JsonObject,
    serviceTier: writeTier(request, context.losses) ?? {},
  }
}

/** Adds the format's extras. A group's extras are inside the group. Empty groups are left out. */
function withExtras(request: CanonicalRequest, fields: { readonly [field: string]: Json | undefined }): JsonObject {
  const body: { [field: string]: Json } = {}
  for (const [field, value] of Object.entries(fields))
    if (value !== undefined && !(isObject(value) && Object.keys(value).length === 0)) body[field] = value
  for (const [field, value] of Object.entries(extrasFor(request, FORMAT))) {
    const written = Object.hasOwn(body, field) ? body[field] : undefined
    put(body, field, isObject(written) && isObject(value) ? { ...written, ...value } : value)
  }
  return body
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  | SettingName
  | ('model' | 'messages' | 'tools' | 'toolChoice' | 'output' | 'sampling' | 'reasoning' | 'state' | 'stream' | 'cache')
> = {}

/** Reports request fields that the format lacks. */
function reportLosses(request: CanonicalRequest, losses: Losses): void {
  losses.dropFields(request, [], REQUEST_LOSSES)
  dropOutput(request.output, losses)
  dropState(request, losses)
}
