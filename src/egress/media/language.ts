import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/*
 * The language of a recording, which callers of voice sessions name as they like: OpenAI and vLLM refuse `en-US`,
 * `english` and `auto` (docs/wire/transcriptions.md#request).
 */

const PATH = ['output', 'transcript', 'language']
const REGIONAL = /^([a-z]{2,3})[-_][a-z0-9]{2,8}\b/i
const DETECTED: ReadonlySet<string> = new Set(['', 'auto', 'multi'])

/**
 * Returns the code of the language, or undefined if the upstream is to detect it. Reports any difference.
 *
 * @param own codes that the upstream takes as they are, beside those of ISO 639.
 */
export function languageCodeOf({ output }: CanonicalRequest, losses: Losses, own?: RegExp): string | undefined {
  const language = output.transcript?.language
  if (language === undefined || own?.test(language) === true) return language
  const name = language.toLowerCase()
  if (DETECTED.has(name)) return losses.drop(PATH, 'language-detected')
  const code = REGIONAL.exec(name)?.[1] ?? codeByName().get(name) ?? language
  if (code !== language) losses.change(PATH, code, 'language-code')
  return code
}

/** Languages of Whisper by ISO 639-1 code. */
const CODES =
  'af ar hy az be bs bg ca zh hr cs da nl en et fi fr gl de el he hi hu is id it ja kn kk ko lv lt mk ms mr mi ne no fa pl pt ro ru sr sk sl es sw sv tl ta th tr uk ur vi cy'

let names: ReadonlyMap<string, string> | undefined

/** Returns codes by English names in lower case, made on first use. */
const codeByName = (): ReadonlyMap<string, string> => (names ??= namesOf(CODES.split(' ')))

function namesOf(codes: readonly string[]): ReadonlyMap<string, string> {
  const english = new Intl.DisplayNames('en', { type: 'language' })
  return new Map(codes.map(code => [(english.of(code) ?? code).toLowerCase(), code]))
}
