import * as v from 'valibot'
import { GatewayError } from '../../../canonical/error.ts'
import { defined, type Format } from '../../../canonical/node.ts'
import { describedAs, fields, isLonger, list, oneOf, text } from '../../../config/schema.ts'
import { endpointPath } from '../../../formats/routes.ts'
import { withoutAccounts, withoutKeys } from '../../../gateway/secrets.ts'
import { type Example, examples } from '../../../kit/examples.ts'
import { guessFormat } from '../../../kit/guess.ts'
import { pointerOf } from '../../../kit/pointer.ts'
import { readSourceText } from '../../../kit/source-text.ts'
import { KNOWN_FORMATS } from '../../../kit/translate.ts'
import { type LocatedLoss, type TranslatedText, translations } from '../../../kit/translations.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'
import { invalidInput } from '../problem.ts'
import { allOf, EXAMPLE, TRANSLATIONS } from '../shapes.ts'

/** Maximum length of a text to translate, in characters. */
const MAX_TEXT_LENGTH = 256 * 1024

const KINDS = ['request', 'result', 'events'] as const

const sourceFields = describedAs(
  v.pipe(
    v.string('expected a string'),
    v.check(value => value.trim() !== '', 'is empty'),
    v.check(value => !isLonger(value, MAX_TEXT_LENGTH), `has more than ${MAX_TEXT_LENGTH} characters`),
  ),
  { type: 'string', pattern: '\\S', maxLength: MAX_TEXT_LENGTH },
)

const translateText = endpoint({
  method: 'post',
  role: 'viewer',
  path: '/translate',
  operation: 'translateText',
  summary:
    'Translates a request, a whole answer or an event stream into other formats, and lists the losses with their positions. Nothing is sent or stored. Format and kind are guessed if not given.',
  body: fields({
    text: sourceFields,
    format: v.optional(oneOf(KNOWN_FORMATS)),
    kind: v.optional(oneOf(KINDS)),
    to: v.optional(list(oneOf(KNOWN_FORMATS), 50)),
    model: v.optional(text()),
  }),
  answer: TRANSLATIONS,
  handle: async (_, { body }) => {
    const { to, model } = body
    const guess = await guessFormat(body.text, defined({ format: body.format, kind: body.kind }))
    const format = body.format ?? guess?.format
    const kind = body.kind ?? guess?.kind ?? 'request'
    if (format === undefined) throw invalidInput({ pointer: '/text', detail: 'matches no known format' })
    const read = readOrRefuse(() => readSourceText(body.text, format, kind, defined({ model })))
    const all = await translations(read, to)
    return {
      ...{ format, kind, work: read.work, canonical: JSON.parse(JSON.stringify(read.value)) as unknown },
      formats: Object.fromEntries([...all].map(([name, other]) => [name, otherView(name, other)])),
    }
  },
})

/** Reports errors in the text as errors of the field `text`. */
function readOrRefuse<T>(read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    throw invalidInput({ pointer: '/text', detail: thrown.message })
  }
}

function otherView(format: Format, other: TranslatedText) {
  if ('error' in other) return { error: other.error }
  const { text, path, losses } = other
  return { text, ...(path === undefined ? {} : { path: endpointPath(format, path) }), losses: losses.map(lossView) }
}

const lossView = ({ loss, from, missing, to }: LocatedLoss) => ({
  ...{ kind: loss.kind, reason: loss.reason, path: loss.path, restored: loss.restored === true },
  ...defined({
    pointer_from: from === undefined ? undefined : pointerOf(from),
    pointer_to: to === undefined ? undefined : pointerOf(to),
    no_pointer: missing,
  }),
})

const redactText = endpoint({
  method: 'post',
  role: 'viewer',
  path: '/translate/redacted',
  operation: 'redactText',
  summary: 'Returns a text without what looks like a key or the id of an account, so that it can be shared.',
  body: fields({ text: sourceFields }),
  answer: fields({ text: v.string() }),
  handle: async (_, { body }) => ({ text: withoutAccounts(withoutKeys(body.text)) }),
})

let cachedExamples: readonly Example[] | undefined

const listExamples = endpoint({
  method: 'get',
  path: '/translate/examples',
  operation: 'listTranslateExamples',
  summary: 'Lists example texts of each format.',
  answer: allOf(EXAMPLE),
  handle: async () => ({ data: (cachedExamples ??= examples()) }),
})

/** Endpoints that translate texts between formats. */
export const TRANSLATE: readonly Endpoint[] = [translateText, redactText, listExamples]
