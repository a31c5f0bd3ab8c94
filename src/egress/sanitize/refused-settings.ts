import type { Losses } from '../../canonical/loss.ts'
import {
  type CanonicalRequest,
  isReasoningOff,
  type Output,
  type Reasoning,
  type Sampling,
} from '../../canonical/request.ts'
import { MODEL_LIMIT } from '../losses.ts'

/* Settings that some models of OpenAI refuse, for all formats in which upstreams offer them (docs/dialects.md). */

/** Dialect flags that affect these settings. */
export interface SettingsDialect {
  readonly sampling?: 'all' | 'unless_thinking' | 'while_off' | 'none'
  readonly penalties?: boolean
  readonly stop?: boolean
  readonly verbosity?: boolean
  readonly max_output?: number
}

type SamplingField = 'temperature' | 'topP' | 'logprobs' | 'frequencyPenalty' | 'presencePenalty' | 'stop'

export type RefusedSetting = SamplingField | 'verbosity'

/** Reasons for the losses. */
const REASONS: { readonly [F in SamplingField]: string } = {
  temperature: 'no-sampling',
  topP: 'no-sampling',
  logprobs: 'no-logprobs',
  frequencyPenalty: 'no-penalties',
  presencePenalty: 'no-penalties',
  stop: 'no-stop-sequences',
}

const SAMPLING: readonly SamplingField[] = ['temperature', 'topP', 'logprobs']
const PENALTIES: readonly SamplingField[] = ['frequencyPenalty', 'presencePenalty']
const STOP: readonly SamplingField[] = ['stop']

/** Functions that tell from the reasoning settings whether sampling parameters are taken. */
const TAKES_SAMPLING: {
  readonly [S in NonNullable<SettingsDialect['sampling']>]: (reasoning: Reasoning | undefined) => boolean
} = {
  all: () => true,
  unless_thinking: reasoning => isOff(reasoning) || !requestsThinking(reasoning),
  while_off: reasoning => isOff(reasoning),
  none: () => false,
}

const isOff = (reasoning: Reasoning | undefined): boolean =>
  reasoning !== undefined && isReasoningOff(reasoning) === true

const requestsThinking = (reasoning: Reasoning | undefined): boolean =>
  reasoning?.effort !== undefined || (reasoning?.budget ?? 0) > 0

/** The only verbosity of models that have no choice. */
const DEFAULT_VERBOSITY = 'medium'

/** Returns the settings of a request that the upstream refuses, and reports each as dropped. */
export function refusedSettings(
  { sampling, reasoning, output }: CanonicalRequest,
  dialect: SettingsDialect,
  losses: Losses,
): readonly RefusedSetting[] {
  const refused = [
    ...(TAKES_SAMPLING[dialect.sampling ?? 'all'](reasoning) ? [] : SAMPLING),
    ...(dialect.penalties === false ? PENALTIES : []),
    ...(dialect.stop === false ? STOP : []),
  ].filter(field => sampling[field] !== undefined)
  for (const field of refused) losses.drop(['sampling', field], REASONS[field])
  if (dialect.verbosity !== false || (output.verbosity ?? DEFAULT_VERBOSITY) === DEFAULT_VERBOSITY) return refused
  losses.drop(['output', 'verbosity'], 'no-verbosity')
  return [...refused, 'verbosity']
}

/** Returns the output limit of a request, at most what the model can answer. A lower one is reported. */
export function takenLimit(
  { sampling: { maxTokens } }: CanonicalRequest,
  { max_output }: SettingsDialect,
  losses: Losses,
): number | undefined {
  if (maxTokens === undefined || max_output === undefined || maxTokens <= max_output) return maxTokens
  losses.change(['sampling', 'maxTokens'], max_output, MODEL_LIMIT)
  return max_output
}

/** Returns the request without the settings that the upstream refuses. The same object if it takes all of them. */
export function withoutRefusedSettings(
  request: CanonicalRequest,
  dialect: SettingsDialect,
  losses: Losses,
): CanonicalRequest {
  const refused = refusedSettings(request, dialect, losses)
  const maxTokens = takenLimit(request, dialect, losses)
  if (refused.length === 0 && maxTokens === request.sampling.maxTokens) return request
  const sampling: { -readonly [Field in keyof Sampling]: Sampling[Field] } = { ...request.sampling }
  const output: { -readonly [Field in keyof Output]: Output[Field] } = { ...request.output }
  for (const field of refused)
    if (field === 'verbosity') delete output.verbosity
    else delete sampling[field]
  if (maxTokens !== undefined) sampling.maxTokens = maxTokens
  return { ...request, sampling, output }
}
