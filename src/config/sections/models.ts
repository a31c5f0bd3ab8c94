import { MODEL_ORDERS } from '../../formats/model-facts.ts'
import { optional } from '../setting.ts'
import { count, fields, mapOf, modalities, money, oneOf, text, yesOrNo } from '../values.ts'
import { fallbacks } from './callers.ts'
import { dialect } from './channels.ts'

const price = fields({
  input: optional(money, 'Price of prompts.'),
  output: optional(money, 'Price of answers.'),
  cache_read: optional(money, 'Price of prompt tokens that were read from a cache.'),
  cache_write: optional(money, 'Price of prompt tokens that were written to a cache.'),
  search: optional(money, 'Price of a thousand searches that the upstream runs, or of a thousand rankings.'),
  minute: optional(money, 'Price of a minute of a transcribed recording, if the upstream counts no tokens.'),
  image: optional(money, 'Price of a generated image, if its tokens have no price.'),
  characters: optional(money, 'Price of a million characters of a text to speak, if tokens have no price.'),
  video_second: optional(money, 'Price of a second of a generated video.'),
  session_minute: optional(money, 'Price of a minute of a voice session, if its tokens have no price.'),
  tiers: optional(
    mapOf(money),
    'Factors on the prices of tokens, by the service tier that the answer states, such as `{ priority: 2, flex: 0.5 }`. ' +
      'Also `fast` for fast mode, and `us` for `inference_geo: us`, of Messages.',
  ),
})

/** Facts about one model. */
export const facts = fields({
  name: optional(text, 'Name in lists of models.'),
  description: optional(text, 'Description in lists of models.'),
  interface: optional(text, 'Format to use first with an upstream that lacks the format of the caller.'),
  context: optional(count(), 'Size of the context, in tokens.'),
  max_output: optional(count(), 'Maximum size of an answer, in tokens.'),
  dialect: optional(dialect, "Flags that replace the channel's for this model."),
  compaction: optional(
    oneOf(['enabled', 'disabled']),
    'Whether conversations with the model are compacted. `enabled` by default.',
  ),
  input: optional(modalities, 'Kinds of input that the model accepts.', ['text']),
  output: optional(modalities, 'Kinds of output that the model produces.', ['text']),
  reasoning: optional(yesOrNo, 'Whether the model reasons.'),
  tools: optional(yesOrNo, 'Whether the model calls tools.'),
  fallbacks: optional(fallbacks, 'Models that answer if no channel of this model does.'),
  order: optional(
    oneOf(MODEL_ORDERS),
    'Order of channels with equal rank: by weight (the default), measured time to the first byte, or price.',
  ),
  price: optional(price, "US dollars, of tokens per million. The catalogue's by default."),
})
