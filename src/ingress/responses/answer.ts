import { append } from '../../canonical/append.ts'
import type { Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { anyNumber, anyObjects, anyText, defined, rest, spelling, WrongType } from '../fields.ts'
import { readOutputText, readPart, type TextType, unknownPart } from './content.ts'
import { readAnyItem, unknownItem } from './items.ts'
import type { UpstreamCalls } from './upstream-calls.ts'

const FORMAT = 'responses'

/** The parts of an answer's items, and the token logprobs of all its texts in one list. */
export function readOutput(output: Json | undefined, own: UpstreamCalls): { parts: Part[]; tokens: TokenLogprob[] } {
  const tokens: TokenLogprob[] = []
  const content = contentReader(tokens)
  const parts = anyObjects(output).flatMap(item => (own.has(item) ? unknownItem(item) : readAnyItem(item, content)))
  return { parts, tokens }
}

/** Reads the content of an answer's message; its token logprobs are added to the list. */
export const contentReader =
  (tokens: TokenLogprob[]) =>
  (wire: Json | undefined, plain: TextType): readonly Part[] => {
    if (typeof wire === 'string') return [{ type: 'text', text: wire }]
    if (wire == null) return []
    if (!Array.isArray(wire) || !wire.every(isObject)) throw WrongType.instance
    return wire.map(part => readAnswerPart(part, plain, tokens))
  }

/** As `readPart`, but a malformed part, or one that has no place in other formats' answers, is kept as it is. */
export function readAnswerPart(wire: JsonObject, plain: TextType, tokens: TokenLogprob[]): Part {
  try {
    const part = wire['type'] === 'output_text' ? readText(wire, plain, tokens) : readPart(wire, plain)
    return part.type === 'media' ? unknownPart(wire) : part
  } catch (thrown) {
    if (thrown instanceof WrongType) return unknownPart(wire)
    throw thrown
  }
}

const TEXT = new Set(['type', 'text', 'annotations'])
const LOGGED = new Set([...TEXT, 'logprobs'])

/** How many of the candidate's token logprobs belong to this text is spelling. */
function readText(wire: JsonObject, plain: TextType, tokens: TokenLogprob[]): Part {
  const logged = readTokens(wire['logprobs'])
  const logprobs = logged?.length ?? (wire['logprobs'] === undefined ? 'absent' : 0)
  const part = readOutputText(wire, plain, logged === undefined ? TEXT : LOGGED, { logprobs })
  append(tokens, logged ?? [])
  return part
}

const TOKEN = new Set(['token', 'logprob', 'bytes', 'top_logprobs'])
const ALTERNATIVE = new Set(['token', 'logprob', 'bytes'])

/** The chosen tokens with their most likely alternatives; undefined where there is no such list. */
export function readTokens(wire: Json | undefined): TokenLogprob[] | undefined {
  if (!Array.isArray(wire) || !wire.every(isToken)) return undefined
  return wire.map(token => {
    const alternatives = token['top_logprobs']
    const top =
      Array.isArray(alternatives) && alternatives.every(isToken)
        ? alternatives.map(alternative => readToken(alternative, ALTERNATIVE))
        : undefined
    const known = top === undefined ? ALTERNATIVE : TOKEN
    return readToken(token, known, defined({ top }), alternatives === undefined ? 'absent' : undefined)
  })
}

const isToken = (wire: Json): wire is JsonObject =>
  isObject(wire) && typeof wire['token'] === 'string' && typeof wire['logprob'] === 'number'

function readToken(
  wire: JsonObject,
  taken: ReadonlySet<string>,
  more: Partial<TokenLogprob> = {},
  top?: string,
): TokenLogprob {
  const { bytes } = wire
  const known = Array.isArray(bytes) && bytes.length > 0 && bytes.every(byte => typeof byte === 'number')
  const empty = Array.isArray(bytes) && bytes.length === 0
  const spelt = spelling({ bytes: bytes === undefined ? 'absent' : undefined, top })
  return {
    token: anyText(wire['token'])!,
    logprob: anyNumber(wire['logprob'])!,
    ...(known ? { bytes: bytes as readonly number[] } : {}),
    ...more,
    ...rest(FORMAT, wire, taken, spelt, known || empty ? [] : ['bytes']),
  }
}
