/* Re-exports what the admin API needs of captured requests and live events. */

export { NoReply } from './caller-requests.ts'
export { REMOVED } from './capture/secrets.ts'
export type { LiveBeginning, LiveEvent, LiveListener } from './live.ts'
