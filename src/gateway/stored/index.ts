/* State of the responses format: stored turns, conversations, background responses, and frames of a socket. */

export { type ActionName, answerStored, formatOf, type StoredCall } from './actions.ts'
export type { BackgroundRun } from './background-run.ts'
export {
  type CreateFrame,
  errorEvent,
  errorEventOf,
  readFrame,
  withLane,
} from './frames.ts'
export { markedUnstored, STORED_FORMAT } from './items.ts'
export { pageOf } from './page.ts'
export type { StoredItems } from './resolve-references.ts'
export { type ResponseChain, withStoredPrompt } from './response-chain.ts'
export { NOT_STORED, type ResponseEcho } from './response-echo.ts'
export type { ResponseSaver } from './response-saver.ts'
export { SavingStream, type Sink } from './saving-stream.ts'
export { State } from './state.ts'
export { isStored } from './stored-formats.ts'
