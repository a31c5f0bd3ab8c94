import { hi, type Loose, noImageUrls, type Refusal, type StrictVendor } from './vendor.ts'

const SOURCE = 'ollama/ollama 0.17.4 and fb30760, openai/openai.go, read on 2026-12-01'
const EFFORTS = ['none', 'low', 'medium', 'high', 'max']
const MODELS = ['gpt-oss:20b', 'qwen3.8', 'mistral-small3.2']

const effort = (of: (body: Loose) => Loose, example: Loose): Refusal => ({
  error: 'invalid reasoning value: "xhigh" (must be "high", "medium", "low", "max", or "none")',
  source: 'ollama/ollama#17141, #17252 and OmniRoute#10160, read on 2026-12-01',
  refuses: body => of(body) !== undefined && !EFFORTS.includes(of(body)),
  example: { ...hi, ...example },
})

const listsOf = (body: Loose): Loose[] =>
  body.messages.flatMap(({ content }: Loose) => (Array.isArray(content) ? content : []))

export const ollamaChat: StrictVendor = {
  preset: 'ollama',
  format: 'chat',
  models: MODELS,
  refusals: [
    effort(body => body.reasoning_effort, { reasoning_effort: 'xhigh' }),
    noImageUrls('invalid image input', `ollama/ollama#6753; ${SOURCE}`, {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }] }],
    }),
    {
      error: 'invalid message format: a part that is no text, image or audio',
      source: SOURCE,
      refuses: body => listsOf(body).some(({ type }) => ['file', 'video_url', 'document_url'].includes(type)),
      example: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
            ],
          },
        ],
      },
    },
    {
      error: 'cannot unmarshal bool into Go struct field ToolFunctionParameters.properties',
      source: 'can1357/oh-my-pi#4488, read on 2026-12-01',
      refuses: body =>
        (body.tools ?? []).some((tool: Loose) =>
          Object.values(tool.function?.parameters?.properties ?? {}).some(schema => typeof schema === 'boolean'),
        ),
      example: {
        ...hi,
        tools: [
          { type: 'function', function: { name: 'a', parameters: { type: 'object', properties: { any: true } } } },
        ],
      },
    },
    {
      error: 'cannot unmarshal array into Go struct field ToolFunctionParameters.type of type string',
      source: 'ollama/ollama#10328 and fb30760, api/types.go, read on 2026-12-01',
      refuses: body => (body.tools ?? []).some((tool: Loose) => Array.isArray(tool.function?.parameters?.type)),
      example: {
        ...hi,
        tools: [
          { type: 'function', function: { name: 'a', parameters: { type: ['object', 'null'], properties: {} } } },
        ],
      },
    },
  ],
}

const inputOf = (body: Loose): Loose[] => (Array.isArray(body.input) ? body.input : [])
const partsOf = (body: Loose): Loose[] =>
  inputOf(body).flatMap(({ content, output }) => [content, output].flatMap(list => (Array.isArray(list) ? list : [])))

export const ollamaResponses: StrictVendor = {
  preset: 'ollama',
  format: 'responses',
  models: MODELS,
  refusals: [
    { ...effort(body => body.reasoning?.effort, {}), example: { input: 'hi', reasoning: { effort: 'xhigh' } } },
    noImageUrls('invalid image URL', 'ollama/ollama fb30760, openai/responses.go, read on 2026-12-01', {
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.org/a.png' }] }],
    }),
    {
      error: 'unknown input item type',
      source: 'ollama/ollama fb30760, openai/responses.go, read on 2026-12-01',
      refuses: body => inputOf(body).some(({ type }) => ['custom_tool_call', 'custom_tool_call_output'].includes(type)),
      example: { input: [{ type: 'custom_tool_call', call_id: 'a', name: 'b', input: 'c' }] },
    },
    {
      error: 'file inputs are not currently supported',
      source: 'ollama/ollama fb30760, openai/responses.go, read on 2026-12-01',
      refuses: body => partsOf(body).some(({ type }) => type === 'input_file'),
      example: {
        input: [
          {
            type: 'message',
            role: 'user',
            content: [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }],
          },
        ],
      },
    },
  ],
}
