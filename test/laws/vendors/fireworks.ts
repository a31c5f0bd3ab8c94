import { hi, type Loose, noField, type Refusal, type StrictVendor } from './vendor.ts'

const SCHEMA = 'fireworks-ai 1.2.30 (PyPI), api-evangelist/fireworks-ai openapi/ (closed schemas), read on 2026-12-01'

const user = { role: 'user', content: 'a' }
const call = { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}' } }

const MESSAGE = ['role', 'content', 'reasoning_content', 'tool_calls', 'tool_call_id']
const PART = ['type', 'text', 'image_url', 'video_url']
const CALL = ['id', 'type', 'function']

const hasOthers = (object: Loose, known: readonly string[]): boolean =>
  Object.keys(object).some(field => !known.includes(field))

/** Rule of objects in messages that may have no other fields. */
const closed = (name: string, known: readonly string[], of: (message: Loose) => Loose[], message: Loose): Refusal => ({
  error: `Extra inputs are not permitted, field: ${name}`,
  source: `${SCHEMA}; vercel/ai#18306, musistudio/claude-code-router#377`,
  refuses: body => body.messages.some((one: Loose) => of(one).some(object => hasOthers(object, known))),
  example: { messages: [user, message] },
  native: true,
})

/** Parts of a message whose types the vendor takes. */
const partsOf = ({ content }: Loose): Loose[] =>
  listOf(content).filter(({ type }) => ['text', 'image_url', 'video_url'].includes(type))

const listOf = (value: Loose): Loose[] => (Array.isArray(value) ? value : [])

export const fireworksChat: StrictVendor = {
  preset: 'fireworks',
  format: 'chat',
  models: [
    ...['accounts/fireworks/models/kimi-k2p6', 'accounts/fireworks/models/gpt-oss-120b'],
    ...['accounts/fireworks/models/glm-5p2', 'accounts/fireworks/models/minimax-m2p7'],
    'accounts/fireworks/models/glm-5p3',
  ],
  refusals: [
    noField('verbosity', 'low', SCHEMA),
    noField('store', false, SCHEMA),
    noField('safety_identifier', 'a', SCHEMA),
    noField('prompt_cache_retention', '24h', SCHEMA),
    noField('prompt_cache_options', { mode: 'implicit' }, SCHEMA),
    noField('modalities', ['text'], SCHEMA),
    closed('messages[1].refusal', MESSAGE, message => [message], { role: 'assistant', content: 'a', refusal: null }),
    closed('messages[1].name', MESSAGE, message => [message], { ...user, name: 'ann' }),
    closed('messages[1].reasoning', MESSAGE, message => [message], { role: 'assistant', content: 'a', reasoning: 'b' }),
    closed('messages[1].content[0].cache_control', PART, partsOf, {
      role: 'user',
      content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
    }),
    closed('messages[1].tool_calls[0].index', CALL, ({ tool_calls }) => listOf(tool_calls), {
      role: 'assistant',
      content: null,
      tool_calls: [{ index: 0, ...call }],
    }),
    {
      error: "Input should be 'function', field: tools[0].type",
      source: SCHEMA,
      refuses: body => listOf(body.tools).some(({ type }) => type === 'custom'),
      example: { ...hi, tools: [{ type: 'custom', custom: { name: 'a' } }] },
      native: true,
    },
    {
      error: 'Invalid reasoning effort: minimal, and none where the model always reasons',
      source: `${SCHEMA} (reasoning_effort of gpt-oss and MiniMax M2)`,
      refuses: ({ reasoning_effort: effort }, model) =>
        effort === 'minimal' || (/gpt-oss|minimax-m2/.test(model) && ['none', 'xhigh', 'max'].includes(effort)),
      example: { ...hi, reasoning_effort: 'minimal' },
    },
    {
      error: 'GLM-5.3 is a thinking-only model, with the efforts high and max',
      source: 'earendil-works/pi#8932, read on 2026-12-01',
      refuses: ({ reasoning_effort: effort }, model) =>
        model.includes('glm-5p3') && effort !== undefined && !['high', 'max'].includes(effort),
      example: { ...hi, reasoning_effort: 'none' },
    },
    {
      error: '`thinking` and `reasoning_effort` cannot be specified together',
      source: SCHEMA,
      refuses: body => body.thinking !== undefined && body.reasoning_effort !== undefined,
      example: { ...hi, thinking: { type: 'enabled' }, reasoning_effort: 'low' },
    },
    {
      error: 'chat completions does not support file content blocks',
      source: 'LiteLLM 1.110.2, llms/fireworks_ai, read on 2026-12-01',
      refuses: body => body.messages.some(({ content }: Loose) => listOf(content).some(({ type }) => type === 'file')),
      example: {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } }] },
        ],
      },
    },
  ],
}
