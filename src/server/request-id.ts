import { freshId } from '../gateway/index.ts'
import { requestIdOf } from '../usage/request-id.ts'

/** The id of a request that begins now. */
export const requestId = (): string => requestIdOf(Date.now(), freshId())
