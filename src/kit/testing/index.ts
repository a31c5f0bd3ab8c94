/* The entry of `interlingua/testing` (docs/testing.md): recordings for tests of applications. */

export { type Register, replayEachTest, type TestHooks } from './each-test.ts'
export {
  type ReplayMode,
  type TestReplay,
  type TestReplayOptions,
  UnmatchedRequests,
  UnusedRecordings,
} from './options.ts'
export { replay } from './replay.ts'
