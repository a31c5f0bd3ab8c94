import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { type Effort, isEffort, type Reasoning } from '../../canonical/request.ts'
import { defined } from '../fields.ts'
import { FORMAT } from './wire.ts'

/** Functions that create the canonical settings, by kind of thinking. The effort is a separate setting. */
const KINDS: { readonly [type: string]: (budget: number | undefined, effort: Effort | undefined) => Reasoning } = {
  enabled: budget => ({ budget: budget ?? -1 }),
  adaptive: (_, effort) => (effort === undefined ? { budget: -1 } : {}),
  disabled: (_, effort) => (effort === undefined ? { effort: 'none' } : { budget: 0 }),
}

/** Visibility of reasoning by the value of `display`. */
const SHOWN_BY_DISPLAY: { readonly [display: string]: boolean } = { summarized: true, omitted: false }

/** Reads the effort of `outputConfig`. */
export const readEffort = (value: Json | undefined): Effort | undefined => (isEffort(value) ? value : undefined)

/**
 * Reads Claude's `thinking` in the model-specific fields (docs/wire/converse.md#reasoning). Returns undefined for an
 * unknown form, because these fields are free-form JSON.
 */
export function readThinking(thinking: Json | undefined, effort: Effort | undefined): Reasoning | undefined {
  if (!isObject(thinking)) return undefined
  const { type, budget_tokens: budget, display, ...others } = thinking
  if (typeof type !== 'string' || !Object.hasOwn(KINDS, type) || Object.keys(others).length > 0) return undefined
  if (budget !== undefined && (typeof budget !== 'number' || type !== 'enabled')) return undefined
  if (display !== undefined && !(typeof display === 'string' && Object.hasOwn(SHOWN_BY_DISPLAY, display)))
    return undefined
  const show = display === undefined ? undefined : SHOWN_BY_DISPLAY[display]
  const implied = show === undefined && type === 'enabled' ? true : undefined
  return {
    ...defined({ effort, show: show ?? implied }),
    ...KINDS[type]!(budget, effort),
    spelling: { [FORMAT]: { type, ...(implied === undefined ? {} : { implied: ['show'] }) } },
  }
}

/** Functions that read an effort in the fields of models of other vendors (docs/wire/converse.md#models). */
const EFFORT_FIELDS: { readonly [field: string]: (value: Json) => Json | undefined } = {
  reasoning_effort: value => value,
  reasoning_config: value => value,
  reasoning: value => only(value, 'effort'),
  reasoningConfig: value =>
    only(value, 'type') === 'disabled' ? 'none' : only(without(value, 'type', 'enabled'), 'maxReasoningEffort'),
}

/** Returns a field of an object that has no other. */
const only = (value: Json | undefined, field: string): Json | undefined =>
  isObject(value) && Object.keys(value).length === 1 ? value[field] : undefined

/** Returns an object without a field that has the given value, or undefined if it does not have it. */
function without(value: Json, field: string, expected: string): JsonObject | undefined {
  if (!isObject(value) || value[field] !== expected) return undefined
  const { [field]: _, ...others } = value
  return others
}

/** An effort that was read from the field of this name. */
interface ModelEffort {
  readonly field: string
  readonly reasoning: Reasoning
}

/**
 * Reads the effort in the model-specific fields of models of other vendors, and the name of its field. Returns undefined
 * if there is none, or if there are several.
 */
export function readModelEffort(fields: JsonObject): ModelEffort | undefined {
  const found = Object.entries(EFFORT_FIELDS).filter(([field]) => Object.hasOwn(fields, field))
  const [field, read] = found[0] ?? []
  const effort = found.length === 1 ? read!(fields[field!]!) : undefined
  return isEffort(effort) ? { field: field!, reasoning: { effort } } : undefined
}

/** Reads `top_k` in the model-specific fields. */
export const readTopK = (fields: JsonObject): number | undefined =>
  typeof fields['top_k'] === 'number' ? fields['top_k'] : undefined
