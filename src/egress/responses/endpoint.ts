import type { CanonicalRequest } from '../../canonical/request.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './content.ts'

const COMPACT = '/responses/compact'

/** The path of a request that was not read from another endpoint. */
export const pathFor = ({ output }: CanonicalRequest): string => (output.compaction === true ? COMPACT : '/responses')

/** Whether the caller uses the compaction endpoint, whose answers are not responses. */
export const isCompactEndpoint = (request: CanonicalRequest): boolean => spelt(request, FORMAT)['path'] === COMPACT
