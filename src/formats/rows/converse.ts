import { FLAGS } from '../dialects/converse.ts'
import { COMMON_MODEL_FIELDS, modelFields } from './model-field-lists.ts'
import type { FormatRow, MethodEndpoint, ModelMethods } from './row.ts'

/** Facts about all endpoints of the Bedrock runtime. Clients read the request id from an AWS header. */
export const BEDROCK = { headers: [], idHeader: 'x-amzn-requestid' } as const

const method = (name: string, mark: string, overrides: Partial<MethodEndpoint> = {}): [string, MethodEndpoint] => [
  name,
  { path: `/model/{model}/${name}`, mark, ...BEDROCK, ...overrides },
]

/** Methods of a model. The model name is encoded, because it may contain colons and slashes. */
const METHODS: ModelMethods = {
  path: /^(?:\/bedrock)?\/model\/(.+)\/([a-z-]+)$/,
  below: (model, method) => `/model/${model}/${method}`,
  pathOf: (model, method) => `/model/${encodeURIComponent(model.toWellFormed())}/${method}`,
  endpoints: new Map([
    method('converse', 'messages'),
    method('converse-stream', 'messages', { streams: true, framing: 'frames' }),
    method('count-tokens', 'input', { wraps: true }),
  ]),
}

export const converse: FormatRow = {
  name: { en: 'Converse (Bedrock)', zh: 'Converse（Bedrock）', short: 'Converse' },
  upstream: { does: ['conversation', 'completion', 'count'], versioned: 'path', auth: 'bearer' },
  callers: ['conversation'],
  methods: METHODS,
  otherPaths: /^(?:\/bedrock)?\/(?:model\/|inference-profiles(?:$|\/))/,
  modelFields: modelFields(COMMON_MODEL_FIELDS, []),
  flags: FLAGS,
}
