import type { Example } from '../../src/kit/examples.ts'

/* Requests with many fields that only their own format has, because they show losses best. */

const CHAT = {
  model: 'gpt-5-mini',
  messages: [
    { role: 'developer', content: 'Answer in one sentence.', name: 'house_rules' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is on this picture, and what is the weather there?' },
        { type: 'image_url', image_url: { url: 'https://example.com/harbour.jpg', detail: 'low' } },
      ],
    },
  ],
  tools: [
    {
      type: 'function',
      function: {
        ...{ name: 'get_weather', description: 'The weather of a city, now.', strict: true },
        parameters: {
          ...{ type: 'object', properties: { city: { type: 'string' } } },
          ...{ required: ['city'], additionalProperties: false },
        },
      },
    },
  ],
  ...{ parallel_tool_calls: false, reasoning_effort: 'low', verbosity: 'low' },
  ...{ max_completion_tokens: 500, seed: 7, n: 2, presence_penalty: 0.4, logit_bias: { '1734': -100 } },
  ...{ logprobs: true, top_logprobs: 3, user: 'user-1234', metadata: { team: 'search' }, service_tier: 'flex' },
}

const MESSAGES = {
  ...{ model: 'claude-sonnet-4-5', max_tokens: 4096 },
  system: [{ type: 'text', text: 'You know the harbour well.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  thinking: { type: 'enabled', budget_tokens: 2048 },
  messages: [
    {
      role: 'user',
      content: [
        {
          ...{ type: 'document', title: 'Tides', citations: { enabled: true } },
          source: { type: 'text', media_type: 'text/plain', data: 'High water at 14:20.' },
        },
        { type: 'text', text: 'When can I leave?' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'High water matters.', signature: 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==' },
        { type: 'tool_use', id: 'toolu_tide', name: 'tide_table', input: { day: 'today' } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_tide', is_error: true, content: 'The table is not there.' }],
    },
  ],
  tools: [
    {
      ...{ name: 'tide_table', description: 'High and low water.', cache_control: { type: 'ephemeral' } },
      input_schema: { type: 'object', properties: { day: { type: 'string' } } },
    },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['tides.example'] },
  ],
  ...{ top_k: 40, stop_sequences: ['\n\nHuman:'], metadata: { user_id: 'user-1234' } },
}

const RESPONSES = {
  model: 'gpt-5',
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Sum up what we know.' }] },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Two things.' }],
      encrypted_content: 'gAAA',
    },
    { type: 'custom_tool_call', call_id: 'call_1', name: 'run', input: 'ls -l' },
    { type: 'custom_tool_call_output', call_id: 'call_1', output: 'notes.txt' },
  ],
  tools: [
    { type: 'custom', name: 'run', description: 'Runs a command.' },
    { type: 'web_search', search_context_size: 'low' },
  ],
  reasoning: { effort: 'high', summary: 'detailed' },
  text: { verbosity: 'low', format: { type: 'json_object' } },
  ...{ store: false, truncation: 'auto', include: ['reasoning.encrypted_content'], max_tool_calls: 4 },
  ...{ prompt_cache_key: 'notes', safety_identifier: 'user-1234', service_tier: 'priority', top_logprobs: 2 },
}

const CONTENTS = {
  path: '/v1beta/models/gemini-2.5-flash:generateContent',
  body: {
    systemInstruction: { parts: [{ text: 'Answer in one sentence.' }] },
    contents: [
      {
        role: 'user',
        parts: [
          {
            fileData: { mimeType: 'video/mp4', fileUri: 'https://example.com/harbour.mp4' },
            videoMetadata: { startOffset: '3s', endOffset: '9s', fps: 2 },
          },
          { text: 'What happens here?' },
        ],
      },
    ],
    tools: [{ googleSearch: {} }, { codeExecution: {} }],
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }],
    generationConfig: {
      ...{ temperature: 0.4, topK: 32, seed: 7, candidateCount: 2, maxOutputTokens: 800, stopSequences: ['END'] },
      ...{ mediaResolution: 'MEDIA_RESOLUTION_LOW', thinkingConfig: { thinkingBudget: 512, includeThoughts: true } },
      ...{
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { event: { type: 'STRING' } } },
      },
    },
    cachedContent: 'cachedContents/harbour',
    labels: { team: 'search' },
  },
}

/** One request in each conversation format. */
export const SHOWCASE: readonly Example[] = Object.entries({
  ...{ chat: CHAT, messages: MESSAGES, responses: RESPONSES, contents: CONTENTS },
}).map(([format, body]) => ({ format, kind: 'request', name: 'showcase', text: JSON.stringify(body, null, 2) }))
