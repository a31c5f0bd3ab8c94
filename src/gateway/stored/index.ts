/* State of the responses format: stored turns, conversations, background responses, frames of a socket. */

export { type ActionName, answerStored, type StoredCall } from './actions.ts'
export type { BackgroundRun } from './background-run.ts'
export {
  type CreateFrame,
  errorEvent as fault,
  errorEventOf as faultOf,
  readFrame,
  withLane as laned,
} from './frames.ts'
export { STORED_FORMAT } from './items.ts'
export { pageOf } from './page.ts'
export type { StoredItems as Stored } from './resolve-references.ts'
export { type ResponseChain as Session, withStoredPrompt } from './response-chain.ts'
export { markedUnstored as unkept, NOT_STORED as NOT_KEPT, type ResponseEcho } from './response-echo.ts'
export type { ResponseSaver as Keeper } from './response-saver.ts'
export { SavingStream as KeptStream, type Sink } from './saving-stream.ts'
export { State } from './state.ts'
