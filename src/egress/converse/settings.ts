import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Sampling, State } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import { reportCompletion } from '../completion.ts'
import { extrasFor } from '../fields.ts'
import { MODEL_LIMIT } from '../losses.ts'
import { strictSchema } from '../sanitize/closed-schema.ts'
import { withEnumInObject } from '../sanitize/enum.ts'
import { refusalOfShape } from '../sanitize/refused-shape.ts'
import { dropSampling, nonBlankStops, supportedSampling } from '../sanitize/sampling.ts'
import { maxAnswerTokens } from '../sanitize/thinking-plan.ts'
import { TEXT_ONLY } from '../sanitize/unwritten.ts'
import { FORMAT, type WriteContext } from './context.ts'
import type { Thinking } from './reasoning.ts'

/** Number of tokens reserved for the answer in addition to a thinking budget. */
const ANSWER_TOKENS = 4096

/** Writes the output limit. A thinking budget needs a limit that leaves room for the answer (traps 38, 41). */
function writeLimit(request: CanonicalRequest, budget: number | undefined, { dialect, losses }: WriteContext) {
  const { maxTokens } = request.sampling
  const path = ['sampling', 'maxTokens']
  const maxTotalTokens = maxAnswerTokens(request, dialect)
  if (maxTokens !== undefined) {
    if (maxTotalTokens !== maxTokens) losses.change(path, maxTotalTokens, MODEL_LIMIT)
    return maxTotalTokens
  }
  if (budget === undefined) return undefined
  const limit = Math.min(budget + ANSWER_TOKENS, maxTotalTokens)
  losses.add(path, limit, limit === maxTotalTokens ? MODEL_LIMIT : 'limit-required')
  return limit
}

const SAMPLING_LOSSES: Unwritten<Sampling, SettingName | 'stop'> = { logprobs: 'no-logprobs' }

/** Sampling settings in the upstream's form: `inferenceConfig`, and model-specific fields. */
export interface WrittenSampling {
  readonly inference: JsonObject
  readonly topK: number | undefined
}

export function writeSampling(
  request: CanonicalRequest,
  { on, budget, unlimited = false }: Thinking,
  context: WriteContext,
): WrittenSampling {
  const { sampling } = request
  const { dialect, losses } = context
  losses.dropFields(sampling, ['sampling'], SAMPLING_LOSSES)
  const refusesSampling = dialect.sampling === 'none' || unlimited
  if (refusesSampling) dropSampling(sampling, losses)
  const supportedFields = refusesSampling ? {} : supportedSampling(withoutTopK(sampling, context), on, dialect, losses)
  const fields = {
    maxTokens: unlimited ? dropLimit(sampling, losses) : writeLimit(request, budget, context),
    temperature: supportedFields.temperature,
    topP: supportedFields.topP,
    stopSequences: writeStops(sampling, context),
  }
  return { inference: defined(fields) as JsonObject, topK: supportedFields.topK }
}

function dropLimit({ maxTokens }: Sampling, losses: Losses): undefined {
  if (maxTokens !== undefined) losses.drop(['sampling', 'maxTokens'], 'not-while-thinking')
}

function writeStops({ stop }: Sampling, { dialect, losses }: WriteContext): readonly string[] | undefined {
  if (stop !== undefined && dialect.stop === false) return losses.drop(['sampling', 'stop'], 'no-stop-sequences')
  return nonBlankStops(stop, losses)
}

/** Drops `topK` for models that have no field for it. */
function withoutTopK(sampling: Sampling, { dialect, losses }: WriteContext): Sampling {
  if (sampling.topK === undefined || dialect.top_k === true) return sampling
  losses.drop(['sampling', 'topK'], 'no-top-k')
  const { topK: _, ...others } = sampling
  return others
}

