/* The entry of `interlingua/testing` (docs/testing.md): recordings for tests of applications. */

export { type Register, replayEachTest, type TestHooks } from './each-test.ts'
export { replay } from './replay.ts'
export {
  type ReplayMode,
  type TestReplay,
  type TestReplayOptions,
  UnmatchedRequests,
  UnusedRecordings,
} from './test-replay.ts'
