import { GatewayError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { ModelFacts } from '../config.ts'
import { jsonText, type ModelCard, modelListText } from '../egress/json.ts'
import type { UsableModel } from '../router.ts'

/** In which family's words models are described: a client of one format lists models in it, too (FORMATS §1). */
export type ModelShape = 'chat' | 'messages' | 'contents'

type Facts = ReadonlyMap<string, ModelFacts>

/** Models have no birthday here; clients want one that is a date and does not change. */
const CREATED = 1_735_689_600

/** The text of a list of models. */
export function modelList(shape: ModelShape, usable: readonly UsableModel[], facts: Facts): string {
  if (shape === 'chat') return modelListText({ object: 'list', data: usable.map(chatCard) })
  const entries = usable.map(model => RECORDS[shape](model, facts.get(model.id)))
  if (shape === 'contents') return jsonText({ models: entries })
  const [first, last] = [usable[0]?.id ?? null, usable.at(-1)?.id ?? null]
  return jsonText({ data: entries, has_more: false, first_id: first, last_id: last })
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
  messages: ({ id }, facts) => ({
    id,
    type: 'model',
    display_name: facts?.name ?? id,
    created_at: new Date(CREATED * 1000).toISOString(),
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    max_input_tokens: facts?.context ?? null,
    max_tokens: facts?.maxOutput ?? null,
    capabilities: null,
  }),
  contents: ({ id }, facts) => ({
    name: `models/${id}`,
    baseModelId: id,
    version: '001',
    displayName: facts?.name ?? id,
    ...(facts?.description === undefined ? {} : { description: facts.description }),
    ...(facts?.context === undefined ? {} : { inputTokenLimit: facts.context }),
    ...(facts?.maxOutput === undefined ? {} : { outputTokenLimit: facts.maxOutput }),
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  }),
}
