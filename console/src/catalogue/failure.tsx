import type { Request } from '../api/types.ts'
import { named } from '../i18n/catalogue.ts'

export type Failure = NonNullable<Request['failure']>

/** Name of a failure: its reason, and the upstream's status. */
export const failureName = ({ reason, status }: Pick<Failure, 'reason' | 'status'>): string =>
  status === undefined ? named('reasons', reason) : `${named('reasons', reason)} · ${status}`

/** A failure's name with the message of the upstream or of the gateway. */
export const FailureText = ({ of }: { readonly of: Failure }) => (
  <span class="failure">
    <strong>{failureName(of)}</strong>
    {of.message !== undefined && <span class="said">{of.message}</span>}
  </span>
)
