import { defined } from '../canonical/defined.ts'
import type { Catalogue } from '../catalogue/index.ts'
import type { ChannelConfig, ModelFacts } from '../config/types.ts'

/** What lists and records of models tell of each: the operator's word, and the catalogue's limits where there is none. */
export class ListedFacts {
  private readonly models: ReadonlyMap<string, ModelFacts>
  private readonly channels: readonly { readonly config: ChannelConfig }[]
  private readonly catalogue: Catalogue

  constructor(
    models: ReadonlyMap<string, ModelFacts>,
    channels: readonly { readonly config: ChannelConfig }[],
    catalogue: Catalogue,
  ) {
    this.models = models
    this.channels = channels
    this.catalogue = catalogue
  }

  get(id: string): ModelFacts | undefined {
    const facts = this.models.get(id)
    if (facts?.context !== undefined && facts.maxOutput !== undefined) return facts
    const { context, maxOutput } = this.catalogue.about(id, this.placeOf(id))
    if (context === undefined && maxOutput === undefined) return facts
    return { ...(facts ?? { id, input: [], output: [] }), ...defined({ context, maxOutput }) }
  }

  /** Where a model is run that the operator gave a name of their own. */
  private placeOf(id: string) {
    for (const { config } of this.channels) {
      const upstreamModel = config.models.named.get(id)
      if (upstreamModel !== undefined) return { provider: config.provider, upstreamModel }
    }
    return {}
  }
}
