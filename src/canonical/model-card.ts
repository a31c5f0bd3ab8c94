/** What is known of a model that a key can call. */
export interface ModelCard {
  readonly id: string
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** Tokens of its context, and the most of an answer. */
  readonly context?: number | undefined
  readonly maxOutput?: number | undefined
  readonly abilities: ModelAbilities
}

/** What a model can be requested to do. */
export interface ModelAbilities {
  readonly converses: boolean
  readonly draws: boolean
  readonly speaks: boolean
  readonly embeds: boolean
}

/** Unix time in seconds. Models have no birthday here; clients require a date that does not change. */
export const CREATED = 1_735_689_600
