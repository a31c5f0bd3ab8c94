/* Re-exports the parts of captured requests and live events that the admin API needs. */

export { NoReply } from './caller-requests.ts'
export { REMOVED_TEXT as REMOVED } from './capture/secrets.ts'
export type { LiveBeginning, LiveEvent, LiveListener } from './live.ts'
