import type { ModelFacts } from '../../config/index.ts'
import { fitnessOf, isDirect } from '../../formats/index.ts'
import type { KnownModel } from '../../upstreams/catalogue/index.ts'
import type { Target } from '../../upstreams/router.ts'

/** Facts that decide between an upstream's voice session and a cascade. */
export interface VoiceSessionRouting {
  /** Whether a cascade may replace voice sessions that an upstream lacks. */
  readonly cascades: boolean
  /** The operator's settings for the model. */
  readonly facts: ModelFacts | undefined
  /** Returns the catalogue's facts about a target's model. Called only if the channel has both kinds of format. */
  readonly about: (target: Target) => Pick<KnownModel, 'output'>
}

/** Server of a session: the upstream, a cascade, or a cascade only after the upstream refused the model. */
type Holder = 'upstream' | 'cascade' | 'either'

/**
 * Orders the targets of a session. Keeps at most one cascade, because a cascade routes its own requests. The channel's
 * formats decide between upstream and cascade, never the model's name. A cascade that needs a refusal first comes last.
 *
 * @param routed the result of `route` for the work `realtime`.
 * @returns no target if no upstream has voice sessions and no cascade replaces them.
 */
export function voiceSessionTargets(
  routed: readonly Target[],
  { cascades, facts, about }: VoiceSessionRouting,
): Target[] {
  if (!cascades) return routed.filter(({ emulated }) => !emulated)
  const held = routed.map(target => ({ target, holder: holderOf(target, facts, about) }))
  const targets = held.map(({ target, holder }) => (holder === 'cascade' ? asCascade(target) : target))
  const cascade = targets.find(({ emulated }) => emulated)
  if (cascade !== undefined) return targets.filter(one => !one.emulated || one === cascade)
  const unsure = held.find(({ holder }) => holder === 'either')?.target
  return unsure === undefined ? targets : [...targets, asCascade(unsure)]
}

const asCascade = (target: Target): Target => ({ ...target, emulated: true, native: false })

function holderOf(target: Target, facts: ModelFacts | undefined, about: VoiceSessionRouting['about']): Holder {
  if (target.emulated) return 'cascade'
  if (facts?.interface !== undefined) return isDirect(fitnessOf(facts.interface, 'realtime')) ? 'upstream' : 'cascade'
  const { formats } = target.channel
  if (!formats.some(({ format, dialect }) => isDirect(fitnessOf(format, 'conversation', dialect)))) return 'upstream'
  const { output } = about(target)
  return output === undefined || output.includes('audio') ? 'either' : 'cascade'
}
