import type { CanonicalRequest } from '../../canonical/request.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './content.ts'

const COMPACT = '/responses/compact'

/** Where a request goes that was not spelled for another endpoint. */
export const doorFor = ({ output }: CanonicalRequest): string => (output.compaction === true ? COMPACT : '/responses')

/** The caller came to the endpoint whose answers are conversations put in short, not responses. */
export const isCompactDoor = (request: CanonicalRequest): boolean => spelt(request, FORMAT)['path'] === COMPACT