/** Writes the answer's shape: a JSON schema, as text. Some models refuse the field (docs/wire/converse.md#models). */
export function writeShape({ text: shape }: Output, { dialect, losses }: WriteContext): JsonObject | undefined {
  if (shape === undefined) return undefined
  const path = ['output', 'text']
  const refusal = refusalOfShape(shape, dialect)
  if (refusal !== undefined) return losses.drop(path, refusal)
  const text = withEnumInObject(shape, losses)
  if (text.shape === 'text') losses.dropRestored(path, 'the-default')
  if (text.shape !== 'schema') return undefined
  losses.dropFields(text, path, { strict: 'always-strict' })
  const schema = strictSchema(text.schema)
  if (JSON.stringify(schema) !== JSON.stringify(text.schema))
    losses.change([...path, 'schema'], schema, 'schema-made-legal')
  const { name, description } = text
  const jsonSchema = { schema: JSON.stringify(schema), ...defined({ name, description }), ...extrasFor(text, FORMAT) }
  return { type: 'json_schema', structure: { jsonSchema: jsonSchema as JsonObject } }
}

const OUTPUT_LOSSES: Unwritten<
  Output,
  SettingName | 'modalities' | 'text' | 'ranking' | 'completion' | 'count' | 'compaction'
> = TEXT_ONLY

/** Reports the output settings that the format lacks. */
export function dropOutput(output: Output, losses: Losses): void {
  reportCompletion(output, losses)
  const { modalities, candidates } = output
  if (modalities?.length === 1 && modalities[0] === 'text') losses.dropRestored(['output', 'modalities'], 'the-default')
  else if (modalities !== undefined) losses.drop(['output', 'modalities'], 'text-only')
  if (candidates === 1) losses.dropRestored(['output', 'candidates'], 'the-default')
  else if (candidates !== undefined) losses.drop(['output', 'candidates'], 'one-answer-only')
  losses.dropFields(output, ['output'], OUTPUT_LOSSES)
}

const STATE_LOSSES: Unwritten<State, 'store' | 'background'> = {
  previous: 'nothing-is-kept',
  conversation: 'nothing-is-kept',
  thread: 'no-threads',
}

/** Reports state settings, because the upstream stores no state. */
export function dropState({ state }: CanonicalRequest, losses: Losses): void {
  if (state === undefined) return
  for (const field of ['store', 'background'] as const)
    if (state[field] === false) losses.dropRestored(['state', field], 'nothing-is-kept')
    else if (state[field] === true) losses.drop(['state', field], 'nothing-is-kept')
  losses.dropFields(state, ['state'], STATE_LOSSES)
}

const TIERS = new Set(['default', 'flex', 'priority', 'reserved'])

/** Writes the service tier if AWS has a tier with that name. `auto` is the default of requests without a tier. */
export function writeTier({ serviceTier }: CanonicalRequest, losses: Losses): JsonObject | undefined {
  if (serviceTier === undefined) return undefined
  if (TIERS.has(serviceTier)) return { type: serviceTier }
  if (serviceTier === 'auto') losses.dropRestored(['serviceTier'], 'the-default')
  else losses.drop(['serviceTier'], 'no-such-tier')
  return undefined
}

/** Matches valid metadata keys and values (docs/wire/converse.md#request). */
const METADATA_TEXT = /^[a-zA-Z0-9\s:_@$#=/+,\-.]{0,256}$/
const MAX_METADATA_ENTRIES = 16

/** Writes metadata if AWS accepts all of its keys and values. */
export function writeMetadata({ metadata }: CanonicalRequest, losses: Losses): JsonObject | undefined {
  if (metadata === undefined) return undefined
  const entries = Object.entries(metadata)
  const isLegal = ([key, value]: [string, unknown]): boolean =>
    key !== '' && METADATA_TEXT.test(key) && typeof value === 'string' && METADATA_TEXT.test(value)
  if (entries.length > 0 && entries.length <= MAX_METADATA_ENTRIES && entries.every(isLegal)) return metadata
  if (entries.length === 0) losses.dropRestored(['metadata'], 'empty')
  else losses.drop(['metadata'], 'no-such-metadata')
  return undefined
}
