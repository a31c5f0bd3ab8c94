import type { Format } from '../canonical/node.ts'

/** The description of a dialect flag for operators and administrators. */
export interface FlagMeaning {
  /** The formats whose writers obey the flag. */
  readonly formats: readonly Format[]
  /** English text with code between backquotes; docs/dialects.md contains the same text. */
  readonly meaning: string
}

/** The description of each flag of `DIALECT_FLAGS`. */
export const FLAG_MEANINGS: ReadonlyMap<string, FlagMeaning> = new Map<string, FlagMeaning>([
  [
    'reasoning_field',
    {
      formats: ['chat'],
      meaning:
        'the field in which reasoning of earlier assistant turns is sent back to the upstream; `parts`: as `thinking` parts of the content; `none` by default. With a field, the gateway also restores reasoning that a native caller no longer has',
    },
  ],
  ['reasoning_as', { formats: ['chat'], meaning: 'how reasoning is requested; `reasoning_effort` by default' }],
  [
    'cache',
    {
      formats: ['chat', 'responses', 'messages'],
      meaning:
        'the cache markers that the upstream obeys; messages: `auto` has Claude cache the requests of callers that cannot set markers (tools, system text, the conversation so far); `auto` is the default for models of Anthropic, else `off`',
    },
  ],
  [
    'custom_tools',
    {
      formats: ['chat', 'responses'],
      meaning: 'takes tools of type `custom`; true by default, else they are written as functions',
    },
  ],
  [
    'developer_role',
    { formats: ['chat'], meaning: 'takes the role `developer`; true by default, else `system` is written' },
  ],
  ['limit_field', { formats: ['chat'], meaning: 'the name of the field for the output limit' }],
  [
    'include_usage',
    {
      formats: ['chat', 'completions'],
      meaning: 'the gateway requests usage in every stream, so that tokens count against limits',
    },
  ],
  ['text_only_content', { formats: ['chat'], meaning: '`string`: takes texts as strings, not as lists of parts' }],
  [
    'json_schema',
    {
      formats: ['chat'],
      meaning: 'takes `response_format` with a schema; true by default, else JSON is requested without the schema',
    },
  ],
  ['store', { formats: ['chat'], meaning: 'takes `store`; true by default' }],
  [
    'call_ids',
    {
      formats: ['chat'],
      meaning: '`short`: tool call ids must have nine letters and digits, and are rewritten so; `any` by default',
    },
  ],
  [
    'after_tools',
    {
      formats: ['chat'],
      meaning:
        '`assistant`: only an assistant message may follow a tool message, so one is inserted; `anyone` by default',
    },
  ],
  ['video', { formats: ['chat'], meaning: 'takes `video_url` parts' }],
  [
    'document_url',
    {
      formats: ['chat'],
      meaning: 'takes files by URL, as `document_url` parts; otherwise they are fetched and sent as `file` parts',
    },
  ],
  ['stateless', { formats: ['responses'], meaning: 'stores no answers; the gateway stores all state' }],
  [
    'compaction',
    {
      formats: ['responses'],
      meaning: 'false: there is no `/responses/compact`, so the gateway compacts by a summary',
    },
  ],
  [
    'count',
    {
      formats: ['responses', 'messages', 'contents'],
      meaning: 'false: there is no token counting call, so the gateway estimates tokens',
    },
  ],
  [
    'sampling',
    {
      formats: ['messages'],
      meaning: '`none`: refuses temperature, top_p and top_k; `one`: takes either temperature or top_p',
    },
  ],
  [
    'max_tokens',
    {
      formats: ['messages'],
      meaning: "tokens; the output limit for requests without one; by default the model's maximum output, or 32,000",
    },
  ],
  [
    'max_output',
    {
      formats: ['messages'],
      meaning: 'tokens; the maximum output of the model; higher limits in requests are lowered to it',
    },
  ],
  [
    'listed_output',
    {
      formats: ['messages'],
      meaning: 'tokens; the maximum output in the catalogue; higher limits in requests are sent unchanged',
    },
  ],
  [
    'version',
    {
      formats: ['messages', 'live'],
      meaning:
        "messages: the `anthropic-version` header; the caller's by default. live: the API version in the path; `v1beta` by default, `v1beta1` with `vertex`",
    },
  ],
  [
    'system_turns',
    {
      formats: ['messages'],
      meaning: 'takes turns of the role `system` among the messages; true by default, else their role becomes `user`',
    },
  ],
  [
    'thinking',
    {
      formats: ['messages'],
      meaning:
        'how thinking is requested: left to the model (`adaptive`), by a budget (`budget`), either (`both`, default), or not at all (`none`)',
    },
  ],
  [
    'thinking_off',
    {
      formats: ['messages'],
      meaning:
        'how thinking is turned off: `disabled` by default; `never`: thinking cannot be turned off, so the lowest effort is requested instead',
    },
  ],
  [
    'efforts',
    {
      formats: ['messages', 'chat', 'responses'],
      meaning:
        "the supported efforts, weakest first; messages: `[low, medium, high, xhigh, max]` by default, none if `thinking` is `budget`; chat and responses: a thinking budget becomes the nearest effort, by default of the model's family (o-series, GPT-5, gpt-oss, Gemini), and is dropped if there are no efforts",
    },
  ],
  ['effort_while_off', { formats: ['messages'], meaning: 'takes an effort while thinking is off; true by default' }],
  [
    'bound_proofs',
    {
      formats: ['messages'],
      meaning:
        'refuses the signature of a reasoning block if anything before the block changed; reasoning that a caller did not send back is then restored only if nothing before it changed; false by default',
    },
  ],
  ['forced_tools', { formats: ['messages'], meaning: 'takes a tool choice that forces a tool call; true by default' }],
  [
    'prefill',
    {
      formats: ['messages'],
      meaning: 'continues a final assistant turn; true by default, else a user turn "Continue." is added',
    },
  ],
  [
    'threads',
    { formats: ['messages'], meaning: 'stores conversations (`thread`) for native callers; false by default' },
  ],
  [
    'vertex',
    {
      formats: ['contents', 'live'],
      meaning:
        "Google's cloud API: takes labels, file names and excluded domains, but no call ids, and embeds one input per request; live: the path and the model names are those of the cloud",
    },
  ],
  [
    'schema',
    {
      formats: ['contents'],
      meaning: 'how schemas are written: as JSON Schema (default), or in the older OpenAPI subset',
    },
  ],
  ['fetch_urls', { formats: ['contents'], meaning: 'takes no URLs of files at other hosts: the gateway fetches them' }],
  [
    'voices',
    {
      formats: ['speech', 'elevenlabs', 'contents', 'live'],
      meaning: "the upstream's voice for each name that callers use; if set, no other voice is available",
    },
  ],
  [
    'default_voice',
    {
      formats: ['speech', 'elevenlabs', 'contents', 'live'],
      meaning: "the upstream's voice for requests that name none",
    },
  ],
  [
    'naming',
    {
      formats: ['realtime'],
      meaning:
        "the names of events and fields: OpenAI's since general availability (default), or the beta's (Azure Voice Live), whose upstreams get `OpenAI-Beta: realtime=v1`",
    },
  ],
  [
    'layout',
    {
      formats: ['realtime'],
      meaning:
        "the structure of a session's fields; `mixed` is xAI's: formats below `audio`, voice and turn detection beside it",
    },
  ],
  ['item_done', { formats: ['realtime'], meaning: 'sends `conversation.item.done`; true by default' }],
  [
    'resumption',
    {
      formats: ['live'],
      meaning:
        'resumes sessions on a new connection, so that they can outlive the time limit of one connection; true by default',
    },
  ],
  [
    'audio_only',
    {
      formats: ['live'],
      meaning:
        'the model only speaks: a caller that requests text gets the transcript; true by default for `native-audio` models and `gemini-3`',
    },
  ],
  [
    'late_text',
    {
      formats: ['live'],
      meaning:
        "how text is sent after the model's first answer: as `clientContent` (default), or as `realtimeInput` (default for `gemini-3`)",
    },
  ],
  [
    'speech_events',
    { formats: ['speech'], meaning: 'streams events; true by default, else the gateway makes events of the bytes' },
  ],
  [
    'transcript_shapes',
    {
      formats: ['transcriptions'],
      meaning: 'the supported response formats: `all`; `json`, without subtitles and speakers; `none`, JSON only',
    },
  ],
  [
    'edits',
    {
      formats: ['images'],
      meaning:
        'how images to edit are sent: `any` (default), as the caller sent them; `form`, as form files only: images in JSON are fetched or decoded; `urls`, as URLs in JSON only',
    },
  ],
  [
    'picture_urls',
    {
      formats: ['images'],
      meaning: 'takes image URLs; true by default, else images are fetched and sent as bytes',
    },
  ],
  [
    'response_format',
    { formats: ['images'], meaning: 'returns URLs by default: bytes are requested for callers of other formats' },
  ],
  ['remix', { formats: ['videos'], meaning: 'can remix a video with another prompt; true by default' }],
  [
    'references',
    {
      formats: ['videos'],
      meaning:
        'the images that a video can start from: `any` (default), files, URLs and ids; `files`, form files only: other images are fetched',
    },
  ],
  ['dimensions_field', { formats: ['embeddings'], meaning: 'the name of the field for the length of a vector' }],
  ['encoding_field', { formats: ['embeddings'], meaning: 'the name of the field for the encoding of a vector' }],
  [
    'float_encoding',
    {
      formats: ['embeddings'],
      meaning: 'takes the encoding `float`; true by default, else the field is left out to get numbers',
    },
  ],
  ['purpose_field', { formats: ['embeddings'], meaning: 'the name of the field for the purpose of the vectors' }],
  ['image_input', { formats: ['embeddings'], meaning: 'embeds images' }],
  ['end_user', { formats: ['embeddings'], meaning: 'takes `user`; true by default' }],
  [
    'batch',
    {
      formats: ['embeddings', 'contents', 'cohere'],
      meaning: 'the most inputs per request; larger requests are split, and their answers merged',
    },
  ],
  ['top_field', { formats: ['rerank'], meaning: 'the name of the field for the number of ranks' }],
  ['documents', { formats: ['rerank'], meaning: '`text`: documents must be plain strings, never objects' }],
])
