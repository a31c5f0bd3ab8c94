import type { Losses } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Reasoning, Sampling } from '../../canonical/request.ts'
import { extrasFor } from '../fields.ts'
import { BUDGETS } from '../sanitize/efforts.ts'
import { withEnumInObject } from '../sanitize/enum.ts'
import { limitedStops } from '../sanitize/limits.ts'
import { FORMAT, type WriteContext } from './context.ts'

/** Field and allowed range of each limited setting (docs/wire/cohere-chat.md#request). */
const RANGES = {
  temperature: ['temperature', 0, 1],
  topP: ['p', 0.01, 0.99],
  topK: ['k', 0, 500],
  seed: ['seed', 0, Number.MAX_SAFE_INTEGER],
  frequencyPenalty: ['frequency_penalty', 0, 1],
  presencePenalty: ['presence_penalty', 0, 1],
} as const satisfies { readonly [S in keyof Sampling]?: readonly [field: string, least: number, most: number] }

/** Maximum number of stop sequences. */
const MAX_STOPS = 5

/** Writes the sampling settings. A value outside its range is replaced with the nearest allowed value. */
export function writeSampling(sampling: Sampling, losses: Losses): JsonObject {
  const fields: { [field: string]: number } = {}
  for (const [name, [field, minimum, maximum]] of Object.entries(RANGES)) {
    const value = sampling[name as keyof typeof RANGES]
    if (value === undefined) continue
    const allowed = Math.min(Math.max(value, minimum), maximum)
    if (allowed !== value) losses.change(['sampling', name], allowed, 'nearest-allowed-value')
    fields[field] = allowed
  }
  const { logprobs } = sampling
  if (logprobs !== undefined && logprobs > 0)
    losses.change(['sampling', 'logprobs'], 0, 'logprobs-of-chosen-tokens-only')
  return {
    ...fields,
    ...(defined({
      stop_sequences: limitedStops(sampling.stop, MAX_STOPS, losses),
      logprobs: logprobs === undefined ? undefined : true,
    }) as JsonObject),
  }
}

/** Writes the answer's shape, which the upstream only accepts in requests without tools. */
export function writeShape(
  { output: { text: requestedShape } }: CanonicalRequest,
  hasTools: boolean,
  losses: Losses,
): JsonObject | undefined {
  if (requestedShape === undefined) return undefined
  const path = ['output', 'text']
  if (hasTools) {
    if (requestedShape.shape === 'text') losses.dropRestored(path, 'the-default')
    else losses.drop(path, 'no-shape-with-tools')
    return undefined
  }
  const text = withEnumInObject(requestedShape, losses)
  const extras = extrasFor(text, FORMAT)
  if (text.shape === 'text') return { type: 'text', ...extras }
  if (text.shape === 'json') return { type: 'json_object', ...extras }
  losses.dropFields(text, path, SCHEMA_LOSSES)
  return { type: 'json_object', json_schema: text.schema, ...extras }
}

const SCHEMA_LOSSES = { name: 'no-schema-names', description: 'no-schema-names', strict: 'always-strict' }

/** Efforts without a thinking budget. */
const EFFORTS_WITHOUT_BUDGET: ReadonlySet<string> = new Set(['high', 'xhigh', 'max'])

/**
 * Writes the thinking settings, for models that can think. An effort becomes a budget, except that there is no budget
 * from `high` upwards, as Cohere recommends (docs/wire/cohere-chat.md#thinking).
 */
export function writeThinking(
  reasoning: Reasoning | undefined,
  { dialect, losses }: WriteContext,
): JsonObject | undefined {
  if (reasoning === undefined) return undefined
  const { effort, budget, show } = reasoning
  const extras = extrasFor(reasoning, FORMAT)
  const path = ['reasoning']
  if (show !== undefined) losses.drop([...path, 'show'], 'always-shown')
  if (dialect.thinks !== true && Object.keys(extras).length === 0) {
    losses.dropFields(reasoning, path, { effort: 'no-thinking', budget: 'no-thinking' })
    return undefined
  }
  if (effort === 'none' || budget === 0) return writeDisabled(reasoning, extras, losses)
  if (budget === undefined && effort === undefined) return Object.keys(extras).length === 0 ? undefined : extras
  if (effort !== undefined) losses.drop([...path, 'effort'], 'said-as-budget')
  const tokens = budget ?? (EFFORTS_WITHOUT_BUDGET.has(effort!) ? -1 : BUDGETS[effort!])
  const allowed = tokens < 0 ? -1 : Math.max(1, tokens)
  if (budget === undefined) losses.add([...path, 'budget'], allowed, 'said-as-budget')
  else if (allowed !== budget) losses.change([...path, 'budget'], allowed, 'nearest-allowed-value')
  return { type: 'enabled', ...(allowed < 0 ? {} : { token_budget: allowed }), ...extras }
}

function writeDisabled({ effort, budget }: Reasoning, extras: JsonObject, losses: Losses): JsonObject {
  if (budget !== undefined) losses.dropRestored(['reasoning', 'budget'], 'reasoning-is-off')
  if (effort === undefined) losses.addRestored(['reasoning', 'effort'], 'none', 'reasoning-is-off')
  else if (effort !== 'none') losses.change(['reasoning', 'effort'], 'none', 'reasoning-is-off')
  return { type: 'disabled', ...extras }
}
