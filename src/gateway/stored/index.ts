/* State of the responses format: stored turns, conversations, background responses, frames of a socket. */

export { type ActionName, answerStored, type StoredCall } from './actions.ts'
export type { BackgroundRun } from './background-run.ts'
export { type CreateFrame, fault, faultOf, laned, readFrame } from './frames.ts'
export { STORED_FORMAT } from './items.ts'
export type { Keeper } from './keeper.ts'
export { KeptStream, type Sink } from './kept-stream.ts'
export { pageOf } from './page.ts'
export type { Stored } from './resolve-references.ts'
export { NOT_KEPT, type ResponseEcho, unkept } from './response-echo.ts'
export { type Session, withStoredPrompt } from './session.ts'
export { State } from './state.ts'
