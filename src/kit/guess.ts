import { GatewayError } from '../canonical/error.ts'
import { type Format, isObject } from '../canonical/node.ts'
import { CALLER_FORMATS } from '../formats/index.ts'
import { formatOfPath } from '../formats/routes.ts'
import { READERS } from '../ingress/index.ts'
import { Pace } from './pace.ts'
import { readSourceText } from './source-text.ts'
import type { Kind } from './translate.ts'
import { understandingScore } from './understood.ts'

/** The most likely format and kind of a string. */
export interface Guess {
  readonly format: Format
  readonly kind: Kind
}

/**
 * Guesses the format and kind of a string by the reader that understands most of it. Returns undefined if no reader can
 * read the text. A format whose path the request names wins over all others, and the first of several formats with
 * equal scores wins.
 */
export async function guessFormat(
  text: string,
  hints: Partial<Guess> = {},
  pace = new Pace(TIME_LIMIT_MS),
): Promise<Guess | undefined> {
  const kinds: readonly Kind[] = /^\s*[{[]/.test(text) ? ['request', 'result'] : ['events']
  let best: (Guess & { readonly score: number }) | undefined
  for (const kind of hints.kind === undefined ? kinds : [hints.kind])
    for (const format of hints.format === undefined ? FORMATS : [hints.format]) {
      await pace.step()
      const score = scoreOf(text, format, kind)
      if (score !== undefined && (best === undefined || score > best.score)) best = { format, kind, score }
    }
  return best && { format: best.format, kind: best.kind }
}

/** All formats, with the formats of callers first. */
const FORMATS: readonly Format[] = [...new Set([...CALLER_FORMATS.keys(), ...Object.keys(READERS)])]

function scoreOf(text: string, format: Format, kind: Kind): number | undefined {
  try {
    const { source, value } = readSourceText(text, format, kind)
    const path = isObject(source) ? source['path'] : undefined
    const isPathOfFormat =
      typeof path === 'string' && formatOfPath(path.startsWith('/v') ? path : `/v1${path}`) === format
    return understandingScore(value) + (isPathOfFormat ? PATH_SCORE : 0)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

/** Time limit in milliseconds that is never reached, because the number of formats bounds the work. */
const TIME_LIMIT_MS = 10_000

/** Score for a request whose path belongs to the format. */
const PATH_SCORE = 1000
