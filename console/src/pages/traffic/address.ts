import { hrefOf } from '../../href.ts'

/** Address of one request's page. */
export const addressOf = (id: string): string => `${hrefOf('/traffic')}?request=${encodeURIComponent(id)}`
