import { errorFactsOf } from '../error-facts.ts'
import type { ErrorFacts } from '../facts.ts'
import type { Headers } from '../format.ts'
import { type Json, objectOf } from '../json.ts'

/** Returns the facts of a Cohere error, whose body has its text in `message`. */
export const cohereErrorFacts = (status: number, headers: Headers, body: Json | undefined): ErrorFacts =>
  errorFactsOf(status, headers, objectOf(body))
