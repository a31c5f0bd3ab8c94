/** An entry in a model list: a model that a key may call, with the facts that the gateway has about it. */
export interface ModelCard {
  readonly id: string
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** Size of the context window, in tokens. */
  readonly context?: number | undefined
  /** Maximum length of an answer, in tokens. */
  readonly maxOutput?: number | undefined
  readonly abilities: ModelAbilities
}

/** The kinds of requests that a model accepts. */
export interface ModelAbilities {
  readonly converses: boolean
  readonly draws: boolean
  readonly speaks: boolean
  readonly embeds: boolean
  readonly ranks: boolean
}

/**
 * Creation time reported for every model, in Unix seconds. The gateway has no creation dates of models, and clients
 * require a date that does not change.
 */
export const MODEL_CREATED_AT = 1_735_689_600
