import { rowOf } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { type CanonicalRequest, type Effort, isEffort, type Output, type Reasoning } from '../../canonical/request.ts'
import type { ReasoningShown } from '../../canonical/shown-reasoning.ts'
import { defined, extrasOf, number, object, required, text } from '../fields.ts'
import { FORMAT } from './wire.ts'

/** Functions that create the canonical settings, by kind of thinking. The effort is a separate setting. */
const KINDS: { readonly [type: string]: (wire: JsonObject, effort: Effort | undefined) => Reasoning } = {
  enabled: wire => ({ budget: number(wire['budget_tokens']) ?? -1 }),
  adaptive: (_, effort) => (effort === undefined ? { budget: -1 } : {}),
  between_tools: (_, effort) => (effort === undefined ? { budget: -1 } : {}),
  disabled: (_, effort) => (effort === undefined ? { effort: 'none' } : { budget: 0 }),
}

/** Visibility of reasoning by the value of `display`. */
const SHOWN_BY_DISPLAY: { readonly [display: string]: boolean } = { summarized: true, omitted: false, updates: true }

/** Values of `display` that say more than the visibility. They also become an extra. */
const DETAILED_DISPLAYS: ReadonlySet<string> = new Set(['updates'])

/** Default visibility of reasoning by kind of thinking. Models with a thinking budget show a summary. */
const SHOWN_BY_DEFAULT: { readonly [type: string]: boolean } = { enabled: true }

/**
 * Reads `thinking` and the effort in `output_config`. Thinking of an unknown kind is added to `unreadFields` and
 * becomes an extra. Thinking between tools also becomes an extra, and the model decides the amount.
 */
export function readReasoning(body: JsonObject, unreadFields: string[]): Reasoning | undefined {
  const value = text(object(body['output_config'])?.['effort'])
  const effort = isEffort(value) ? value : undefined
  const thinking = object(body['thinking'])
  const type = thinking === undefined ? undefined : required(text(thinking['type']))
  number(thinking?.['budget_tokens'])
  const display = text(thinking?.['display']) ?? ''
  if (thinking === undefined || type === undefined || !Object.hasOwn(KINDS, type)) {
    if (thinking !== undefined) unreadFields.push('thinking')
    return effort === undefined ? undefined : { effort }
  }
  const show = rowOf(SHOWN_BY_DISPLAY, display)
  const implied = show === undefined && display === '' ? SHOWN_BY_DEFAULT[type] : undefined
  const knownFields = new Set(type === 'between_tools' ? [] : ['type'])
  if (type === 'enabled') knownFields.add('budget_tokens')
  if (show !== undefined && !DETAILED_DISPLAYS.has(display)) knownFields.add('display')
  return {
    ...defined({ effort, show: show ?? implied }),
    ...KINDS[type]!(thinking, effort),
    ...extrasOf(FORMAT, thinking, knownFields),
    spelling: { [FORMAT]: { type, ...(implied === undefined ? {} : { implied: ['show'] }) } },
  }
}

/** Kinds of thinking that request reasoning. With `between_tools`, the model reasons as little as possible. */
const REQUESTING: ReadonlySet<Json | undefined> = new Set(['enabled', 'adaptive'])

/**
 * Returns which reasoning a caller gets. Without `thinking` there is none. With `display: omitted`, blocks have an
 * empty text and a signature with which the next turn continues the reasoning (Anthropic's OpenAPI description,
 * `ThinkingConfigEnabled.display`).
 */
export function reasoningShown({ reasoning }: CanonicalRequest): ReasoningShown {
  if (!REQUESTING.has(reasoning?.spelling?.[FORMAT]?.['type'])) return 'none'
  return reasoning?.show === false ? 'signatures' : 'all'
}

const SHAPE_FIELDS = new Set(['type', 'schema'])

/** Reads the shape of the answer from `output_config.format`, or else the deprecated `output_format`. */
export function readShape(body: JsonObject, unreadFields: string[]): Output['text'] {
  const format = object(object(body['output_config'])?.['format'])
  const legacyFormat = object(body['output_format'])
  if (format !== undefined || legacyFormat === undefined) {
    if (legacyFormat !== undefined) unreadFields.push('output_format')
    return format === undefined || !isSchema(format) ? undefined : shapeOf(format)
  }
  if (isSchema(legacyFormat)) return shapeOf(legacyFormat)
  unreadFields.push('output_format')
  return undefined
}

const isSchema = (wire: JsonObject): boolean => wire['type'] === 'json_schema' && isObject(wire['schema'])

const shapeOf = (wire: JsonObject): Output['text'] => ({
  shape: 'schema',
  schema: wire['schema'] as JsonObject,
  ...extrasOf(FORMAT, wire, SHAPE_FIELDS),
})

/** Returns the fields of `output_config` that were read. */
export function takenOfConfig(config: JsonObject): ReadonlySet<string> {
  const knownFields = new Set<string>()
  if (isEffort(config['effort'])) knownFields.add('effort')
  if (isObject(config['format']) && isSchema(config['format'])) knownFields.add('format')
  return knownFields
}
