import type { ExpectedTokens } from '../accounts/index.ts'
import type { Part } from '../canonical/content.ts'
import type { CanonicalResult, Usage } from '../canonical/result.ts'
import type { Work } from '../canonical/work.ts'
import { isCounted } from '../store/usage/row.ts'

/** Characters of an answer for a token. */
const LETTERS = 4

/** Works whose answers are text. What others cost cannot be told by what came of them. */
const TEXTUAL: ReadonlySet<Work> = new Set(['conversation', 'completion', 'compaction'])

/** What is known of an answer that its upstream did not count to the end. */
export interface Uncounted {
  readonly work: Work
  /** The latest count of the upstream; it need not be true. */
  readonly said: Usage | undefined
  /** Characters that came, and how many of them came after that count. */
  readonly written: number
  readonly since: number
  /** Of the request, by its size. */
  readonly input: number
  /** Tokens that came unseen at least, as of a whole answer that its caller did not wait for. */
  readonly unseen: number
}

/**
 * About what an answer used: as the upstream counted it so far, and by its length beyond that. Undefined where its work
 * is not text.
 */
export function estimated({ work, said, written, since, input, unseen }: Uncounted): Usage | undefined {
  if (!TEXTUAL.has(work)) return undefined
  const counted: Usage = said !== undefined && isCounted(said) ? said : {}
  const came = counted.output === undefined ? written / LETTERS : counted.output + since / LETTERS
  return { ...counted, input: counted.input ?? Math.ceil(input), output: Math.ceil(Math.max(came, unseen)) }
}

/** The characters of a whole answer: text, reasoning, refusals and calls. */
export const lengthOf = ({ candidates }: CanonicalResult): number =>
  candidates.reduce((sum, { content }) => sum + content.reduce((length, part) => length + lengthOfPart(part), 0), 0)

function lengthOfPart(part: Part): number {
  if (part.type === 'tool-call') return part.arguments.length
  return 'text' in part && typeof part.text === 'string' ? part.text.length : 0
}

/** What a request is expected to use, made when it is needed. */
export type Expected = () => ExpectedTokens
