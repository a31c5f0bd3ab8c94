/**
 * Reads, writes and translates requests, answers and streams of AI model formats. Runs in Node, browsers and edge
 * runtimes, without a server, files or a network. Losses are returned, not logged.
 *
 * @packageDocumentation
 */

export type {
  Annotation,
  MediaPart,
  MediaSource,
  OpaquePart,
  Part,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/content.ts'
export { type CanonicalError, type ErrorKind, GatewayError } from '../../canonical/error.ts'
export type { CanonicalEvent } from '../../canonical/event.ts'
export { fold, unfold } from '../../canonical/fold.ts'
export { type Loss, lose, type Path } from '../../canonical/loss.ts'
export type { Json, JsonObject } from '../../canonical/node.ts'
export type { CanonicalRequest, Message } from '../../canonical/request.ts'
export type { Candidate, CanonicalResult, Finish, Usage } from '../../canonical/result.ts'
export type { Tool, ToolChoice } from '../../canonical/tool.ts'
export {
  type ErrorAnswer,
  readAnswer,
  readError,
  type WrittenAnswer,
  writeAnswer,
  writeError,
} from './answers.ts'
export type { Codec } from './codec.ts'
export { chat, contents, messages, responses } from './codecs.ts'
export {
  type ReadOptions,
  readRequest,
  type WriteRequestOptions,
  type WrittenRequest,
  writeRequest,
} from './requests.ts'
export { foldStream, readStream, writeStream } from './streams.ts'
export { type TranslatedStream, type TranslateOptions, type Translation, translate } from './translate.ts'
