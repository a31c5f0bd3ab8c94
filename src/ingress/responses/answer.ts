import { append } from '../../canonical/append.ts'
import type { Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { anyNumber, anyObjects, anyText, defined, rest, spelling, WrongType } from '../fields.ts'
import { readOutputText, readPart, type TextType, unknownPart } from './content.ts'
import { readAnyItem, unknownItem } from './items.ts'
import type { UpstreamCalls } from './upstream-calls.ts'

const FORMAT = 'responses'

/** The parts of an answer's items, and the likely tokens of all its texts in one list. */
export function readOutput(output: Json | undefined, own: UpstreamCalls): { parts: Part[]; tokens: TokenLogprob[] } {
  const tokens: TokenLogprob[] = []
  const content = contentReader(tokens)
  const parts = anyObjects(output).flatMap(item => (own.has(item) ? unknownItem(item) : readAnyItem(item, content)))
  return { parts, tokens }
}

/** Reads the content of a message of an answer; its tokens go to the list. */
export const contentReader =
  (tokens: TokenLogprob[]) =>
  (wire: Json | undefined, plain: TextType): readonly Part[] => {
    if (typeof wire === 'string') return [{ type: 'text', text: wire }]
    if (wire == null) return []
    if (!Array.isArray(wire) || !wire.every(isObject)) throw WrongType.instance
    return wire.map(part => readAnswerPart(part, plain, tokens))
  }

/** As any part, but what is not as it should be, or has no place in an answer's message elsewhere, is kept as it is. */
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

/** Of the candidate's tokens, how many are this text's is spelling. */
function readText(wire: JsonObject, plain: TextType, tokens: TokenLogprob[]): Part {
  const said = readTokens(wire['logprobs'])
  const logprobs = said?.length ?? (wire['logprobs'] === undefined ? 'absent' : 0)
  const part = readOutputText(wire, plain, said === undefined ? TEXT : LOGGED, { logprobs })
  append(tokens, said ?? [])
  return part
}

const TOKEN = new Set(['token', 'logprob', 'bytes', 'top_logprobs'])
const RIVAL = new Set(['token', 'logprob', 'bytes'])

/** The chosen tokens with their likely rivals; undefined where there is no such list. */
export function readTokens(wire: Json | undefined): TokenLogprob[] | undefined {
  if (!Array.isArray(wire) || !wire.every(isToken)) return undefined
  return wire.map(token => {
    const rivals = token['top_logprobs']
    const top =
      Array.isArray(rivals) && rivals.every(isToken) ? rivals.map(rival => readToken(rival, RIVAL)) : undefined
    const known = top === undefined ? RIVAL : TOKEN
    return readToken(token, known, defined({ top }), rivals === undefined ? 'absent' : undefined)
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
