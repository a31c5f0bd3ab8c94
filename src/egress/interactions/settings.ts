import type { Unwritten } from '../../canonical/loss.ts'
import { defined, isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Effort, Reasoning, State } from '../../canonical/request.ts'
import { SETTINGS } from '../../formats/settings/interactions.ts'
import { extrasFor } from '../fields.ts'
import { voiceOf } from '../media/voices.ts'
import { nearest, withoutBudget } from '../sanitize/efforts.ts'
import { labelsOf } from '../sanitize/labels.ts'
import { limitedStops } from '../sanitize/limits.ts'
import { writeSettings } from '../settings.ts'
import { FORMAT, type WriteContext } from './context.ts'
import { writeToolChoice } from './tools.ts'

/** Maximum number of stop sequences. */
const MAX_STOPS = 5

/**
 * Writes `generation_config` (docs/wire/interactions.md#generation-config). Returns undefined if there is nothing to
 * set.
 */
export function writeGeneration(
  request: CanonicalRequest,
  isChoosable: boolean,
  context: WriteContext,
): JsonObject | undefined {
  const { losses } = context
  const { sampling, output } = request
  const others = extrasFor(request, FORMAT)['generation_config']
  if (sampling.logprobs !== undefined) losses.drop(['sampling', 'logprobs'], 'no-logprobs')
  if (output.candidates === 1) losses.dropRestored(['output', 'candidates'], 'one-candidate-anyway')
  else if (output.candidates !== undefined) losses.drop(['output', 'candidates'], 'one-answer-only')
  const voice = output.audio === undefined ? undefined : voiceOf(request, context.dialect, losses)
  const fields = {
    ...writeSettings(SETTINGS, request, losses),
    ...defined({
      stop_sequences: limitedStops(sampling.stop, MAX_STOPS, losses),
      ...writeReasoning(request.reasoning, context),
      tool_choice: writeToolChoice(request, isChoosable, context),
      speech_config: voice === undefined ? undefined : [{ voice }],
    }),
    ...(isObject(others) ? others : {}),
  } as JsonObject
  return Object.keys(fields).length === 0 ? undefined : fields
}

/** Thinking levels of upstreams that declare none. */
const DEFAULT_LEVELS: readonly Effort[] = ['minimal', 'low', 'medium', 'high']

function writeReasoning(reasoning: Reasoning | undefined, { dialect, losses }: WriteContext) {
  if (reasoning === undefined) return {}
  const efforts = (dialect.efforts as readonly Effort[] | undefined) ?? DEFAULT_LEVELS
  const { effort, show } = withoutBudget(reasoning, FORMAT, efforts, losses)
  const level = effort === undefined ? undefined : nearest(effort, efforts)
  if (reasoning.effort !== undefined && level === undefined) losses.drop(['reasoning', 'effort'], 'no-such-effort')
  else if (reasoning.effort !== undefined && level !== effort)
    losses.change(['reasoning', 'effort'], level, 'nearest-allowed-value')
  const summaries = show === undefined ? undefined : show ? 'auto' : 'none'
  return { thinking_level: level, thinking_summaries: summaries }
}

/**
 * State that requests from other formats lose. This format has no conversations, and ids from other formats mean
 * nothing in it.
 */
const FOREIGN_STATE: Unwritten<State, 'store' | 'background'> = {
  conversation: 'no-conversations',
  thread: 'no-threads',
  previous: 'no-kept-answers',
}

/** State that is additionally lost at upstreams without storage. */
const STATE_LOSSES: Unwritten<State, keyof typeof FOREIGN_STATE> = {
  store: 'no-kept-answers',
  background: 'no-background-work',
}

/** Writes the state settings: storage, the interaction to continue, and background execution. */
export function writeState({ state }: CanonicalRequest, { dialect, losses }: WriteContext): JsonObject {
  losses.dropFields(state, ['state'], FOREIGN_STATE)
  if (dialect.stateless === true) {
    losses.dropFields(state, ['state'], STATE_LOSSES)
    return {}
  }
  const { store, background } = state ?? {}
  if (store === undefined && background === undefined) {
    // Upstreams store by default, but callers of other formats do not expect it.
    if (state === undefined) losses.add(['state'], { store: false }, 'minted-no-storage')
    else losses.add(['state', 'store'], false, 'minted-no-storage')
    return { store: false }
  }
  return defined({ store, background }) as JsonObject
}

/** Converts a service tier to the format's word if that differs from other formats. */
export const writeTier = (tier: string | undefined): string | undefined => (tier === 'default' ? 'standard' : tier)

const SERVICE_TIERS: ReadonlySet<string> = new Set(['standard', 'flex', 'priority', 'deferred'])

/** Writes the service tier if the format has it. */
export function writeServiceTier({ serviceTier }: CanonicalRequest, { losses }: WriteContext): string | undefined {
  const tier = writeTier(serviceTier)
  if (tier === undefined || (SERVICE_TIERS.has(tier) && serviceTier !== 'standard')) return tier
  return losses.drop(['serviceTier'], 'no-such-tier')
}

/** Writes metadata as labels. */
export const writeLabels = ({ metadata }: CanonicalRequest, { losses }: WriteContext): JsonObject | undefined =>
  metadata && labelsOf(metadata, losses)
