import { flatJoin } from '../canonical/flat.ts'
import { freshId } from '../gateway/index.ts'

/** Names a request to its caller and in the log: `req_` and 32 random hexadecimal digits. */
export const requestId = (): string => flatJoin('req_', freshId())
