import OpenAI from 'openai'
import type { Failure } from '../caller.ts'

const CLASSES: { readonly [status: number]: string } = {
  ...{ 400: 'BadRequestError', 401: 'AuthenticationError', 403: 'PermissionDeniedError', 404: 'NotFoundError' },
  ...{ 422: 'UnprocessableEntityError', 429: 'RateLimitError' },
}

export const openaiErrors = (status: number): string =>
  CLASSES[status] ?? (status >= 500 ? 'InternalServerError' : 'APIError')

export function openaiFailure(thrown: unknown): Failure {
  if (!(thrown instanceof OpenAI.APIError)) throw thrown
  return { name: thrown.constructor.name, status: thrown.status, message: thrown.message }
}
