import * as v from 'valibot'
import { FALLBACK_REASONS } from '../../formats/model-facts.ts'
import { callerFormats } from '../format-fields.ts'
import { isRule } from '../recording-rules.ts'
import { optional, required, withValueKind } from '../setting.ts'
import {
  count,
  credential,
  expectsKind,
  fields,
  listOfTexts,
  money,
  oneOf,
  text,
  texts,
  time,
  yesOrNo,
} from '../values.ts'

const budget = fields({
  day: optional(money, 'US dollars per day (UTC).'),
  month: optional(money, 'US dollars per month (UTC).'),
  unknown: optional(
    oneOf(['allow', 'refuse']),
    'Whether models without a known price may be used, at no cost to the budget. `allow` by default.',
  ),
})

const limits = {
  rpm: optional(count(), 'Maximum number of requests per minute.'),
  tpm: optional(
    count(),
    'Maximum number of tokens per minute. An estimate is reserved when a request arrives and corrected when it ends.',
  ),
  concurrent: optional(count(), 'Maximum number of requests, background responses and voice sessions at once.'),
  budget: optional(budget, 'Maximum cost of the requests of a key.'),
}

const permissions = {
  models: optional(texts, 'Models and patterns (`gpt-*`) that may be used. All by default.'),
  doors: optional(
    withValueKind('list of [formats](formats.md)', callerFormats(listOfTexts())),
    'Formats whose endpoints may be used. All by default.',
  ),
  ...limits,
  on_loss: optional(
    oneOf(['show', 'refuse']),
    'Whether a request that loses something in translation is answered or refused. `show` by default.',
  ),
}

const fallback = fields({
  model: required(text, 'Model that answers.'),
  on: optional(
    v.array(oneOf(FALLBACK_REASONS), expectsKind('a list')),
    'Failures after which the model is tried. All by default.',
  ),
})

/** Models that answer if another one cannot. */
export const fallbacks = v.array(v.union([text, fallback]), expectsKind('a list of models'))

/** A group of keys. */
export const group = fields({
  ...permissions,
  channels: optional(texts, 'Names and patterns of the channels that may answer. All by default.'),
  fallbacks: optional(
    fallbacks,
    'Models that answer if the requested one cannot, for models without their own. They make no vectors.',
  ),
})

/** A rule for the texts or fields of recordings. */
const rules = () =>
  v.array(v.pipe(text, v.check(isRule, 'is neither a path nor a valid /expression/')), expectsKind('a list of strings'))

const record = fields({
  folder: required(text, 'Folder of the recordings.'),
  redact: optional(rules(), 'Further fields and headers whose values are not recorded.'),
  ignore: optional(rules(), 'Fields that are ignored when requests are compared.'),
})

/** A fixed key of the config. */
export const key = fields({
  name: required(text, 'Name of the key in usage, log and console.'),
  key: required(credential, 'The key itself. Only its hash is held in memory.'),
  group: optional(text, 'Group of the key.', 'default'),
  note: optional(text, 'Note for operators.'),
  ...permissions,
  enabled: optional(yesOrNo, 'Whether the key is accepted.', true),
  expires: optional(time, 'Time at which the key expires.'),
  capture_until: optional(time, "Time until which the key's requests are captured."),
  record: optional(
    v.union([text, record], expectsKind('a folder, or a map of folder, redact and ignore')),
    "Folder in which the key's requests are recorded.",
  ),
})
