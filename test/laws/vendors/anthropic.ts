import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import { hasDeadReference, isUnsound, schemasIn } from './schemas.ts'
import { hi, type Loose, type StrictVendor } from './vendor.ts'

const READ = 'read on 2026-12-01'

const user: JsonObject = { role: 'user', content: 'hi' }
const IMAGE: JsonObject = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const SHORT: JsonObject = { cache_control: { type: 'ephemeral' } }
const LONG: JsonObject = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const SCHEMA: JsonObject = { type: 'object', properties: {} }

const example = (fields: JsonObject): JsonObject => ({ max_tokens: 100, ...hi, ...fields })
const said = (...content: readonly Json[]): JsonObject => example({ messages: [{ role: 'user', content }] })
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'now', input: {} })
const tool = (fields: JsonObject): JsonObject => ({ name: 'now', input_schema: SCHEMA, ...fields })

const answered = (id: string, content: Json, fields: JsonObject = {}): JsonObject =>
  example({
    messages: [
      user,
      { role: 'assistant', content: [use(id)] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, ...fields }] },
    ],
  })

const listOf = (content: Loose): Loose[] =>
  Array.isArray(content) ? content : typeof content === 'string' ? [{ type: 'text', text: content }] : []

const blocksOf = (body: Loose): Loose[] => body.messages.flatMap(({ content }: Loose) => listOf(content))

/** The blocks of the system and of turns, those in a result before the result. */
const allOf = (body: Loose): Loose[] => [
  ...listOf(body.system),
  ...blocksOf(body).flatMap(block => [...(block.type === 'tool_result' ? listOf(block.content) : []), block]),
]

const functionsOf = (body: Loose): Loose[] =>
  (body.tools ?? []).filter(({ type = 'custom' }: Loose) => type === 'custom')

const marksOf = (body: Loose): Loose[] =>
  [...(body.tools ?? []), ...allOf(body), body].flatMap(({ cache_control }) => cache_control ?? [])

const isBlank = ({ type, text }: Loose): boolean => type === 'text' && text.trim() === ''

const isFailed = ({ type, is_error }: Loose): boolean => type === 'tool_result' && is_error === true

/** Schemas that the server enforces. */
const enforcedIn = (body: Loose): readonly Loose[] =>
  [
    ...functionsOf(body).flatMap(({ strict, input_schema }) => (strict ? [input_schema] : [])),
    body.output_config?.format?.schema,
  ].flatMap(schemasIn)

