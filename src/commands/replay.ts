import { readFolder } from '../kit/recordings/folder.ts'
import { openReplay } from '../kit/recordings/replay-server.ts'
import { advised } from '../server/listening.ts'
import { readCases } from '../upstreams/mock/fixtures.ts'
import { openMock } from '../upstreams/mock/index.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { untilStopped } from './serving.ts'

export interface ReplayCommandOptions {
  readonly host: string
  readonly port: number
  readonly ignore: readonly string[]
  /** Speed as a multiple of the recorded one. 0 waits for nothing. */
  readonly timing: number
  readonly strict?: true
}

/**
 * `interlingua replay DIR`: answers from a folder of recordings, or serves fixtures as a mock upstream. Needs no key.
 *
 * @throws Error if the folder has neither, or with `strict` for recordings that nobody requested.
 */
export async function replayCommand(folder: string, options: ReplayCommandOptions, terminal: Terminal): Promise<void> {
  if (readCases(folder).length > 0) return serveFixtures(folder, options, terminal)
  const { host, port, ignore, timing: speed, strict } = options
  const recordings = readFolder(folder)
  if (recordings.length === 0) throw new UsageError(`${folder} contains no recordings`)
  const replay = await openReplay({ recordings, ignore, speed, host, port }).catch((fault: Error) => {
    throw advised(fault, { host, port }, '--port')
  })
  terminal.out(`Serving ${recordings.length} recordings from ${folder} on ${replay.url}`)
  await untilStopped()
  await replay.close()
  for (const miss of replay.misses) terminal.fault(miss)
  if (strict && replay.unused.length > 0)
    throw new Error(`nobody requested these recordings:\n${replay.unused.join('\n')}`)
}

async function serveFixtures(folder: string, { host, port }: ReplayCommandOptions, terminal: Terminal): Promise<void> {
  const mock = await openMock({ folder, host, port }).catch((fault: Error) => {
    throw advised(fault, { host, port }, '--port')
  })
  terminal.out(`Serving ${mock.cases.length} fixtures from ${folder} on ${mock.url}`)
  await untilStopped()
  await mock.close()
}
