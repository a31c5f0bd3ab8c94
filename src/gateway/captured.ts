/* What administrators need of captured requests. */

export { REMOVED } from './capture/secrets.ts'
export type { LiveBeginning, LiveEvent, LiveListener } from './live.ts'
export { NoReply } from './own-requests.ts'
