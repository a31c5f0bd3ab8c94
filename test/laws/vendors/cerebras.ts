import { hi, type Loose, noField, noReasoningContent, type StrictVendor } from './vendor.ts'

const SDK = 'no field of cerebras_cloud_sdk 1.91.0 (PyPI), read on 2026-12-01'
const TOOLS = [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }]

export const cerebrasChat: StrictVendor = {
  preset: 'cerebras',
  format: 'chat',
  models: ['gpt-oss-120b', 'zai-glm-4.7', 'qwen-3.8-27b'],
  refusals: [
    noField('verbosity', 'low', SDK),
    noField('metadata', { a: 'b' }, SDK),
    noField('safety_identifier', 'a', SDK),
    noField('store', false, 'Gitlawb/openclaude#740, read on 2026-12-01'),
    {
      error: '"tools" is incompatible with "response_format"',
      source: 'BerriAI/litellm#31445, read on 2026-12-01',
      refuses: ({ tools, response_format: shape }) => tools?.length > 0 && shape && shape.type !== 'text',
      example: { ...hi, tools: TOOLS, response_format: { type: 'json_object' } },
      native: true,
    },
    {
      error: "Tools with mixed values for 'strict' are not allowed",
      source: 'RooCodeInc/Roo-Code#10334, read on 2026-12-01',
      refuses: ({ tools = [] }) => new Set(tools.map(({ function: one }: Loose) => one?.strict === true)).size > 1,
      example: { ...hi, tools: [...TOOLS, { type: 'function', function: { ...TOOLS[0]!.function, strict: true } }] },
      native: true,
    },
    noReasoningContent(
      "property 'messages.2.assistant.reasoning_content' is unsupported",
      'Alishahryar1/free-claude-code#1136, read on 2026-12-01',
    ),
  ],
}