const LACKING = ['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'maxItems', 'uniqueItems', 'oneOf']

/** Returns true if a result has no call in the turn before it. Neighbours of one role are one turn. */
function isOrphaned({ messages }: Loose): boolean {
  let calls = new Set<string>()
  return messages.some(({ role, content }: Loose, at: number) => {
    if (role === 'assistant' && messages[at - 1]?.role !== 'assistant') calls = new Set()
    for (const { id } of role === 'assistant' ? listOf(content) : []) calls.add(id)
    return listOf(content).some(({ type, tool_use_id }) => type === 'tool_result' && !calls.has(tool_use_id))
  })
}

const ID = /^[a-zA-Z0-9_-]+$/

export const anthropicMessages: StrictVendor = {
  preset: 'anthropic',
  format: 'messages',
  models: [
    ...['claude-3-haiku-20240307', 'claude-3-7-sonnet-20250219', 'claude-sonnet-4-20250514'],
    ...['claude-haiku-4-5-20251001', 'claude-opus-4-6', 'claude-opus-4-8', 'claude-sonnet-5', 'claude-opus-5-5'],
  ],
  refusals: [
    {
      error: 'A maximum of 4 blocks with cache_control may be provided. Found 5',
      source: `continuedev/continue#6937, tghamm/Anthropic.SDK#50, ${READ}`,
      refuses: body => marksOf(body).length > 4,
      example: said(...['a', 'b', 'c', 'd', 'e'].map(text => ({ type: 'text', text, ...SHORT }))),
    },
    {
      error: "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
      source: `cnighswonger/claude-code-cache-fix#44, vellum-ai/vellum-assistant#22191, ${READ}`,
      refuses: body => {
        const marks = marksOf(body)
        const short = marks.findIndex(({ ttl = '5m' }) => ttl === '5m')
        return marks.some(({ ttl }, at) => ttl === '1h' && short !== -1 && at > short)
      },
      example: said({ type: 'text', text: 'a', ...SHORT }, { type: 'text', text: 'b', ...LONG }),
    },
    {
      error: 'cache_control cannot be set for empty text blocks',
      source: `anthropics/claude-code#50082, askalf/dario#1066, ${READ}`,
      refuses: body => allOf(body).some(block => isBlank(block) && block.cache_control !== undefined),
      example: said({ type: 'text', text: 'a' }, { type: 'text', text: '', ...SHORT }),
    },
    {
      error: 'text content blocks must contain non-whitespace text',
      source: `home-assistant/core#175637, anthropics/claude-code#23369, ${READ}`,
      refuses: body => allOf(body).some(isBlank),
      example: said({ type: 'text', text: 'a' }, { type: 'text', text: '\n' }),
    },
    {
      error: "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
      source: `screenpipe/screenpipe#3252, CommandCodeAI/command-code#323, ${READ}`,
      refuses: body => blocksOf(body).some(({ id, tool_use_id = id }) => tool_use_id && !ID.test(tool_use_id)),
      example: answered('functions.now:0', 'a'),
    },
    {
      error: '`tool_use` ids must be unique',
      source: `trycua/cua#524, ${READ}`,
      refuses: body => {
        const ids = blocksOf(body).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))
        return new Set(ids).size < ids.length
      },
      example: example({
        messages: [...(answered('a', 'b')['messages'] as []), ...(answered('a', 'b')['messages'] as [])],
      }),
    },
    {
      error: 'unexpected `tool_use_id` found in `tool_result` blocks',
      source: `anthropics/claude-code#18947, ${READ}`,
      refuses: isOrphaned,
      example: said({ type: 'tool_result', tool_use_id: 'a', content: 'b' }),
    },
    {
      error: 'all content must be type `text` if `is_error` is true',
      source: `caozhiyuan/copilot-api#196, vellum-ai/vellum-assistant#18387, ${READ}`,
      refuses: body =>
        blocksOf(body).some(block => isFailed(block) && listOf(block.content).some(({ type }) => type !== 'text')),
      example: answered('a', [IMAGE], { is_error: true }),
    },
    {
      error: 'content cannot be empty if `is_error` is true',
      source: `jlevy/markform#153, UKGovernmentBEIS/inspect_ai#169, ${READ}`,
      refuses: body => blocksOf(body).some(block => isFailed(block) && listOf(block.content).length === 0),
      example: answered('a', [], { is_error: true }),
    },
    {
      error: 'input_schema does not support oneOf, allOf, or anyOf at the top level',
      source: `MoonshotAI/kimi-code#2328, goruck/home-generative-agent#585, ${READ}`,
      refuses: body => functionsOf(body).some(({ input_schema: { oneOf, anyOf, allOf } }) => oneOf ?? anyOf ?? allOf),
      example: example({ tools: [tool({ input_schema: { ...SCHEMA, anyOf: [{ required: ['a'] }] } })] }),
    },
    {
      error: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
      source: `ComposioHQ/composio#3500, decocms/studio#6874, n8n-io/n8n#30590, ${READ}`,
      refuses: body =>
        functionsOf(body).some(({ input_schema: { properties = {} } }) =>
          Object.keys(properties).some(name => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)),
        ),
      example: example({
        tools: [tool({ input_schema: { type: 'object', properties: { $filter: { type: 'string' } } } })],
      }),
    },
    {
      error: 'input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12',
      source: `Dokploy/mcp#74, anomalyco/opencode#39120, MarkusPfundstein/mcp-gsuite#58, ${READ}`,
      refuses: body => functionsOf(body).some(({ input_schema }) => isUnsound(input_schema)),
      example: example({
        tools: [
          tool({
            input_schema: {
              type: 'object',
              properties: {
                a: { type: 'integer', exclusiveMinimum: true, minimum: 0 },
                b: { type: 'array', items: [{ type: 'string' }] },
                c: { type: 'string', required: false },
              },
            },
          }),
        ],
      }),
    },
    {
      error: "input_schema: Invalid $ref in schema: '#/$defs/Category' does not exist",
      source: `microsoft/vscode#286415, anyproto/anytype-mcp#21, ${READ}`,
      refuses: body => functionsOf(body).some(({ input_schema }) => hasDeadReference(input_schema)),
      example: example({
        tools: [tool({ input_schema: { type: 'object', properties: { a: { $ref: '#/$defs/Category' } } } })],
      }),
    },
    {
      error: "output_config.format.schema: For 'number' type, property 'minimum' is not supported",
      source: `laravel/ai#715, ${READ}`,
      refuses: body => enforcedIn(body).some(schema => LACKING.some(keyword => keyword in schema)),
      example: example({
        output_config: {
          format: {
            type: 'json_schema',
            schema: { type: 'object', properties: { a: { type: 'number', minimum: 1 } }, additionalProperties: false },
          },
        },
      }),
    },
    {
      error: "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
      source: `ENTERPILOT/GoModel#963, ${READ}`,
      refuses: body =>
        enforcedIn(body).some(({ type, additionalProperties }) => type === 'object' && additionalProperties !== false),
      example: example({ output_config: { format: { type: 'json_schema', schema: SCHEMA } } }),
    },
    {
      error: 'too many strict tools: at most 20',
      source: 'docs/wire/messages.md#tools',
      refuses: body => functionsOf(body).filter(({ strict }) => strict === true).length > 20,
      example: example({
        tools: Array.from({ length: 21 }, (_, at) =>
          tool({ name: `f${at}`, strict: true, input_schema: { ...SCHEMA, additionalProperties: false } }),
        ),
      }),
    },
  ],
}
