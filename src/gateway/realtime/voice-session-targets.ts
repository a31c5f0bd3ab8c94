import type { ModelFacts } from '../../config/index.ts'
import { fitnessOf, isDirect } from '../../formats/index.ts'
import type { KnownModel } from '../../upstreams/catalogue/index.ts'
import type { Target } from '../../upstreams/router.ts'

/** Facts that decide whether an upstream or a cascade serves a voice session. */
export interface VoiceSessionRouting {
  /** True if cascades may be used for upstreams without voice sessions. */
  readonly cascades: boolean
  /** The operator's settings for the model. */
  readonly facts: ModelFacts | undefined
  /** Returns the catalogue's facts about a target's model. Called only if the channel's formats allow both. */
  readonly about: (target: Target) => Pick<KnownModel, 'output'>
}

/** Server of a session: the upstream, a cascade, or a cascade only if the upstream refuses the model. */
type SessionServer = 'upstream' | 'cascade' | 'either'

/**
 * Orders the targets of a session. Keeps at most one cascade, because a cascade routes its own requests. The channel's
 * formats, not the model's name, decide between upstream and cascade. A cascade that is used only after a refusal comes
 * last.
 *
 * @param routed the result of `route` for the work `realtime`.
 * @returns an empty list if no upstream has voice sessions and no cascade can be used.
 */
export function voiceSessionTargets(
  routed: readonly Target[],
  { cascades, facts, about }: VoiceSessionRouting,
): Target[] {
  if (!cascades) return routed.filter(({ emulated }) => !emulated)
  const targetsWithServer = routed.map(target => ({ target, server: serverOf(target, facts, about) }))
  const targets = targetsWithServer.map(({ target, server }) => (server === 'cascade' ? asCascade(target) : target))
  const cascade = targets.find(({ emulated }) => emulated)
  if (cascade !== undefined) return targets.filter(target => !target.emulated || target === cascade)
  const uncertainTarget = targetsWithServer.find(({ server }) => server === 'either')?.target
  return uncertainTarget === undefined ? targets : [...targets, asCascade(uncertainTarget)]
}

const asCascade = (target: Target): Target => ({ ...target, emulated: true, native: false })

function serverOf(target: Target, facts: ModelFacts | undefined, about: VoiceSessionRouting['about']): SessionServer {
  if (target.emulated) return 'cascade'
  if (facts?.interface !== undefined) return isDirect(fitnessOf(facts.interface, 'realtime')) ? 'upstream' : 'cascade'
  const { formats } = target.channel
  if (!formats.some(({ format, dialect }) => isDirect(fitnessOf(format, 'conversation', dialect)))) return 'upstream'
  const { output } = about(target)
  return output === undefined || output.includes('audio') ? 'either' : 'cascade'
}
