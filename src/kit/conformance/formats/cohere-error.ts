import { errorFactsOf } from '../error-facts.ts'
import type { ErrorFacts } from '../facts.ts'
import type { Headers } from '../format.ts'
import { type Json, objectOf } from '../json.ts'

/** The facts of an error of Cohere, which is a text in `message`. */
export const cohereErrorFacts = (status: number, headers: Headers, body: Json | undefined): ErrorFacts =>
  errorFactsOf(status, headers, objectOf(body))
