import type { CanonicalError } from '../../canonical/error.ts'

/** How a format says that a request is too long: its clients compact on these very words (trap 98). */
export interface TooLongWords {
  /** What its clients look for. */
  readonly known: RegExp
  /** Its words where both numbers are known. */
  said(tokens: number, maximum: number): string
  /** What is said in front of the upstream's own words, where they are not. */
  readonly else: string
}

/** The message of an error in a format's own words, where it is one about the length of the request. */
export function messageOf({ kind, message, context }: CanonicalError, words: TooLongWords): string {
  if (kind !== 'context-too-long' || words.known.test(message)) return message
  const { tokens, maximum } = context ?? {}
  return tokens === undefined || maximum === undefined ? `${words.else} ${message}` : words.said(tokens, maximum)
}
