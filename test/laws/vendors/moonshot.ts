import { isRefusedSchema } from './kimi-schema.ts'
import { hi, type Loose, type Refusal, type StrictVendor } from './vendor.ts'

const MODELS = ['kimi-k2.6', 'kimi-k2.7-code', 'kimi-k3']
const WALLE = 'github.com/MoonshotAI/walle (196bb0c), MoonshotAI/kimi-cli#2061 and #2531, read on 2026-12-01'

/** Schemas of tools as MCP servers, Zod and Pydantic write them. */
const SCHEMAS: { readonly [error: string]: Loose } = {
  'conflicting keywords found after $ref expansion, or a type beside $ref': {
    type: 'object',
    properties: { a: { $ref: '#/$defs/A', type: 'string', description: 'a' } },
    $defs: { A: { type: 'string', description: 'b' } },
  },
  'references must start with #/$defs/': {
    type: 'object',
    properties: { a: { $ref: '#/definitions/A' }, b: { $ref: '#/properties/a' } },
    definitions: { A: { type: 'string' } },
  },
  'type should be defined in anyOf items instead of the parent schema': {
    type: 'object',
    properties: { a: { type: 'array', anyOf: [{ items: { type: 'string' } }, { items: { type: 'number' } }] } },
  },
  'keyword is not allowed in combination with multiple types': {
    type: 'object',
    properties: { a: { type: ['string', 'null'], default: null, format: 'date' } },
  },
  'type is not defined': { type: 'object', properties: { a: { enum: ['a', 'b'] } } },
  'property schema must be an object': { type: 'object', properties: { a: true } },
  'required property is not defined in properties': { type: 'object', required: ['a'] },
  'property name is reserved for JSON Schema keywords': {
    type: 'object',
    properties: { required: { type: 'boolean' } },
    required: ['required'],
    additionalProperties: false,
  },
}

/** Rules of the schemas and names of tools, by the way in which a format writes tools. */
const rulesOf = (tools: (body: Loose) => Loose[], tool: (name: string, schema: Loose) => Loose): readonly Refusal[] => [
  ...Object.entries(SCHEMAS).map(
    ([error, schema]): Refusal => ({
      error,
      source: WALLE,
      refuses: body => tools(body).some(({ schema: written }) => isRefusedSchema(written)),
      example: { ...hi, max_tokens: 100, tools: [tool('f', schema)] },
      native: true,
    }),
  ),
]

const NAME: Omit<Refusal, 'example'> = {
  error: 'function name is invalid, must start with a letter',
  source: 'MoonshotAI/kimi-cli#1773 and #2531, read on 2026-12-01',
  refuses: () => false,
}

const chatTools = (body: Loose): Loose[] =>
  (body.tools ?? [])
    .filter(({ type }: Loose) => type === 'function')
    .map(({ function: { name, parameters } }: Loose) => ({ name, schema: parameters ?? { type: 'object' } }))
const chatTool = (name: string, parameters: Loose): Loose => ({ type: 'function', function: { name, parameters } })

const messagesTools = (body: Loose): Loose[] =>
  (body.tools ?? [])
    .filter(({ input_schema }: Loose) => input_schema !== undefined)
    .map(({ name, input_schema }: Loose) => ({ name, schema: input_schema }))
const messagesTool = (name: string, input_schema: Loose): Loose => ({ name, input_schema })

const nameRule = (tools: typeof chatTools, tool: typeof chatTool): Refusal => ({
  ...NAME,
  refuses: body => tools(body).some(({ name }) => !/^[a-zA-Z]/.test(name)),
  example: { ...hi, max_tokens: 100, tools: [tool('21st_magic', { type: 'object' }), tool('_b', { type: 'object' })] },
})

export const moonshotChat: StrictVendor = {
  preset: 'moonshot',
  format: 'chat',
  models: MODELS,
  refusals: [...rulesOf(chatTools, chatTool), { ...nameRule(chatTools, chatTool), native: true }],
}

export const moonshotMessages: StrictVendor = {
  preset: 'moonshot',
  format: 'messages',
  models: MODELS,
  refusals: [
    ...rulesOf(messagesTools, messagesTool),
    nameRule(messagesTools, messagesTool),
    {
      error: 'invalid thinking: only type=enabled is allowed for this model',
      source: 'MoonshotAI/Kimi-K2#141, "Use thinking effort" (platform.kimi.ai/docs), read on 2026-12-01',
      refuses: (body, model) => model !== 'kimi-k2.6' && body.thinking?.type === 'disabled',
      example: { ...hi, max_tokens: 100, thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
      native: true,
    },
  ],
}
