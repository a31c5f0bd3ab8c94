import { notFound } from '../canonical/error.ts'
import type { ModelAbilities, ModelCard } from '../canonical/model-card.ts'
import { defined, type Format } from '../canonical/node.ts'
import { excerpt } from '../canonical/text.ts'
import type { Work } from '../canonical/work.ts'
import { matchesAny } from '../config/glob.ts'
import type { ChannelConfig, ModelFacts } from '../config/types.ts'
import { MODEL_WRITERS } from '../egress/model-writers.ts'
import type { ModelQuery } from '../egress/transport/model-pages.ts'
import { FORMAT_FACTS, fitnessOf, isDirect } from '../formats/index.ts'
import type { Catalogue } from '../upstreams/catalogue/index.ts'
import type { UsableModel } from '../upstreams/router.ts'
import { upstreamNameOf } from '../upstreams/upstream-names.ts'

type FactsOf = (id: string) => ModelFacts | undefined

/**
 * Returns the JSON text of the list of models, or of one page of it.
 *
 * @param format a format that has a list of models (docs/wire/common.md#model-lists).
 * @param usable the models, sorted by id.
 * @throws GatewayError `invalid-request` for an invalid page.
 */
export const modelList = (
  format: Format,
  usable: readonly UsableModel[],
  facts: FactsOf,
  query: ModelQuery,
): string | Promise<string> =>
  MODEL_WRITERS[format]!.list(
    usable.map(model => new ModelFactsCard(model, facts(model.id))),
    query,
  )

/** Returns the JSON text of one model's record. Throws GatewayError `not-found` for a model that is not in the list. */
export function modelRecord(format: Format, id: string, usable: readonly UsableModel[], facts: FactsOf): string {
  const model = usable.find(model => model.id === id)
  if (model === undefined)
    throw notFound(
      `The model \`${excerpt(id)}\` does not exist or this key may not use it.`,
      undefined,
      'model_not_found',
    )
  return JSON.stringify(MODEL_WRITERS[format]!.record(new ModelFactsCard(model, facts(id))))
}

/** A model as its channels and the operator describe it. Abilities are computed on access. */
class ModelFactsCard implements ModelCard {
  readonly id: string
  private readonly model: UsableModel
  private readonly facts: ModelFacts | undefined

  constructor(model: UsableModel, facts: ModelFacts | undefined) {
    this.id = model.id
    this.model = model
    this.facts = facts
  }

  get name(): string | undefined {
    return this.facts?.name
  }

  get description(): string | undefined {
    return this.facts?.description
  }

  get context(): number | undefined {
    return this.facts?.context
  }

  get maxOutput(): number | undefined {
    return this.facts?.maxOutput
  }

  get abilities(): ModelAbilities {
    return abilitiesOf(this.model, this.facts)
  }
}

/**
 * Derives a model's abilities from the formats of its channels. If only some of them embed or rank, the operator's
 * settings or the model's name decide.
 */
export function abilitiesOf({ id, formats }: UsableModel, facts: ModelFacts | undefined): ModelAbilities {
  const canDo = (work: Work): boolean => formats.some(format => isDirect(fitnessOf(format, work)))
  const hasOtherWork = canDo('conversation') || canDo('image') || canDo('speech')
  const ranks = canDo('ranking') && ((!hasOtherWork && !canDo('embedding')) || isRanker(id, facts))
  const embeds = !ranks && canDo('embedding') && (!canDo('conversation') || isEmbedder(id, facts))
  const isGeneral = !ranks && !embeds
  return {
    converses: canDo('conversation') && isGeneral,
    draws: canDo('image') && isGeneral,
    speaks: canDo('speech') && isGeneral,
    embeds,
    ranks,
  }
}

function isEmbedder(id: string, facts: ModelFacts | undefined): boolean {
  if (facts?.interface !== undefined) return isMainWork(facts.interface, 'embedding')
  return facts?.output.includes('embedding') === true || /embed/i.test(id)
}

const isRanker = (id: string, facts: ModelFacts | undefined): boolean =>
  facts?.interface === undefined ? /rerank/i.test(id) : isMainWork(facts.interface, 'ranking')

const isMainWork = (format: Format, work: Work): boolean => FORMAT_FACTS.get(format)?.does[0] === work

/** Sources of facts about models. */
interface Sources {
  readonly config: { readonly models: ReadonlyMap<string, ModelFacts> }
  readonly channels: { readonly all: readonly { readonly config: ChannelConfig }[] }
  readonly catalogue: Catalogue
}

/** Returns true if the operator chose the model's name at the channel, directly or by a pattern. */
const isRenaming = ({ named, renamed }: ChannelConfig['models'], id: string): boolean =>
  named.has(id) || matchesAny([...(renamed?.keys() ?? [])], id)

/**
 * Returns the facts for lists and records of models: the operator's settings, completed with the catalogue's limits.
 */
export const listedFacts =
  ({ config, channels, catalogue }: Sources): FactsOf =>
  id => {
    const facts = config.models.get(id)
    if (facts?.context !== undefined && facts.maxOutput !== undefined) return facts
    // The channel that serves the model under a name that the operator chose.
    const channelConfig = channels.all.find(({ config: { models } }) => isRenaming(models, id))?.config
    const upstreamModel = channelConfig && upstreamNameOf(channelConfig.models, id)
    const { context, maxOutput } = catalogue.about(
      id,
      upstreamModel === undefined ? undefined : { provider: channelConfig!.provider, upstreamModel },
    )
    if (context === undefined && maxOutput === undefined) return facts
    return { ...(facts ?? { id, input: [], output: [] }), ...defined({ context, maxOutput }) }
  }
