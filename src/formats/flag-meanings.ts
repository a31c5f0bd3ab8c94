import type { Format } from '../canonical/node.ts'

/** What a dialect flag states of an upstream. */
export interface FlagMeaning {
  /** The formats whose writers obey it. */
  readonly formats: readonly Format[]
  /** In English; code stands between backquotes. docs/dialects.md has the same words. */
  readonly meaning: string
}

/** What each flag of `DIALECT_FLAGS` means. */
export const FLAG_MEANINGS: ReadonlyMap<string, FlagMeaning> = new Map<string, FlagMeaning>([
  [
    'reasoning_field',
    {
      formats: ['chat'],
      meaning:
        "the field in which an assistant turn's reasoning goes back to the upstream; `parts`: as `thinking` parts of its content; `none` by default. Where one is named, thoughts that a caller of chat itself no longer has are put back, too",
    },
  ],
  ['reasoning_as', { formats: ['chat'], meaning: 'how reasoning is asked for; `reasoning_effort` by default' }],
  [
    'cache',
    {
      formats: ['chat', 'responses', 'messages'],
      meaning:
        "which marks for its prompt cache it obeys; messages: `auto` has Claude cache what callers who cannot mark send (tools, system text, the conversation so far), which is the default for models of Anthropic's, else `off`",
    },
  ],
  [
    'custom_tools',
    {
      formats: ['chat', 'responses'],
      meaning: 'it takes tools of type `custom`; true by default, else they are written as functions',
    },
  ],
  [
    'developer_role',
    { formats: ['chat'], meaning: 'it takes the role `developer`; true by default, else `system` is written' },
  ],
  ['limit_field', { formats: ['chat'], meaning: 'what the limit of an answer is called' }],
  [
    'include_usage',
    {
      formats: ['chat', 'completions'],
      meaning: 'it is asked for usage in every stream, so that tokens are counted against limits',
    },
  ],
  ['text_only_content', { formats: ['chat'], meaning: '`string`: it takes texts, and no lists of text parts' }],
  [
    'json_schema',
    {
      formats: ['chat'],
      meaning: 'it takes `response_format` with a schema; true by default, else JSON is asked for without it',
    },
  ],
  ['store', { formats: ['chat'], meaning: 'it takes `store`; true by default' }],
  [
    'call_ids',
    {
      formats: ['chat'],
      meaning: '`short`: ids of calls have nine letters and digits, and are made so; `any` by default',
    },
  ],
  [
    'after_tools',
    {
      formats: ['chat'],
      meaning:
        "`assistant`: nobody else may speak after a tool, so a word of the assistant's is put in; `anyone` by default",
    },
  ],
  ['video', { formats: ['chat'], meaning: 'it takes `video_url` parts' }],
  [
    'document_url',
    {
      formats: ['chat'],
      meaning:
        'it takes files by their address, as `document_url` parts; otherwise they are fetched and sent as `file` parts',
    },
  ],
  ['stateless', { formats: ['responses'], meaning: "it keeps no answers: all that is kept is the gateway's" }],
  ['compaction', { formats: ['responses'], meaning: 'false: it has no `/responses/compact`, so the gateway sums up' }],
  [
    'count',
    {
      formats: ['responses', 'messages', 'contents'],
      meaning: 'false: it has no call that counts tokens, so they are estimated',
    },
  ],
  [
    'sampling',
    {
      formats: ['messages'],
      meaning: '`none`: it refuses temperature, top_p and top_k; `one`: it takes a temperature or a top_p',
    },
  ],
  [
    'max_tokens',
    {
      formats: ['messages'],
      meaning:
        'the limit of an answer where the caller gives none; by default the most the model answers with, or 32,000',
    },
  ],
  ['max_output', { formats: ['messages'], meaning: 'the most tokens the model answers with, which is no limit above' }],
  [
    'listed_output',
    {
      formats: ['messages'],
      meaning: 'that number as the catalogue lists it; a limit above it is sent as it is',
    },
  ],
  [
    'version',
    {
      formats: ['messages', 'live'],
      meaning:
        "messages: the `anthropic-version` it is asked with; the caller's by default. live: the version of the API in the path; `v1beta` by default, `v1beta1` with `vertex`",
    },
  ],
  [
    'system_turns',
    {
      formats: ['messages'],
      meaning: "it takes turns of the role `system` among the messages; true by default, else they are the user's",
    },
  ],
  [
    'thinking',
    {
      formats: ['messages'],
      meaning: 'how thinking is asked for: left to the model, by a budget, either (default), not at all',
    },
  ],
  [
    'thinking_off',
    {
      formats: ['messages'],
      meaning:
        'how thinking is turned off: `disabled` by default; `never`: not at all, the least effort is asked for instead',
    },
  ],
  [
    'efforts',
    {
      formats: ['messages', 'chat', 'responses'],
      meaning:
        'the efforts it takes, weakest first; messages: `[low, medium, high, xhigh, max]` by default, none where `thinking` is `budget`; chat and responses: a thinking budget becomes the nearest of them, by default one of its family (o-series, GPT-5, gpt-oss, Gemini), and is dropped where there are none',
    },
  ],
  [
    'effort_while_off',
    { formats: ['messages'], meaning: 'it takes an effort beside thinking that is off; true by default' },
  ],
  [
    'bound_proofs',
    {
      formats: ['messages'],
      meaning:
        'the proof of a thought is refused where anything before it changed: thoughts that a caller did not hand back are put back only where nothing did; false by default',
    },
  ],
  [
    'forced_tools',
    { formats: ['messages'], meaning: 'it takes a choice that forces a tool to be called; true by default' },
  ],
  [
    'prefill',
    {
      formats: ['messages'],
      meaning: 'it goes on with a last turn of the assistant; true by default, else a user turn "Continue." is added',
    },
  ],
  [
    'threads',
    { formats: ['messages'], meaning: 'it keeps conversations (`thread`) for callers of its format; false by default' },
  ],
  [
    'vertex',
    {
      formats: ['contents', 'live'],
      meaning:
        "it is Google's cloud: calls have no ids, labels and domains are left out, one thing is embedded at a time; live: the path and the names of models are the cloud's",
    },
  ],
  [
    'schema',
    { formats: ['contents'], meaning: 'how schemas are written: as JSON Schema (default), or in the older subset' },
  ],
  [
    'fetch_urls',
    { formats: ['contents'], meaning: "it takes no addresses of others' files: the gateway fetches them" },
  ],
  [
    'voices',
    {
      formats: ['speech', 'elevenlabs', 'contents', 'live'],
      meaning: "callers' names for voices and the upstream's own; where it is given, nobody gets any other",
    },
  ],
  [
    'default_voice',
    {
      formats: ['speech', 'elevenlabs', 'contents', 'live'],
      meaning: "the upstream's voice that speaks where none is asked for",
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
        "where the fields of a session stand; `mixed` is xAI's: formats below `audio`, voice and turn detection beside it",
    },
  ],
  ['item_done', { formats: ['realtime'], meaning: 'it sends `conversation.item.done`; true by default' }],
  [
    'resumption',
    {
      formats: ['live'],
      meaning: 'it resumes sessions in another connection, so that they outlive its limit for one; true by default',
    },
  ],
  [
    'audio_only',
    {
      formats: ['live'],
      meaning:
        'the model only speaks: where a caller asks for text, it gets the transcript; true by default for `native-audio` models and `gemini-3`',
    },
  ],
  [
    'late_text',
    {
      formats: ['live'],
      meaning:
        'how text is sent once the model has answered: as `clientContent` (default), or as `realtimeInput` (default for `gemini-3`)',
    },
  ],
  [
    'speech_events',
    { formats: ['speech'], meaning: 'it streams events; true by default, else the gateway makes them of the bytes' },
  ],
  [
    'transcript_shapes',
    {
      formats: ['transcriptions'],
      meaning:
        'the shapes it answers in: `all`; `json`, which has no subtitles and no speakers; `none`, which is JSON alone',
    },
  ],
  [
    'edits',
    {
      formats: ['images'],
      meaning:
        'how it takes pictures to start from: `any` (default), as the caller sent them; `form`, as files of a form alone: what JSON names is fetched or decoded; `urls`, as addresses in JSON alone',
    },
  ],
  [
    'picture_urls',
    {
      formats: ['images'],
      meaning: 'it takes the address of a picture; true by default, else the picture is fetched and sent',
    },
  ],
  ['response_format', { formats: ['images'], meaning: 'it gives addresses unless asked for bytes, which it then is' }],
  ['remix', { formats: ['videos'], meaning: 'it changes videos by another prompt; true by default' }],
  [
    'references',
    {
      formats: ['videos'],
      meaning:
        'the pictures it starts from: `any` (default), files, addresses and ids; `files`, the files of a form alone: what is elsewhere is fetched',
    },
  ],
  ['dimensions_field', { formats: ['embeddings'], meaning: 'what the length of a vector is called' }],
  ['encoding_field', { formats: ['embeddings'], meaning: 'what the encoding of a vector is called' }],
  [
    'float_encoding',
    {
      formats: ['embeddings'],
      meaning: 'it takes the word `float`; true by default, else numbers are requested by leaving the field out',
    },
  ],
  ['purpose_field', { formats: ['embeddings'], meaning: 'the field that has the purpose of vectors' }],
  ['image_input', { formats: ['embeddings'], meaning: 'it embeds pictures' }],
  ['end_user', { formats: ['embeddings'], meaning: 'it takes `user`; true by default' }],
  [
    'batch',
    {
      formats: ['embeddings', 'contents', 'cohere'],
      meaning: 'the most inputs one request may have; more are split and put together again',
    },
  ],
  ['top_field', { formats: ['rerank'], meaning: 'what the number of ranks wanted is called' }],
  ['documents', { formats: ['rerank'], meaning: '`text`: documents are plain texts, never objects' }],
])
