import { replay } from './replay.ts'
import { type TestReplay, type TestReplayOptions, UnusedRecordings } from './test-replay.ts'

/** Registers a function with a test runner, like `beforeEach`, `afterEach` and `afterAll` of vitest or jest. */
export type Register = (run: () => Promise<void>) => unknown

export interface TestHooks {
  readonly beforeEach: Register
  readonly afterEach: Register
  /** Needed for `strict`, which counts the requests of all tests. */
  readonly afterAll?: Register
}

/**
 * Opens a folder of recordings anew for each test, and fails a test that sends a request without a recording. With
 * `strict`, recordings that no test requested are an error after the last test.
 */
export function replayEachTest(
  folder: string,
  { beforeEach, afterEach, afterAll }: TestHooks,
  { strict = false, ...options }: TestReplayOptions = {},
): Pick<TestReplay, 'mode' | 'url' | 'key' | 'baseURL'> {
  if (strict && afterAll === undefined) throw new Error('`strict` needs the hook `afterAll`.')
  let current: TestReplay | undefined
  let unused: readonly string[] | undefined
  let mode = options.mode
  let isOpening = false
  beforeEach(async () => {
    // Two tests would share a server, which closes at the end of the first of them.
    if (isOpening || current !== undefined) throw new Error('Tests that run at the same time must each call `replay`.')
    isOpening = true
    current = await replay(folder, options).finally(() => {
      isOpening = false
    })
    mode = current.mode
  })
  afterEach(async () => {
    const endedReplay = current
    current = undefined
    if (endedReplay === undefined) return
    const rest = new Set(endedReplay.unused)
    unused = (unused ?? endedReplay.unused).filter(file => rest.has(file))
    await endedReplay.close()
  })
  afterAll?.(async () => {
    if (strict && mode === 'replay' && unused !== undefined && unused.length > 0)
      throw new UnusedRecordings(folder, unused)
  })
  const currentReplay = (): TestReplay => {
    if (current !== undefined) return current
    throw new Error('The replay server runs only during a test.')
  }
  return {
    get mode() {
      return currentReplay().mode
    },
    get url() {
      return currentReplay().url
    },
    get key() {
      return currentReplay().key
    },
    baseURL: format => currentReplay().baseURL(format),
  }
}
