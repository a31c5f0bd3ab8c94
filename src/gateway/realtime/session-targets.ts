import type { ModelFacts } from '../../config/index.ts'
import { fitnessOf, isDirect } from '../../formats/index.ts'
import type { KnownModel } from '../../upstreams/catalogue/index.ts'
import type { Target } from '../../upstreams/router.ts'

export interface SessionRouting {
  /** Whether sessions are made of conversations where the upstream has none. */
  readonly cascades: boolean
  /** The operator's facts about the model. */
  readonly facts: ModelFacts | undefined
  /** What is known of a target's model; requested only where its channel speaks both kinds of format. */
  readonly about: (target: Target) => Pick<KnownModel, 'output'>
}

/** Who holds a session: the upstream, a cascade, or the upstream first and a cascade where it refuses the model. */
type Holder = 'upstream' | 'cascade' | 'either'

/**
 * The targets of a session in the order they are tried, with at most one cascade, which routes its own requests. What a
 * channel speaks decides; the model's name decides nothing. A cascade is last where only a refusal leads to it.
 *
 * @param routed the result of `route` for the work `realtime`.
 * @returns no target where no upstream has sessions and none are made of conversations.
 */
export function sessionTargets(routed: readonly Target[], { cascades, facts, about }: SessionRouting): Target[] {
  if (!cascades) return routed.filter(({ emulated }) => !emulated)
  const held = routed.map(target => ({ target, holder: holderOf(target, facts, about) }))
  const targets = held.map(({ target, holder }) => (holder === 'cascade' ? asCascade(target) : target))
  const cascade = targets.find(({ emulated }) => emulated)
  if (cascade !== undefined) return targets.filter(one => !one.emulated || one === cascade)
  const unsure = held.find(({ holder }) => holder === 'either')?.target
  return unsure === undefined ? targets : [...targets, asCascade(unsure)]
}

const asCascade = (target: Target): Target => ({ ...target, emulated: true, native: false })

function holderOf(target: Target, facts: ModelFacts | undefined, about: SessionRouting['about']): Holder {
  if (target.emulated) return 'cascade'
  if (facts?.interface !== undefined) return isDirect(fitnessOf(facts.interface, 'realtime')) ? 'upstream' : 'cascade'
  const { formats } = target.channel
  if (!formats.some(({ format, dialect }) => isDirect(fitnessOf(format, 'conversation', dialect)))) return 'upstream'
  const { output } = about(target)
  return output === undefined || output.includes('audio') ? 'either' : 'cascade'
}
