import { GatewayError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { Work } from '../canonical/work.ts'
import type { ModelFacts } from '../config/index.ts'
import { jsonText, type ModelCard, modelListText } from '../egress/transport/json.ts'
import { type Fitness, FORMATS, fitnessOf } from '../providers/index.ts'
import type { UsableModel } from '../router.ts'
import { idPage, type Query, tokenPage } from './model-pages.ts'

/** In which family's words models are described: a client of one format lists models in it, too (FORMATS §1). */
export type ModelShape = 'chat' | 'messages' | 'contents'

type Facts = ReadonlyMap<string, ModelFacts>

/** Models have no birthday here; clients want one that is a date and does not change. */
const CREATED = 1_735_689_600

/**
 * The text of a list of models, or of a page of it.
 *
 * @param usable sorted by id.
 * @throws GatewayError `invalid-request` for a page there cannot be.
 */
export function modelList(shape: ModelShape, usable: readonly UsableModel[], facts: Facts, query: Query): string {
  if (shape === 'chat') return modelListText({ object: 'list', data: usable.map(chatCard) })
  const record = (model: UsableModel): JsonObject => RECORDS[shape](model, facts.get(model.id))
  if (shape === 'contents') {
    const { rows, next } = tokenPage(usable, query)
    return jsonText({ models: rows.map(record), ...(next === undefined ? {} : { nextPageToken: next }) })
  }
  const { rows, more } = idPage(usable, query)
  const [first, last] = [rows[0]?.id ?? null, rows.at(-1)?.id ?? null]
  return jsonText({ data: rows.map(record), has_more: more, first_id: first, last_id: last })
}

/** The text of one model's record. Throws GatewayError `not-found` where the list does not have it. */
export function modelRecord(shape: ModelShape, id: string, usable: readonly UsableModel[], facts: Facts): string {
  const model = usable.find(model => model.id === id)
  if (model === undefined)
    throw new GatewayError({
      kind: 'not-found',
      code: 'model_not_found',
      message: `The model \`${id}\` does not exist or this key may not use it.`,
    })
  return jsonText(RECORDS[shape](model, facts.get(id)))
}

const chatCard = ({ id }: UsableModel): ModelCard => ({
  id,
  object: 'model',
  created: CREATED,
  owned_by: 'interlingua',
})

const RECORDS: {
  readonly [S in ModelShape]: (model: UsableModel, facts: ModelFacts | undefined) => JsonObject
} = {
  chat: model => ({ ...chatCard(model) }),
  messages: (model, facts) => ({
    id: model.id,
    type: 'model',
    display_name: facts?.name ?? model.id,
    created_at: new Date(CREATED * 1000).toISOString(),
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    max_input_tokens: facts?.context ?? null,
    max_tokens: facts?.maxOutput ?? null,
    capabilities: abilitiesOf(model, facts).converses ? null : NO_CAPABILITIES,
  }),
  contents: (model, facts) => ({
    name: `models/${model.id}`,
    baseModelId: model.id,
    version: '001',
    displayName: facts?.name ?? model.id,
    ...(facts?.description === undefined ? {} : { description: facts.description }),
    ...(facts?.context === undefined ? {} : { inputTokenLimit: facts.context }),
    ...(facts?.maxOutput === undefined ? {} : { outputTokenLimit: facts.maxOutput }),
    supportedGenerationMethods: methodsOf(abilitiesOf(model, facts)),
  }),
}

/** What a model can be asked for at the endpoints of the three families. */
interface Abilities {
  readonly converses: boolean
  readonly draws: boolean
  readonly speaks: boolean
  readonly embeds: boolean
}

/**
 * What its channels can do, by the table the router goes by; where some of them embed and some do not, as the operator
 * or the model's name has it.
 */
function abilitiesOf({ id, formats }: UsableModel, facts: ModelFacts | undefined): Abilities {
  const can = (work: Work): boolean => formats.some(format => isDirect(fitnessOf(format, work)))
  const embeds = can('embedding')
  const only = embeds && (!can('conversation') || isEmbedder(id, facts))
  return {
    converses: can('conversation') && !only,
    draws: can('image') && !only,
    speaks: can('speech') && !only,
    embeds: only,
  }
}

const isDirect = (fitness: Fitness | undefined): boolean => fitness !== undefined && fitness !== 'emulated'

function isEmbedder(id: string, facts: ModelFacts | undefined): boolean {
  if (facts?.interface !== undefined) return FORMATS.get(facts.interface)?.does[0] === 'embedding'
  return facts?.output.includes('embedding') === true || /embed/i.test(id)
}

/** Tokens of any model are counted, if by an estimate. */
const methodsOf = ({ converses, draws, speaks, embeds }: Abilities): readonly string[] => [
  ...(converses || draws || speaks ? ['generateContent', 'streamGenerateContent'] : []),
  ...(embeds ? ['embedContent', 'batchEmbedContents'] : []),
  'countTokens',
]

const NO = { supported: false }

/** Of a model that does not converse; what one that does can do beyond is not known here, for which the shape has null. */
const NO_CAPABILITIES: JsonObject = {
  batch: NO,
  citations: NO,
  code_execution: NO,
  context_management: { ...NO, clear_thinking_20251015: NO, clear_tool_uses_20250919: NO, compact_20260112: NO },
  effort: { ...NO, low: NO, medium: NO, high: NO, xhigh: NO, max: NO },
  image_input: NO,
  pdf_input: NO,
  server_tools: { ...NO, code_execution: NO, web_search: NO },
  structured_outputs: NO,
  thinking: { ...NO, types: { adaptive: NO, between_tools: NO, disabled: NO, enabled: NO } },
}
