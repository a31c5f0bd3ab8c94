import { flatJoin } from '../canonical/flat.ts'
import { freshId } from '../gateway/index.ts'

/** The id of a request, for its caller and the log: `req_` and 32 random hexadecimal digits. */
export const requestId = (): string => flatJoin('req_', freshId())
