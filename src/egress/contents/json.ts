import type { CanonicalRequest } from '../../canonical/request.ts'
import type { ContentsDialect } from '../../formats/dialects/contents.ts'
import { type JsonRule, WORDS_ALONE } from '../sanitize/json-in-words.ts'

/*
 * Models before Gemini 3 refuse answers in JSON beside tools ("Function calling with a response mime type:
 * 'application/json' is unsupported"), and some refuse them always ("JSON mode is not enabled").
 */

/** Returns true if the model takes a request for an answer in JSON beside the request's tools. */
export const takesJson = ({ tools }: CanonicalRequest, { json = 'always' }: ContentsDialect): boolean =>
  json === 'always' || (json === 'without_tools' && (tools === undefined || tools.length === 0))

const WORDS_OF_USER: JsonRule = { ...WORDS_ALONE, role: 'user' }

/** Returns the rule by which the model is asked for JSON in words, or undefined if it need not be. */
export const jsonInWords = (request: CanonicalRequest, dialect: ContentsDialect): JsonRule | undefined =>
  takesJson(request, dialect) ? undefined : dialect.system === false ? WORDS_OF_USER : WORDS_ALONE
